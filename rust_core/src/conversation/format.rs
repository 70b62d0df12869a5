//! Names of the providers' interfaces in the command line and in files, and how to tell them apart.

use serde_json::Value;

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

    /// "one of `openai_chat`, …", for errors.
    #[must_use]
    pub fn choices() -> String {
        format!("one of {}", Self::NAMES.map(|(_, name)| name).join(", "))
    }

    /// The path of the messages in a request whose prompt is in `form`.
    #[must_use]
    pub fn messages_field(self, form: &str) -> String {
        let name = match self {
            Self::Gemini | Self::GeminiVertex => "contents",
            Self::OpenaiResponses => "input",
            _ => "messages",
        };
        match form {
            "typed" => "messages".into(),
            _ => format!("body.{name}"),
        }
    }

    /// The interface that a request body looks made for. Gemini's two can't be told apart: the
    /// Developer API is taken.
    #[must_use]
    pub fn detect(body: &Value) -> Option<Self> {
        if body.get("contents").is_some() {
            return Some(Self::Gemini);
        }
        if body.get("messages").is_none() {
            return body.get("input").map(|_| Self::OpenaiResponses);
        }
        if BEDROCK.iter().any(|key| body.get(key).is_some()) || has_untyped_blocks(body) {
            return Some(Self::BedrockConverse);
        }
        let is_claude = body["model"].as_str().is_some_and(|model| model.contains("claude"));
        if is_claude
            || ANTHROPIC.iter().any(|key| body.get(key).is_some())
            || has_input_schema(body)
        {
            return Some(Self::Anthropic);
        }
        Some(Self::OpenaiChat)
    }
}

/// Fields that only Converse has.
const BEDROCK: [&str; 3] = ["inferenceConfig", "toolConfig", "additionalModelRequestFields"];

/// Fields that only Anthropic's Messages has beside `messages`.
const ANTHROPIC: [&str; 3] = ["system", "anthropic_version", "stop_sequences"];

/// Converse's content blocks name their kind by their key: they have no `type`.
fn has_untyped_blocks(body: &Value) -> bool {
    let messages = body["messages"].as_array().into_iter().flatten();
    let mut blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    blocks.any(|block| block.is_object() && block.get("type").is_none())
}

fn has_input_schema(body: &Value) -> bool {
    let mut tools = body["tools"].as_array().into_iter().flatten();
    tools.any(|tool| tool.get("input_schema").is_some())
}
