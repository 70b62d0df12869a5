//! Generates the messages of `proto/tokencount/v1` before the crate is compiled.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proto = std::path::Path::new("../proto");
    println!("cargo:rerun-if-changed=../proto");
    let file = proto.join("tokencount/v1/token_counter_service.proto");
    // protox compiles the proto files in Rust: no protoc has to be installed.
    let descriptors = protox::compile([file], [proto])?;
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}
