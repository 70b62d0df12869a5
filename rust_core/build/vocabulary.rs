//! The vocabularies of `tiktoken-rs`, in the order and form in which they load fastest.
//!
//! A file holds one record for each token, sorted by the tokens' bytes, so that a token follows
//! all its prefixes and only the bytes that differ from the token before need storing:
//!
//! | bytes | meaning |
//! | --- | --- |
//! | 1 | length of the prefix shared with the record before |
//! | 1 | number of bytes that follow it |
//! | 1 | where the last merge joined the token: length of its left part (0: a single byte) |
//! | 3 | rank |
//! | 3 | rank of the right part |
//! | n | the bytes that follow the shared prefix |

use std::collections::HashMap;
use std::path::Path;

use tiktoken_rs::CoreBPE;

type Ranks = HashMap<Vec<u8>, u32>;

/// Writes `cl100k.bin`, `o200k.bin` and `p50k.bin`.
///
/// `r50k_base` is `p50k_base` without its last ranks, `o200k_harmony` is `o200k_base` with more
/// special tokens: neither needs a file.
pub fn write(out: &Path) {
    for (file, vocabulary) in [
        ("cl100k.bin", tiktoken_rs::cl100k_base()),
        ("o200k.bin", tiktoken_rs::o200k_base()),
        ("p50k.bin", tiktoken_rs::p50k_base()),
    ] {
        let vocabulary = vocabulary.expect("tiktoken-rs embeds the vocabulary");
        std::fs::write(out.join(file), serialise(&tokens(&vocabulary)))
            .expect("OUT_DIR is writable");
    }
}

/// Every ordinary token. Ranks have holes, so all below the largest special token are tried.
fn tokens(vocabulary: &CoreBPE) -> Ranks {
    let special = vocabulary.special_tokens();
    (0..1 << 18)
        .filter_map(|rank| Some((vocabulary.decode_bytes(&[rank]).ok()?, rank)))
        .filter(|(token, _)| !str::from_utf8(token).is_ok_and(|token| special.contains(token)))
        .collect()
}

fn serialise(ranks: &Ranks) -> Vec<u8> {
    let mut tokens: Vec<&[u8]> = ranks.keys().map(Vec::as_slice).collect();
    tokens.sort_unstable();
    let mut file = Vec::new();
    let mut before: &[u8] = &[];
    for token in tokens {
        let shared = token.iter().zip(before).take_while(|(a, b)| a == b).count();
        let split = last_merge(token, ranks);
        let [rank, right] = [ranks[token], ranks[&token[split..]]].map(u32::to_le_bytes);
        let sizes = [shared, token.len() - shared, split];
        file.extend(sizes.map(|size| u8::try_from(size).expect("tokens are under 256 bytes")));
        file.extend_from_slice(&rank[..3]);
        file.extend_from_slice(&right[..3]);
        file.extend_from_slice(&token[shared..]);
        before = token;
    }
    file
}

/// Where the two parts meet that the last merge joins into `token`.
///
/// Counting relies on what is asserted here: every token is what merging makes of its own bytes,
/// single bytes have the ranks below 256, and a token's rank is above those of its parts.
fn last_merge(token: &[u8], ranks: &Ranks) -> usize {
    let rank = ranks[token];
    assert_eq!(token.len() == 1, rank < 256, "single bytes come first");
    let mut bounds: Vec<usize> = (0..=token.len()).collect();
    while bounds.len() > 3 {
        let joined = |i: &usize| ranks.get(&token[bounds[*i]..bounds[i + 2]]);
        let first = (0..bounds.len() - 2).filter(|i| joined(i).is_some()).min_by_key(joined);
        let first = first.expect("merging the token's bytes gives the token");
        assert!(joined(&first) < Some(&rank), "a part comes before the whole");
        bounds.remove(first + 1);
    }
    if token.len() == 1 { 0 } else { bounds[1] }
}
