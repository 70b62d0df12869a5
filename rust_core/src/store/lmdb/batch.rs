//! One write transaction: the records that it writes, those that make room, and the sums of both.

use std::collections::{BTreeMap, btree_map::Entry};
use std::sync::atomic::Ordering;

use heed::{PutFlags, RwTxn};

use super::super::{Owner, Stats, owner_of, weight, writer::Record};
use super::{BYTES_KEY, Tables, number, split};

/// A transaction and what it has done so far.
pub struct Batch<'a> {
    tables: &'a Tables,
    txn: RwTxn<'a>,
    /// Records stamped at or before this are expired.
    horizon: u64,
    done: Stats,
    /// The bytes in use.
    bytes: u64,
    /// The owners whose records change.
    owners: BTreeMap<Owner, Part>,
}

/// One owner's part of the bytes, and what was written of it here.
struct Part {
    bytes: u64,
    written: u64,
}

impl<'a> Batch<'a> {
    /// Begins with nothing done.
    pub fn begin(tables: &'a Tables, horizon: u64) -> heed::Result<Self> {
        let txn = tables.env.write_txn()?;
        let bytes = tables.bytes(&txn)?;
        Ok(Self { tables, txn, horizon, done: Stats::default(), bytes, owners: BTreeMap::new() })
    }

    /// Writes a record in place of its key's older one.
    ///
    /// That one's entries in the indexes go with it, rather than be found stale later: a key that
    /// is written every turn would fill them.
    pub fn write(&mut self, record: &Record) -> heed::Result<()> {
        let Record { stamp, key, value } = record;
        let older = self.tables.records.get(&self.txn, key)?.map(split);
        if let Some((stamp, value)) = older {
            let weight = weight(key.len(), value.len());
            self.remove_from_indexes(stamp, key, weight)?;
        }
        let (stamp, owner) = (stamp.to_be_bytes(), owner_of(key));
        let weight = weight(key.len(), value.len());
        self.bytes += weight;
        let part = self.part(owner)?;
        part.bytes += weight;
        part.written += weight;
        self.done.written += 1;
        let Tables { records, by_time, by_owner, .. } = self.tables;
        let txn = &mut self.txn;
        records.put(txn, key, &[&stamp[..], &value[..]].concat())?;
        // Stamps rise, so pages of both indexes are filled to the end.
        by_time.put_with_flags(txn, PutFlags::APPEND, &stamp, key)?;
        by_owner.put_with_flags(txn, PutFlags::APPEND_DUP, &owner, &stamp)
    }

    /// Removes the oldest records of owners that wrote and are above their quota, up to twice as
    /// many bytes as each of them wrote.
    pub fn sweep_owners(&mut self) -> heed::Result<()> {
        let quota = self.tables.owner_bytes;
        let above = self.owners.iter().filter(|(_, part)| part.bytes > quota);
        let above: Vec<_> = above.map(|(owner, part)| (*owner, 2 * part.written)).collect();
        for (owner, budget) in above {
            let mut removed = 0;
            while removed < budget && self.part(owner)?.bytes > quota {
                let oldest = self.tables.by_owner.get(&self.txn, &owner)?.map(number);
                let Some(oldest) = oldest else { break };
                let Some(weight) = self.remove(oldest)? else { break };
                removed += weight;
                let expired = oldest <= self.horizon;
                *if expired { &mut self.done.expired } else { &mut self.done.over_quota } += 1;
            }
        }
        Ok(())
    }

    /// Removes the oldest records while they are expired or in the way: twice as many as were
    /// written and `more`.
    pub fn sweep(&mut self, more: usize) -> heed::Result<()> {
        let live_bytes = self.tables.live_bytes.load(Ordering::Relaxed);
        for _ in 0..2 * self.done.written as usize + more {
            let Some((oldest, _)) = self.tables.by_time.first(&self.txn)? else { break };
            let oldest = number(oldest);
            if oldest <= self.horizon {
                self.done.expired += 1;
            } else if self.bytes > live_bytes {
                self.done.evicted += 1;
            } else {
                break;
            }
            self.remove(oldest)?;
        }
        Ok(())
    }

    /// Commits, unless nothing was done.
    pub fn commit(mut self) -> heed::Result<Stats> {
        let Tables { owners, meta, .. } = self.tables;
        if self.done != Stats::default() {
            meta.put(&mut self.txn, BYTES_KEY, &self.bytes.to_be_bytes())?;
            for (owner, part) in self.owners {
                match part.bytes {
                    0 => drop(owners.delete(&mut self.txn, &owner)?),
                    bytes => owners.put(&mut self.txn, &owner, &bytes.to_be_bytes())?,
                }
            }
            self.txn.commit()?;
            self.done.commits = 1;
        }
        Ok(self.done)
    }

    /// Removes the record of a stamp and returns its weight; `None` if there is none.
    fn remove(&mut self, stamp: u64) -> heed::Result<Option<u64>> {
        let Tables { records, by_time, .. } = self.tables;
        let key = by_time.get(&self.txn, &stamp.to_be_bytes())?.map(<[u8]>::to_vec);
        let Some(key) = key else { return Ok(None) };
        let value = records.get(&self.txn, &key)?.map_or(0, |record| split(record).1.len());
        let weight = weight(key.len(), value);
        records.delete(&mut self.txn, &key)?;
        self.remove_from_indexes(stamp, &key, weight)?;
        Ok(Some(weight))
    }

    /// Saturating: a damaged file must not become a panic.
    fn remove_from_indexes(&mut self, stamp: u64, key: &[u8], weight: u64) -> heed::Result<()> {
        let (stamp, owner) = (stamp.to_be_bytes(), owner_of(key));
        self.bytes = self.bytes.saturating_sub(weight);
        let part = self.part(owner)?;
        part.bytes = part.bytes.saturating_sub(weight);
        self.tables.by_time.delete(&mut self.txn, &stamp)?;
        self.tables.by_owner.delete_one_duplicate(&mut self.txn, &owner, &stamp)?;
        Ok(())
    }

    fn part(&mut self, owner: Owner) -> heed::Result<&mut Part> {
        Ok(match self.owners.entry(owner) {
            Entry::Occupied(part) => part.into_mut(),
            Entry::Vacant(new) => {
                let bytes = self.tables.owners.get(&self.txn, &owner)?.map_or(0, number);
                new.insert(Part { bytes, written: 0 })
            }
        })
    }
}
