//! The ladder of estimates: the best-founded answer that what is known allows.

use super::Engine;
use super::learning::Correction;
use super::prompt::Prompt;
use super::state::{Anchor, PrefixKey, Share, State, decode};
use crate::conversation::digest::Digest;
use crate::rules::{Kind, Tally};
use crate::vocabulary::Characters;
use crate::wire::Source;

/// What a prompt is estimated to cost.
pub struct Estimate {
    /// What the estimate rests on.
    pub source: Source,
    /// The best estimate.
    pub tokens: u32,
    /// The number to budget on.
    pub bound: u32,
    /// The part of `tokens` that rests on a bill.
    pub known: u32,
    /// Messages after the known prefix.
    pub new_messages: u32,
    /// The rules' own estimate of the whole prompt, for the breakdown.
    pub counted: Tally,
    /// What to remember of the prompt.
    pub state: State,
}

/// A prefix of the prompt whose cost is known, and what follows it.
struct Known {
    state: State,
    anchor: Anchor,
    /// The model's messages that follow the state's, and the messages after those.
    rest: (Tally, Tally),
    same_preamble: bool,
}

impl Engine {
    /// Climbs the ladder for a prompt with its `chain` of prefix keys.
    pub(super) fn estimate(&self, prompt: &Prompt, chain: &[Digest]) -> Estimate {
        let known = self.known_prefix(prompt, chain);
        self.metrics.prefixes.add(&[if known.is_some() { "hit" } else { "miss" }], 1.0);
        let correction = self.correction(prompt);
        if let Some(known) = known {
            return delta(prompt, known, correction);
        }
        let mut estimate = counted(prompt, correction);
        if let Some(shares) = self.shares(prompt) {
            shares.apply(&mut estimate);
        }
        estimate
    }

    /// The longest prefix with a recorded bill. An equal preamble wins over any other; of others
    /// the latest serves.
    fn known_prefix(&self, prompt: &Prompt, chain: &[Digest]) -> Option<Known> {
        for (at, key) in chain.iter().enumerate().rev() {
            if let Some((state, anchor, same_preamble)) = self.recorded_at(prompt, key) {
                // The chain begins before the first message.
                let rest = prompt.sent_from(at);
                return Some(Known { state, anchor, rest, same_preamble });
            }
        }
        let rest = prompt.sent_from(0);
        // What stands before the base is known only by what the base remembers of it.
        let (key, state) = prompt.base.as_ref()?;
        let anchor = state.anchor.clone()?;
        let same_preamble = key.preamble == prompt.preamble.0;
        Some(Known { state: state.clone(), anchor, rest, same_preamble })
    }

    /// The recorded state of one chain key, and whether its preamble is the prompt's.
    fn recorded_at(&self, prompt: &Prompt, chain: &Digest) -> Option<(State, Anchor, bool)> {
        // Most prefixes of a long prompt are no turn's end: one look-up tells.
        let newest = self.recall_newest(&prompt.keys.chain(chain))?;
        let key = PrefixKey { chain: *chain, preamble: prompt.preamble.0 };
        let equal = decode::<State>(self.recall(&prompt.keys.recorded(&key)));
        let same_preamble = equal.is_some();
        let state = equal.or_else(|| decode(Some(newest)))?;
        let anchor = state.anchor.clone()?;
        Some((state, anchor, same_preamble))
    }

    /// The recorded shares of single messages, if any is known.
    fn shares(&self, prompt: &Prompt) -> Option<Shares> {
        let mut shares = Shares::default();
        for (digest, tally) in &prompt.messages {
            let value = self.recall(&prompt.keys.share(digest));
            if let Some(share) = decode::<Share>(value) {
                shares.known = shares.known.saturating_add(share.tokens);
                shares.replaced = shares.replaced.saturating_add(tally.tokens());
                let margin = prompt.profile.margins.recorded;
                let recorded = (f64::from(share.tokens) * (1.0 + margin)).ceil() as u32;
                let above = recorded.saturating_sub(tally.upper_bound());
                shares.raised = shares.raised.saturating_add(above);
            }
        }
        (shares.known > 0).then_some(shares)
    }
}

/// What recorded shares say of a prompt.
#[derive(Default)]
struct Shares {
    /// The shares' sum.
    known: u32,
    /// What the rules had counted for the same messages.
    replaced: u32,
    /// How far the shares are above the rules' bounds.
    raised: u32,
}

impl Shares {
    fn apply(&self, estimate: &mut Estimate) {
        estimate.source = Source::Shares;
        estimate.tokens = estimate.tokens.saturating_sub(self.replaced).saturating_add(self.known);
        estimate.known = self.known;
        estimate.bound = estimate.bound.saturating_add(self.raised).max(estimate.tokens);
    }
}

/// The recorded total, the estimate of what is new, and the difference of the two preambles.
fn delta(prompt: &Prompt, known: Known, correction: Correction) -> Estimate {
    let Known { state, anchor, rest: (mut reply, rest), same_preamble } = known;
    let mut since = Tally::from(&state.since);
    if since == Tally::default() {
        reply.correct_thinking(anchor.output);
    }
    since += reply;
    since += rest;
    let now = prompt.preamble.1;
    let then = Tally::from(&anchor.preamble);
    let changed = difference(&now, &then);
    let (new, new_bound) = correction.apply(since.tokens(), since.upper_bound());
    let covered = Tally::from(&state.covered);
    let mut messages = covered;
    messages += since;
    // Thinking that the bill held is dropped when the user speaks again. The bound keeps it.
    let dropped = messages.passed.saturating_sub(covered.passed);
    let is_repeated = since == Tally::default();
    let left_out = if is_repeated { 0 } else { tools_left_out(&anchor, &covered, &then) };
    let total = i64::from(anchor.known.saturating_add(left_out)) + changed.0 + i64::from(new)
        - i64::from(dropped);
    let tokens = total.clamp(1, i64::from(u32::MAX)) as u32;
    let bound = i64::from(anchor.bound) + changed.1 + i64::from(new_bound);
    let mut counted = messages;
    counted += now;
    let is_exact = anchor.exact && same_preamble && is_repeated;
    // A bill may have left out what the next one holds: a tool prompt that comes with the first
    // call, say. So the bound is never below the rules' own estimate of the whole.
    let floor = if is_exact { tokens } else { tokens.max(counted.tokens()) };
    Estimate {
        source: if is_exact { Source::Exact } else { Source::Delta },
        tokens,
        bound: bound.clamp(i64::from(floor), i64::from(u32::MAX)) as u32,
        known: anchor.known.min(tokens),
        new_messages: prompt.message_count().saturating_sub(anchor.messages),
        counted,
        state: State {
            messages: prompt.message_count(),
            preamble: now.into(),
            since: since.into(),
            // Under another preamble the bill isn't that prompt's own, also when it is asked again.
            anchor: Some(Anchor { exact: anchor.exact && same_preamble, ..anchor }),
            ..state
        },
    }
}

/// What the bill lacks of the estimate, if that is the tools: some first turns are billed without
/// them, and the turns after a call are not.
fn tools_left_out(anchor: &Anchor, covered: &Tally, preamble: &Tally) -> u32 {
    const NEAR: u32 = 4;
    let tools = preamble.of(Kind::Tools);
    let rest = covered.tokens().saturating_add(preamble.tokens()).saturating_sub(tools);
    let lacks_tools = tools > 2 * NEAR && anchor.known.abs_diff(rest) <= NEAR;
    if lacks_tools { rest.saturating_add(tools).saturating_sub(anchor.known) } else { 0 }
}

/// How much more the preamble costs now than then: the estimate and its bound, by kind, so that
/// what didn't change adds no slack.
fn difference(now: &Tally, then: &Tally) -> (i64, i64) {
    let kinds = Kind::ALL.into_iter().filter(|kind| {
        now.of(*kind) != then.of(*kind) || now.bound_of(*kind) != then.bound_of(*kind)
    });
    kinds.fold((0, 0), |(tokens, bound), kind| {
        let before = i64::from(then.of(kind));
        (tokens + i64::from(now.of(kind)) - before, bound + i64::from(now.bound_of(kind)) - before)
    })
}

/// The rules' estimate, corrected by what was learned.
pub(super) fn counted(prompt: &Prompt, correction: Correction) -> Estimate {
    let preamble = prompt.preamble.1;
    let mut since =
        prompt.base.as_ref().map_or_else(Tally::default, |(_, state)| Tally::from(&state.since));
    since += prompt.sent();
    let mut counted = preamble;
    counted += since;
    let (tokens, bound) = correction.apply(counted.tokens(), counted.upper_bound());
    let by_characters = prompt.profile.vocabulary.name() == Characters::NAME;
    Estimate {
        source: if by_characters { Source::Characters } else { Source::Estimated },
        tokens: tokens.max(1),
        bound: bound.max(1),
        known: 0,
        new_messages: prompt.message_count(),
        counted,
        state: State {
            profile: prompt.profile.name.clone(),
            format: prompt.format as i32,
            messages: prompt.message_count(),
            preamble: preamble.into(),
            since: since.into(),
            covered: Tally::default().into(),
            anchor: None,
        },
    }
}
