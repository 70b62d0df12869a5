//! The messages of the contract, generated from `proto/tokencount/v1` by the build script.

#![allow(missing_docs, clippy::large_enum_variant, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/tokencount.v1.rs"));

impl Source {
    /// The name in metrics and in bulk mode.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Exact => "exact",
            Self::Delta => "delta",
            Self::Shares => "shares",
            Self::Estimated => "estimated",
            Self::Characters => "characters",
        }
    }
}
