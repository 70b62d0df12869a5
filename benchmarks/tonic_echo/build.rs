//! Generates the server's side of the contract, as tonic's users do.

fn main() {
    println!("cargo::rerun-if-changed=../../proto");
    let contract = ["../../proto/tokencount/v1/token_counter_service.proto"];
    let descriptors = protox::compile(contract, ["../../proto"]).expect("the contract compiles");
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(descriptors)
        .expect("the server is generated");
}
