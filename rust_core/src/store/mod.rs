//! What the engine remembers: small records under digests, for a while, within a bound.
//!
//! A store holds soft state. What is lost is learned again; what was acknowledged by
//! [`Store::put_durable`] is not lost unless its time is up or its place is needed.

use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

mod disk;
mod lmdb;
mod memory;
mod writer;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod disk_tests;
#[cfg(test)]
mod quota_tests;

pub use disk::DiskStore;
pub use memory::MemoryStore;

/// How many bytes an owner has.
pub const OWNER: usize = 16;
/// The longest key, in bytes. The shortest is an owner alone.
pub const MAX_KEY: usize = 64;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = 4096;
/// How many stored records [`Store::newest`] looks at, in the order of their keys.
pub const NEWEST_SCAN: usize = 256;

/// Whose a record is: the first bytes of its key, opaque to the store.
///
/// In the key rather than beside it, so that no two owners can write one record, and none needs
/// more room to say whose it is.
pub type Owner = [u8; OWNER];

/// A key and its value.
pub type KeyValue = (Vec<u8>, Vec<u8>);

/// The time since the Unix epoch: the system's in service, a test's own in tests.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Records by key, bounded in age and in size, each owner's and all; used from many threads.
///
/// Writing a key again replaces its value and makes it the newest record. A record expires when
/// its time to live has passed since it was last *written*: reading doesn't refresh it, since that
/// would turn every lookup into a write, and a conversation that goes on is written every turn.
pub trait Store: Send + Sync {
    /// The value under `key`, unless expired. Sees every accepted write, committed or not.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// The most recently written record whose key starts with `prefix`, unless expired.
    ///
    /// Only the first [`NEWEST_SCAN`] stored keys with that prefix are looked at, so a prefix
    /// with more of them may answer with an older one.
    fn newest(&self, prefix: &[u8]) -> Result<Option<KeyValue>, StoreError>;

    /// Accepts records: visible at once, durable within about 50 ms, never waiting for the disk.
    /// One call's records that all wait to be written, with the same values, are not written anew.
    ///
    /// While the disk is behind, records are dropped and counted in [`Stats::dropped`].
    fn put(&self, records: Vec<KeyValue>) -> Result<(), StoreError>;

    /// Writes records and returns once they, all together, are where a crash can't lose them.
    fn put_durable(&self, records: Vec<KeyValue>) -> Result<(), StoreError>;

    /// Returns once everything that was accepted is durable.
    fn flush(&self) -> Result<(), StoreError>;

    /// Sizes and totals since the store was opened.
    fn stats(&self) -> Result<Stats, StoreError>;
}

/// How much is kept and for how long.
#[derive(Clone)]
pub struct StoreOptions {
    /// Bytes of memory, or of the data file, that the store may use. The oldest-written records
    /// make room for new ones.
    pub max_bytes: u64,
    /// How much of `max_bytes` may be one owner's; `None` for all of it. Above that, the owner's
    /// oldest-written records make room, up to twice as many bytes as it just wrote: an owner
    /// above a quota that was lowered comes down as it writes.
    pub owner_bytes: Option<u64>,
    /// How long a record lives after it was last written.
    pub ttl: Duration,
    /// What tells the time.
    pub clock: Clock,
}

impl StoreOptions {
    /// Options with the system's clock, without a quota.
    #[must_use]
    pub fn new(max_bytes: u64, ttl: Duration) -> Self {
        Self { max_bytes, owner_bytes: None, ttl, clock: Arc::new(system_time) }
    }

    /// The current time in microseconds since the Unix epoch.
    fn now(&self) -> u64 {
        micros((self.clock)())
    }

    /// Records stamped at or before this are expired.
    fn horizon(&self) -> u64 {
        self.now().saturating_sub(micros(self.ttl))
    }

    /// The stamp of the next write: the time in microseconds, but always above the last stamp, so
    /// that stamps also order writes when the clock stands still or goes back.
    fn next_stamp(&self, last: u64) -> u64 {
        self.now().max(last.saturating_add(1))
    }
}

fn system_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Sizes, and totals since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records in the store; those that wait to be committed are not counted yet.
    pub entries: u64,
    /// Owners of at least one of them.
    pub owners: u64,
    /// Estimated bytes that they take.
    pub used_bytes: u64,
    /// Bytes that `used_bytes` is held to.
    pub capacity_bytes: u64,
    /// Size of the memory map, which the data file can't exceed; 0 without one.
    pub map_bytes: u64,
    /// Commits.
    pub commits: u64,
    /// Records written.
    pub written: u64,
    /// Records that made room for newer ones, because the store was full.
    pub evicted: u64,
    /// Records that made room for newer ones of their owner, which was above its quota.
    pub over_quota: u64,
    /// Records swept because their time was up.
    pub expired: u64,
    /// Accepted records that were never written: the disk was behind, or it failed.
    pub dropped: u64,
}

impl Stats {
    /// Adds what another count of the same store has done; sizes stay.
    fn add_totals(&mut self, other: &Self) {
        self.commits += other.commits;
        self.written += other.written;
        self.evicted += other.evicted;
        self.over_quota += other.over_quota;
        self.expired += other.expired;
        self.dropped += other.dropped;
    }
}

/// Why a store can't do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A key of this many bytes.
    KeySize(usize),
    /// A value of this many bytes.
    ValueSize(usize),
    /// The directory can't be created, written or read as a store.
    Directory {
        /// The store's directory.
        directory: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// Another process, or another store in this one, has the directory open.
    InUse {
        /// The store's directory.
        directory: PathBuf,
    },
    /// Another version of the program wrote the directory.
    Format {
        /// The store's directory.
        directory: PathBuf,
        /// The format found there.
        found: u32,
        /// The format that this program reads and writes.
        expected: u32,
    },
    /// A read or a write failed: the disk is full or broken.
    Failed(String),
    /// The store's writer has ended.
    Closed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeySize(size) => {
                write!(out, "a key of {size} bytes, not {OWNER} to {MAX_KEY}")
            }
            Self::ValueSize(size) => write!(out, "a value of {size} bytes, more than {MAX_VALUE}"),
            Self::Directory { directory, cause } => write!(
                out,
                "the store directory {} can't be used: {cause}; give one that this user can write",
                directory.display()
            ),
            Self::InUse { directory } => write!(
                out,
                "the store directory {} is in use by another process; stop it, or give each \
                 process a directory of its own",
                directory.display()
            ),
            Self::Format { directory, found, expected } => write!(
                out,
                "the store directory {} has format {found}, this version needs {expected}; \
                 delete the directory (its content is learned again) or give another one",
                directory.display()
            ),
            Self::Failed(cause) => write!(out, "the store failed: {cause}"),
            Self::Closed => out.write_str("the store is closed"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Refuses records whose key or value has a size that no store takes.
fn check_sizes(records: &[KeyValue]) -> Result<(), StoreError> {
    for (key, value) in records {
        if key.len() < OWNER || key.len() > MAX_KEY {
            return Err(StoreError::KeySize(key.len()));
        }
        if value.len() > MAX_VALUE {
            return Err(StoreError::ValueSize(value.len()));
        }
    }
    Ok(())
}

/// Whose the record under `key` is. Shorter keys are never written.
fn owner_of(key: &[u8]) -> Owner {
    key.first_chunk().copied().unwrap_or_default()
}

/// What a record is counted as, in bytes.
///
/// In LMDB, pages with random keys are about two thirds full, a value above 2 KiB takes whole
/// pages, and the indexes hold the key again, and its stamp twice; with keys of 48 bytes that came
/// out below this figure (`eviction_keeps_the_file_below_its_cap`), but an owner of a single record
/// takes 100 bytes more. In memory, a record took 300 bytes beside its key and value: more than
/// this counts where the value is small.
const fn weight(key: usize, value: usize) -> u64 {
    (2 * (key + value) + 96) as u64
}
