//! The messages of `proto/tokencount/v1`, and their descriptors for reflection.

use std::path::Path;

use prost::Message;
use prost_types::FileDescriptorSet;
use prost_types::field_descriptor_proto::Type;

/// Generates them into the build's output directory.
pub fn write(out: &Path) {
    println!("cargo::rerun-if-changed=../proto");
    let proto = Path::new("../proto");
    let file = proto.join("tokencount/v1/token_counter_service.proto");
    // protox compiles the proto files in Rust: no protoc has to be installed.
    let mut descriptors = protox::compile([file], [proto]).expect("the contract compiles");
    std::fs::write(out.join("contract.binpb"), descriptors.encode_to_vec())
        .expect("the contract's descriptors are written");
    leave_encoded(&mut descriptors, "Prompt", "messages");
    let mut generator = prost_build::Config::new();
    generator.bytes(["."]).compile_fds(descriptors).expect("the contract's messages are written");
}

/// Has a field of messages read as bytes, which look the same on the wire: most messages of a
/// prompt were sent before, and are recognised by their bytes.
fn leave_encoded(descriptors: &mut FileDescriptorSet, message: &str, field: &str) {
    let messages = descriptors.file.iter_mut().flat_map(|file| &mut file.message_type);
    let mut fields = messages.filter(|it| it.name() == message).flat_map(|it| &mut it.field);
    let field = fields.find(|it| it.name() == field).expect("the contract has the field");
    field.set_type(Type::Bytes);
    field.type_name = None;
}
