//! What the tests share: the reference counter, random choices, and a comparison that names what differs.

use tiktoken_rs::CoreBPE;
use tokencount_core::bpe::Encoding;

/// Encodings with tables of their own (`o200k_harmony` shares those of `o200k_base`).
pub const ENCODINGS: [Encoding; 4] =
    [Encoding::Cl100kBase, Encoding::O200kBase, Encoding::P50kBase, Encoding::R50kBase];

pub fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::R50kBase => tiktoken_rs::r50k_base_singleton(),
    }
}

/// Fails, showing the text, unless both count the same.
pub fn assert_same(encoding: Encoding, text: &str) {
    let expected = reference(encoding).encode_ordinary(text);
    let shown: String = text.chars().take(200).collect();
    assert_eq!(
        encoding.count(text),
        expected.len(),
        "{}, {} bytes: {shown:?} is {:?}",
        encoding.name(),
        text.len(),
        &expected[..expected.len().min(20)],
    );
}

/// [`assert_same`] with every encoding.
pub fn assert_same_in_all(text: &str) {
    for encoding in ENCODINGS {
        assert_same(encoding, text);
    }
}

/// Random numbers that are the same in every run (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One of `choices`.
    pub fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// One or more characters of every class that the patterns tell apart, and of those that
/// scanners are known to have got wrong.
pub const REPRESENTATIVES: [char; 66] = [
    // Letters, among them all of the contractions in both cases.
    'a',
    's',
    't',
    'r',
    'e',
    'v',
    'm',
    'l',
    'd',
    'S',
    'L',
    'R',
    'E',
    'Z',
    // Digits, whitespace and line ends.
    '0',
    '7',
    ' ',
    '\t',
    '\n',
    '\r',
    '\u{b}',
    '\u{c}',
    // Symbols and control characters; U+001C is no whitespace here.
    '\'',
    '/',
    '.',
    '^',
    '<',
    '|',
    '_',
    '-',
    '\0',
    '\u{7f}',
    '\u{1c}',
    // Whitespace beyond ASCII, and what only looks like it.
    '\u{85}',
    '\u{a0}',
    '\u{2028}',
    '\u{3000}',
    '\u{200b}',
    '\u{ad}',
    // Small, capital and title case; letters that fold to ASCII ones: U+017F to s, U+212A to k.
    'é',
    'É',
    '\u{17f}',
    '\u{130}',
    '\u{131}',
    '\u{212a}',
    '\u{1c5}',
    'ж',
    // Letters without case, and modifiers.
    '\u{2b0}',
    'ª',
    '中',
    'あ',
    '가',
    'ש',
    // Marks of all three kinds, joiners, variation selectors.
    '\u{301}',
    '\u{903}',
    '\u{20dd}',
    '\u{200d}',
    '\u{fe0f}',
    // Numbers of all three kinds.
    '٠',
    'Ⅰ',
    '½',
    // Beyond the basic plane: letter, digit, emoji, tag, private use.
    '\u{1d400}',
    '\u{1d7d8}',
    '😀',
    '\u{e0001}',
    '\u{10ffff}',
];
