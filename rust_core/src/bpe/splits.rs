//! Pre-tokenisation by regexes, for vocabularies that bring their own: one after another, each
//! within the pieces that the one before has left.
//!
//! The regexes run as lazy automata, so a match takes linear time. Those know no look-ahead, and the
//! only one that such patterns have, `\s+(?!\S)`, is what is left of `\s+` without its last
//! character. (A backtracking regex takes it as it is, and gives up on a megabyte of spaces.)

use regex_automata::meta::{Cache, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, PatternID};

use super::serialise::Fault;

/// The alternative that looks ahead, and those that must come after it: they match the one character
/// that it can't.
const LOOK_AHEAD: &str = r"\s+(?!\S)";
const ALL_SPACES: [&str; 2] = [r"\s+", r"\s"];

/// Memory for a thread's automaton, in bytes, of which real texts need a part. With less, texts of
/// many scripts make it start again and again.
const AUTOMATON: usize = 16 << 20;

/// See the module.
pub struct Splits {
    stages: Vec<Stage>,
}

struct Stage {
    regex: Regex,
    /// Which of the regex's patterns stands for [`LOOK_AHEAD`].
    look_ahead: Option<PatternID>,
}

/// Where a text is being cut.
#[derive(Default)]
pub struct Cursor {
    /// For each stage, where the piece ends that it has made.
    ends: Vec<usize>,
    caches: Vec<Cache>,
}

impl Cursor {
    /// Begins another text.
    pub fn reset(&mut self) {
        self.ends.fill(0);
    }
}

impl Splits {
    /// Cuts by each of the patterns in turn: what it matches are pieces, and what is between those.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, Fault> {
        let stages: Result<Vec<_>, _> = patterns.into_iter().map(Stage::new).collect();
        Ok(Self { stages: stages? })
    }

    /// Where the piece ends that begins at `at`, which is inside `text`, where the piece before has
    /// ended.
    #[inline]
    pub fn piece_end(&self, text: &[u8], at: usize, cursor: &mut Cursor) -> usize {
        if cursor.caches.len() != self.stages.len() {
            cursor.caches = self.stages.iter().map(|stage| stage.regex.create_cache()).collect();
            cursor.ends = vec![0; self.stages.len()];
        }
        let mut end = text.len();
        let known = cursor.ends.iter_mut().zip(&mut cursor.caches);
        for (stage, (known, cache)) in self.stages.iter().zip(known) {
            if *known <= at {
                *known = stage.piece_end(&text[..end], at, cache);
            }
            end = *known;
        }
        end
    }
}

impl Stage {
    fn new(pattern: &str) -> Result<Self, Fault> {
        let fault = |error: &dyn std::fmt::Display| format!("pattern `{pattern}`: {error}");
        let parts = alternatives(pattern).map_err(|error| fault(&error))?;
        let patterns = match parts.iter().position(|part| *part == LOOK_AHEAD) {
            None => vec![pattern.to_owned()],
            Some(at) if parts.get(at + 1).is_some_and(|after| ALL_SPACES.contains(after)) => {
                let before = parts[..at].join("|");
                vec![before, ALL_SPACES[0].to_owned()]
            }
            Some(_) => return Err(fault(&r"after `\s+(?!\S)` comes no `\s+`")),
        };
        for part in &patterns {
            let parsed = syntax::parse(part).map_err(|error| fault(&error))?;
            if parsed.properties().minimum_len() == Some(0) {
                return Err(fault(&"matches the empty text"));
            }
        }
        let config = Regex::config().hybrid_cache_capacity(AUTOMATON);
        let regex = Regex::builder().configure(config).build_many(&patterns);
        let look_ahead = (patterns.len() > 1).then_some(PatternID::must(1));
        Ok(Self { regex: regex.map_err(|error| fault(&error))?, look_ahead })
    }

    /// Where the match ends that begins at `at`; else where the next one begins.
    #[inline]
    fn piece_end(&self, text: &[u8], at: usize, cache: &mut Cache) -> usize {
        let rest = Input::new(text).range(at..);
        let here = rest.clone().anchored(Anchored::Yes);
        match self.regex.search_half_with(cache, &here) {
            Some(found) if Some(found.pattern()) == self.look_ahead => {
                before_next(text, at, found.offset())
            }
            Some(found) => found.offset(),
            None => self.regex.search_with(cache, &rest).map_or(text.len(), |next| next.start()),
        }
    }
}

/// The run of whitespace from `at` to `end` without its last character, which what follows keeps,
/// unless nothing follows or that is all there is.
fn before_next(text: &[u8], at: usize, end: usize) -> usize {
    let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
    let last = end - 1 - text[at..end].iter().rev().take_while(is_inner).count();
    if end == text.len() || last == at { end } else { last }
}

/// The alternatives of a pattern, those in groups left alone.
fn alternatives(pattern: &str) -> Result<Vec<&str>, &'static str> {
    const REPEATS: [char; 4] = ['?', '*', '+', '}'];
    let signs = signs(pattern);
    if signs.windows(2).any(|two| {
        two[0].at + 1 == two[1].at && REPEATS.contains(&two[0].character) && two[1].character == '+'
    }) {
        return Err("possessive repetitions can't be used: leave out the second sign");
    }
    let bars = signs.iter().filter(|sign| sign.character == '|' && sign.depth == 0);
    let ends: Vec<usize> = bars.map(|bar| bar.at).chain([pattern.len()]).collect();
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    Ok(starts.zip(&ends).map(|(start, end)| &pattern[start..*end]).collect())
}

/// A character of a pattern that is neither escaped nor in a class.
struct Sign {
    character: char,
    at: usize,
    /// How many groups it is in.
    depth: usize,
}

fn signs(pattern: &str) -> Vec<Sign> {
    let (mut depth, mut classes) = (0_usize, 0_usize);
    let mut signs = Vec::new();
    let mut characters = pattern.char_indices();
    while let Some((at, sign)) = characters.next() {
        match sign {
            '\\' => {
                // As in `\p{L}`.
                let is_named = matches!(characters.next(), Some((_, 'p' | 'P' | 'x' | 'u')));
                if is_named && characters.as_str().starts_with('{') {
                    characters.find(|(_, end)| *end == '}');
                }
                continue;
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => depth += 1,
            ')' if classes == 0 => depth = depth.saturating_sub(1),
            _ => {}
        }
        if classes == 0 {
            signs.push(Sign { character: sign, at, depth });
        }
    }
    signs
}
