//! Measures the stores: `cargo run --release --example store_speed [DIRECTORY]`.
//!
//! Prints one line a figure. Without a directory, the disk store is in the system's temporary one.

use std::{
    env,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use tokencount_core::store::{DiskStore, KeyValue, MemoryStore, Store, StoreOptions};

const RECORDS: u64 = 200_000;
const VALUE: usize = 120;
const OWNERS: u64 = 16;

/// An owner and a key of its own, both without order.
fn key(n: u64) -> Vec<u8> {
    let digest = |n: u64| *blake3::hash(&n.to_be_bytes()).as_bytes();
    [&digest(n % OWNERS)[..16], &digest(n)[..]].concat()
}

fn record(n: u64) -> KeyValue {
    (key(n), vec![7; VALUE])
}

fn main() {
    let options = StoreOptions::new(1 << 30, Duration::from_secs(86_400));
    measure("memory", &MemoryStore::new(options.clone()));
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let directory = env::args().nth(1);
    let directory = directory.as_deref().map_or(temporary.path(), Path::new);
    let start = Instant::now();
    let store = DiskStore::open(directory, options).expect("a store");
    println!("disk: open {:?}", start.elapsed());
    measure("disk", &store);
}

fn measure(name: &str, store: &dyn Store) {
    let start = Instant::now();
    let mut accepting = Duration::ZERO;
    for chunk in 0..RECORDS / 20_000 {
        let begin = Instant::now();
        for n in chunk * 20_000..(chunk + 1) * 20_000 {
            store.put(vec![record(n)]).expect("put");
        }
        accepting += begin.elapsed();
        store.flush().expect("flush");
    }
    let rate = |count: u64, time: Duration| count as f64 / time.as_secs_f64();
    let dropped = store.stats().expect("stats").dropped;
    println!("{name}: soft put {:.0} ns, {dropped} dropped", nanos(accepting, RECORDS));
    println!("{name}: soft puts committed {:.0}/s", rate(RECORDS, start.elapsed()));
    let keys: Vec<_> = (0..RECORDS).map(|n| key(n * 7919 % RECORDS)).collect();
    time(name, "get, found", &keys, |key| store.get(key).expect("get").is_some());
    time(name, "newest, 8 bytes after the owner", &keys, |key| {
        store.newest(&key[..24]).expect("newest").is_some()
    });
    let absent: Vec<_> = (0..RECORDS).map(|n| key(n + RECORDS)).collect();
    time(name, "get, absent", &absent, |key| store.get(key).expect("get").is_none());
    let same: Vec<_> =
        (0..256_u64).map(|n| ([&[1; 16][..], &key(n)].concat(), vec![7; VALUE])).collect();
    store.put_durable(same).expect("put");
    time(name, "newest of 256", &vec![vec![1; 16]; 2000], |key| {
        store.newest(key).expect("newest").is_some()
    });
    for callers in [1, 8, 64] {
        let before = store.stats().expect("stats");
        let (puts, time) = durable(store, callers);
        let commits = store.stats().expect("stats").commits - before.commits;
        println!(
            "{name}: durable puts, {callers} callers: {:.0}/s, {commits} commits",
            rate(puts, time)
        );
    }
    println!("{name}: {:?}", store.stats().expect("stats"));
}

fn time(name: &str, what: &str, keys: &[Vec<u8>], call: impl Fn(&[u8]) -> bool) {
    let start = Instant::now();
    assert!(keys.iter().all(|key| call(key)));
    println!("{name}: {what} {:.0} ns", nanos(start.elapsed(), keys.len() as u64));
}

fn nanos(time: Duration, count: u64) -> f64 {
    time.as_nanos() as f64 / count as f64
}

/// Durable puts by `callers` threads for two seconds.
fn durable(store: &dyn Store, callers: u64) -> (u64, Duration) {
    let start = Instant::now();
    let puts = thread::scope(|scope| {
        let caller = |caller: u64| {
            let mut n = 0;
            while start.elapsed() < Duration::from_secs(2) {
                store.put_durable(vec![record((caller << 32) + n)]).expect("put");
                n += 1;
            }
            n
        };
        let threads: Vec<_> = (0..callers).map(|c| scope.spawn(move || caller(c))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a caller")).sum()
    });
    (puts, start.elapsed())
}
