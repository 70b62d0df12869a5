//! Group commit: what is accepted but not yet committed, and when the one writer takes it.
//!
//! Every call to the store puts one request in a queue; the writer thread takes as many as fit in
//! a batch, commits them in one transaction and wakes whoever waits for it. While it waits for the
//! disk, the next batch gathers by itself, so many callers share one commit.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex, RwLock};

use super::{KeyValue, StoreError, StoreOptions, memory::with_prefix};

/// How long a write that nobody waits for waits for company.
const SOFT_DELAY: Duration = Duration::from_millis(50);
/// How often an idle writer sweeps.
const IDLE_SWEEP: Duration = Duration::from_secs(1);
/// Bytes of keys and values in the queue above which writes that nobody waits for are dropped.
const QUEUE_BYTES: usize = 8 << 20;

/// One accepted write.
pub(super) struct Record {
    /// Unique and rising: the time of the write and its place in the order of writes.
    pub stamp: u64,
    pub key: Bytes,
    pub value: Bytes,
}

/// The records of one call, which are committed together.
pub(super) struct Request {
    pub records: Vec<Record>,
    done: Option<SyncSender<Result<(), StoreError>>>,
}

/// Requests that wait for the writer, and their records by key for those who read.
pub(super) struct Pending {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Taken after `queue` where both are held.
    overlay: RwLock<BTreeMap<Bytes, (u64, Bytes)>>,
    batch_bytes: usize,
    /// Records that were accepted and never written.
    pub dropped: AtomicU64,
}

#[derive(Default)]
struct Queue {
    requests: VecDeque<Request>,
    bytes: usize,
    awaited: usize,
    /// When the oldest request came.
    since: Option<Instant>,
    last_stamp: u64,
    closed: bool,
}

impl Pending {
    /// Nothing pending. `last_stamp` is the highest one already stored, `batch_bytes` what one
    /// commit takes at most (but always one request).
    pub fn new(last_stamp: u64, batch_bytes: usize) -> Self {
        Self {
            queue: Mutex::new(Queue { last_stamp, ..Queue::default() }),
            wake: Condvar::new(),
            overlay: RwLock::default(),
            batch_bytes,
            dropped: AtomicU64::new(0),
        }
    }

    /// Queues `records`, or drops and counts them if the writer is behind. What waits already is
    /// not queued again: a prompt that is asked for over and over is one write.
    pub fn put(&self, records: Vec<KeyValue>, options: &StoreOptions) -> Result<(), StoreError> {
        if self.holds(&records) {
            return Ok(());
        }
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(StoreError::Closed);
        }
        if queue.bytes + size(&records) > QUEUE_BYTES {
            self.dropped.fetch_add(records.len() as u64, Ordering::Relaxed);
            return Ok(());
        }
        // A waiting writer needs to hear of the first write, to set its alarm, and of a full batch.
        let waiting = queue.requests.is_empty();
        self.accept(&mut queue, records, None, options);
        if waiting || queue.bytes >= self.batch_bytes {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Queues `records` and waits for the commit that holds them and all that came before.
    ///
    /// The queue's bound doesn't apply: each caller waits, so there are no more than callers.
    pub fn put_and_wait(
        &self,
        records: Vec<KeyValue>,
        options: &StoreOptions,
    ) -> Result<(), StoreError> {
        let (sender, receiver) = sync_channel(1);
        {
            let mut queue = self.queue.lock();
            if queue.closed {
                return Err(StoreError::Closed);
            }
            self.accept(&mut queue, records, Some(sender), options);
        }
        self.wake.notify_one();
        receiver.recv().unwrap_or(Err(StoreError::Closed))
    }

    fn accept(
        &self,
        queue: &mut Queue,
        records: Vec<KeyValue>,
        done: Option<SyncSender<Result<(), StoreError>>>,
        options: &StoreOptions,
    ) {
        queue.bytes += size(&records);
        queue.awaited += usize::from(done.is_some());
        queue.since.get_or_insert_with(Instant::now);
        let mut overlay = self.overlay.write();
        let mut stamped = Vec::with_capacity(records.len());
        for (key, value) in records {
            queue.last_stamp = options.next_stamp(queue.last_stamp);
            let record = Record { stamp: queue.last_stamp, key: key.into(), value: value.into() };
            overlay.insert(record.key.clone(), (record.stamp, record.value.clone()));
            stamped.push(record);
        }
        queue.requests.push_back(Request { records: stamped, done });
    }

    fn holds(&self, records: &[KeyValue]) -> bool {
        let overlay = self.overlay.read();
        records.iter().all(|(key, value)| {
            overlay.get(key.as_slice()).is_some_and(|(_, waiting)| waiting == value)
        })
    }

    /// The pending value under `key` and its stamp.
    pub fn get(&self, key: &[u8]) -> Option<(u64, Bytes)> {
        self.overlay.read().get(key).cloned()
    }

    /// The newest pending record whose key starts with `prefix`.
    pub fn newest(&self, prefix: &[u8]) -> Option<(u64, KeyValue)> {
        let overlay = self.overlay.read();
        let newest = with_prefix(&overlay, prefix).max_by_key(|(_, (stamp, _))| *stamp);
        newest.map(|(key, (stamp, value))| (*stamp, (key.to_vec(), value.to_vec())))
    }

    /// Waits for the next batch. An empty one is a time to sweep; `None` is the end.
    pub fn next_batch(&self) -> Option<Vec<Request>> {
        let idle_until = Instant::now() + IDLE_SWEEP;
        let mut queue = self.queue.lock();
        loop {
            if queue.closed || queue.awaited > 0 || queue.bytes >= self.batch_bytes {
                break;
            }
            let due = queue.since.map_or(idle_until, |since| since + SOFT_DELAY);
            if self.wake.wait_until(&mut queue, due).timed_out() {
                break;
            }
        }
        if queue.closed && queue.requests.is_empty() {
            return None;
        }
        Some(queue.take(self.batch_bytes))
    }

    /// Forgets a batch that was committed or failed, and tells those who wait for it.
    pub fn settle(&self, batch: Vec<Request>, result: &Result<(), StoreError>) {
        let mut overlay = self.overlay.write();
        for record in batch.iter().flat_map(|request| &request.records) {
            if overlay.get(&record.key).is_some_and(|(stamp, _)| *stamp == record.stamp) {
                overlay.remove(&record.key);
            }
        }
        drop(overlay);
        for request in batch {
            match request.done {
                // A receiver waits for as long as its sender lives, so sending can't fail.
                Some(done) => drop(done.send(result.clone())),
                None if result.is_err() => {
                    self.dropped.fetch_add(request.records.len() as u64, Ordering::Relaxed);
                }
                None => {}
            }
        }
    }

    /// Accepts nothing more. The writer goes on until the queue is empty.
    pub fn close(&self) {
        self.queue.lock().closed = true;
        self.wake.notify_one();
    }

    /// Closes and forgets what is queued, so that nobody waits for a writer that has ended.
    pub fn abandon(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.requests.clear();
    }
}

impl Queue {
    fn take(&mut self, batch_bytes: usize) -> Vec<Request> {
        let mut batch = Vec::new();
        let mut taken = 0;
        while let Some(request) = self.requests.pop_front() {
            taken += request.records.iter().map(|r| r.key.len() + r.value.len()).sum::<usize>();
            self.awaited -= usize::from(request.done.is_some());
            batch.push(request);
            if taken >= batch_bytes {
                break;
            }
        }
        self.bytes -= taken;
        if self.requests.is_empty() {
            self.since = None;
        }
        batch
    }
}

fn size(records: &[KeyValue]) -> usize {
    records.iter().map(|(key, value)| key.len() + value.len()).sum()
}
