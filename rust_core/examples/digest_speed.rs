//! Measures how long a prompt that was counted before takes to be recognised:
//! `cargo run --release --example digest_speed`.
//!
//! Prints the time to digest 200 messages of 1000 bytes, look their counts up and chain them, and
//! that of one pass of keyed BLAKE3 over the same bytes, each the fastest of many rounds in turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use tokencount_core::conversation::digest::{Digest, Digester};
use tokencount_core::conversation::{Format, Message, Part};
use tokencount_core::rules::Tally;

const MESSAGES: usize = 200;
const BYTES: usize = 1000;
const ROUNDS: usize = 2000;
/// What the whole may take above two passes, for each message.
const ALLOWED: Duration = Duration::from_nanos(150);

fn main() {
    let messages: Vec<Message> = (0..MESSAGES).map(message).collect();
    let digester = Digester::new(&[7; 32], "tenant", "profile", Format::OpenaiChat);
    // As large as an engine's, and as full.
    let counts: Cache<Digest, Tally> = Cache::new(100_000);
    for message in (0..100_000).map(message).chain(messages.iter().cloned()) {
        counts.insert(digester.message(&message), Tally::default());
    }
    let recognise = || {
        let mut key = digester.root();
        for message in &messages {
            let digest = digester.message(black_box(message));
            black_box(counts.get(&digest)).expect("a message that was counted");
            key = digester.extend(&key, &digest);
        }
        black_box(key);
    };
    let pass = || {
        for message in &messages {
            if let Part::Text(text) = &message.parts[0] {
                black_box(blake3::keyed_hash(&[7; 32], black_box(text).as_bytes()));
            }
        }
    };
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        fastest[0] = fastest[0].min(time(recognise));
        fastest[1] = fastest[1].min(time(pass));
    }
    let [recognised, passed] = fastest;
    let limit = 2 * passed + MESSAGES as u32 * ALLOWED;
    println!("recognise {recognised:?}, one pass {passed:?}, limit {limit:?}");
}

fn message(number: usize) -> Message {
    let text = format!("message {number} ").repeat(BYTES / 8);
    Message { parts: vec![Part::Text(text[..BYTES].into())], ..Message::default() }
}

fn time(run: impl Fn()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}
