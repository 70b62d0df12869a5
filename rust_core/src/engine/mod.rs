//! The engine: bytes in, bytes or a status out, one function for each RPC.
//!
//! decode → resolve the profile → digest → look up → count → compose → encode

mod answer;
mod call;
mod form;
mod ladder;
mod learning;
mod observe;
mod prompt;
mod recognise;
mod record;
mod remember;
mod state;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use prost::Message;
use quick_cache::sync::Cache;

pub use call::{Call, Rpc};

use crate::conversation::digest::Digest;
use crate::conversation::provider::Body;
use crate::conversation::{Counted, Format};
use crate::metrics::Metrics;
use crate::profile::Profiles;
use crate::rules::Tally;
use crate::status::{Code, Status};
use crate::store::{Store, StoreError};
use crate::wire::{self, ErrorReason};
use ladder::Estimate;
use learning::Correction;
use prompt::Prompt;
use recognise::Needs;
use state::{PrefixKey, encode};

/// Bytes that one remembered count takes, with the cache's own bookkeeping.
const COUNT_BYTES: usize = 160;

/// Counts, estimates and remembers.
pub struct Engine {
    secret: [u8; 32],
    profiles: Profiles,
    store: Arc<dyn Store>,
    /// Counts by the digest of what was counted.
    counts: Cache<Digest, Tally>,
    /// Messages and preambles by the bytes they were sent in.
    sent: Cache<Digest, Counted>,
    metrics: Metrics,
    hook: OnceLock<Hook>,
}

/// What a test has done at the start of each call's work.
pub type Hook = Box<dyn Fn(Rpc, usize) + Send + Sync>;

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
        let entries = (cache_bytes / 2 / COUNT_BYTES).max(1);
        let (counts, sent) = (Cache::new(entries), Cache::new(entries));
        Self {
            secret,
            profiles,
            store,
            counts,
            sent,
            metrics: Metrics::default(),
            hook: OnceLock::new(),
        }
    }

    /// Answers an encoded request of one of the RPCs with an encoded response or a status. One of
    /// `RecordActual` is answered when the record is on disk.
    pub fn answer(&self, rpc: Rpc, request: Bytes, call: &Call<'_>) -> Result<Vec<u8>, Status> {
        call::run(&self.metrics, rpc, request.len(), || self.carry_out(rpc, request, call))
    }

    fn carry_out(&self, rpc: Rpc, request: Bytes, call: &Call<'_>) -> Result<Vec<u8>, Status> {
        if let Some(hook) = self.hook.get() {
            hook(rpc, request.len());
        }
        match rpc {
            Rpc::CountMessages => {
                let count = self.count_messages(decode(request)?, call)?;
                Ok(wire::CountMessagesResponse { count: Some(count) }.encode_to_vec())
            }
            Rpc::CountMessagesStream => Ok(self.count_one(decode(request)?, call)?.encode_to_vec()),
            Rpc::EstimateConversation => {
                let count = self.estimate_conversation(decode(request)?, call)?;
                Ok(wire::EstimateConversationResponse { count: Some(count) }.encode_to_vec())
            }
            Rpc::RecordActual => Ok(self.record(decode(request)?, call)?.encode_to_vec()),
        }
    }

    /// Sets the hook, once. For tests: a call that hangs or panics can't be had otherwise.
    pub fn set_hook(&self, hook: Hook) {
        drop(self.hook.set(hook));
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

    fn count_messages(
        &self,
        request: wire::CountMessagesRequest,
        call: &Call<'_>,
    ) -> Result<wire::Count, Status> {
        let prompt = self.prompt(form::of_count(request.prompt), &[], Needs::Counts, call)?;
        Ok(self.count_prompt(prompt, request.per_message))
    }

    /// Answers one request of a stream. What is wrong with the request is part of the answer; what
    /// ends the stream as a whole is the error.
    fn count_one(
        &self,
        request: wire::CountMessagesStreamRequest,
        call: &Call<'_>,
    ) -> Result<wire::CountMessagesStreamResponse, Status> {
        use wire::count_messages_stream_response::Result::{Count, Error};
        let counted = request
            .count_messages
            .ok_or_else(|| Status::missing("count_messages", "required: what to count"))
            .and_then(|request| self.count_messages(request, call));
        let result = match counted {
            Ok(count) => Count(count),
            Err(status) if matches!(status.code, Code::Cancelled | Code::DeadlineExceeded) => {
                return Err(status);
            }
            Err(status) => Error(status.into()),
        };
        Ok(wire::CountMessagesStreamResponse { id: request.id, result: Some(result) })
    }

    fn estimate_conversation(
        &self,
        request: wire::EstimateConversationRequest,
        call: &Call<'_>,
    ) -> Result<wire::Count, Status> {
        let form = form::of_estimate(request.prompt);
        let prompt = self.prompt(form, &request.base, Needs::Digests, call)?;
        let chain = prompt.chain();
        let estimate = self.estimate(&prompt, &chain);
        let key = self.remember(&prompt, &chain, &estimate);
        self.observe(&prompt, &estimate);
        let mut count = answer::count(prompt, &estimate, request.per_message);
        count.prefix_key = key.to_bytes().into();
        Ok(count)
    }

    /// Counts a provider's body for the model, or the one that the body names.
    pub(crate) fn count_body(
        &self,
        format: Format,
        body: Body<'_>,
        model: &str,
    ) -> Result<wire::Count, Status> {
        let opened = form::of_body(format, body, model);
        let prompt = self.opened(opened, &[], Needs::Counts, &Call::default())?;
        Ok(self.count_prompt(prompt, false))
    }

    /// The count of a complete prompt, without looking at what is remembered of it.
    fn count_prompt(&self, prompt: Prompt, per_message: bool) -> wire::Count {
        let estimate = ladder::counted(&prompt, Correction::NONE);
        self.observe(&prompt, &estimate);
        answer::count(prompt, &estimate, per_message)
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

fn decode<T: Message + Default>(request: Bytes) -> Result<T, Status> {
    T::decode(request).map_err(|error| {
        let message = format!("the bytes are not this call's message: {error}");
        Status::new(Code::InvalidArgument, ErrorReason::MalformedRequest, message)
    })
}
