//! The messages of `proto/tokencount/v1`, and their descriptors for reflection.

use std::path::Path;

use prost::Message;

/// Generates them into the build's output directory.
pub fn write(out: &Path) {
    println!("cargo::rerun-if-changed=../proto");
    let proto = Path::new("../proto");
    let file = proto.join("tokencount/v1/token_counter_service.proto");
    // protox compiles the proto files in Rust: no protoc has to be installed.
    let descriptors = protox::compile([file], [proto]).expect("the contract compiles");
    std::fs::write(out.join("contract.binpb"), descriptors.encode_to_vec())
        .expect("the contract's descriptors are written");
    let mut generator = prost_build::Config::new();
    generator.bytes(["."]).compile_fds(descriptors).expect("the contract's messages are written");
}
