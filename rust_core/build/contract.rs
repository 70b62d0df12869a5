//! The messages of `proto/tokencount/v1`.

use std::path::Path;

/// Generates them into the build's output directory.
pub fn write() {
    println!("cargo::rerun-if-changed=../proto");
    let proto = Path::new("../proto");
    let file = proto.join("tokencount/v1/token_counter_service.proto");
    // protox compiles the proto files in Rust: no protoc has to be installed.
    let descriptors = protox::compile([file], [proto]).expect("the contract compiles");
    let mut generator = prost_build::Config::new();
    generator.bytes(["."]).compile_fds(descriptors).expect("the contract's messages are written");
}
