//! The tables in LMDB: what is read and written in one transaction. Nothing else names LMDB.
//!
//! `records` holds key → stamp and value; `by_time` stamp → key, for expiry and eviction; `meta`
//! the format's version and the bytes in use. A write removes its key's older entry in `by_time`
//! rather than leave it to be found stale: a key that is written every turn would fill the index.
//! Readers never wait for the writer, nor it for them.

use std::path::Path;

use heed::{
    CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, PutFlags, RoTxn, RwTxn, types::Bytes,
};

use super::{
    KeyValue, NEWEST_SCAN, Stats, StoreError, weight,
    writer::{Record, Request},
};

/// The version of the layout of tables, keys and values.
pub(super) const FORMAT: u32 = 1;
/// Reader slots: more than a process has threads that read at one time.
const MAX_READERS: u32 = 1024;
/// Expired or evicted records that one commit removes beyond twice those that it writes.
const SWEEP: usize = 1024;
/// How often a batch that finds the map full is tried again after making room.
const MAP_FULL_RETRIES: usize = 8;
const FORMAT_KEY: &[u8] = b"format";
const BYTES_KEY: &[u8] = b"bytes";
const STAMP: usize = size_of::<u64>();

/// The sizes and the format of an environment; tests vary them one by one.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub format: u32,
    pub map_bytes: usize,
    /// What the sum of the records' weights is held to.
    pub live_bytes: u64,
    pub batch_bytes: usize,
}

impl Layout {
    /// Half of the map for live data: the rest is for the pages that a commit writes anew while
    /// the last two states stay readable. A batch may touch a page of 4 KiB for each of its
    /// records, hence its small part of the map.
    pub fn of(max_bytes: u64) -> Self {
        let map = usize::try_from(max_bytes).unwrap_or(usize::MAX).max(16 << 20);
        let map_bytes = map & !0xffff; // a multiple of every page size in use
        let batch_bytes = (map_bytes / 256).min(4 << 20);
        Self { format: FORMAT, map_bytes, live_bytes: map_bytes as u64 / 2, batch_bytes }
    }
}

type Table = Database<'static, Bytes, Bytes>;

/// An open environment.
pub(super) struct Tables {
    env: Env,
    records: Table,
    by_time: Table,
    meta: Table,
    layout: Layout,
}

/// What a transaction has done so far, and the bytes in use after it.
struct Progress {
    done: Stats,
    bytes: u64,
}

impl Progress {
    /// Saturating: a damaged file must not become a panic.
    fn remove(&mut self, weight: u64) {
        self.bytes = self.bytes.saturating_sub(weight);
    }
}

impl Tables {
    /// Opens or creates the environment; with it comes the highest stamp in it.
    pub fn open(directory: &Path, layout: Layout) -> Result<(Self, u64), StoreError> {
        let opened = Self::open_env(directory, layout).map_err(|e| StoreError::Directory {
            directory: directory.into(),
            cause: e.to_string(),
        })?;
        let expected = layout.format;
        opened.map_err(|found| StoreError::Format { directory: directory.into(), found, expected })
    }

    /// The tables and their highest stamp, or the unexpected format of what is there.
    fn open_env(directory: &Path, layout: Layout) -> heed::Result<Result<(Self, u64), u32>> {
        let mut options = EnvOpenOptions::new();
        options.map_size(layout.map_bytes).max_dbs(3).max_readers(MAX_READERS);
        // SAFETY: the files are changed through LMDB alone, by the one process that has locked
        // the directory; heed refuses to open them twice in it.
        let env = unsafe { options.open(directory) }?;
        let opened = env.create_databases_and_commit(env.write_txn()?, |open, txn| {
            let meta = open.create_database::<Bytes, Bytes>(txn, Some("meta"))?;
            let found = meta.get(txn, FORMAT_KEY)?.map(number);
            if let Some(found) = found.filter(|found| *found != u64::from(layout.format)) {
                return heed::Result::Ok(CommitOrAbort::Abort(found as u32));
            }
            meta.put(txn, FORMAT_KEY, &u64::from(layout.format).to_be_bytes())?;
            let records = open.create_database::<Bytes, Bytes>(txn, Some("records"))?;
            let by_time = open.create_database::<Bytes, Bytes>(txn, Some("by_time"))?;
            Ok(CommitOrAbort::Commit((records, by_time, meta)))
        })?;
        let (records, by_time, meta) = match opened {
            CommitOrAbort::Commit(tables) => tables,
            CommitOrAbort::Abort(found) => return Ok(Err(found)),
        };
        let txn = env.read_txn()?;
        let last = by_time.last(&txn)?.map_or(0, |(stamp, _)| number(stamp));
        drop(txn);
        Ok(Ok((Self { env, records, by_time, meta, layout }, last)))
    }

    /// The record under `key`, expired or not, and its stamp.
    pub fn get(&self, key: &[u8]) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        if key.is_empty() {
            return Ok(None); // which LMDB would take for an error
        }
        let txn = self.env.read_txn()?;
        let found = self.records.get(&txn, key)?.map(split);
        Ok(found.map(|(stamp, value)| (stamp, value.to_vec())))
    }

    /// The newest of the first [`NEWEST_SCAN`] records whose keys start with `prefix`.
    pub fn newest(&self, prefix: &[u8]) -> Result<Option<(u64, KeyValue)>, StoreError> {
        let txn = self.env.read_txn()?;
        let mut newest = None;
        for entry in self.records.prefix_iter(&txn, prefix)?.take(NEWEST_SCAN) {
            let (key, record) = entry?;
            let (stamp, value) = split(record);
            newest = newest.max(Some((stamp, key, value)));
        }
        Ok(newest.map(|(stamp, key, value)| (stamp, (key.to_vec(), value.to_vec()))))
    }

    /// The sizes, without totals.
    pub fn sizes(&self) -> Result<Stats, StoreError> {
        let txn = self.env.read_txn()?;
        Ok(Stats {
            entries: self.records.len(&txn)?,
            used_bytes: self.bytes(&txn)?,
            capacity_bytes: self.layout.live_bytes,
            map_bytes: self.env.info().map_size as u64,
            ..Stats::default()
        })
    }

    /// Writes a batch and removes what is expired or in the way, in one transaction.
    ///
    /// Room is made before the map fills. Should it fill all the same, room is made in
    /// transactions of their own: the pages that they free can be written two commits later.
    pub fn commit(&self, batch: &[Request], horizon: u64) -> Result<Stats, StoreError> {
        let mut evicted = 0;
        let mut result = self.apply(batch, horizon);
        for _ in 0..MAP_FULL_RETRIES {
            if !is_map_full(&result) {
                break;
            }
            evicted += self.make_room()?;
            result = self.apply(batch, horizon);
        }
        let done = result?;
        Ok(Stats { evicted: done.evicted + evicted, ..done })
    }

    fn apply(&self, batch: &[Request], horizon: u64) -> heed::Result<Stats> {
        let mut txn = self.env.write_txn()?;
        let before = self.bytes(&txn)?;
        let mut progress = Progress { done: Stats::default(), bytes: before };
        for record in batch.iter().flat_map(|request| &request.records) {
            self.write(&mut txn, record, &mut progress)?;
        }
        let removals = 2 * progress.done.written as usize + SWEEP;
        for _ in 0..removals {
            let Some(oldest) = self.oldest(&txn)? else { break };
            if oldest <= horizon {
                progress.done.expired += 1;
            } else if progress.bytes > self.layout.live_bytes {
                progress.done.evicted += 1;
            } else {
                break;
            }
            progress.remove(self.remove_oldest(&mut txn)?);
        }
        self.finish(txn, progress)
    }

    fn finish(&self, mut txn: RwTxn, progress: Progress) -> heed::Result<Stats> {
        let Progress { mut done, bytes } = progress;
        if done != Stats::default() {
            self.meta.put(&mut txn, BYTES_KEY, &bytes.to_be_bytes())?;
            txn.commit()?;
            done.commits = 1;
        }
        Ok(done)
    }

    /// Evicts a sixteenth of the records, or less if even that finds the map full.
    fn make_room(&self) -> heed::Result<u64> {
        let txn = self.env.read_txn()?;
        let mut count = self.records.len(&txn)? / 16 + 1;
        drop(txn);
        loop {
            let result = self.evict(count);
            if count == 1 || !is_map_full(&result) {
                return result.map(|done| done.evicted);
            }
            count /= 2;
        }
    }

    fn evict(&self, count: u64) -> heed::Result<Stats> {
        let mut txn = self.env.write_txn()?;
        let mut progress = Progress { done: Stats::default(), bytes: self.bytes(&txn)? };
        while progress.done.evicted < count && self.oldest(&txn)?.is_some() {
            progress.remove(self.remove_oldest(&mut txn)?);
            progress.done.evicted += 1;
        }
        self.finish(txn, progress)
    }

    fn write(&self, txn: &mut RwTxn, record: &Record, progress: &mut Progress) -> heed::Result<()> {
        let stamp = record.stamp.to_be_bytes();
        let older = self.records.get(txn, &record.key)?.map(split);
        if let Some((older, value)) = older {
            progress.remove(weight(record.key.len(), value.len()));
            self.by_time.delete(txn, &older.to_be_bytes())?;
        }
        progress.bytes += weight(record.key.len(), record.value.len());
        progress.done.written += 1;
        self.records.put(txn, &record.key, &[&stamp[..], &record.value[..]].concat())?;
        // Stamps rise, so pages of the index are filled to the end.
        self.by_time.put_with_flags(txn, PutFlags::APPEND, &stamp, &record.key)
    }

    fn oldest(&self, txn: &RoTxn) -> heed::Result<Option<u64>> {
        Ok(self.by_time.first(txn)?.map(|(stamp, _)| number(stamp)))
    }

    /// Removes the oldest record; gives its weight.
    fn remove_oldest(&self, txn: &mut RwTxn) -> heed::Result<u64> {
        let Some((stamp, key)) = self.by_time.first(txn)? else { return Ok(0) };
        let (stamp, key) = (stamp.to_vec(), key.to_vec());
        let value = self.records.get(txn, &key)?.map_or(0, |record| split(record).1.len());
        self.records.delete(txn, &key)?;
        self.by_time.delete(txn, &stamp)?;
        Ok(weight(key.len(), value))
    }

    fn bytes(&self, txn: &RoTxn) -> heed::Result<u64> {
        Ok(self.meta.get(txn, BYTES_KEY)?.map_or(0, number))
    }
}

impl From<heed::Error> for StoreError {
    fn from(error: heed::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

fn is_map_full<T>(result: &heed::Result<T>) -> bool {
    matches!(result, Err(heed::Error::Mdb(MdbError::MapFull)))
}

/// A stored record's stamp and value.
fn split(record: &[u8]) -> (u64, &[u8]) {
    record.split_at_checked(STAMP).map_or((0, record), |(stamp, value)| (number(stamp), value))
}

/// A stored number; 0 for anything that isn't one.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}
