//! Scripts beyond Latin, of which few tokens were recovered: what a run of one costs instead.

/// One script: its characters, and how they are counted.
pub struct Script {
    /// Its first and last character.
    first: char,
    last: char,
    /// The bill as a share of the recovered tokens, in which an unknown character counts as its
    /// bytes; `None` where these need no correction.
    pub share: Option<f64>,
    /// What a character may cost beyond that.
    slack: f64,
}

const LATIN: Script = Script { first: '\0', last: '\u{24f}', share: None, slack: 0.0 };

/// Anything else: its bytes, which no byte-level vocabulary exceeds.
const OTHER: Script = Script { first: '\0', last: char::MAX, share: Some(1.0), slack: 0.0 };

/// Shares and slacks from one to six published counts of 4,000 characters each.
const SCRIPTS: [Script; 9] = [
    LATIN,
    Script { first: '\u{370}', last: '\u{3ff}', share: Some(0.50), slack: 0.12 },
    Script { first: '\u{400}', last: '\u{52f}', share: Some(0.54), slack: 0.08 },
    Script { first: '\u{590}', last: '\u{5ff}', share: Some(0.49), slack: 0.12 },
    Script { first: '\u{600}', last: '\u{6ff}', share: Some(0.47), slack: 0.12 },
    Script { first: '\u{900}', last: '\u{97f}', share: Some(0.50), slack: 0.12 },
    Script { first: '\u{e00}', last: '\u{e7f}', share: Some(0.37), slack: 0.15 },
    // Kana and Han; Hangul's tokens are nearly all known.
    Script { first: '\u{3000}', last: '\u{9fff}', share: Some(0.89), slack: 0.15 },
    Script { first: '\u{ac00}', last: '\u{d7a3}', share: Some(0.98), slack: 0.05 },
];

fn script(character: char) -> &'static Script {
    let known = SCRIPTS.iter().find(|script| (script.first..=script.last).contains(&character));
    known.unwrap_or(&OTHER)
}

/// Splits a text into runs of one script. A space belongs to what follows it.
pub fn runs(text: &str) -> impl Iterator<Item = (&'static Script, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut characters = rest.char_indices();
        let mut kind: Option<&'static Script> = None;
        let mut end = rest.len();
        let mut spaces = 0;
        for (at, character) in characters.by_ref() {
            if character == ' ' {
                spaces += 1;
                continue;
            }
            let next = script(character);
            if kind.is_some_and(|kind| !std::ptr::eq(kind, next)) {
                end = at - usize::from(spaces > 0);
                break;
            }
            kind = Some(next);
            spaces = 0;
        }
        let (run, after) = rest.split_at(end);
        rest = after;
        (!run.is_empty()).then_some((kind.unwrap_or(&SCRIPTS[0]), run))
    })
}

/// What characters of scripts beyond Latin may cost beyond their estimate.
pub fn slack(text: &str) -> f64 {
    let beyond_latin = text.chars().filter(|character| *character > LATIN.last);
    beyond_latin.map(|character| script(character).slack).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_the_text_and_take_the_space_before_them() {
        let text = "one два  три 4 東京 ";
        let parts: Vec<&str> = runs(text).map(|(_, run)| run).collect();
        assert_eq!(parts, ["one", " два  три", " 4", " 東京 "]);
        assert_eq!(runs("").count(), 0);
        assert_eq!(runs("  ").count(), 1);
    }

    #[test]
    fn scripts_with_unknown_tokens_have_slack() {
        assert!(slack("plain words only.").abs() < f64::EPSILON);
        assert!(slack("слово") > 0.0);
        assert!(slack("東京") > slack("한국"));
    }
}
