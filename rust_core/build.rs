//! Prepares at build time what would be slow or large to prepare at start.

mod build {
    pub mod classes;
    pub mod contract;
    #[path = "../src/bpe/serialise.rs"]
    #[allow(dead_code)] // What files need, no vocabulary here does.
    pub mod serialise;
    #[path = "../src/bpe/spelling.rs"]
    pub mod spelling;
    pub mod vocabulary;
}

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/bpe/serialise.rs");
    println!("cargo::rerun-if-changed=src/bpe/spelling.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    build::contract::write(&out);
    build::classes::write(&out);
    build::vocabulary::write(&out);
}
