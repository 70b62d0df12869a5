//! A vocabulary in the order and form in which its tables load fastest: at build time for the
//! vocabularies that are part of the binary, at start for those of files.
//!
//! It holds one record for each token, sorted by the tokens' bytes, so that a token follows all its
//! prefixes and only the bytes that differ from the token before need storing:
//!
//! | bytes | meaning |
//! | --- | --- |
//! | 1 | length of the prefix shared with the record before |
//! | 1 | number of bytes that follow it |
//! | 1 | where the last merge joined the token: length of its left part (0: a single byte); 255: merging never makes it, it is a token only as a whole piece |
//! | 3 | rank: single bytes first, then in the order of merges, without holes |
//! | 3 | rank of the right part |
//! | n | the bytes that follow the shared prefix |

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A token that merging never makes.
pub const WHOLE: u8 = u8::MAX;
/// The longest token that the tables hold. What longer ones would be, runs of hundreds of spaces, is
/// counted as several tokens.
const LENGTH_MAX: usize = 254;
/// Ranks are below what the tables keep for "none".
const RANKS_MAX: usize = (1 << 18) - 1;
/// Bytes are ranks of their own.
const BYTES: usize = 256;

/// Why a vocabulary can't be counted with.
pub type Fault = String;

/// Which bytes merge, and when: the lower rank first.
#[derive(Default)]
pub struct Merges {
    /// By the bytes of the whole.
    wholes: HashMap<Vec<u8>, Vec<Merge>>,
}

struct Merge {
    /// The length of the left part; none if any two parts that make the whole merge.
    left: Option<usize>,
    rank: u32,
}

impl Merges {
    /// As a file in the form of tiktoken has it: any two parts that make a token merge, at its rank.
    pub fn of_ranks(ranks: impl IntoIterator<Item = (Vec<u8>, u32)>) -> Self {
        let merge = |rank| vec![Merge { left: None, rank }];
        Self { wholes: ranks.into_iter().map(|(token, rank)| (token, merge(rank))).collect() }
    }

    /// As a `tokenizer.json` has it: these two parts merge, in the order of the list; and `tokens`
    /// are its vocabulary.
    pub fn of_pairs(
        tokens: impl IntoIterator<Item = Vec<u8>>,
        pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Self {
        let mut wholes: HashMap<_, _> =
            tokens.into_iter().map(|token| (token, Vec::new())).collect();
        for (rank, (mut whole, right)) in (0..).zip(pairs) {
            let left = Some(whole.len());
            whole.extend_from_slice(&right);
            wholes.entry(whole).or_default().push(Merge { left, rank });
        }
        Self { wholes }
    }

    /// The tokens that the tables hold.
    fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        let tokens = self.wholes.keys().map(Vec::as_slice);
        tokens.filter(|token| (1..=LENGTH_MAX).contains(&token.len()))
    }

    /// The rank at which two neighbouring parts of `bytes` merge.
    fn rank(&self, bytes: &[u8], left: usize) -> Option<u32> {
        let merges = self.wholes.get(bytes)?;
        let merge = merges.iter().find(|merge| merge.left.is_none_or(|length| length == left))?;
        Some(merge.rank)
    }

    /// The last merge that makes `token` out of its bytes: its rank, and the length of its left
    /// part. None if merging stops before.
    fn last(&self, token: &[u8]) -> Option<(u32, usize)> {
        let mut bounds: Vec<usize> = (0..=token.len()).collect();
        let rank = |bounds: &[usize], at: usize| {
            let [start, middle, end] = bounds.get(at..at + 3)?.try_into().ok()?;
            self.rank(&token[start..end], middle - start)
        };
        let mut ranks: Vec<Option<u32>> = (0..bounds.len()).map(|at| rank(&bounds, at)).collect();
        loop {
            let next = ranks.iter().enumerate().filter(|(_, rank)| rank.is_some());
            let (at, last) = next.min_by_key(|(_, rank)| **rank)?;
            let (last, middle) = ((*last)?, bounds[at + 1]);
            if bounds.len() == 3 {
                return Some((last, middle));
            }
            bounds.remove(at + 1);
            ranks.remove(at + 1);
            ranks[at] = rank(&bounds, at);
            if let Some(before) = at.checked_sub(1) {
                ranks[before] = rank(&bounds, before);
            }
        }
    }
}

/// The records of a vocabulary; with `wholes`, tokens that merging never makes are tokens where
/// they are a piece by themselves, and otherwise they are none.
///
/// Counting relies on what is seen to here: every byte is a token, and every other token comes in the
/// order of ranks after the two that its own last merge joins.
pub fn serialise(merges: &Merges, wholes: bool) -> Result<Vec<u8>, Fault> {
    let tokens = Tokens::of(merges)?;
    let mut sorted: Vec<&[u8]> = merges.tokens().collect();
    sorted.sort_unstable();
    let mut file = Vec::new();
    let mut before: &[u8] = &[];
    for token in sorted {
        let record = match tokens.record(token) {
            Some(record) => record,
            None if wholes => (WHOLE, 0, 0),
            None => continue,
        };
        let shared = token.iter().zip(before).take_while(|(a, b)| a == b).count();
        write(&mut file, token, shared, record);
        before = token;
    }
    Ok(file)
}

/// Where the last merge joined a token, its rank, and that of its right part.
type Record = (u8, u32, u32);

fn write(file: &mut Vec<u8>, token: &[u8], shared: usize, (split, rank, right): Record) {
    file.extend([shared as u8, (token.len() - shared) as u8, split]);
    file.extend_from_slice(&rank.to_le_bytes()[..3]);
    file.extend_from_slice(&right.to_le_bytes()[..3]);
    file.extend_from_slice(&token[shared..]);
}

/// Every token that merging makes: its rank without holes, and the length of its left part.
struct Tokens<'a>(HashMap<&'a [u8], (u32, usize)>);

impl<'a> Tokens<'a> {
    /// The order of ranks, but for merges that come before one that makes a part: those wait for it,
    /// as they do in a text.
    fn of(merges: &'a Merges) -> Result<Self, Fault> {
        let last: HashMap<&[u8], (u32, usize)> =
            merges.tokens().filter_map(|token| Some((token, merges.last(token)?))).collect();
        let mut ranks: HashMap<&[u8], (u32, usize)> = HashMap::with_capacity(last.len() + BYTES);
        let mut waiting: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
        for token in last.keys() {
            let (left, right) = token.split_at(last[token].1);
            waiting.entry(left).or_default().push(token);
            if left != right {
                waiting.entry(right).or_default().push(token);
            }
        }
        let bytes = merges.tokens().filter(|token| token.len() == 1);
        let mut ready: BinaryHeap<_> = bytes.map(|byte| Reverse((0, byte))).collect();
        if ready.len() != BYTES {
            return Err("not every byte is a token".to_owned());
        }
        while let Some(Reverse((_, token))) = ready.pop() {
            let left = last.get(token).map_or(0, |(_, left)| *left);
            ranks.insert(token, (ranks.len() as u32, left));
            for whole in waiting.remove(token).unwrap_or_default() {
                let (rank, left) = last[whole];
                let (left, right) = whole.split_at(left);
                if ranks.contains_key(left) && ranks.contains_key(right) {
                    ready.push(Reverse((rank + 1, whole)));
                }
            }
        }
        if ranks.len() > RANKS_MAX {
            return Err(format!("more than {RANKS_MAX} tokens"));
        }
        Ok(Self(ranks))
    }

    fn record(&self, token: &[u8]) -> Option<Record> {
        let (rank, left) = *self.0.get(token)?;
        let right = self.0.get(&token[left..]).map_or(0, |(rank, _)| *rank);
        Some((left as u8, rank, right))
    }
}
