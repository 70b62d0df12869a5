//! Measures how soon after the start of a process the counters of current models are usable:
//! `cargo run --release --example start_speed`.
//!
//! Starts itself many times; each child loads both encodings, counts with both and says so. Prints
//! the fastest and the median time from before the start until the parent has read that, and fails
//! if the median is above what is allowed.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use tokencount_core::bpe::Encoding;

const STARTS: usize = 25;
const ALLOWED: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        Encoding::preload();
        println!("{}", Encoding::Cl100kBase.count("ready") + Encoding::O200kBase.count("ready"));
        return ExitCode::SUCCESS;
    }
    let mut times: Vec<Duration> = (0..STARTS).map(|_| start()).collect();
    times.sort_unstable();
    let median = times[STARTS / 2];
    println!(
        "both encodings usable after {:.1?}, median {median:.1?} (allowed: {ALLOWED:?})",
        times[0]
    );
    if median > ALLOWED { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// How long one child takes.
fn start() -> Duration {
    let program = std::env::current_exe().expect("a program knows its path");
    let started = Instant::now();
    let child = Command::new(program).arg("child").stdout(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts itself");
    let mut line = String::new();
    let output = child.stdout.take().expect("the output is piped");
    BufReader::new(output).read_line(&mut line).expect("the child writes a line");
    let time = started.elapsed();
    assert_eq!(line, "2\n", "one token each");
    assert!(child.wait().expect("the child ends").success());
    time
}
