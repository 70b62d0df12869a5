//! What the store remembers of a prefix, a message and a tenant's bills, and under which keys.

use crate::conversation::digest::Digest;
use crate::rules::{Kind, Tally};
use crate::store::Owner;

/// A conversation up to some message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct State {
    /// Name of the profile that counted it.
    #[prost(string, tag = "1")]
    pub profile: String,
    /// The interface, a number of `wire::Format`.
    #[prost(int32, tag = "2")]
    pub format: i32,
    /// How many messages the prefix has.
    #[prost(uint32, tag = "3")]
    pub messages: u32,
    /// The estimate of everything before the messages.
    #[prost(message, required, tag = "4")]
    pub preamble: Counts,
    /// The estimate of the messages that no bill covers.
    #[prost(message, required, tag = "5")]
    pub since: Counts,
    /// The estimate of the messages that the anchor's bill covers.
    #[prost(message, required, tag = "6")]
    pub covered: Counts,
    /// The longest prefix of this prefix with a recorded bill, if there is one.
    #[prost(message, optional, tag = "7")]
    pub anchor: Option<Anchor>,
}

impl State {
    /// Whether the last message that is no result makes several calls.
    #[must_use]
    pub fn several_calls(&self) -> Option<bool> {
        self.since.several_calls.or(self.covered.several_calls)
    }
}

/// A recorded bill.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Anchor {
    /// The billed input, and the reply's cost as input where the prefix ends with the reply.
    #[prost(uint32, tag = "1")]
    pub known: u32,
    /// What these may cost at most as part of a next prompt.
    #[prost(uint32, tag = "2")]
    pub bound: u32,
    /// How many messages they cover.
    #[prost(uint32, tag = "3")]
    pub messages: u32,
    /// The preamble's estimate when the bill was made.
    #[prost(message, required, tag = "4")]
    pub preamble: Counts,
    /// The provider billed exactly this, with no reply added.
    #[prost(bool, tag = "5")]
    pub exact: bool,
    /// The billed output, thinking included; 0 where the reply is part of `known`.
    #[prost(uint32, tag = "6")]
    pub output: u32,
}

/// A tally as it is stored.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Counts {
    /// An [`ENTRY`] for each kind that has any. Numbers in a list of prost's take three times as
    /// long, and most kinds are empty.
    #[prost(bytes = "vec", tag = "7")]
    kinds: Vec<u8>,
    #[prost(uint32, tag = "3")]
    caveats: u32,
    #[prost(bool, tag = "4")]
    opens_turn: bool,
    #[prost(uint32, tag = "5")]
    passing: u32,
    #[prost(uint32, tag = "6")]
    passed: u32,
    #[prost(bool, optional, tag = "8")]
    several_calls: Option<bool>,
}

/// Bytes of a kind's number, its tokens and their bound, little-endian.
const ENTRY: usize = 1 + 4 + 4;

impl From<Tally> for Counts {
    fn from(tally: Tally) -> Self {
        let some = Kind::ALL.into_iter().filter(|kind| tally.bound_of(*kind) > 0);
        let mut kinds = Vec::with_capacity(some.clone().count() * ENTRY);
        for kind in some {
            kinds.push(kind as u8);
            kinds.extend_from_slice(&tally.of(kind).to_le_bytes());
            kinds.extend_from_slice(&tally.bound_of(kind).to_le_bytes());
        }
        Self {
            kinds,
            caveats: tally.caveats.0,
            opens_turn: tally.opens_turn,
            passing: tally.passing,
            passed: tally.passed,
            several_calls: tally.several_calls,
        }
    }
}

impl From<&Counts> for Tally {
    fn from(counts: &Counts) -> Self {
        let mut tally = Self::default();
        let (entries, _) = counts.kinds.as_chunks::<ENTRY>();
        for [kind, t0, t1, t2, t3, b0, b1, b2, b3] in entries.iter().copied() {
            let (tokens, bound) = ([t0, t1, t2, t3], [b0, b1, b2, b3]);
            if let Some(kind) = Kind::ALL.get(usize::from(kind)) {
                tally.add(*kind, u32::from_le_bytes(tokens), u32::from_le_bytes(bound));
            }
        }
        tally.caveats.0 = counts.caveats;
        tally.opens_turn = counts.opens_turn;
        tally.passing = counts.passing;
        tally.passed = counts.passed;
        tally.several_calls = counts.several_calls;
        tally
    }
}

/// A message's share of a recorded total.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Share {
    /// Tokens of the bill that fall to the message.
    #[prost(uint32, tag = "1")]
    pub tokens: u32,
}

/// How bills compared with estimates, of one tenant and profile.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Learned {
    /// Rolling bill / estimate: 0.7 old, 0.3 new.
    #[prost(double, tag = "1")]
    pub factor: f64,
    /// The latest ratios, oldest first.
    #[prost(float, repeated, tag = "2")]
    pub ratios: Vec<f32>,
}

/// A prefix as callers name it: its chain key and its preamble's digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixKey {
    /// The chain key of the messages.
    pub chain: Digest,
    /// The digest of what stands before them.
    pub preamble: Digest,
}

impl PrefixKey {
    /// The 32 bytes that callers get.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        [self.chain, self.preamble].concat()
    }

    /// Reads what a caller sent back; `None` if it can't be a prefix key.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (chain, preamble) = bytes.split_at_checked(size_of::<Digest>())?;
        Some(Self { chain: chain.try_into().ok()?, preamble: preamble.try_into().ok()? })
    }
}

/// The store's keys: the tenant first, as their owner, so that no tenant reaches another's records
/// or its quota.
pub struct Keys {
    /// The tenant's id.
    pub tenant: Owner,
}

impl Keys {
    /// Of the state of one chain and preamble, known by its own bill.
    #[must_use]
    pub fn recorded(&self, key: &PrefixKey) -> Vec<u8> {
        [&self.tenant[..], b"p", &key.chain, &key.preamble].concat()
    }

    /// Of the state that an estimate left. Apart from the recorded ones, so that an estimate which
    /// ends after a record of the same prompt doesn't overwrite the bill.
    #[must_use]
    pub fn estimated(&self, key: &PrefixKey) -> Vec<u8> {
        [&self.tenant[..], b"e", &key.chain, &key.preamble].concat()
    }

    /// What the keys of all recorded states of one chain begin with.
    #[must_use]
    pub fn chain(&self, chain: &Digest) -> Vec<u8> {
        [&self.tenant[..], b"p", chain].concat()
    }

    /// Of a message's share.
    #[must_use]
    pub fn share(&self, message: &Digest) -> Vec<u8> {
        [&self.tenant[..], b"s", message].concat()
    }

    /// Of what was learned about a profile; `root` is the chain key of its empty prefix.
    #[must_use]
    pub fn learned(&self, root: &Digest) -> Vec<u8> {
        [&self.tenant[..], b"l", root].concat()
    }
}

/// Decodes a stored value; one that can't be read counts as absent.
#[must_use]
pub fn decode<T: prost::Message + Default>(value: Option<Vec<u8>>) -> Option<T> {
    T::decode(value?.as_slice()).ok()
}

/// Encodes a value to store.
#[must_use]
pub fn encode(value: &impl prost::Message) -> Vec<u8> {
    value.encode_to_vec()
}
