//! The tables in LMDB: what is read and written in one transaction. Nothing outside names LMDB.
//!
//! `records` holds key → stamp and value; `by_time` stamp → key, for expiry and eviction;
//! `by_owner` owner → stamps, for eviction above a quota; `owners` each owner's bytes, if it has
//! any; `meta` the format's version and the bytes in use. Readers never wait for the writer, nor
//! it for them.

use std::{
    ops::Bound,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use heed::{
    CommitOrAbort, Database, DatabaseFlags, DatabaseOpener, Env, EnvOpenOptions, MdbError, RoTxn,
    RwTxn, WithTls, types::Bytes,
};

use super::{KeyValue, NEWEST_SCAN, Stats, StoreError, StoreOptions, writer::Request};
use batch::Batch;

mod batch;

/// The version of the layout of tables, keys and values.
pub(super) const FORMAT: u32 = 3;
/// Reader slots: more than a process has threads that read at one time.
const MAX_READERS: u32 = 1024;
/// Expired or evicted records that one commit removes beyond twice those that it writes.
const SWEEP: usize = 1024;
/// How often a batch that finds the map full is tried again after making room.
const MAP_FULL_RETRIES: usize = 8;
/// How many tables there are.
const TABLES: usize = 5;
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
    /// The same for the records of one owner.
    pub owner_bytes: u64,
    pub batch_bytes: usize,
}

impl Layout {
    /// Half of the map for live data: the rest is for the pages that a commit writes anew while
    /// the last two states stay readable. A batch may touch a page of 4 KiB for each of its
    /// records, hence its small part of the map.
    pub fn of(options: &StoreOptions) -> Self {
        let wanted = usize::try_from(options.max_bytes).unwrap_or(usize::MAX).max(16 << 20);
        let map_bytes = wanted & !0xffff; // a multiple of every page size in use
        let live_bytes = map_bytes as u64 / 2;
        let owner_bytes = options.owner_bytes.map_or(u64::MAX, |bytes| bytes / 2);
        let batch_bytes = (map_bytes / 512).min(4 << 20);
        Self { format: FORMAT, map_bytes, live_bytes, owner_bytes, batch_bytes }
    }
}

type Table = Database<'static, Bytes, Bytes>;

/// An open environment.
pub(super) struct Tables {
    env: Env,
    records: Table,
    by_time: Table,
    by_owner: Table,
    owners: Table,
    meta: Table,
    /// What the sum of the records' weights is held to; less than planned once the map was full.
    live_bytes: AtomicU64,
    /// What the sum of one owner's is held to.
    owner_bytes: u64,
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
        options.map_size(layout.map_bytes).max_dbs(TABLES as u32).max_readers(MAX_READERS);
        // SAFETY: the files are changed through LMDB alone, by the one process that has locked
        // the directory; heed refuses to open them twice in it.
        let env = unsafe { options.open(directory) }?;
        let created = env.create_databases_and_commit(env.write_txn()?, |open, txn| {
            create(open, txn, layout.format)
        })?;
        let [records, by_time, by_owner, owners, meta] = match created {
            CommitOrAbort::Commit(tables) => tables,
            CommitOrAbort::Abort(found) => return Ok(Err(found)),
        };
        let txn = env.read_txn()?;
        let last = by_time.last(&txn)?.map_or(0, |(stamp, _)| number(stamp));
        drop(txn);
        let live_bytes = AtomicU64::new(layout.live_bytes);
        let owner_bytes = layout.owner_bytes;
        let tables =
            Self { env, records, by_time, by_owner, owners, meta, live_bytes, owner_bytes };
        Ok(Ok((tables, last)))
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
            owners: self.owners.len(&txn)?,
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

    fn apply(&self, requests: &[Request], horizon: u64, sweep: usize) -> heed::Result<Stats> {
        let mut batch = Batch::begin(self, horizon)?;
        for record in requests.iter().flat_map(|request| &request.records) {
            batch.write(record)?;
        }
        batch.sweep_owners()?;
        batch.sweep(sweep)?;
        batch.commit()
    }

    fn bytes(&self, txn: &RoTxn) -> heed::Result<u64> {
        Ok(self.meta.get(txn, BYTES_KEY)?.map_or(0, number))
    }
}

/// Opens or creates the tables, in the order of [`Tables`]; or gives the unexpected format of what
/// is there.
fn create<'e>(
    open: &DatabaseOpener<'e, WithTls>,
    txn: &mut RwTxn<'e>,
    format: u32,
) -> heed::Result<CommitOrAbort<[Database<'e, Bytes, Bytes>; TABLES], u32>> {
    let table = |txn: &mut RwTxn<'e>, name, flags| {
        open.database_options().types::<Bytes, Bytes>().name(name).flags(flags).create(txn)
    };
    let meta = table(txn, "meta", DatabaseFlags::empty())?;
    match meta.get(txn, FORMAT_KEY)?.map(number) {
        None => meta.put(txn, FORMAT_KEY, &u64::from(format).to_be_bytes())?,
        Some(found) if found == u64::from(format) => {}
        Some(found) => return Ok(CommitOrAbort::Abort(found as u32)),
    }
    let records = table(txn, "records", DatabaseFlags::empty())?;
    let by_time = table(txn, "by_time", DatabaseFlags::empty())?;
    let by_owner = table(txn, "by_owner", DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED)?;
    let owners = table(txn, "owners", DatabaseFlags::empty())?;
    Ok(CommitOrAbort::Commit([records, by_time, by_owner, owners, meta]))
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
