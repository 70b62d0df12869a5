//! A vocabulary as a compact trie, and the fewest of its tokens that spell a text.

use std::collections::VecDeque;

use crate::status::Status;
use crate::vocabulary::Checkpoint;

/// Longer than any token and than any edge that a caller adds.
const WINDOW: usize = 128;

/// Positions between two calls of the checkpoint.
const CHECK_EVERY: usize = 8192;

/// A set of strings.
pub struct Trie {
    /// The byte that leads to each node. The children of a node stand together, in order.
    labels: Vec<u8>,
    /// Where the children of each node begin; they end where the next node's begin.
    children: Vec<u32>,
    /// Whether a token ends at each node.
    ends: Vec<bool>,
    /// The nodes of single bytes; 0 means none.
    roots: [u32; 256],
}

impl Trie {
    /// Reads sorted, front-coded tokens. Each is two bytes, the length of the prefix that it
    /// shares with the one before and the length of the rest, and then the rest.
    pub fn read(data: &[u8]) -> Self {
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        let mut data = data;
        while let [shared, length, tail @ ..] = data {
            let (rest, after) = tail.split_at(usize::from(*length).min(tail.len()));
            let mut token = tokens.last().cloned().unwrap_or_default();
            token.truncate(usize::from(*shared));
            token.extend_from_slice(rest);
            tokens.push(token);
            data = after;
        }
        Self::build(&tokens)
    }

    /// Breadth first, so that siblings are neighbours. Each queued node is the range of sorted
    /// tokens that begin with it, and their common length.
    fn build(tokens: &[Vec<u8>]) -> Self {
        let mut trie =
            Self { labels: vec![0], children: Vec::new(), ends: vec![false], roots: [0; 256] };
        let mut queue = VecDeque::from([(tokens, 0)]);
        while let Some((range, depth)) = queue.pop_front() {
            trie.children.push(trie.labels.len() as u32);
            let longer = range.iter().position(|token| token.len() > depth);
            let range = &range[longer.unwrap_or(range.len())..];
            for group in range.chunk_by(|a, b| a[depth] == b[depth]) {
                let first = &group[0];
                if depth == 0 {
                    trie.roots[usize::from(first[0])] = trie.labels.len() as u32;
                }
                trie.labels.push(first[depth]);
                trie.ends.push(first.len() == depth + 1);
                queue.push_back((group, depth + 1));
            }
        }
        trie.children.push(trie.labels.len() as u32);
        trie
    }

    fn child(&self, node: u32, label: u8) -> Option<u32> {
        let (from, to) = (self.children[node as usize], self.children[node as usize + 1]);
        let at = self.labels[from as usize..to as usize].binary_search(&label).ok()?;
        Some(from + at as u32)
    }

    /// Calls `found` with the length of every token of two bytes and more that `text` begins with.
    fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize)) {
        let Some((first, rest)) = text.split_first() else { return };
        let mut node = self.roots[usize::from(*first)];
        if node == 0 {
            return;
        }
        for (at, label) in rest.iter().enumerate() {
            let Some(next) = self.child(node, *label) else { return };
            node = next;
            if self.ends[node as usize] {
                found(at + 2);
            }
        }
    }

    /// The fewest tokens that spell `text`; any single byte is a token too.
    /// `also` may offer, for a position, another edge as its length (below 128 bytes) and cost.
    pub fn fewest(
        &self,
        text: &[u8],
        also: impl Fn(usize) -> Option<(usize, u32)>,
        checkpoint: Checkpoint<'_>,
    ) -> Result<u32, Status> {
        // The cheapest way to each position from here on; positions behind are free again.
        let mut best = [u32::MAX; WINDOW];
        best[0] = 0;
        for at in 0..text.len() {
            if at % CHECK_EVERY == 0 {
                checkpoint()?;
            }
            let here = std::mem::replace(&mut best[at % WINDOW], u32::MAX);
            let mut reach = |length: usize, cost: u32| {
                let there = &mut best[(at + length) % WINDOW];
                *there = here.saturating_add(cost).min(*there);
            };
            reach(1, 1);
            self.prefixes(&text[at..], |length| reach(length, 1));
            if let Some((length, cost)) = also(at) {
                reach(length, cost);
            }
        }
        Ok(best[text.len() % WINDOW])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trie() -> Trie {
        Trie::build(&["ab", "abc", "b", "cd"].map(|token| token.as_bytes().to_vec()))
    }

    fn fewest(text: &str) -> u32 {
        trie().fewest(text.as_bytes(), |_| None, &|| Ok(())).unwrap()
    }

    #[test]
    fn the_fewest_tokens_beat_the_longest_first() {
        assert_eq!(fewest("abcd"), 2, "ab + cd, as few as abc + d");
        assert_eq!(fewest("abcab"), 2);
        assert_eq!(fewest(""), 0);
        assert_eq!(fewest("xyz"), 3, "a byte is a token");
    }

    #[test]
    fn another_edge_is_taken_where_it_is_cheaper() {
        let edge = |at| (at == 0).then_some((3, 1));
        assert_eq!(trie().fewest(b"xyz", edge, &|| Ok(())).unwrap(), 1);
    }

    #[test]
    fn front_coding_is_read_back() {
        let trie = Trie::read(&[0, 2, b'a', b'b', 2, 1, b'c']);
        assert_eq!(trie.fewest(b"abcab", |_| None, &|| Ok(())).unwrap(), 2);
        assert_eq!(trie.fewest(b"abca", |_| None, &|| Ok(())).unwrap(), 2);
    }

    #[test]
    fn a_failing_checkpoint_stops_the_count() {
        let stop = || Err(Status::invalid("", "stop"));
        assert!(trie().fewest(b"abc", |_| None, &stop).is_err());
    }
}
