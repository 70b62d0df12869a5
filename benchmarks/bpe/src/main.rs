//! `bench-bpe DIR`: how fast the core counts, beside other exact counters.
//!
//! Every document size runs in processes of its own, so that "cold" is what it says: the first
//! count of these documents in the process, after a warm-up on other text. Each is run several
//! times and the fastest is shown, since other work on the machine only ever slows one down. All
//! counters run one after another on the same core; only ratios within one run mean anything.
//! Times are of the processor, not of the clock. The last line takes documents of 8 kB, cold.

mod counters;
mod documents;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use counters::{Count, ENCODINGS, NAMES, TIKTOKEN, TOKTOK};

/// Processes for each document size.
const RUNS: usize = 5;
/// Passes over a file, of which the fastest is its warm time.
const WARM_PASSES: usize = 5;
const SIZES: [(&str, usize); 3] = [("400 B", 400), ("8 kB", 8000), ("whole", usize::MAX)];
const WARM_UP: &str = include_str!("main.rs");

fn main() {
    let mut core = CpuSet::new();
    core.set(sched_getcpu());
    sched_setaffinity(None, &core).expect("a thread may stay where it is");
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [directory] => report(directory),
        [directory, size] => measure(Path::new(directory), size.parse().expect("a size")),
        _ => eprintln!("usage: bench-bpe DIRECTORY"),
    }
}

/// One process's part: a line `encoding TAB file TAB counter TAB cold TAB warm` (MB/s) each.
fn measure(directory: &Path, size: usize) {
    let files = documents::corpus(directory);
    for encoding in ENCODINGS {
        let counters = counters::load(encoding);
        for file in &files {
            let documents = documents::cut(&file.text, size);
            let mut expected = None;
            for (name, count) in NAMES.iter().zip(&counters) {
                let (cold, warm) = time(count, &documents, &mut expected, &file.name);
                let rate = |seconds: f64| file.text.len() as f64 / 1e6 / seconds;
                let (cold, warm) = (rate(cold), rate(warm));
                println!("{}\t{}\t{name}\t{cold}\t{warm}", encoding.name(), file.name);
            }
        }
    }
}

/// Seconds for the first pass over the documents and for the fastest later one.
fn time(
    count: &Count,
    documents: &[&str],
    expected: &mut Option<Vec<usize>>,
    file: &str,
) -> (f64, f64) {
    let pass = || {
        let start = seconds();
        let counts: Vec<usize> = documents.iter().map(|text| count(black_box(text))).collect();
        (seconds() - start, counts)
    };
    for _ in 0..3 {
        black_box(count(WARM_UP));
    }
    let (cold, counts) = pass();
    let expected = expected.get_or_insert_with(|| counts.clone());
    assert_eq!(*expected, counts, "the counters differ on {file}");
    let warm = (0..WARM_PASSES).map(|_| pass().0).fold(f64::MAX, f64::min);
    (cold, warm)
}

/// Seconds of processor time that this thread has used.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Cold and warm rates of every run, by encoding, file and counter.
type Rates = BTreeMap<(String, String), BTreeMap<String, Vec<(f64, f64)>>>;

fn run(directory: &str, size: usize) -> Rates {
    let program = std::env::current_exe().expect("a program knows its path");
    let mut rates = Rates::new();
    for _ in 0..RUNS {
        let output = Command::new(&program).args([directory, &size.to_string()]).output();
        let output = output.expect("the program runs itself");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let row = rates.entry((fields[0].into(), fields[1].into())).or_default();
            let number = |field: &str| field.parse().expect("a rate");
            row.entry(fields[2].into()).or_default().push((number(fields[3]), number(fields[4])));
        }
    }
    rates
}

fn report(directory: &str) {
    println!("MB/s, cold / warm; the counts of all counters agree");
    let mut ratios: [Vec<f64>; NAMES.len()] = Default::default();
    for (name, size) in SIZES {
        println!(
            "\ndocuments: {name}\n{:34}{}",
            "",
            NAMES.map(|name| format!("{name:>18}")).concat()
        );
        for ((encoding, file), row) in run(directory, size) {
            let columns = NAMES.map(|name| {
                let (cold, warm): (Vec<f64>, Vec<f64>) = row[name].iter().copied().unzip();
                (fastest_of(cold), fastest_of(warm))
            });
            let shown = columns.map(|(cold, warm)| format!("{cold:>10.1} /{warm:>6.1}"));
            println!("{encoding:12}{file:22}{}", shown.concat());
            if size == 8000 {
                (0..NAMES.len()).for_each(|i| ratios[i].push(columns[0].0 / columns[i].0));
            }
        }
    }
    worst();
    let [tiktoken, toktok] = [TIKTOKEN, TOKTOK].map(|i| {
        let least = ratios[i].iter().copied().fold(f64::MAX, f64::min);
        format!("min {least:.2} median {:.2}", median(ratios[i].clone()))
    });
    println!("\nratio toktok-rs {toktok}; tiktoken-rs {tiktoken}");
}

/// Lengths of the worst texts: from 64 kB to 4 MB, each twice the one before.
const LENGTHS: std::ops::RangeInclusive<u32> = 16..=22;
/// Texts of each kind and length.
const TEXTS: u64 = 7;

/// The worst texts, and how the time grows with their length.
fn worst() {
    println!("\nworst texts, each counted once: ns/byte at 1 MB");
    println!(
        "then ours from 64 kB to 4 MB in ns/byte, and the most that doubling the length multiplies the time by"
    );
    for encoding in ENCODINGS {
        let counters = counters::load(encoding);
        // The others take hours for some of these.
        let compared = [&counters[0], &counters[TOKTOK]];
        let million = costs(&compared, 20);
        let grown = growth(compared[0]);
        for ((name, costs), (times, growth)) in million.iter().zip(&grown) {
            let shown: String = times.iter().map(|time| format!("{time:7.2}")).collect();
            let (ours, toktok) = (costs[0], costs[1]);
            println!(
                "{:12}{name:12} ours {ours:6.2}  toktok-rs {toktok:6.2}  ratio {:4.2} |{shown} | x{growth:.2}",
                encoding.name(),
                ours / toktok,
            );
        }
    }
}

/// Of each kind of worst text, the least ns/byte at every length, and what doubling the length
/// multiplies the time by: the most of all steps. A step's is the median over texts whose lengths
/// were counted one right after the other, since a machine that has other work changes its pace.
fn growth(count: &Count) -> Vec<(Vec<f64>, f64)> {
    let rounds: Vec<Vec<Vec<f64>>> = (1..=TEXTS)
        .map(|seed| {
            let lengths = LENGTHS
                .map(|bits| documents::worst(1 << bits, seed << 8 | 1 << 7 | u64::from(bits)));
            lengths
                .map(|texts| texts.iter().map(|(_, text)| once(count, text).0).collect())
                .collect()
        })
        .collect();
    (0..rounds[0][0].len())
        .map(|kind| {
            let at = |length: usize| rounds.iter().map(move |round| round[length][kind]);
            let least = (0..LENGTHS.count()).map(|length| at(length).fold(f64::MAX, f64::min));
            let steps = (1..LENGTHS.count()).map(|length| {
                let ratios = at(length).zip(at(length - 1)).map(|(long, short)| 2.0 * long / short);
                median(ratios.collect())
            });
            (least.collect(), steps.fold(0.0, f64::max))
        })
        .collect()
}

/// Of each kind of worst text of `1 << bits` bytes, the ns/byte of each counter: the least of
/// several texts, none of which was counted before.
fn costs(counters: &[&Count], bits: u32) -> Vec<(&'static str, Vec<f64>)> {
    let mut least: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for seed in 1..=TEXTS {
        for (kind, (name, text)) in
            documents::worst(1 << bits, seed << 8 | u64::from(bits)).iter().enumerate()
        {
            let runs: Vec<(f64, usize)> = counters.iter().map(|count| once(count, text)).collect();
            assert!(runs.iter().all(|run| run.1 == runs[0].1), "the counters differ on {name}");
            if seed == 1 {
                least.push((name, vec![f64::MAX; counters.len()]));
            }
            for (cost, run) in least[kind].1.iter_mut().zip(runs) {
                *cost = cost.min(run.0);
            }
        }
    }
    least
}

/// The ns/byte and the tokens of one count.
fn once(count: &Count, text: &str) -> (f64, usize) {
    let start = seconds();
    let tokens = count(black_box(text));
    ((seconds() - start) * 1e9 / text.len() as f64, tokens)
}

fn fastest_of(rates: Vec<f64>) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}
