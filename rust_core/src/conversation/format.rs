//! Names of the providers' interfaces in the command line and in files.

use super::Format;

impl Format {
    /// Every interface with its name in bulk mode.
    pub const NAMES: [(Self, &str); 6] = [
        (Self::OpenaiChat, "openai_chat"),
        (Self::OpenaiResponses, "openai_responses"),
        (Self::Anthropic, "anthropic"),
        (Self::Gemini, "gemini"),
        (Self::GeminiVertex, "gemini_vertex"),
        (Self::BedrockConverse, "bedrock_converse"),
    ];

    /// The interface of that name.
    #[must_use]
    pub fn from_bulk_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }

    /// The name in bulk mode; empty for `Unspecified`.
    #[must_use]
    pub fn bulk_name(self) -> &'static str {
        Self::NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }
}
