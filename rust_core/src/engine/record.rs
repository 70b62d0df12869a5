//! `RecordActual`: what a bill teaches about a prefix, its messages and its profile.

use super::ladder::{Estimate, counted};
use super::learning::Correction;
use super::prompt::Prompt;
use super::state::{Anchor, PrefixKey, Share, State, encode};
use super::{Call, Engine};
use crate::conversation::digest::Digest;
use crate::conversation::{Format, Message, provider, typed};
use crate::profile::ReplyCost;
use crate::rules::{Context, Kind, Tally};
use crate::status::Status;
use crate::store::KeyValue;
use crate::usage::Bill;
use crate::wire;

/// A bill with the prompt that it is for.
pub struct Record<'a> {
    /// The prompt.
    pub prompt: &'a Prompt,
    /// The chain keys of its prefixes.
    pub chain: &'a [Digest],
    /// What was estimated just before.
    pub estimate: &'a Estimate,
    /// What the provider billed.
    pub bill: Bill,
    /// The reply's messages with their tallies; empty if none was given.
    pub reply: Vec<(Digest, Tally)>,
}

impl Record<'_> {
    /// Everything to write, and the prefix key of the next turn.
    pub fn records(&self, learned: Option<Vec<u8>>) -> (Vec<KeyValue>, PrefixKey) {
        let keys = &self.prompt.keys;
        let chain = self.chain.last().copied().unwrap_or_else(|| self.prompt.digester.root());
        let mut key = PrefixKey { chain, preamble: self.prompt.preamble.0 };
        let prompt = self.billed_state();
        let mut records = vec![(keys.state(&key), encode(&prompt))];
        if !self.reply.is_empty() {
            for (digest, _) in &self.reply {
                key.chain = self.prompt.digester.extend(&key.chain, digest);
            }
            records.push((keys.state(&key), encode(&self.replied_state(prompt))));
        }
        records.extend(self.shares());
        records.extend(learned.map(|value| (keys.learned(&self.prompt.digester.root()), value)));
        (records, key)
    }

    /// The prompt, known by its bill.
    fn billed_state(&self) -> State {
        let state = &self.estimate.state;
        let mut covered = Tally::from(&state.covered);
        covered += Tally::from(&state.since);
        let margin = self.prompt.profile.margins.recorded;
        State {
            since: Tally::default().into(),
            covered: covered.into(),
            anchor: Some(Anchor {
                known: self.bill.input,
                bound: (f64::from(self.bill.input) * (1.0 + margin)).ceil() as u32,
                messages: state.messages,
                preamble: state.preamble.clone(),
                exact: true,
            }),
            ..state.clone()
        }
    }

    /// The prompt and the reply, known by input and output.
    fn replied_state(&self, prompt: State) -> State {
        let mut reply = Tally::default();
        for (_, tally) in &self.reply {
            reply += *tally;
        }
        let (tokens, bound) = self.reply_cost(&reply);
        let messages = prompt.messages + self.reply.len() as u32;
        let mut covered = Tally::from(&prompt.covered);
        covered += reply;
        let anchor = prompt.anchor.map(|anchor| Anchor {
            known: anchor.known.saturating_add(tokens),
            bound: anchor.bound.saturating_add(bound),
            messages,
            exact: false,
            ..anchor
        });
        State { messages, covered: covered.into(), anchor, ..prompt }
    }

    /// What the reply costs as input on the next turn, and at most: the billed output is the
    /// provider's own count of it, to which only the message's frame is added.
    fn reply_cost(&self, reply: &Tally) -> (u32, u32) {
        let output = self.bill.visible_output();
        let framed = output.saturating_add(reply.of(Kind::Overhead));
        let billed = self.prompt.profile.reply == ReplyCost::Billed && output > 0;
        let tokens = if billed { framed } else { reply.tokens() };
        let known_output = if output > 0 { framed } else { 0 };
        (tokens, tokens.max(known_output).max(reply.upper_bound()))
    }

    /// Each message's share of what the bill says beyond the known prefix.
    fn shares(&self) -> Vec<KeyValue> {
        let counted = self.estimate.counted.tokens().max(1);
        let ratio = f64::from(self.bill.input) / f64::from(counted);
        let after = self.prompt.messages.len().saturating_sub(self.estimate.new_messages as usize);
        let new = self.prompt.messages.iter().skip(after);
        new.map(|(digest, tally)| {
            let tokens = (f64::from(tally.tokens()) * ratio).round() as u32;
            (self.prompt.keys.share(digest), encode(&Share { tokens }))
        })
        .collect()
    }
}

impl Engine {
    /// Reads and counts the reply's messages.
    pub(super) fn reply(
        &self,
        reply: Option<wire::Reply>,
        prompt: &Prompt,
        call: &Call<'_>,
    ) -> Result<Vec<(Digest, Tally)>, Status> {
        let checkpoint = || call.checkpoint();
        let context =
            Context { profile: &prompt.profile, format: prompt.format, checkpoint: &checkpoint };
        let messages = read_reply(reply, prompt.format).map_err(|error| error.inside("reply"))?;
        let counted = messages.iter().map(|message| {
            let digest = prompt.digester.message(message);
            let count = || prompt.profile.rules.message(message, &context);
            Ok((digest, self.counted(digest, count)?))
        });
        counted.collect()
    }

    /// What the bill teaches about the profile: nothing if it was recorded before, or if the
    /// estimate rested on another bill.
    pub(super) fn learn(&self, prompt: &Prompt, bill: &Bill) -> Option<Vec<u8>> {
        if prompt.base.is_some() {
            return None;
        }
        let mut learned = self.learned(prompt);
        let plain = counted(prompt, Correction::NONE).tokens;
        learned.observe(f64::from(bill.input) / f64::from(plain.max(1)));
        Some(encode(&learned))
    }
}

fn read_reply(reply: Option<wire::Reply>, format: Format) -> Result<Vec<Message>, Status> {
    match reply.map(|reply| reply.content) {
        None => Ok(Vec::new()),
        Some(None) => Err(Status::missing("content", "required: `message` or `json`")),
        Some(Some(wire::reply::Content::Message(message))) => {
            Ok(typed::in_format(typed::message(message).map_err(|e| e.inside("message"))?, format))
        }
        Some(Some(wire::reply::Content::Json(json))) => provider::reply(format, &json),
    }
}
