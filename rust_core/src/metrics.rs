//! What happened since the start, counted where it happens so that a call costs nothing elsewhere.
//!
//! The service reads a snapshot and exports it. Client libraries of metric systems were not used:
//! they give their histograms as text only, and what is needed is three kinds of sums.

use parking_lot::Mutex;

/// Names of the attributes of an instrument's points.
type Names = &'static [&'static str];

/// An instrument and its points at one moment, cumulative.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Name of the instrument.
    pub name: &'static str,
    /// One line for people.
    pub description: &'static str,
    /// Unit in UCUM.
    pub unit: &'static str,
    /// "counter", "gauge" or "histogram".
    pub kind: &'static str,
    /// Upper bounds of a histogram's buckets.
    pub boundaries: &'static [f64],
    /// The points by their attributes.
    pub points: Vec<Point>,
}

/// The value for one set of attributes.
#[derive(Clone, Debug)]
pub struct Point {
    /// Pairs of name and value.
    pub attributes: Vec<(&'static str, String)>,
    /// The value; the sum of a histogram.
    pub value: f64,
    /// Values in each bucket of a histogram; empty otherwise.
    pub buckets: Vec<u64>,
}

/// A counter or, with boundaries, a histogram.
pub struct Instrument {
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    attributes: Names,
    boundaries: &'static [f64],
    // A few dozen points at most: a scan is cheaper than hashing the attributes.
    points: Mutex<Vec<Sum>>,
}

/// The attributes' values, the sum, and the buckets.
type Sum = (Vec<String>, f64, Vec<u64>);

impl Instrument {
    /// An instrument without points.
    #[must_use]
    pub const fn new(
        name: &'static str,
        description: &'static str,
        unit: &'static str,
        attributes: Names,
        boundaries: &'static [f64],
    ) -> Self {
        Self { name, description, unit, attributes, boundaries, points: Mutex::new(Vec::new()) }
    }

    /// Adds `value`, which a histogram also puts into its bucket.
    pub fn add(&self, attributes: &[&str], value: f64) {
        debug_assert_eq!(attributes.len(), self.attributes.len());
        let mut points = self.points.lock();
        let at = points.iter().position(|(known, ..)| known == attributes).unwrap_or_else(|| {
            let attributes = attributes.iter().map(|&text| text.to_owned()).collect();
            let buckets = if self.boundaries.is_empty() { 0 } else { self.boundaries.len() + 1 };
            points.push((attributes, 0.0, vec![0; buckets]));
            points.len() - 1
        });
        let (_, sum, buckets) = &mut points[at];
        *sum += value;
        if let Some(bucket) =
            buckets.get_mut(self.boundaries.partition_point(|boundary| *boundary < value))
        {
            *bucket += 1;
        }
    }

    /// The instrument as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let points = self.points.lock();
        let points = points.iter().map(|(attributes, value, buckets)| Point {
            attributes: self.attributes.iter().copied().zip(attributes.iter().cloned()).collect(),
            value: *value,
            buckets: buckets.clone(),
        });
        Snapshot {
            name: self.name,
            description: self.description,
            unit: self.unit,
            kind: if self.boundaries.is_empty() { "counter" } else { "histogram" },
            boundaries: self.boundaries,
            points: points.collect(),
        }
    }
}

/// A gauge, or a counter that something else keeps, read at this moment.
#[must_use]
pub fn reading(
    (name, description, unit, kind): (&'static str, &'static str, &'static str, &'static str),
    points: &[(&[(&'static str, &str)], u64)],
) -> Snapshot {
    let points = points.iter().map(|(attributes, value)| Point {
        attributes: attributes.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        value: *value as f64,
        buckets: Vec::new(),
    });
    Snapshot { name, description, unit, kind, boundaries: &[], points: points.collect() }
}

/// Seconds of a call: the boundaries of the semantic conventions, finer below 5 ms.
const SECONDS: &[f64] = &[
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25,
    0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
const BYTES: &[f64] = &[
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    33_554_432.0,
];
const ERRORS: &[f64] =
    &[-0.5, -0.2, -0.1, -0.05, -0.02, -0.01, -0.001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// Every instrument of the engine.
pub struct Metrics {
    /// Seconds from a request's bytes to its answer's.
    pub duration: Instrument,
    /// The same of calls that failed for a fault of the server, with `error.type`.
    pub failed_duration: Instrument,
    /// Bytes of requests.
    pub request_size: Instrument,
    /// Bytes of successful answers.
    pub response_size: Instrument,
    /// Answers by what they rest on.
    pub answers: Instrument,
    /// Look-ups of a known prefix.
    pub prefixes: Instrument,
    /// Tokens of answers, known or estimated.
    pub tokens: Instrument,
    /// Records by what became of them.
    pub records: Instrument,
    /// Bills above the bound.
    pub underestimates: Instrument,
    /// Reads and writes of the store that failed.
    pub store_failures: Instrument,
    /// (estimated - billed) / billed.
    pub error: Instrument,
}

const FAMILY: &str = "tokencount.profile.family";
const OUTCOME: &str = "tokencount.outcome";
const METHOD: &str = "rpc.method";
const SYSTEM: &str = "rpc.system.name";
const STATUS: &str = "rpc.response.status_code";

impl Default for Metrics {
    fn default() -> Self {
        let duration = "rpc.server.call.duration";
        let seconds = "Duration of calls inside the engine";
        Self {
            duration: Instrument::new(duration, seconds, "s", &[SYSTEM, METHOD, STATUS], SECONDS),
            failed_duration: Instrument::new(
                duration,
                seconds,
                "s",
                &[SYSTEM, METHOD, STATUS, "error.type"],
                SECONDS,
            ),
            request_size: Instrument::new(
                "tokencount.request.size",
                "Size of requests",
                "By",
                &[METHOD],
                BYTES,
            ),
            response_size: Instrument::new(
                "tokencount.response.size",
                "Size of answers",
                "By",
                &[METHOD],
                BYTES,
            ),
            answers: Instrument::new(
                "tokencount.answers",
                "Answers by what they rest on",
                "{answer}",
                &["tokencount.source", FAMILY],
                &[],
            ),
            prefixes: Instrument::new(
                "tokencount.prefix.lookups",
                "Look-ups of a prefix with a recorded bill",
                "{lookup}",
                &[OUTCOME],
                &[],
            ),
            tokens: Instrument::new(
                "tokencount.tokens",
                "Tokens of estimates, known from a bill or estimated",
                "{token}",
                &["tokencount.kind"],
                &[],
            ),
            records: Instrument::new(
                "tokencount.records",
                "Recorded bills by what became of them",
                "{record}",
                &[OUTCOME],
                &[],
            ),
            underestimates: Instrument::new(
                "tokencount.underestimates",
                "Recorded bills above the upper bound",
                "{record}",
                &[FAMILY],
                &[],
            ),
            store_failures: Instrument::new(
                "tokencount.store.failures",
                "Reads and writes of the store that failed; counting went on without it",
                "{failure}",
                &[],
                &[],
            ),
            error: Instrument::new(
                "tokencount.estimate.error",
                "(estimated - billed) / billed of recorded bills",
                "1",
                &[FAMILY],
                ERRORS,
            ),
        }
    }
}

impl Metrics {
    /// Every instrument as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Snapshot> {
        let mut duration = self.duration.snapshot();
        duration.points.extend(self.failed_duration.snapshot().points);
        let rest = [
            &self.request_size,
            &self.response_size,
            &self.answers,
            &self.prefixes,
            &self.tokens,
            &self.records,
            &self.underestimates,
            &self.store_failures,
            &self.error,
        ];
        [duration].into_iter().chain(rest.map(Instrument::snapshot)).collect()
    }
}
