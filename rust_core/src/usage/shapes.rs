//! The providers' shapes of usage: which fields hold what, as a table.

use serde_json::Value;

use super::{ABSURD, Bill, TOO_MANY, invalid};
use crate::status::Status;

/// Where one provider's usage has its numbers. Of several names the first that is there counts;
/// dots stand between the steps of a path.
struct Shape {
    /// A usage that has one of these has this shape.
    marker: &'static [&'static str],
    /// Tokens of the prompt.
    input: &'static [&'static str],
    /// Tokens of the prompt that are billed beside them: all are added.
    input_beside: &'static [&'static [&'static str]],
    /// Tokens of the reply.
    output: &'static [&'static str],
    /// Tokens read from a cache.
    cached: &'static [&'static str],
    /// Tokens of thinking.
    reasoning: &'static [&'static str],
    /// Thinking is beside the output. Where it usually is inside, the sum in `total_tokens` tells:
    /// xAI's interface copies `OpenAI`'s, but for this.
    reasoning_beside: bool,
    /// Numbers that show a sum over steps of server-side tools if they are not zero.
    steps: &'static [&'static str],
}

/// Every shape, in the order in which they are tried.
const SHAPES: [Shape; 5] = [
    // OpenAI Chat Completions and every interface that copies it.
    // <https://platform.openai.com/docs/api-reference/chat/object>
    Shape {
        marker: &["prompt_tokens"],
        input: &["prompt_tokens"],
        input_beside: &[],
        output: &["completion_tokens"],
        cached: &["prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens"],
        reasoning: &["completion_tokens_details.reasoning_tokens"],
        reasoning_beside: false,
        steps: &["num_server_side_tools_used"],
    },
    // OpenAI Responses: Anthropic's names, but what was cached is inside the input.
    // <https://platform.openai.com/docs/api-reference/responses/object>
    Shape {
        marker: &["input_tokens_details"],
        input: &["input_tokens"],
        input_beside: &[],
        output: &["output_tokens"],
        cached: &["input_tokens_details.cached_tokens"],
        reasoning: &["output_tokens_details.reasoning_tokens"],
        reasoning_beside: false,
        steps: &["num_server_side_tools_used"],
    },
    // Anthropic Messages. <https://docs.anthropic.com/en/api/messages>
    Shape {
        marker: &["input_tokens"],
        input: &["input_tokens"],
        input_beside: &[&["cache_creation_input_tokens"], &["cache_read_input_tokens"]],
        output: &["output_tokens"],
        cached: &["cache_read_input_tokens"],
        reasoning: &["output_tokens_details.reasoning_tokens"],
        reasoning_beside: false,
        steps: &["server_tool_use.web_search_requests", "server_tool_use.web_fetch_requests"],
    },
    // Bedrock Converse.
    // <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html>
    Shape {
        marker: &["inputTokens"],
        input: &["inputTokens"],
        input_beside: &[
            &["cacheReadInputTokens", "cacheReadInputTokenCount"],
            &["cacheWriteInputTokens", "cacheWriteInputTokenCount"],
        ],
        output: &["outputTokens"],
        cached: &["cacheReadInputTokens", "cacheReadInputTokenCount"],
        reasoning: &[],
        reasoning_beside: false,
        steps: &[],
    },
    // Gemini, and its token counting. <https://ai.google.dev/api/generate-content#UsageMetadata>
    Shape {
        marker: &["promptTokenCount", "prompt_token_count", "totalTokens"],
        input: &["promptTokenCount", "prompt_token_count", "totalTokens"],
        input_beside: &[&["toolUsePromptTokenCount", "tool_use_prompt_token_count"]],
        output: &["candidatesTokenCount", "candidates_token_count"],
        cached: &["cachedContentTokenCount", "cached_content_token_count"],
        reasoning: &["thoughtsTokenCount", "thoughts_token_count"],
        reasoning_beside: true,
        steps: &["toolUsePromptTokenCount", "tool_use_prompt_token_count"],
    },
];

/// Fields that lead from a response or a stream event to its usage.
const HOLDERS: [&str; 6] =
    ["usage", "usageMetadata", "usage_metadata", "response", "message", "metadata"];

/// Fields of a response that tell of an edited context or of state that the prompt doesn't hold.
const EDITS: [&str; 3] =
    ["context_management.applied_edits", "previous_response_id", "conversation"];

/// Items of a response's output that stand for a step on the server.
const SERVER_STEPS: [&str; 6] = [
    "code_interpreter_call",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "server_tool_use",
    "web_search_call",
];

const EDITED: &str = "the provider edited the context or added to it";
const STEPS: &str = "a sum over steps of server-side tools";

/// The bill in a usage, or in the response that holds it.
pub fn read(json: &Value) -> Result<Bill, Status> {
    let mut at = json;
    let mut path = String::new();
    let mut doubt = None;
    loop {
        if let Value::Array(chunks) = at {
            // The chunks of a stream: the last has the final usage.
            let Some(last) = chunks.last() else { break };
            path = format!("[{}]", chunks.len() - 1);
            at = last;
        }
        if let Some(shape) = SHAPES.iter().find(|shape| first(at, shape.marker).is_some()) {
            let inside = |error: Status| if path.is_empty() { error } else { error.inside(&path) };
            let bill = shape.read(at).map_err(inside)?;
            return Ok(Bill { doubt: bill.doubt.or(doubt), ..bill });
        }
        doubt = doubt.or_else(|| doubt_of(at));
        let holder = HOLDERS.iter().find(|key| at.get(key).is_some_and(Value::is_object));
        let Some(holder) = holder else { break };
        at = &at[*holder];
        path = if path.is_empty() { (*holder).into() } else { format!("{path}.{holder}") };
    }
    Err(invalid(&path, "no usage: none of the providers' fields for input tokens is there"))
}

impl Shape {
    fn read(&self, usage: &Value) -> Result<Bill, Status> {
        let number = |names: &[&'static str]| -> Result<u32, Status> {
            first(usage, names).map_or(Ok(0), |(name, value)| tokens(name, value))
        };
        let Some((input_name, _)) = first(usage, self.input) else {
            return Err(invalid(self.input.first().unwrap_or(&""), "required, a number of tokens"));
        };
        let mut input = number(self.input)?;
        for names in self.input_beside {
            input = input.saturating_add(number(names)?);
        }
        let reasoning = number(self.reasoning)?;
        let mut output = number(self.output)?;
        let total = first(usage, &["total_tokens"]).and_then(|(_, total)| total.as_u64());
        let sum = u64::from(input) + u64::from(output) + u64::from(reasoning);
        if self.reasoning_beside || reasoning > 0 && total == Some(sum) {
            output = output.saturating_add(reasoning);
        }
        let stepped = self.steps.iter().any(|step| first(usage, &[step]).is_some_and(is_positive));
        let doubt = stepped.then_some(STEPS);
        let bill = Bill { input, output, cached: number(self.cached)?, reasoning, doubt };
        let name = |names: &[&'static str]| names.first().copied().unwrap_or_default();
        bill.check(input_name, name(self.cached), name(self.reasoning))
    }
}

/// The first of the fields that is there and not `null`, with its name.
fn first<'a>(value: &'a Value, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
    names.iter().find_map(|name| {
        let found = name.split('.').try_fold(value, |value, step| value.get(step))?;
        (!found.is_null()).then_some((*name, found))
    })
}

fn is_positive((_, value): (&str, &Value)) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

/// A number of tokens.
fn tokens(field: &str, value: &Value) -> Result<u32, Status> {
    let Value::Number(number) = value else {
        return Err(invalid(field, "must be a number of tokens"));
    };
    match number.as_u64() {
        Some(tokens) if tokens <= ABSURD => Ok(tokens as u32),
        Some(_) => Err(invalid(field, TOO_MANY)),
        None if number.as_f64().is_some_and(|number| number < 0.0) => {
            Err(invalid(field, "must not be negative"))
        }
        None if number.as_f64().is_none_or(|number| number > ABSURD as f64) => {
            Err(invalid(field, TOO_MANY))
        }
        None => Err(invalid(field, "must be a whole number")),
    }
}

/// Why the bill of this response may not be that of its prompt alone.
fn doubt_of(response: &Value) -> Option<&'static str> {
    let is_edited = |value: &Value| match value {
        Value::Array(edits) => !edits.is_empty(),
        other => !other.is_null(),
    };
    if EDITS.iter().any(|edit| first(response, &[edit]).is_some_and(|(_, value)| is_edited(value)))
    {
        return Some(EDITED);
    }
    let items = ["output", "content"].iter().filter_map(|list| response.get(list)?.as_array());
    let mut kinds = items.flatten().filter_map(|item| item.get("type")?.as_str());
    kinds.any(|kind| SERVER_STEPS.contains(&kind)).then_some(STEPS)
}
