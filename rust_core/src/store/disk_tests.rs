//! What only the store on disk must do: survive, refuse, and keep to its file.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use super::{
    DiskStore, OWNER, Store, StoreError, StoreOptions,
    contract::{TTL, TestClock, key, pair},
    lmdb::{FORMAT, Layout},
    weight,
    writer::Pending,
};

/// Tells the child process of a test which directory to use.
const CHILD_DIRECTORY: &str = "TOKENCOUNT_TEST_STORE";

fn open(directory: &Path) -> Result<DiskStore, StoreError> {
    DiskStore::open(directory, StoreOptions::new(16 << 20, TTL))
}

/// A key without order, as digests are.
fn digest(n: u64) -> Vec<u8> {
    blake3::hash(&n.to_be_bytes()).as_bytes().to_vec()
}

#[test]
fn what_was_accepted_is_there_after_reopening() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("new/store");
    let store = open(&directory).unwrap();
    store.put_durable(vec![pair("p/a", "1")]).unwrap();
    store.put(vec![pair("p/b", "2")]).unwrap();
    drop(store);
    let mode = fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let store = open(&directory).unwrap();
    assert_eq!(store.get(&key("p/a")).unwrap(), Some(b"1".to_vec()));
    assert_eq!(store.newest(&key("p/")).unwrap(), Some(pair("p/b", "2")));
    let stats = store.stats().unwrap();
    assert_eq!((stats.entries, stats.written), (2, 0));
}

#[test]
fn the_order_of_writing_survives_reopening_with_an_earlier_clock() {
    let directory = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let store = DiskStore::open(directory.path(), clock.options(1 << 24)).unwrap();
    store.put(vec![pair("a1", "1")]).unwrap();
    drop(store);
    clock.set(1_600_000_000);
    let store = DiskStore::open(directory.path(), clock.options(1 << 24)).unwrap();
    store.put_durable(vec![pair("a0", "2")]).unwrap();
    assert_eq!(store.newest(&key("a")).unwrap(), Some(pair("a0", "2")));
}

#[test]
fn a_soft_put_is_committed_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    store.put(vec![pair("a", "1")]).unwrap();
    while store.stats().unwrap().entries == 0 {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn while_the_writer_is_behind_soft_puts_are_dropped_and_counted() {
    let options = TestClock::new().options(1 << 24);
    let pending = Pending::new(0, usize::MAX); // and no writer at all
    let record = |n: u64| vec![pair(n.to_be_bytes(), [1; 1000])];
    for n in 0..10_000 {
        pending.put(record(n), &options).unwrap();
    }
    assert_eq!(pending.dropped.load(Ordering::Relaxed), 10_000 - (8 << 10));
    assert!(pending.get(&key(8191_u64.to_be_bytes())).is_some());
    assert!(pending.get(&key(8192_u64.to_be_bytes())).is_none());
    let batch = pending.next_batch().unwrap();
    pending.settle(batch, &Ok(()));
    assert!(pending.get(&key(8191_u64.to_be_bytes())).is_none(), "no longer pending");
    pending.put(record(10_000), &options).unwrap();
    assert!(pending.get(&key(10_000_u64.to_be_bytes())).is_some(), "room again");
}

#[test]
fn concurrent_durable_puts_share_commits() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    thread::scope(|scope| {
        for t in 0..32_u64 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..20 {
                    store.put_durable(vec![pair(digest(t * 20 + n), "v")]).unwrap();
                }
            });
        }
    });
    let stats = store.stats().unwrap();
    assert_eq!(stats.entries, 32 * 20);
    assert!(stats.commits < 32 * 20 / 2, "{} commits", stats.commits);
}

#[test]
fn a_directory_has_one_owner() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let error = open(directory.path()).err().unwrap();
    assert_eq!(error, StoreError::InUse { directory: directory.path().into() });
    assert!(error.to_string().contains(directory.path().to_str().unwrap()));
    drop(store);
    open(directory.path()).unwrap();
}

#[test]
fn another_format_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let options = TestClock::new().options(1 << 24);
    let other = Layout { format: 1, ..Layout::of(&options) };
    let store = DiskStore::open_with(directory.path(), options.clone(), other).unwrap();
    store.put_durable(vec![pair("a", "1")]).unwrap();
    drop(store);
    let error = open(directory.path()).err().unwrap();
    let expected = FORMAT;
    let found = StoreError::Format { directory: directory.path().into(), found: 1, expected };
    assert_eq!(error, found);
    assert!(error.to_string().contains("delete the directory"));
    let store = DiskStore::open_with(directory.path(), options, other).unwrap();
    assert_eq!(store.get(&key("a")).unwrap(), Some(b"1".to_vec()));
}

#[test]
fn an_unusable_directory_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let damaged = parent.path().join("damaged");
    fs::create_dir(&damaged).unwrap();
    fs::write(damaged.join("data.mdb"), [0x5a; 16384]).unwrap();
    for directory in [file.clone(), file.join("below"), damaged] {
        let error = open(&directory).err().unwrap();
        assert!(matches!(&error, StoreError::Directory { directory: d, .. } if *d == directory));
        assert!(error.to_string().contains(directory.to_str().unwrap()), "{error}");
    }
}

/// Fills a store of 16 MiB several times over and gives the size of its file.
fn fill(records: u64, value: usize, owners: u64) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let key = |n: u64| [&digest(n % owners)[..OWNER], &digest(n)].concat();
    for batch in 0..records / 100 {
        let keys = (0..100).map(|n| key(batch * 100 + n));
        store.put(keys.map(|key| (key, vec![1; value])).collect()).unwrap();
        if batch % 20 == 0 {
            store.flush().unwrap();
        }
    }
    store.put_durable(vec![pair("last", "1")]).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.dropped, stats.written), (0, records + 1));
    assert_eq!(stats.entries + stats.evicted, records + 1);
    assert_eq!(stats.capacity_bytes, 8 << 20, "the map was never full");
    assert!(stats.used_bytes <= stats.capacity_bytes);
    assert!(stats.used_bytes > stats.capacity_bytes * 9 / 10, "no more evicted than needed");
    assert!(store.get(&key(records - 1)).unwrap().is_some());
    assert!(store.get(&key(0)).unwrap().is_none());
    fs::metadata(directory.path().join("data.mdb")).unwrap().len()
}

#[test]
fn eviction_keeps_the_file_below_its_cap() {
    let cases = [(100_000, 8, 1), (100_000, 100, 1000), (10_000, 1400, 10), (6_000, 4096, 1)];
    for (records, value, owners) in cases {
        let size = fill(records, value, owners);
        println!("{records} records of {value} bytes: a file of {size} bytes");
        assert!(size <= 16 << 20, "{size} bytes");
    }
}

#[test]
fn a_full_map_makes_room() {
    let directory = tempfile::tempdir().unwrap();
    let options = TestClock::new().options(1 << 24);
    // No limit to live data, so that only LMDB itself can say that the map is full.
    let layout = Layout {
        map_bytes: 1 << 20,
        live_bytes: u64::MAX,
        batch_bytes: 4096,
        ..Layout::of(&options)
    };
    let store = DiskStore::open_with(directory.path(), options, layout).unwrap();
    for n in 0..5_000 {
        store.put(vec![pair(digest(n), [1; 200])]).unwrap();
        if n % 100 == 0 {
            store.put_durable(vec![pair("turn", n.to_be_bytes())]).unwrap();
        }
    }
    store.flush().unwrap();
    let stats = store.stats().unwrap();
    assert!(stats.capacity_bytes < u64::MAX, "the map was never full");
    assert!(stats.entries > 500, "far more evicted than needed: {stats:?}");
    assert_eq!((stats.dropped, stats.written), (0, 5_050));
    assert!(store.get(&key(digest(4_999))).unwrap().is_some());
}

/// A run of one ignored test of this binary in a process of its own, through a shell.
fn child(test: &str, shell: &str, directory: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", shell, "sh"])
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(CHILD_DIRECTORY, directory)
        .stdout(Stdio::piped());
    command
}

#[test]
#[ignore = "the child process of `what_was_acknowledged_survives_a_kill`"]
fn child_writes_until_killed() {
    let Some(directory) = env::var_os(CHILD_DIRECTORY) else { return };
    let store = open(Path::new(&directory)).unwrap();
    for n in 0_u64.. {
        store.put(vec![pair(digest(n), "soft")]).unwrap();
        store.put_durable(vec![pair(n.to_be_bytes(), n.to_be_bytes())]).unwrap();
        println!("\nacknowledged {n}");
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let name = "store::disk_tests::child_writes_until_killed";
    let mut child = child(name, r#"exec "$@""#, directory.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut acknowledged = Vec::new();
    let number = |line: String| line.strip_prefix("acknowledged ")?.parse::<u64>().ok();
    acknowledged.extend(lines.by_ref().filter_map(number).take(200));
    child.kill().unwrap();
    child.wait().unwrap();
    acknowledged.extend(lines.filter_map(number));
    assert!(acknowledged.len() >= 200, "{}", acknowledged.len());
    let store = open(directory.path()).unwrap();
    assert_sums_are_right(&store);
    for n in acknowledged {
        assert_eq!(store.get(&key(n.to_be_bytes())).unwrap(), Some(n.to_be_bytes().to_vec()));
        assert_eq!(
            store.get(&key(digest(n))).unwrap(),
            Some(b"soft".to_vec()),
            "accepted before it"
        );
    }
    store.put_durable(vec![pair("after", "1")]).unwrap();
}

/// Of what `child_writes_until_killed` left: one record of each kind, or one soft one more.
fn assert_sums_are_right(store: &DiskStore) {
    let stats = store.stats().unwrap();
    let (durable, soft) = (stats.entries / 2, stats.entries.div_ceil(2));
    let expected = durable * weight(OWNER + 8, 8) + soft * weight(OWNER + 32, 4);
    assert_eq!(stats.used_bytes, expected);
}

#[test]
#[ignore = "the child process of `a_full_disk_is_an_error_and_no_more`"]
fn child_fills_its_disk() {
    let Some(directory) = env::var_os(CHILD_DIRECTORY) else { return };
    let store = open(Path::new(&directory)).unwrap();
    store.put_durable(vec![pair("before", "1")]).unwrap();
    let write = |n| store.put_durable(vec![pair(digest(n), vec![1; 4000])]);
    let failed = (0..1000).map(write).find_map(Result::err).unwrap();
    assert!(matches!(failed, StoreError::Failed(_)), "{failed}");
    assert_eq!(store.get(&key("before")).unwrap(), Some(b"1".to_vec()));
    store.put(vec![pair("soft", vec![1; 4000]); 20]).unwrap();
    // The file can't grow, so this fails too, without waiting for ever.
    let more: Vec<_> = (0..40).map(|n| pair(digest(2000 + n), vec![1; 4000])).collect();
    assert!(store.put_durable(more).is_err());
    assert!(store.stats().is_ok());
    println!("\nsurvived");
}

#[test]
fn a_full_disk_is_an_error_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let name = "store::disk_tests::child_fills_its_disk";
    // A limit to the size of files, in blocks of 512 bytes, stands for a full disk.
    let shell = r#"trap '' XFSZ; ulimit -f 1000; exec "$@""#;
    let output = child(name, shell, directory.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("\nsurvived"), "{text}");
}
