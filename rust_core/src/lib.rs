//! The core of tokencount: how many tokens will a provider bill for a prompt?
//!
//! One request's path, in reading order: `engine` decodes it, `conversation` gives it one shape,
//! `profile` finds the model's rules, `rules` counts with a `vocabulary`, `store` remembers.

pub mod bpe;
pub mod bulk;
pub mod conversation;
pub mod engine;
pub mod metrics;
pub mod profile;
#[cfg(feature = "python")]
mod python;
pub mod rules;
pub mod secret;
pub mod service;
pub mod status;
pub mod store;
pub mod transport;
pub mod usage;
pub mod vocabulary;
pub mod wire;
