//! The engine: one function for each RPC, bytes in, bytes or a status out.
//!
//! decode → resolve the profile → digest → look up → count → compose → encode

mod answer;
mod call;
mod ladder;
mod learning;
mod prompt;
mod record;
mod state;

use std::sync::Arc;

use prost::Message;
use quick_cache::sync::Cache;

pub use call::Call;

use crate::conversation::digest::Digest;
use crate::conversation::json;
use crate::metrics::{Metrics, Snapshot, reading};
use crate::profile::Profiles;
use crate::rules::Tally;
use crate::status::{Code, Status};
use crate::store::{Store, StoreError};
use crate::usage::Bill;
use crate::wire::{self, ErrorReason};
use ladder::Estimate;
use learning::Correction;
use prompt::Prompt;
use record::Record;
use state::{PrefixKey, encode};

/// Bytes that one remembered count takes, with the cache's own bookkeeping.
const COUNT_BYTES: usize = 160;

/// Counts, estimates and remembers.
pub struct Engine {
    secret: [u8; 32],
    profiles: Profiles,
    store: Arc<dyn Store>,
    counts: Cache<Digest, Tally>,
    metrics: Metrics,
}

impl Engine {
    /// An engine over a store. `secret` keys every digest; `cache_bytes` bounds the counts that
    /// are kept in memory.
    #[must_use]
    pub fn new(
        secret: [u8; 32],
        profiles: Profiles,
        store: Arc<dyn Store>,
        cache_bytes: usize,
    ) -> Self {
        let counts = Cache::new((cache_bytes / COUNT_BYTES).max(1));
        Self { secret, profiles, store, counts, metrics: Metrics::default() }
    }

    /// Answers a `CountMessagesRequest`.
    pub fn count_messages(&self, request: &[u8], call: &Call<'_>) -> Result<Vec<u8>, Status> {
        self.run("tokencount.v1.TokenCounterService/CountMessages", request, || {
            let request = decode::<wire::CountMessagesRequest>(request)?;
            let count =
                self.count_prompt(prompt::of_count(request.prompt), request.per_message, call)?;
            Ok(wire::CountMessagesResponse { count: Some(count) }.encode_to_vec())
        })
    }

    /// Answers an `EstimateConversationRequest`.
    pub fn estimate_conversation(
        &self,
        request: &[u8],
        call: &Call<'_>,
    ) -> Result<Vec<u8>, Status> {
        self.run("tokencount.v1.TokenCounterService/EstimateConversation", request, || {
            let request = decode::<wire::EstimateConversationRequest>(request)?;
            let form = prompt::of_estimate(request.prompt);
            let prompt = self.prompt(form, &request.base, call)?;
            let chain = prompt.chain();
            let estimate = self.estimate(&prompt, &chain);
            let key = self.remember(&prompt, &chain, &estimate);
            self.observe(&prompt, &estimate);
            let mut count = answer::count(prompt, &estimate, request.per_message);
            count.prefix_key = key.to_bytes().into();
            Ok(wire::EstimateConversationResponse { count: Some(count) }.encode_to_vec())
        })
    }

    /// Answers a `RecordActualRequest` when the record is on disk.
    pub fn record_actual(&self, request: &[u8], call: &Call<'_>) -> Result<Vec<u8>, Status> {
        self.run("tokencount.v1.TokenCounterService/RecordActual", request, || {
            let request = decode::<wire::RecordActualRequest>(request)?;
            Ok(self.record(request, call)?.encode_to_vec())
        })
    }

    /// The profile table.
    #[must_use]
    pub const fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// What happened since the start.
    #[must_use]
    pub fn metrics(&self) -> Vec<Snapshot> {
        let mut metrics = self.metrics.snapshot();
        metrics.extend(self.tolerate(self.store.stats()).iter().flat_map(store_metrics));
        let (hits, misses) = (self.counts.hits(), self.counts.misses());
        let cache =
            ("tokencount.cache.lookups", "Look-ups of counted messages", "{lookup}", "counter");
        let outcome = "tokencount.outcome";
        metrics
            .push(reading(cache, &[(&[(outcome, "hit")], hits), (&[(outcome, "miss")], misses)]));
        let size = ("tokencount.cache.size", "Memory of counted messages", "By", "gauge");
        metrics.push(reading(size, &[(&[], (self.counts.len() * COUNT_BYTES) as u64)]));
        metrics
    }

    /// Returns when everything accepted is on disk.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.store.flush()
    }

    fn run(
        &self,
        method: &str,
        request: &[u8],
        body: impl FnOnce() -> Result<Vec<u8>, Status>,
    ) -> Result<Vec<u8>, Status> {
        call::run(&self.metrics, method, request, body)
    }

    /// Counts a complete prompt without looking at what is remembered of it.
    pub(crate) fn count_prompt(
        &self,
        form: prompt::Form,
        per_message: bool,
        call: &Call<'_>,
    ) -> Result<wire::Count, Status> {
        let prompt = self.prompt(form, &[], call)?;
        let estimate = ladder::counted(&prompt, Correction::NONE);
        self.observe(&prompt, &estimate);
        Ok(answer::count(prompt, &estimate, per_message))
    }

    /// Keeps the prompt's estimate, so that the next turn can name it as its base. That is soft
    /// state: the answer doesn't wait for the disk.
    fn remember(&self, prompt: &Prompt, chain: &[Digest], estimate: &Estimate) -> PrefixKey {
        let key = prompt_key(prompt, chain);
        // An exact state is there already, and rewriting it would only age the others.
        if estimate.source != wire::Source::Exact {
            let record = (prompt.keys.state(&key), encode(&estimate.state));
            self.tolerate(self.store.put(vec![record]));
        }
        key
    }

    /// A stored value. When the store fails, counting goes on without it.
    fn recall(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.tolerate(self.store.get(key)).flatten()
    }

    /// The newest stored value whose key starts with `prefix`.
    fn recall_newest(&self, prefix: &[u8]) -> Option<Vec<u8>> {
        self.tolerate(self.store.newest(prefix)).flatten().map(|(_, value)| value)
    }

    fn tolerate<T>(&self, result: Result<T, StoreError>) -> Option<T> {
        result.inspect_err(|_| self.metrics.store_failures.add(&[], 1.0)).ok()
    }

    fn observe(&self, prompt: &Prompt, estimate: &Estimate) {
        let source = estimate.source.as_str_name().trim_start_matches("SOURCE_").to_lowercase();
        self.metrics.answers.add(&[&source, &prompt.profile.family], 1.0);
        self.metrics.tokens.add(&["known"], f64::from(estimate.known));
        self.metrics.tokens.add(&["estimated"], f64::from(estimate.tokens - estimate.known));
    }

    fn record(
        &self,
        request: wire::RecordActualRequest,
        call: &Call<'_>,
    ) -> Result<wire::RecordActualResponse, Status> {
        let succeeded = succeeded(request.status)?;
        let bill = bill(request.bill, succeeded)?;
        let prompt = self.prompt(prompt::of_record(request.prompt), &request.base, call)?;
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
}

fn prompt_key(prompt: &Prompt, chain: &[Digest]) -> PrefixKey {
    let chain = chain.last().copied().unwrap_or_else(|| prompt.digester.root());
    PrefixKey { chain, preamble: prompt.preamble.0 }
}

fn decode<T: Message + Default>(request: &[u8]) -> Result<T, Status> {
    T::decode(bytes::Bytes::copy_from_slice(request)).map_err(|error| {
        let message = format!("the bytes are not this call's message: {error}");
        Status::new(Code::InvalidArgument, ErrorReason::MalformedRequest, message)
    })
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

fn store_metrics(stats: &crate::store::Stats) -> Vec<Snapshot> {
    let removed = [("age", stats.expired), ("size", stats.evicted), ("backlog", stats.dropped)];
    let removed = removed.map(|(reason, count)| ([("tokencount.reason", reason)], count));
    let removed: Vec<_> = removed.iter().map(|(reason, count)| (&reason[..], *count)).collect();
    vec![
        reading(
            ("tokencount.store.commits", "Commits of the store", "{commit}", "counter"),
            &[(&[], stats.commits)],
        ),
        reading(("tokencount.store.evictions", "Records removed", "{entry}", "counter"), &removed),
        reading(
            ("tokencount.store.entries", "Records in the store", "{entry}", "gauge"),
            &[(&[], stats.entries)],
        ),
        reading(
            ("tokencount.store.size", "Bytes of the store", "By", "gauge"),
            &[(&[], stats.used_bytes)],
        ),
    ]
}
