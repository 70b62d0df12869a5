//! Recognises messages by the bytes they were sent in.
//!
//! `HighwayHash` is a pseudorandom function of its key: nobody who doesn't know the key can make two
//! messages that collide. It runs at several times the speed of keyed BLAKE3 on texts of a
//! kilobyte; what is stored and what leaves the process stays under BLAKE3.

use highway::{HighwayHash, HighwayHasher, Key};
use quick_cache::sync::Cache;

use crate::conversation::digest::{Digest, Digester};
use crate::conversation::{Counted, Memo, Recognise};

/// Recognises the messages of one tenant, profile, interface and form.
pub struct Recogniser<'a> {
    sent: &'a Cache<Digest, Counted>,
    key: Key,
}

impl<'a> Recogniser<'a> {
    /// Over the messages in `sent`, for what goes under the digester's digests.
    pub fn new(sent: &'a Cache<Digest, Counted>, digester: &Digester, is_typed: bool) -> Self {
        Self { sent, key: Key(digester.derived(if is_typed { b't' } else { b'b' })) }
    }
}

impl Recognise for Recogniser<'_> {
    fn find(&self, bytes: &[u8]) -> Memo {
        let [low, high] = HighwayHasher::new(self.key).hash128(bytes);
        let key = (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
        self.sent.get(&key).map_or(Memo::New(key), Memo::Known)
    }
}
