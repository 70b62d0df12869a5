//! The tables in LMDB: what is read and written in one transaction. Nothing else names LMDB.
//!
//! `records` holds key → stamp and value; `by_time` stamp → key, for expiry and eviction; `meta`
//! the format's version and the bytes in use. A write removes its key's older entry in `by_time`
//! rather than leave it to be found stale: a key that is written every turn would fill the index.
//! Readers never wait for the writer, nor it for them.

use std::{
    ops::Bound,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

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
    pub fn of(file_limit: u64) -> Self {
        let wanted = usize::try_from(file_limit).unwrap_or(usize::MAX).max(16 << 20);
        let map_bytes = wanted & !0xffff; // a multiple of every page size in use
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
    /// What the sum of the records' weights is held to; less than planned once the map was full.
    live_bytes: AtomicU64,
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
            if found.is_none() {
                meta.put(txn, FORMAT_KEY, &u64::from(layout.format).to_be_bytes())?;
            }
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
        let live_bytes = AtomicU64::new(layout.live_bytes);
        Ok(Ok((Self { env, records, by_time, meta, live_bytes }, last)))
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
        // Not `prefix_iter`, to which an empty prefix is an error.
        let from = if prefix.is_empty() { Bound::Unbounded } else { Bound::Included(prefix) };
        for entry in self.records.range(&txn, &(from, Bound::Unbounded))?.take(NEWEST_SCAN) {
            let (key, record) = entry?;
            if !key.starts_with(prefix) {
                break;
            }
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
            capacity_bytes: self.live_bytes.load(Ordering::Relaxed),
            map_bytes: self.env.info().map_size as u64,
            ..Stats::default()
        })
    }

    /// Writes a batch and removes what is expired or in the way, in one transaction.
    ///
    /// Room is made before the map fills. Should it fill all the same, live data are held to less
    /// from then on, and the batch is tried again.
    pub fn commit(&self, batch: &[Request], horizon: u64) -> Result<Stats, StoreError> {
        let mut done = Stats::default();
        for _ in 0..MAP_FULL_RETRIES {
            match self.apply(batch, horizon, SWEEP) {
                Err(error) if is_map_full(&error) => self.make_room(horizon, &mut done)?,
                result => {
                    done.add_totals(&result?);
                    return Ok(done);
                }
            }
        }
        Err(heed::Error::Mdb(MdbError::MapFull).into())
    }

    /// Holds live data to an eighth less than they are, in as small steps as the map asks for.
    fn make_room(&self, horizon: u64, done: &mut Stats) -> heed::Result<()> {
        let txn = self.env.read_txn()?;
        let bytes = self.bytes(&txn)?;
        drop(txn);
        self.live_bytes.fetch_min(bytes - bytes / 8, Ordering::Relaxed);
        let mut step = SWEEP;
        loop {
            match self.apply(&[], horizon, step) {
                Err(error) if is_map_full(&error) && step > 1 => step /= 2,
                Ok(step) if step.commits == 0 => return Ok(()),
                result => done.add_totals(&result?),
            }
        }
    }

    fn apply(&self, batch: &[Request], horizon: u64, sweep: usize) -> heed::Result<Stats> {
        let mut txn = self.env.write_txn()?;
        let mut progress = Progress { done: Stats::default(), bytes: self.bytes(&txn)? };
        for record in batch.iter().flat_map(|request| &request.records) {
            self.write(&mut txn, record, &mut progress)?;
        }
        let removals = 2 * progress.done.written as usize + sweep;
        self.sweep(&mut txn, horizon, removals, &mut progress)?;
        let Progress { mut done, bytes } = progress;
        if done != Stats::default() {
            self.meta.put(&mut txn, BYTES_KEY, &bytes.to_be_bytes())?;
            txn.commit()?;
            done.commits = 1;
        }
        Ok(done)
    }

    /// Removes the oldest records while they are expired or in the way.
    fn sweep(
        &self,
        txn: &mut RwTxn,
        horizon: u64,
        removals: usize,
        progress: &mut Progress,
    ) -> heed::Result<()> {
        let live_bytes = self.live_bytes.load(Ordering::Relaxed);
        for _ in 0..removals {
            let Some((stamp, key)) = self.by_time.first(txn)? else { break };
            if number(stamp) <= horizon {
                progress.done.expired += 1;
            } else if progress.bytes > live_bytes {
                progress.done.evicted += 1;
            } else {
                break;
            }
            let (stamp, key) = (stamp.to_vec(), key.to_vec());
            let value = self.records.get(txn, &key)?.map_or(0, |record| split(record).1.len());
            progress.remove(weight(key.len(), value));
            self.records.delete(txn, &key)?;
            self.by_time.delete(txn, &stamp)?;
        }
        Ok(())
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

    fn bytes(&self, txn: &RoTxn) -> heed::Result<u64> {
        Ok(self.meta.get(txn, BYTES_KEY)?.map_or(0, number))
    }
}

impl From<heed::Error> for StoreError {
    fn from(error: heed::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

fn is_map_full(error: &heed::Error) -> bool {
    matches!(error, heed::Error::Mdb(MdbError::MapFull))
}

/// A stored record's stamp and value.
fn split(record: &[u8]) -> (u64, &[u8]) {
    record.split_at_checked(STAMP).map_or((0, record), |(stamp, value)| (number(stamp), value))
}

/// A stored number; 0 for anything that isn't one.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}
