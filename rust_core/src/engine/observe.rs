//! What the engine tells telemetry.

use super::ladder::Estimate;
use super::prompt::Prompt;
use super::{COUNT_BYTES, Engine};
use crate::metrics::{Snapshot, reading};
use crate::store::Stats;

impl Engine {
    /// What happened since the start.
    #[must_use]
    pub fn metrics(&self) -> Vec<Snapshot> {
        let mut metrics = self.metrics.snapshot();
        metrics.extend(self.tolerate(self.store.stats()).iter().flat_map(store_metrics));
        let hits = self.sent.hits() + self.counts.hits();
        let misses = self.sent.misses() + self.counts.misses();
        let cache =
            ("tokencount.cache.lookups", "Look-ups of counted messages", "{lookup}", "counter");
        let outcome = "tokencount.outcome";
        metrics
            .push(reading(cache, &[(&[(outcome, "hit")], hits), (&[(outcome, "miss")], misses)]));
        let size = ("tokencount.cache.size", "Memory of counted messages", "By", "gauge");
        metrics.push(reading(
            size,
            &[(&[], ((self.counts.len() + self.sent.len()) * COUNT_BYTES) as u64)],
        ));
        metrics
    }

    /// Counts an answer.
    pub(super) fn observe(&self, prompt: &Prompt, estimate: &Estimate) {
        self.metrics.answers.add(&[estimate.source.name(), &prompt.profile.family], 1.0);
        self.metrics.tokens.add(&["known"], f64::from(estimate.known));
        self.metrics.tokens.add(&["estimated"], f64::from(estimate.tokens - estimate.known));
    }
}

fn store_metrics(stats: &Stats) -> Vec<Snapshot> {
    let removed = [
        ("age", stats.expired),
        ("size", stats.evicted),
        ("quota", stats.over_quota),
        ("backlog", stats.dropped),
    ];
    let removed = removed.map(|(reason, count)| ([("tokencount.reason", reason)], count));
    let removed: Vec<_> = removed.iter().map(|(reason, count)| (&reason[..], *count)).collect();
    vec![
        reading(
            ("tokencount.store.commits", "Commits of the store", "{commit}", "counter"),
            &[(&[], stats.commits)],
        ),
        reading(("tokencount.store.evictions", "Records removed", "{entry}", "counter"), &removed),
        reading(
            ("tokencount.store.entries", "Records in the store", "{entry}", "gauge"),
            &[(&[], stats.entries)],
        ),
        reading(
            ("tokencount.store.tenants", "Tenants with records in the store", "{tenant}", "gauge"),
            &[(&[], stats.owners)],
        ),
        reading(
            ("tokencount.store.size", "Bytes of the store", "By", "gauge"),
            &[(&[], stats.used_bytes)],
        ),
    ]
}
