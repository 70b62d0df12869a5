//! The store on disk: a directory that one process owns, tables in LMDB, one writer thread.
//!
//! LMDB maps its file into memory: the directory must be on a local disk, not on NFS.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
};

use parking_lot::Mutex;

use super::{
    KeyValue, Stats, Store, StoreError, StoreOptions, check_sizes,
    lmdb::{Layout, Tables},
    writer::Pending,
};

/// The name of the file whose lock marks the directory as owned.
const LOCK_FILE: &str = "owner.lock";

/// A [`Store`] in a directory.
pub struct DiskStore {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    /// Locked for as long as this lives; after `shared`, so that it is unlocked last.
    _owner: File,
}

/// What callers and the writer share.
struct Shared {
    options: StoreOptions,
    tables: Tables,
    pending: Pending,
    /// Totals since the start; sizes are read from the tables.
    totals: Mutex<Stats>,
}

impl DiskStore {
    /// Opens the store in `directory`, which is created for this user alone if it is missing.
    ///
    /// The data file stays below `max_bytes`, or 16 MiB if that is less; half of it is for live
    /// records, as is half of an owner's part of it.
    pub fn open(directory: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let layout = Layout::of(&options);
        Self::open_with(directory, options, layout)
    }

    pub(super) fn open_with(
        directory: &Path,
        options: StoreOptions,
        layout: Layout,
    ) -> Result<Self, StoreError> {
        let owner = own(directory)?;
        let (tables, last_stamp) = Tables::open(directory, layout)?;
        let pending = Pending::new(last_stamp, layout.batch_bytes);
        let shared = Arc::new(Shared { options, tables, pending, totals: Mutex::default() });
        let writer = thread::Builder::new().name("store-writer".into());
        let writer = writer.spawn({
            let shared = Arc::clone(&shared);
            move || shared.write_batches()
        });
        let writer = Some(writer.map_err(|e| unusable(directory, &e))?);
        Ok(Self { shared, writer, _owner: owner })
    }
}

impl Drop for DiskStore {
    fn drop(&mut self) {
        self.shared.pending.close();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has told its waiters; there is nobody left to tell here.
            drop(writer.join());
        }
    }
}

impl Store for DiskStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let Shared { options, tables, pending, .. } = &*self.shared;
        // Pending first: what leaves it meanwhile is in the snapshot that is taken afterwards.
        let found = match pending.get(key) {
            Some((stamp, value)) => Some((stamp, value.into())),
            None => tables.get(key)?,
        };
        Ok(found.filter(|(stamp, _)| *stamp > options.horizon()).map(|(_, value)| value))
    }

    fn newest(&self, prefix: &[u8]) -> Result<Option<KeyValue>, StoreError> {
        let Shared { options, tables, pending, .. } = &*self.shared;
        let pending = pending.newest(prefix);
        let newest = pending.into_iter().chain(tables.newest(prefix)?).max_by_key(|(t, _)| *t);
        Ok(newest.filter(|(stamp, _)| *stamp > options.horizon()).map(|(_, record)| record))
    }

    fn put(&self, records: Vec<KeyValue>) -> Result<(), StoreError> {
        check_sizes(&records)?;
        self.shared.pending.put(records, &self.shared.options)
    }

    fn put_durable(&self, records: Vec<KeyValue>) -> Result<(), StoreError> {
        check_sizes(&records)?;
        self.shared.pending.put_and_wait(records, &self.shared.options)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.put_durable(Vec::new())
    }

    fn stats(&self) -> Result<Stats, StoreError> {
        let Shared { tables, pending, totals, .. } = &*self.shared;
        let mut stats = tables.sizes()?;
        stats.add_totals(&totals.lock());
        stats.dropped += pending.dropped.load(Ordering::Relaxed);
        Ok(stats)
    }
}

impl Shared {
    /// The writer thread: one commit a batch until the store is dropped.
    fn write_batches(&self) {
        let _abandon = Abandon(&self.pending);
        while let Some(batch) = self.pending.next_batch() {
            let result = self.tables.commit(&batch, self.options.horizon());
            if let Ok(done) = &result {
                self.totals.lock().add_totals(done);
            }
            self.pending.settle(batch, &result.map(drop));
        }
    }
}

/// However the writer ends, nobody goes on waiting for it.
struct Abandon<'a>(&'a Pending);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Creates the directory if it is missing and locks it for this store.
fn own(directory: &Path) -> Result<File, StoreError> {
    let unusable = |e| unusable(directory, &e);
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(unusable)?;
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).mode(0o600);
    let file = options.open(directory.join(LOCK_FILE)).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { directory: directory.into() }),
        Err(TryLockError::Error(e)) => Err(unusable(e)),
    }
}

fn unusable(directory: &Path, cause: &io::Error) -> StoreError {
    StoreError::Directory { directory: directory.into(), cause: cause.to_string() }
}
