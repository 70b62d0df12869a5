//! `RecordActual`: what a bill teaches about a prefix, its messages and its profile.

use super::form;
use super::ladder::{Estimate, counted};
use super::learning::Correction;
use super::prompt::Prompt;
use super::recognise::Needs;
use super::state::{Anchor, PrefixKey, Share, State, encode};
use super::{Call, Engine, prompt_key};
use crate::conversation::digest::Digest;
use crate::conversation::{Format, Message, json, mark_thinking, provider, typed};
use crate::profile::ReplyCost;
use crate::rules::{Context, Kind, Tally};
use crate::status::{Code, Status};
use crate::store::{KeyValue, StoreError};
use crate::usage::Bill;
use crate::wire::{self, ErrorReason};

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
        let mut records = vec![(keys.recorded(&key), encode(&prompt))];
        if !self.reply.is_empty() {
            for (digest, _) in &self.reply {
                key.chain = self.prompt.digester.extend(&key.chain, digest);
            }
            records.push((keys.recorded(&key), encode(&self.replied_state(prompt))));
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
        let estimate = i64::from(self.estimate.tokens);
        covered.settle_thinking(i64::from(self.bill.input) - estimate);
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
                output: self.bill.output,
            }),
            ..state.clone()
        }
    }

    /// The prompt and the reply, known by input and output.
    fn replied_state(&self, prompt: State) -> State {
        let mut reply: Tally = self.reply.iter().map(|(_, tally)| *tally).sum();
        reply.correct_thinking(self.bill.output);
        let (tokens, bound) = self.reply_cost(&reply);
        let messages = prompt.messages + self.reply.len() as u32;
        let mut covered = Tally::from(&prompt.covered);
        covered += reply;
        let anchor = prompt.anchor.map(|anchor| Anchor {
            known: anchor.known.saturating_add(tokens),
            bound: anchor.bound.saturating_add(bound),
            messages,
            exact: false,
            output: 0,
            ..anchor
        });
        State { messages, covered: covered.into(), anchor, ..prompt }
    }

    /// What the reply costs as input on the next turn, and at most: the billed output is the
    /// provider's own count of it, to which only the message's frame is added.
    fn reply_cost(&self, reply: &Tally) -> (u32, u32) {
        let output = self.bill.visible_output();
        let framed = output.saturating_add(reply.of(Kind::Overhead));
        // The output's thinking is not what the next prompt holds of it.
        let thinks = reply.bound_of(Kind::Reasoning) > 0;
        let billed = self.prompt.profile.reply == ReplyCost::Billed && output > 0 && !thinks;
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
    /// Takes in a bill; the answer is ready when it is on disk.
    pub(super) fn record(
        &self,
        request: wire::RecordActualRequest,
        call: &Call<'_>,
    ) -> Result<wire::RecordActualResponse, Status> {
        let succeeded = succeeded(request.status)?;
        let bill = bill(request.bill, succeeded)?;
        let form = form::of_record(request.prompt);
        let prompt = self.prompt(form, &request.base, Needs::Digests, call)?;
        let reply = self.reply(request.reply, &prompt, call)?;
        let chain = prompt.chain();
        let estimate = self.estimate(&prompt, &chain);
        let mut response = wire::RecordActualResponse {
            estimated_tokens: estimate.tokens,
            prefix_key: prompt_key(&prompt, &chain).to_bytes().into(),
            warnings: prompt.warnings.clone(),
            within_bound: true,
            ..wire::RecordActualResponse::default()
        };
        let Some(bill) = bill else {
            self.remember(&prompt, &chain, &estimate);
            self.metrics.records.add(&["failed"], 1.0);
            return Ok(response);
        };
        self.compare(&mut response, &bill, &estimate, &prompt.profile.family);
        if let Err(why) = bill.plausible(estimate.tokens, estimate.bound) {
            self.remember(&prompt, &chain, &estimate);
            self.metrics.records.add(&["implausible"], 1.0);
            response.warnings.push(implausible(why));
            return Ok(response);
        }
        self.keep(&prompt, &chain, &estimate, bill, reply, &mut response)?;
        Ok(response)
    }

    /// Says how good the estimate was.
    fn compare(
        &self,
        response: &mut wire::RecordActualResponse,
        bill: &Bill,
        estimate: &Estimate,
        family: &str,
    ) {
        let billed = f64::from(bill.input);
        response.billed_tokens = bill.input;
        response.error = (f64::from(estimate.tokens) - billed) / billed;
        response.within_bound = bill.input <= estimate.bound;
        self.metrics.error.add(&[family], response.error);
        if !response.within_bound {
            self.metrics.underestimates.add(&[family], 1.0);
        }
    }

    /// Writes what the bill teaches, and waits for the commit.
    fn keep(
        &self,
        prompt: &Prompt,
        chain: &[Digest],
        estimate: &Estimate,
        bill: Bill,
        reply: Vec<(Digest, Tally)>,
        response: &mut wire::RecordActualResponse,
    ) -> Result<(), Status> {
        let is_repeated = estimate.source == wire::Source::Exact && estimate.tokens == bill.input;
        let learned = if is_repeated { None } else { self.learn(prompt, &bill) };
        let record = Record { prompt, chain, estimate, bill, reply };
        let (records, key) = record.records(learned);
        self.store.put_durable(records).map_err(|error| store_failed(&error))?;
        self.metrics.records.add(&["learned"], 1.0);
        response.learned = true;
        response.prefix_key = key.to_bytes().into();
        Ok(())
    }

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
        let mut messages =
            read_reply(reply, prompt.format).map_err(|error| error.inside("reply"))?;
        mark_thinking(&mut messages);
        self.tallies(&messages, &prompt.digester, Needs::Digests, &context)
    }

    /// What the bill teaches about the profile: nothing if it was recorded before, or if the
    /// estimate rested on another bill.
    pub(super) fn learn(&self, prompt: &Prompt, bill: &Bill) -> Option<Vec<u8>> {
        if prompt.base.is_some() {
            return None;
        }
        let mut learned = self.learned(prompt);
        let counted = counted(prompt, Correction::NONE);
        let plain = counted.tokens.saturating_sub(counted.counted.passed).max(1);
        learned.observe(f64::from(bill.input) / f64::from(plain));
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

fn succeeded(status: i32) -> Result<bool, Status> {
    match wire::Status::try_from(status) {
        Ok(wire::Status::Succeeded) => Ok(true),
        Ok(wire::Status::Failed) => Ok(false),
        Ok(wire::Status::Unspecified) => {
            Err(Status::missing("status", "required: STATUS_SUCCEEDED or STATUS_FAILED"))
        }
        Err(_) => Err(Status::invalid("status", "is not a known status")),
    }
}

/// The bill of a successful call; nothing is read from a failed one.
fn bill(
    bill: Option<wire::record_actual_request::Bill>,
    succeeded: bool,
) -> Result<Option<Bill>, Status> {
    use wire::record_actual_request::Bill::{Usage, UsageJson};
    match bill {
        _ if !succeeded => Ok(None),
        Some(Usage(usage)) => {
            Bill::from_usage(&usage).map(Some).map_err(|error| error.inside("usage"))
        }
        Some(UsageJson(text)) => json::parse("usage_json", &text)
            .and_then(|json| Bill::from_json(&json).map_err(|error| error.inside("usage_json")))
            .map(Some),
        None => {
            let message = "required with STATUS_SUCCEEDED: `usage` or `usage_json`";
            Err(Status::in_field(ErrorReason::InvalidUsage, "usage", message))
        }
    }
}

fn implausible(why: &str) -> wire::Warning {
    let message = format!("the bill was kept apart and nothing was learned from it: {why}");
    wire::Warning { code: "implausible_bill".into(), message, field: String::new() }
}

/// UNAVAILABLE: the store failed. Counting without it goes on.
fn store_failed(error: &StoreError) -> Status {
    let message = format!("the store can't be used: {error}");
    Status::new(Code::Unavailable, ErrorReason::StoreUnavailable, message)
}
