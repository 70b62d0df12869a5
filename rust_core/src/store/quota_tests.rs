//! What a quota does, in every store: an owner makes room for itself and for nobody else.

use std::ops::Range;

use super::{
    DiskStore, KeyValue, MemoryStore, OWNER, Owner, Stats, Store, StoreOptions,
    contract::{ANN, TTL, TestClock, over_each_with},
    lmdb::Layout,
    weight,
};

const BOB: Owner = *b"bob             ";
const VALUE: usize = 200;
/// The weight of the records of this suite.
const WEIGHT: u64 = weight(OWNER + 8, VALUE);
const MAX: u64 = 16 << 20;
/// One owner's part of the store.
const PART: u64 = 16;

fn key(owner: Owner, n: u64) -> Vec<u8> {
    [&owner[..], &n.to_be_bytes()].concat()
}

fn records(owner: Owner, numbers: impl IntoIterator<Item = u64>) -> Vec<KeyValue> {
    numbers.into_iter().map(|n| (key(owner, n), vec![7; VALUE])).collect()
}

/// Runs a check over an empty store of each kind, with its clock and how many records of one owner
/// its quota has room for.
fn over_each(check: impl Fn(&dyn Store, &TestClock, u64)) {
    let options =
        |clock: &TestClock| StoreOptions { owner_bytes: Some(MAX / PART), ..clock.options(MAX) };
    over_each_with(options, |store, clock| {
        let quota = store.stats().unwrap().capacity_bytes / PART;
        check(store, clock, quota / WEIGHT);
    });
}

/// Which of the numbers have a record.
fn kept(store: &dyn Store, owner: Owner, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().filter(|n| store.get(&key(owner, *n)).unwrap().is_some()).collect()
}

fn all(numbers: Range<u64>) -> Vec<u64> {
    numbers.collect()
}

#[test]
fn a_flood_leaves_the_records_of_others_alone() {
    over_each(|store, _, fit| {
        store.put_durable(records(BOB, 0..5)).unwrap();
        for chunk in 0..fit / 5 {
            // 20 times the quota, which is more than the whole store.
            store.put_durable(records(ANN, chunk * 100..(chunk + 1) * 100)).unwrap();
        }
        let (stats, last) = (store.stats().unwrap(), fit / 5 * 100);
        assert_eq!(kept(store, BOB, 0..5), [0, 1, 2, 3, 4]);
        assert_eq!(kept(store, ANN, 0..last), all(last - fit..last), "her newest");
        assert_eq!((stats.entries, stats.owners), (fit + 5, 2));
        assert_eq!((stats.over_quota, stats.evicted), (last - fit, 0));
    });
}

#[test]
fn a_rewritten_record_counts_once_and_is_young_again() {
    over_each(|store, _, fit| {
        store.put(records(ANN, 0..fit)).unwrap();
        for _ in 0..10 {
            store.put_durable(records(ANN, [0, 2, 0])).unwrap();
        }
        assert_eq!(store.stats().unwrap().over_quota, 0);
        store.put_durable(records(ANN, fit..fit + 3)).unwrap();
        assert_eq!(kept(store, ANN, 0..6), [0, 2, 5]);
        store.put_durable(vec![(key(ANN, 0), Vec::new())]).unwrap();
        assert_eq!(store.stats().unwrap().over_quota, 3, "less is less");
    });
}

#[test]
fn what_was_just_written_stays_unless_it_alone_is_too_much() {
    over_each(|store, _, fit| {
        store.put_durable(records(ANN, 0..fit)).unwrap();
        store.put_durable(records(ANN, fit..2 * fit)).unwrap();
        assert_eq!(kept(store, ANN, 0..2 * fit), all(fit..2 * fit));
        store.put_durable(records(ANN, 0..fit + 7)).unwrap();
        assert_eq!(kept(store, ANN, 0..2 * fit), all(7..fit + 7));
        assert_eq!(store.stats().unwrap().entries, fit);
    });
}

#[test]
fn records_of_two_owners_in_one_call_count_for_each() {
    over_each(|store, _, fit| {
        let both = |n: u64| [records(ANN, n..n + 2), records(BOB, [n])].concat();
        store.put_durable((0..fit).flat_map(|n| both(2 * n)).collect()).unwrap();
        let stats = store.stats().unwrap();
        assert_eq!((stats.entries, stats.over_quota), (2 * fit, fit));
        assert_eq!(kept(store, ANN, 0..2 * fit), all(fit..2 * fit));
        assert_eq!(kept(store, BOB, 0..2 * fit).len() as u64, fit);
    });
}

#[test]
fn expiry_gives_the_bytes_back() {
    over_each(|store, clock, fit| {
        store.put_durable(records(ANN, 0..fit)).unwrap();
        store.put_durable(records(BOB, [0])).unwrap();
        clock.pass(TTL.as_secs() + 1);
        store.put_durable(records(ANN, fit..2 * fit)).unwrap();
        let stats = store.stats().unwrap();
        assert_eq!((stats.entries, stats.owners), (fit, 1), "nothing of Bob is left");
        assert_eq!((stats.expired, stats.over_quota), (fit + 1, 0));
        assert_eq!(stats.used_bytes, fit * WEIGHT);
    });
}

#[test]
fn reopening_keeps_the_sums_and_may_lower_the_quota() {
    let directory = tempfile::tempdir().unwrap();
    let open = |fit: u64| {
        // Half of the file is for live records.
        let owner_bytes = Some(2 * fit * WEIGHT);
        let options = StoreOptions { owner_bytes, ..TestClock::new().options(MAX) };
        DiskStore::open(directory.path(), options).unwrap()
    };
    open(100).put_durable(records(ANN, 0..100)).unwrap();
    let store = open(100);
    store.put_durable(records(ANN, 100..103)).unwrap();
    assert_eq!(kept(&store, ANN, 0..103), all(3..103));
    drop(store);
    let store = open(50);
    store.put_durable(records(ANN, [103])).unwrap();
    assert_eq!(kept(&store, ANN, 0..104), all(5..104), "two for one");
    store.put_durable(records(ANN, 104..200)).unwrap();
    assert_eq!(kept(&store, ANN, 0..200), all(150..200));
}

/// Numbers without order, the same in every run.
struct Numbers(blake3::OutputReader);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % end
    }
}

#[test]
fn both_stores_keep_the_same_records() {
    let (live_bytes, owner_bytes) = (20_000, 8_000);
    let clock = TestClock::new();
    let options = StoreOptions { owner_bytes: Some(owner_bytes), ..clock.options(live_bytes) };
    let directory = tempfile::tempdir().unwrap();
    let layout = Layout { live_bytes, owner_bytes, ..Layout::of(&options) };
    let open = || DiskStore::open_with(directory.path(), options.clone(), layout).unwrap();
    let (memory, mut disk) = (MemoryStore::new(options.clone()), open());
    let mut numbers = Numbers(blake3::Hasher::new().finalize_xof());
    let mut before = Stats::default();
    for step in 0..2000 {
        let batch: Vec<_> = (0..=numbers.below(4)).map(|_| any_record(&mut numbers)).collect();
        memory.put(batch.clone()).unwrap();
        disk.put_durable(batch).unwrap();
        clock.pass(numbers.below(TTL.as_secs() / 5));
        if step % 100 == 99 {
            before.add_totals(&disk.stats().unwrap());
            drop(disk);
            disk = open();
        }
        for key in (0..5).flat_map(|owner| (0..40).map(move |n| key([owner; OWNER], n))) {
            assert_eq!(memory.get(&key), disk.get(&key), "step {step}");
        }
    }
    let memory = memory.stats().unwrap();
    assert_eq!((memory.evicted, memory.over_quota), (before.evicted, before.over_quota));
    assert!(memory.evicted > 100 && memory.over_quota > 100 && memory.expired > 100, "{memory:?}");
    assert_all_is_given_back(&disk, &clock);
}

fn any_record(numbers: &mut Numbers) -> KeyValue {
    // Some owners write more than others.
    let owner = numbers.below(5).min(numbers.below(5)) as u8;
    let value = vec![1; numbers.below(600) as usize];
    (key([owner; OWNER], numbers.below(40)), value)
}

fn assert_all_is_given_back(store: &DiskStore, clock: &TestClock) {
    clock.pass(TTL.as_secs() + 1);
    store.flush().unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.entries, stats.owners, stats.used_bytes), (0, 0, 0));
}
