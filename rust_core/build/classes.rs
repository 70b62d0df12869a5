//! The class of every code point, as the pre-tokenisers' patterns tell them apart.
//!
//! Taken from the regex library that `tiktoken-rs` itself runs on, so the Unicode version is
//! the same by construction; a test compares all code points again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use regex::Regex;

/// Class bits and the patterns of their code points; the first that matches is the class.
const CLASSES: [(&str, &str); 7] = [
    ("NEWLINE", r"^[\r\n]$"),
    ("SPACE", r"^\s$"),
    ("UPPER", r"^[\p{Lu}\p{Lt}]$"),
    ("LOWER", r"^\p{Ll}$"),
    ("OTHER_LETTER", r"^[\p{Lm}\p{Lo}]$"),
    ("MARK", r"^\p{M}$"),
    ("NUMBER", r"^\p{N}$"),
];

/// Code points in a block; blocks that are alike are stored once.
const BLOCK: usize = 128;

/// Writes `classes.rs`: one constant for each class and a table of two stages.
pub fn write(out: &Path) {
    let classes = classify();
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let stage1: Vec<u8> = classes
        .chunks(BLOCK)
        .map(|block| {
            let number = *numbers.entry(block).or_insert_with(|| {
                blocks.push(block);
                blocks.len() - 1
            });
            u8::try_from(number).expect("fewer than 256 different blocks")
        })
        .collect();
    let mut code = String::new();
    for (bit, (name, pattern)) in CLASSES.iter().enumerate() {
        let _ = writeln!(code, "/// `{pattern}`\npub const {name}: u8 = {};", 1 << bit);
    }
    let _ = writeln!(code, "/// Everything else.\npub const SYMBOL: u8 = {};", 1 << CLASSES.len());
    let _ = writeln!(code, "static BLOCK_OF: [u8; {}] = {stage1:?};", stage1.len());
    let _ = writeln!(code, "static BLOCKS: [[u8; {BLOCK}]; {}] = {blocks:?};", blocks.len());
    std::fs::write(out.join("classes.rs"), code).expect("OUT_DIR is writable");
}

fn classify() -> Vec<u8> {
    let patterns = CLASSES.map(|(_, pattern)| Regex::new(pattern).expect("the pattern is valid"));
    let mut utf8 = [0; 4];
    (0..=u32::from(char::MAX))
        .map(|code_point| {
            // Surrogates are no characters: no text contains them, so any class does.
            let Some(character) = char::from_u32(code_point) else { return 0 };
            let text = character.encode_utf8(&mut utf8);
            let bit = patterns.iter().position(|pattern| pattern.is_match(text));
            1 << bit.unwrap_or(CLASSES.len())
        })
        .collect()
}
