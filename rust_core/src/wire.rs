//! The messages of the contract, generated from `proto/tokencount/v1` by the build script.

#![allow(missing_docs, clippy::large_enum_variant, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/tokencount.v1.rs"));
