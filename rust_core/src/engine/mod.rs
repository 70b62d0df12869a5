//! The engine: one function for each RPC, bytes in, bytes or a status out.
//!
//! decode → resolve the profile → digest → look up → count → compose → encode

mod answer;
mod call;
mod ladder;
mod learning;
mod observe;
mod prompt;
mod record;
mod state;

use std::sync::Arc;

use prost::Message;
use quick_cache::sync::Cache;

pub use call::Call;

use crate::conversation::digest::Digest;
use crate::metrics::Metrics;
use crate::profile::Profiles;
use crate::rules::Tally;
use crate::status::{Code, Status};
use crate::store::{Store, StoreError};
use crate::wire::{self, ErrorReason};
use ladder::Estimate;
use learning::Correction;
use prompt::Prompt;
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
        // An exact one is there already.
        if estimate.source != wire::Source::Exact {
            let record = (prompt.keys.estimated(&key), encode(&estimate.state));
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
