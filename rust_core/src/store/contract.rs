//! What every store does, as one suite that runs over each of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use super::{
    Clock, DiskStore, KeyValue, MAX_KEY, MAX_VALUE, MemoryStore, OWNER, Owner, Store, StoreError,
    StoreOptions, weight,
};

pub(super) const TTL: Duration = Duration::from_secs(3600);
/// Whose the records are where that doesn't matter.
pub(super) const ANN: Owner = *b"ann             ";

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub(super) struct TestClock(Arc<AtomicU64>);

impl TestClock {
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_700_000_000)))
    }

    pub fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::SeqCst);
    }

    pub fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let seconds = Arc::clone(&self.0);
        Arc::new(move || Duration::from_secs(seconds.load(Ordering::SeqCst)))
    }

    pub fn options(&self, max_bytes: u64) -> StoreOptions {
        StoreOptions { max_bytes, owner_bytes: None, ttl: TTL, clock: self.clock() }
    }
}

/// A key of `ANN`.
pub(super) fn key(name: impl AsRef<[u8]>) -> Vec<u8> {
    [&ANN, name.as_ref()].concat()
}

/// A record of `ANN`.
pub(super) fn pair(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> KeyValue {
    (key(name), value.as_ref().to_vec())
}

/// Runs a check over an empty store of each kind, with its clock.
fn over_each(max_bytes: u64, check: impl Fn(&dyn Store, &TestClock)) {
    over_each_with(|clock| clock.options(max_bytes), check);
}

/// The same with options of any kind.
pub(super) fn over_each_with(
    options: impl Fn(&TestClock) -> StoreOptions,
    check: impl Fn(&dyn Store, &TestClock),
) {
    let clock = TestClock::new();
    check(&MemoryStore::new(options(&clock)), &clock);
    let directory = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    check(&DiskStore::open(directory.path(), options(&clock)).unwrap(), &clock);
}

fn value(store: &dyn Store, name: &str) -> Option<String> {
    store.get(&key(name)).unwrap().map(|value| String::from_utf8(value).unwrap())
}

fn newest(store: &dyn Store, prefix: &str) -> Option<KeyValue> {
    store.newest(&key(prefix)).unwrap()
}

#[test]
fn a_put_is_seen_before_and_after_its_commit() {
    over_each(1 << 24, |store, _| {
        assert_eq!(value(store, "a"), None);
        store.put(vec![pair("a", "1"), pair("empty", "")]).unwrap();
        assert_eq!(value(store, "a").as_deref(), Some("1"));
        store.flush().unwrap();
        assert_eq!(value(store, "a").as_deref(), Some("1"));
        assert_eq!(value(store, "empty").as_deref(), Some(""));
        store.put_durable(vec![pair("b", "2")]).unwrap();
        assert_eq!(value(store, "b").as_deref(), Some("2"));
        assert_eq!(value(store, ""), None);
        assert_eq!(store.get(b""), Ok(None), "shorter than any key");
    });
}

#[test]
fn writing_again_replaces() {
    over_each(1 << 24, |store, _| {
        for text in ["1", "22", "333"] {
            store.put(vec![pair("a", "before"), pair("a", text)]).unwrap();
            assert_eq!(value(store, "a").as_deref(), Some(text));
        }
        store.flush().unwrap();
        store.put_durable(vec![pair("a", "4")]).unwrap();
        let stats = store.stats().unwrap();
        assert_eq!(value(store, "a").as_deref(), Some("4"));
        assert_eq!((stats.entries, stats.used_bytes, stats.written), (1, weight(OWNER + 1, 1), 7));
    });
}

#[test]
fn newest_is_by_time_of_writing_within_the_prefix() {
    over_each(1 << 24, |store, _| {
        store.put_durable(vec![pair("p/z", "1"), pair("p/a", "2"), pair("q", "3")]).unwrap();
        assert_eq!(newest(store, "p/"), Some(pair("p/a", "2")));
        store.put(vec![pair("p/m", "4")]).unwrap();
        assert_eq!(newest(store, "p/"), Some(pair("p/m", "4")), "pending beats committed");
        store.flush().unwrap();
        store.put(vec![pair("p/z", "5")]).unwrap();
        assert_eq!(newest(store, "p/"), Some(pair("p/z", "5")));
        store.flush().unwrap();
        assert_eq!(newest(store, "p/"), Some(pair("p/z", "5")));
        assert_eq!(newest(store, "p/a"), Some(pair("p/a", "2")));
        assert_eq!(newest(store, "r"), None);
        assert_eq!(newest(store, &"p".repeat(1000)), None);
        assert_eq!(store.newest(b""), Ok(Some(pair("p/z", "5"))));
    });
}

#[test]
fn a_record_lives_from_its_last_write() {
    over_each(1 << 24, |store, clock| {
        store.put_durable(vec![pair("p/old", "1"), pair("p/again", "1")]).unwrap();
        clock.pass(TTL.as_secs() - 1);
        store.put(vec![pair("p/again", "2")]).unwrap();
        assert_eq!(value(store, "p/old").as_deref(), Some("1"));
        clock.pass(1);
        assert_eq!(value(store, "p/old"), None);
        assert_eq!(newest(store, "p/o"), None);
        assert_eq!(newest(store, "p/"), Some(pair("p/again", "2")));
        clock.pass(TTL.as_secs());
        assert_eq!(value(store, "p/again"), None, "also while pending");
        store.flush().unwrap();
        store.flush().unwrap();
        let stats = store.stats().unwrap();
        assert_eq!((stats.entries, stats.used_bytes, stats.expired), (0, 0, 2), "swept");
    });
}

#[test]
fn a_clock_that_goes_back_keeps_the_order() {
    over_each(1 << 24, |store, clock| {
        store.put_durable(vec![pair("a1", "1")]).unwrap();
        clock.set(1_699_999_000);
        store.put_durable(vec![pair("a0", "2")]).unwrap();
        assert_eq!(newest(store, "a"), Some(pair("a0", "2")));
    });
}

#[test]
fn the_oldest_written_make_room() {
    over_each(16 << 20, |store, _| {
        let capacity = store.stats().unwrap().capacity_bytes;
        let fit = capacity / weight(OWNER + 8, 1000);
        let key = |n: u64| key(n.to_be_bytes());
        for n in 0..fit {
            store.put(vec![(key(n), vec![7; 1000])]).unwrap();
            if n % 1000 == 0 {
                store.flush().unwrap();
            }
        }
        store.put_durable(vec![(key(0), vec![8; 1000])]).unwrap();
        assert_eq!(store.stats().unwrap().evicted, 0);
        for n in fit..fit + 10 {
            store.put_durable(vec![(key(n), vec![7; 1000])]).unwrap();
        }
        let stats = store.stats().unwrap();
        assert_eq!((stats.entries, stats.evicted, stats.dropped), (fit, 10, 0));
        assert!(stats.used_bytes <= capacity);
        assert_eq!(store.get(&key(0)).unwrap(), Some(vec![8; 1000]), "written again, so younger");
        assert_eq!(store.get(&key(10)).unwrap(), None);
        assert_eq!(store.get(&key(11)).unwrap(), Some(vec![7; 1000]));
    });
}

#[test]
fn sizes_are_checked() {
    over_each(1 << 24, |store, _| {
        let cases = [
            ((Vec::new(), b"v".to_vec()), StoreError::KeySize(0)),
            ((vec![1; OWNER - 1], b"v".to_vec()), StoreError::KeySize(OWNER - 1)),
            ((vec![1; MAX_KEY + 1], b"v".to_vec()), StoreError::KeySize(MAX_KEY + 1)),
            (pair("k", [1; MAX_VALUE + 1]), StoreError::ValueSize(MAX_VALUE + 1)),
        ];
        for (record, error) in cases {
            assert_eq!(store.put(vec![pair("good", "v"), record.clone()]), Err(error.clone()));
            assert_eq!(store.put_durable(vec![record.clone()]), Err(error));
            assert_eq!(store.get(&record.0), Ok(None));
        }
        assert_eq!(value(store, "good"), None, "all of a call or nothing");
        for (key, value) in [([1; MAX_KEY].to_vec(), vec![1; MAX_VALUE]), (ANN.to_vec(), vec![])] {
            store.put_durable(vec![(key.clone(), value.clone())]).unwrap();
            assert_eq!(store.get(&key).unwrap(), Some(value));
        }
        assert_eq!(store.get(&[1; 1000]), Ok(None), "longer than LMDB itself allows");
    });
}

#[test]
fn many_threads_read_their_own_writes() {
    over_each(1 << 26, |store, _| {
        thread::scope(|scope| {
            for t in 0..16_u64 {
                scope.spawn(move || {
                    for n in 0..50_u64 {
                        let name = [t.to_be_bytes(), n.to_be_bytes()].concat();
                        let records = vec![pair(&name, n.to_be_bytes()), pair("shared", "x")];
                        if n % 10 == 0 {
                            store.put_durable(records).unwrap();
                        } else {
                            store.put(records).unwrap();
                        }
                        let written = pair(&name, n.to_be_bytes());
                        assert_eq!(store.get(&written.0).unwrap().as_ref(), Some(&written.1));
                        let newest = store.newest(&key(t.to_be_bytes())).unwrap();
                        assert_eq!(newest, Some(written));
                    }
                });
            }
        });
        store.flush().unwrap();
        let stats = store.stats().unwrap();
        assert_eq!((stats.entries, stats.written, stats.dropped), (16 * 50 + 1, 16 * 100, 0));
    });
}
