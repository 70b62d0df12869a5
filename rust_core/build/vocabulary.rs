//! The vocabularies that are part of the binary, in the form of `bpe/serialise.rs`.

use std::collections::HashSet;
use std::path::Path;

use splintr_vocab_deepseek::DEEPSEEK_V3_VOCAB_PACKED;
use splintr_vocab_glm::GLM4_VOCAB_PACKED;
use splintr_vocab_mistral::MISTRAL_V3_VOCAB_PACKED;
use splintr_vocab_qwen::QWEN3_VOCAB_PACKED;
use tiktoken_rs::CoreBPE;

use super::serialise::{Merges, serialise};
use super::spelling;

/// Tokens with their ranks.
type Ranks = Vec<(Vec<u8>, u32)>;

/// Writes a file for each vocabulary.
///
/// `r50k_base` is `p50k_base` without its last ranks, `o200k_harmony` is `o200k_base` with more
/// special tokens: neither needs a file.
pub fn write(out: &Path) {
    let openai = |vocabulary: Result<CoreBPE, _>| {
        of_openai(&vocabulary.expect("tiktoken-rs embeds the vocabulary"))
    };
    for (file, ranks) in [
        ("cl100k.bin", openai(tiktoken_rs::cl100k_base())),
        ("o200k.bin", openai(tiktoken_rs::o200k_base())),
        ("p50k.bin", openai(tiktoken_rs::p50k_base())),
        // Spelled tokens after their special ones.
        ("deepseek.bin", spelled(packed(DEEPSEEK_V3_VOCAB_PACKED), 3)),
        ("tekken.bin", spelled(packed(MISTRAL_V3_VOCAB_PACKED), 1000)),
        ("glm.bin", packed(GLM4_VOCAB_PACKED)),
        ("qwen.bin", packed(QWEN3_VOCAB_PACKED)),
    ] {
        let merges = Merges::of_ranks(ranks);
        let bytes = serialise(&merges, true).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        std::fs::write(out.join(file), bytes).expect("OUT_DIR is writable");
    }
}

/// Every ordinary token. Ranks have holes, so all below the largest special token are tried.
fn of_openai(vocabulary: &CoreBPE) -> Ranks {
    let special: HashSet<&str> = vocabulary.special_tokens();
    (0..1 << 18)
        .filter_map(|rank| Some((vocabulary.decode_bytes(&[rank]).ok()?, rank)))
        .filter(|(token, _)| !str::from_utf8(token).is_ok_and(|token| special.contains(token)))
        .collect()
}

/// The tokens of a file that `splintr-vocab-pack` has packed: after a header of 12 bytes, rank,
/// length and bytes of each.
fn packed(file: &[u8]) -> Ranks {
    let mut rest = &file[12..];
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let (rank, length) = (varint(&mut rest), varint(&mut rest));
        let (token, after) = rest.split_at(length);
        tokens.push((token.to_vec(), rank as u32));
        rest = after;
    }
    tokens
}

/// Takes a little-endian base-128 number.
fn varint(bytes: &mut &[u8]) -> usize {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().expect("the file is whole");
        *bytes = rest;
        value |= usize::from(first & 0x7F) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The tokens from a rank on, which are spelled as a byte-level `tokenizer.json` spells them.
fn spelled(tokens: Ranks, first: u32) -> Ranks {
    let ordinary = tokens.into_iter().filter(|(_, rank)| *rank >= first);
    let bytes = |(token, rank): (Vec<u8>, u32)| {
        let bytes = str::from_utf8(&token).ok().and_then(spelling::bytes);
        (bytes.expect("every ordinary token is spelled"), rank)
    };
    ordinary.map(bytes).collect()
}
