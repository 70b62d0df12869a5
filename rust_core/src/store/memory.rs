//! The store without a disk: the same semantics, gone with the process.
//!
//! Two ordered maps rather than a cache crate: `newest` needs a range of keys and eviction the
//! order of writing, and `quick_cache`, `moka` and `lru` offer neither range.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    ops::Bound,
};

use bytes::Bytes;
use parking_lot::RwLock;

use super::{
    KeyValue, NEWEST_SCAN, Owner, Stats, Store, StoreError, StoreOptions, check_sizes, owner_of,
    weight,
};

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
    owners: BTreeMap<Owner, Part>,
    last_stamp: u64,
    stats: Stats,
}

/// What one owner has; an owner without records has no part.
#[derive(Default)]
struct Part {
    bytes: u64,
    stamps: BTreeSet<u64>,
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
        let mut written = BTreeMap::<Owner, u64>::new();
        let mut tables = self.tables.write();
        for (key, value) in records {
            *written.entry(owner_of(&key)).or_default() += weight(key.len(), value.len());
            let stamp = self.options.next_stamp(tables.last_stamp);
            tables.write(stamp, key.into(), value.into());
        }
        if let Some(quota) = self.options.owner_bytes {
            for (owner, bytes) in written {
                tables.sweep_owner(&owner, quota, 2 * bytes, horizon);
            }
        }
        tables.sweep(removals, horizon);
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
        let (entries, owners) = (tables.records.len() as u64, tables.owners.len() as u64);
        Ok(Stats { entries, owners, ..tables.stats })
    }
}

impl Tables {
    fn write(&mut self, stamp: u64, key: Bytes, value: Bytes) {
        let weight = weight(key.len(), value.len());
        if let Some((older, _)) = self.records.get(&key) {
            self.remove(*older);
        }
        self.last_stamp = stamp;
        self.stats.written += 1;
        self.stats.used_bytes += weight;
        let part = self.owners.entry(owner_of(&key)).or_default();
        part.bytes += weight;
        part.stamps.insert(stamp);
        self.by_time.insert(stamp, key.clone());
        self.records.insert(key, (stamp, value));
    }

    /// Removes the oldest records of an owner while it is above `quota`, but stops once `budget`
    /// bytes were removed.
    fn sweep_owner(&mut self, owner: &Owner, quota: u64, budget: u64, horizon: u64) {
        let mut removed = 0;
        while let Some(part) = self.owners.get(owner) {
            let Some(oldest) = part.stamps.first().copied() else { break };
            if part.bytes <= quota || removed >= budget {
                break;
            }
            let stats = &mut self.stats;
            *if oldest <= horizon { &mut stats.expired } else { &mut stats.over_quota } += 1;
            removed += self.remove(oldest);
        }
    }

    /// Removes the oldest records while they are expired or in the way.
    fn sweep(&mut self, removals: usize, horizon: u64) {
        for _ in 0..removals {
            let Some((&oldest, _)) = self.by_time.first_key_value() else { break };
            if oldest <= horizon {
                self.stats.expired += 1;
            } else if self.stats.used_bytes > self.stats.capacity_bytes {
                self.stats.evicted += 1;
            } else {
                break;
            }
            self.remove(oldest);
        }
    }

    /// Removes the record of a stamp from every table and returns what it weighed.
    fn remove(&mut self, stamp: u64) -> u64 {
        let Some(key) = self.by_time.remove(&stamp) else { return 0 };
        let value = self.records.remove(&key).map_or(0, |(_, value)| value.len());
        let weight = weight(key.len(), value);
        self.stats.used_bytes -= weight;
        if let Entry::Occupied(mut part) = self.owners.entry(owner_of(&key)) {
            part.get_mut().bytes -= weight;
            part.get_mut().stamps.remove(&stamp);
            if part.get().stamps.is_empty() {
                part.remove();
            }
        }
        weight
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
