//! The token counter against `tiktoken-rs`: equal on every text, however odd.

mod api;
mod differences;
mod exact;
mod properties;
mod support;
