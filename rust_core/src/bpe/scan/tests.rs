//! Windows against the scanners that go from piece to piece, and both kinds of masks.

use super::*;

/// Characters that the windows tell apart, in every length of UTF-8, and those that they leave to
/// the scanners.
const CHARACTERS: &[char] = &[
    'a',
    's',
    'l',
    'v',
    'e',
    'z',
    'S',
    'L',
    'A',
    'Z',
    '0',
    '9',
    ' ',
    '\t',
    '\n',
    '\r',
    '\u{b}',
    '\'',
    '/',
    '.',
    '!',
    '\0',
    '\u{7f}',
    'é',
    'É',
    'ж',
    'Ж',
    '\u{17f}',
    'ª',
    '\u{2b0}',
    '\u{1c5}',
    '中',
    'あ',
    'か',
    '가',
    '\u{301}',
    '\u{93f}',
    '\u{fe0f}',
    '\u{200d}',
    '\u{a0}',
    '\u{3000}',
    '\u{85}',
    '٣',
    '½',
    '、',
    '“',
    '\u{1d400}',
    '\u{1d7d8}',
    '😀',
    '\u{10ffff}',
];

/// The same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Runs of characters, of which some texts have few kinds.
    fn text(&mut self) -> String {
        let kinds: Vec<char> =
            (0..=self.below(7)).map(|_| CHARACTERS[self.below(CHARACTERS.len())]).collect();
        let mut text = String::new();
        for _ in 0..self.below(120) {
            let times = if self.below(8) == 0 { self.below(70) } else { 1 };
            text.extend(std::iter::repeat_n(kinds[self.below(kinds.len())], times));
        }
        text
    }
}

fn one_by_one(pattern: &Pattern, text: &[u8], bounds: &mut [usize]) -> usize {
    match pattern {
        Pattern::Cl100k => cut(text, bounds, cl100k::piece_end),
        Pattern::O200k => cut(text, bounds, o200k::piece_end),
        Pattern::P50k => cut(text, bounds, p50k::piece_end),
        Pattern::Splits(_) => unreachable!("it has no windows"),
    }
}

#[test]
fn windows_cut_as_the_scanners_do() {
    let mut random = Random(1);
    for _ in 0..200_000 {
        let text = random.text();
        for pattern in [Pattern::Cl100k, Pattern::O200k] {
            let [mut windows, mut scanned] =
                [(); 2].map(|()| vec![0; text.len() + masks::SIZE + 2]);
            let pieces = pattern.cut(text.as_bytes(), &mut windows, &mut Cursor::default());
            let expected = one_by_one(&pattern, text.as_bytes(), &mut scanned);
            let ended = pieces == expected || windows[pieces] >= REACH;
            assert!(ended, "{text:?}");
            assert_eq!(windows[..=pieces], scanned[..=pieces], "{text:?}");
        }
    }
}

/// A window begins at a piece's start, wherever that is.
#[test]
fn every_start_of_a_window_is_one_of_a_piece() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let text = random.text();
        for (pattern, style) in [(Pattern::Cl100k, Style::Cl100k), (Pattern::O200k, Style::O200k)] {
            let mut scanned = vec![0; text.len() + 2];
            let pieces = one_by_one(&pattern, text.as_bytes(), &mut scanned);
            for (i, at) in scanned[..pieces].iter().enumerate() {
                let starts = window::starts(text.as_bytes(), *at, style);
                let found =
                    (0..masks::SIZE).filter(|bit| starts >> bit & 1 == 1).map(|bit| at + bit);
                let found: Vec<usize> = found.collect();
                assert_eq!(found, scanned[i..][..found.len()], "{style:?} at {at} of {text:?}");
            }
        }
    }
}
