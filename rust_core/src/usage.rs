//! What a provider billed for one request, from any provider's usage, in one convention.
//!
//! Providers differ: `OpenAI` and Gemini count cached tokens inside the input, Anthropic and
//! Bedrock beside it; Gemini counts thoughts beside the candidates, the others inside the output.

mod shapes;

use serde_json::Value;

use crate::status::{Code, Status};
use crate::wire::{self, ErrorReason};

/// More tokens than any request has: a number above it is not a count of tokens.
const ABSURD: u64 = 1 << 31;

/// A bill is far from its estimate if it is beyond this factor of it and more than [`SLACK`] off.
/// The worst rule known, of an unknown model's, is off by less.
const FACTOR: f64 = 2.0;

/// Tokens by which any bill may be off: hosts put up to some thousand before a prompt.
const SLACK: f64 = 2000.0;

/// What a provider billed for one request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// Everything billed for the prompt, cached or not; at least one.
    pub input: u32,
    /// Everything billed for the reply, hidden thinking included.
    pub output: u32,
    /// The part of `input` that was read from a cache.
    pub cached: u32,
    /// The part of `output` that was thinking.
    pub reasoning: u32,
    /// Why the bill is not that of the prompt as it was sent, if its usage says so.
    pub doubt: Option<&'static str>,
}

impl Bill {
    /// The bill in a typed usage.
    pub fn from_usage(usage: &wire::Usage) -> Result<Self, Status> {
        let counts = [
            ("input_tokens", usage.input_tokens),
            ("output_tokens", usage.output_tokens),
            ("cached_input_tokens", usage.cached_input_tokens),
            ("reasoning_tokens", usage.reasoning_tokens),
        ];
        for (field, tokens) in counts {
            if u64::from(tokens) > ABSURD {
                return Err(invalid(field, TOO_MANY));
            }
        }
        let bill = Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_input_tokens,
            reasoning: usage.reasoning_tokens,
            doubt: None,
        };
        bill.check("input_tokens", "cached_input_tokens", "reasoning_tokens")
    }

    /// The bill in a provider's own usage, or in the response or stream event that holds it.
    pub fn from_json(json: &Value) -> Result<Self, Status> {
        shapes::read(json)
    }

    /// The part of the output that the next request may hold: thinking is not sent back.
    #[must_use]
    pub const fn visible_output(&self) -> u32 {
        self.output.saturating_sub(self.reasoning)
    }

    /// Whether this can be the bill of a prompt that was estimated at `tokens`, at most
    /// `upper_bound`. If not, the reason: such a bill is kept apart and never learned from.
    pub fn plausible(&self, tokens: u32, upper_bound: u32) -> Result<(), &'static str> {
        let input = f64::from(self.input);
        if let Some(doubt) = self.doubt {
            Err(doubt)
        } else if input > f64::from(upper_bound) * FACTOR + SLACK {
            Err("far above the estimate: a sum over several steps, or another prompt")
        } else if (input + SLACK) * FACTOR < f64::from(tokens) {
            Err("far below the estimate: an edited context, or without its cached part")
        } else {
            Ok(())
        }
    }

    /// The bill itself, if its numbers agree with each other.
    fn check(self, input: &str, cached: &str, reasoning: &str) -> Result<Self, Status> {
        if self.input == 0 {
            Err(invalid(input, "must be at least 1: a provider bills every prompt"))
        } else if self.cached > self.input {
            Err(invalid(cached, "must not be more than the input that it is part of"))
        } else if self.reasoning > self.output {
            Err(invalid(reasoning, "must not be more than the output that it is part of"))
        } else {
            Ok(self)
        }
    }
}

const TOO_MANY: &str = "must be a count of tokens: no request has more than 2^31";

fn invalid(field: &str, message: &str) -> Status {
    Status {
        field: field.into(),
        ..Status::new(Code::InvalidArgument, ErrorReason::InvalidUsage, message)
    }
}

#[cfg(test)]
mod tests;
