//! Composes the answer to the caller from an estimate.

use super::ladder::Estimate;
use super::prompt::Prompt;
use crate::rules::{Kind, Tally};
use crate::wire;

/// The `Count` of an answer.
pub fn count(prompt: Prompt, estimate: &Estimate, per_message: bool) -> wire::Count {
    let profile = &prompt.profile;
    let used = match profile.window {
        0 => 0.0,
        window => f64::from(estimate.bound) / f64::from(window),
    };
    let messages = if per_message { message_counts(&prompt) } else { Vec::new() };
    let mut warnings = prompt.warnings;
    warnings.extend(estimate.counted.caveats.warnings());
    wire::Count {
        tokens: estimate.tokens,
        upper_bound: estimate.bound,
        known_tokens: estimate.known,
        estimated_tokens: estimate.tokens - estimate.known,
        new_messages: estimate.new_messages,
        source: estimate.source as i32,
        encoding: profile.vocabulary.name().to_owned(),
        profile: profile.name.clone(),
        prefix_key: Vec::new().into(),
        messages,
        breakdown: Some(breakdown(&estimate.counted, estimate.tokens)),
        context_window: profile.window,
        context_used: used,
        warnings,
        weakest_part: estimate.counted.weakest().map_or("", Kind::name).to_owned(),
        accuracy: profile.accuracy,
    }
}

fn message_counts(prompt: &Prompt) -> Vec<wire::MessageCount> {
    let counts = prompt.messages.iter().map(|(_, tally)| wire::MessageCount {
        tokens: tally.tokens(),
        upper_bound: tally.upper_bound(),
    });
    counts.collect()
}

/// Splits `total` in proportion to the rules' estimate by kind, so that the fields add up to it.
fn breakdown(counted: &Tally, total: u32) -> wire::Breakdown {
    let sum = u64::from(counted.tokens()).max(1);
    let mut seen = 0_u64;
    let mut given = 0_u64;
    // The running sum is rounded, not each field: the last one ends at the total.
    let mut share = |kind| {
        seen += u64::from(counted.of(kind));
        let upto = u64::from(total) * seen / sum;
        let part = upto - given;
        given = upto;
        part as u32
    };
    let mut fields = wire::Breakdown {
        system: share(Kind::System),
        tools: share(Kind::Tools),
        response_schema: share(Kind::ResponseSchema),
        user: share(Kind::User),
        assistant: share(Kind::Assistant),
        tool_calls: share(Kind::ToolCalls),
        tool_results: share(Kind::ToolResults),
        reasoning: share(Kind::Reasoning),
        media: share(Kind::Media),
        overhead: share(Kind::Overhead),
    };
    // Nothing was counted, yet something is billed: framing.
    fields.overhead += (u64::from(total) - given) as u32;
    fields
}
