//! The core of tokencount: how many tokens will a provider bill for a prompt?

pub mod bpe;
