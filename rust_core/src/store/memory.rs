//! The store without a disk: the same semantics, gone with the process.
//!
//! Two ordered maps rather than a cache crate: `newest` needs a range of keys and eviction the
//! order of writing, and `quick_cache`, `moka` and `lru` offer neither range.

use std::{collections::BTreeMap, ops::Bound};

use bytes::Bytes;
use parking_lot::RwLock;

use super::{KeyValue, NEWEST_SCAN, Stats, Store, StoreError, StoreOptions, check_sizes, weight};

/// Records beyond those it wrote that one `put` may sweep.
const SWEEP: usize = 16;

/// A [`Store`] in memory. What it calls durable lasts as long as the process.
pub struct MemoryStore {
    options: StoreOptions,
    tables: RwLock<Tables>,
}

#[derive(Default)]
struct Tables {
    records: BTreeMap<Bytes, (u64, Bytes)>,
    by_time: BTreeMap<u64, Bytes>,
    last_stamp: u64,
    stats: Stats,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(options: StoreOptions) -> Self {
        let stats = Stats { capacity_bytes: options.max_bytes, ..Stats::default() };
        Self { options, tables: RwLock::new(Tables { stats, ..Tables::default() }) }
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let horizon = self.options.horizon();
        let tables = self.tables.read();
        let found = tables.records.get(key).filter(|(stamp, _)| *stamp > horizon);
        Ok(found.map(|(_, value)| value.to_vec()))
    }

    fn newest(&self, prefix: &[u8]) -> Result<Option<KeyValue>, StoreError> {
        let horizon = self.options.horizon();
        let tables = self.tables.read();
        let newest = with_prefix(&tables.records, prefix)
            .take(NEWEST_SCAN)
            .filter(|(_, (stamp, _))| *stamp > horizon)
            .max_by_key(|(_, (stamp, _))| *stamp);
        Ok(newest.map(|(key, (_, value))| (key.to_vec(), value.to_vec())))
    }

    fn put(&self, records: Vec<KeyValue>) -> Result<(), StoreError> {
        check_sizes(&records)?;
        let horizon = self.options.horizon();
        let removals = 2 * records.len() + SWEEP;
        let mut tables = self.tables.write();
        for (key, value) in records {
            let stamp = self.options.next_stamp(tables.last_stamp);
            tables.write(stamp, &key.into(), value.into());
        }
        for _ in 0..removals {
            if !tables.remove_oldest(horizon) {
                break;
            }
        }
        Ok(())
    }

    fn put_durable(&self, records: Vec<KeyValue>) -> Result<(), StoreError> {
        self.put(records)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.put(Vec::new())
    }

    fn stats(&self) -> Result<Stats, StoreError> {
        let tables = self.tables.read();
        Ok(Stats { entries: tables.records.len() as u64, ..tables.stats })
    }
}

impl Tables {
    fn write(&mut self, stamp: u64, key: &Bytes, value: Bytes) {
        self.last_stamp = stamp;
        self.stats.written += 1;
        self.stats.used_bytes += weight(key.len(), value.len());
        self.by_time.insert(stamp, key.clone());
        if let Some((old_stamp, old)) = self.records.insert(key.clone(), (stamp, value)) {
            self.by_time.remove(&old_stamp);
            self.stats.used_bytes -= weight(key.len(), old.len());
        }
    }

    /// Removes the oldest record if it is expired or in the way; false if it may stay.
    fn remove_oldest(&mut self, horizon: u64) -> bool {
        let full = self.stats.used_bytes > self.stats.capacity_bytes;
        let Some(oldest) = self.by_time.first_entry() else { return false };
        let expired = *oldest.key() <= horizon;
        if !expired && !full {
            return false;
        }
        let key = oldest.remove();
        if let Some((_, value)) = self.records.remove(&key) {
            self.stats.used_bytes -= weight(key.len(), value.len());
        }
        *if expired { &mut self.stats.expired } else { &mut self.stats.evicted } += 1;
        true
    }
}

/// The entries of `map` whose keys start with `prefix`, in their order.
pub(super) fn with_prefix<'a, V>(
    map: &'a BTreeMap<Bytes, V>,
    prefix: &'a [u8],
) -> impl Iterator<Item = (&'a Bytes, &'a V)> {
    map.range::<[u8], _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}
