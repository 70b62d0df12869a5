//! A `tokenizer.json` of Hugging Face, as far as byte-level byte-pair encodings need it. What would
//! change a count and isn't understood is a fault.

use std::collections::HashMap;

use serde::Deserialize;

use crate::bpe::{ByteLevel, Fault, Merges, serialise, spelled};

/// The pattern of a `ByteLevel` that cuts by itself: that of GPT-2.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// See the module. Special tokens are left out: in a text they are text.
#[derive(Deserialize)]
pub struct Tokenizer {
    normalizer: Option<Normalizer>,
    #[serde(rename = "pre_tokenizer")]
    cutter: Option<PreTokenizer>,
    model: Model,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Normalizer {
    #[serde(rename = "NFC")]
    Nfc,
    Sequence {
        normalizers: Vec<Normalizer>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    ByteLevel {
        #[serde(default)]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Digits {
        #[serde(default)]
        individual_digits: bool,
    },
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
    Split {
        pattern: Pattern,
        behavior: String,
        #[serde(default)]
        invert: bool,
    },
    #[serde(other)]
    Other,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
enum Pattern {
    Regex(String),
    String(String),
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type", default)]
    kind: String,
    vocab: HashMap<String, u32>,
    merges: Vec<Merge>,
    #[serde(default)]
    ignore_merges: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Line(String),
    Pair(String, String),
}

impl Tokenizer {
    /// Reads the file.
    pub fn parse(file: &[u8]) -> Result<Self, Fault> {
        serde_json::from_slice(file)
            .map_err(|error| format!("is no `tokenizer.json` of a byte-pair encoding: {error}"))
    }

    /// Prepares the vocabulary for counting.
    pub fn load(self) -> Result<ByteLevel, Fault> {
        if !matches!(self.model.kind.as_str(), "" | "BPE") {
            return Err(format!("model.type: `{}` is not BPE", self.model.kind));
        }
        let composes = composes(self.normalizer.as_ref())?;
        let mut patterns = Vec::new();
        let mut is_byte_level = false;
        if let Some(cutter) = &self.cutter {
            cutter.patterns(&mut patterns, &mut is_byte_level)?;
        }
        if !is_byte_level {
            return Err("pre_tokenizer: has no `ByteLevel`; others can't be counted with".into());
        }
        let wholes = self.model.ignore_merges;
        let file = serialise(&self.model.merges()?, wholes)?;
        ByteLevel::load(&file, patterns.iter().map(String::as_str), composes)
    }
}

/// Whether texts are brought into form NFC. JSON is not nested deeper than 128.
fn composes(normalizer: Option<&Normalizer>) -> Result<bool, Fault> {
    match normalizer {
        None => Ok(false),
        Some(Normalizer::Nfc) => Ok(true),
        Some(Normalizer::Sequence { normalizers }) => {
            normalizers.iter().try_fold(false, |before, one| Ok(composes(Some(one))? || before))
        }
        Some(Normalizer::Other) => Err("normalizer: only NFC can be counted with".to_owned()),
    }
}

impl PreTokenizer {
    /// Adds the patterns that cut a text, in their order. JSON is not nested deeper than 128.
    fn patterns(&self, patterns: &mut Vec<String>, is_byte_level: &mut bool) -> Result<(), Fault> {
        match self {
            Self::ByteLevel { add_prefix_space: true, .. } => {
                return Err("pre_tokenizer: `add_prefix_space` can't be counted with".into());
            }
            Self::ByteLevel { use_regex, .. } => {
                *is_byte_level = true;
                patterns.extend(use_regex.then(|| GPT2.to_owned()));
            }
            Self::Digits { individual_digits } => {
                patterns.push(if *individual_digits { r"\p{N}" } else { r"\p{N}+" }.into());
            }
            Self::Sequence { pretokenizers } => {
                for one in pretokenizers {
                    one.patterns(patterns, is_byte_level)?;
                }
            }
            // What is removed is not lost here: texts are cut into nothing else.
            Self::Split { pattern, behavior, invert }
                if behavior == "Isolated" || (behavior == "Removed" && *invert) =>
            {
                patterns.push(pattern.regex());
            }
            Self::Split { behavior, .. } => {
                return Err(format!("pre_tokenizer: `{behavior}` can't be counted with"));
            }
            Self::Other => {
                return Err("pre_tokenizer: has a type that can't be counted with".into());
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn regex(&self) -> String {
        match self {
            Self::Regex(regex) => regex.clone(),
            Self::String(text) => text.chars().fold(String::new(), |regex, literal| {
                regex + &format!(r"\x{{{:x}}}", u32::from(literal))
            }),
        }
    }
}

impl Model {
    fn merges(self) -> Result<Merges, Fault> {
        let pair = |merge: Merge| match merge {
            Merge::Pair(left, right) => Some((spelled(&left)?, spelled(&right)?)),
            Merge::Line(line) => {
                let (left, right) = line.split_once(' ')?;
                Some((spelled(left)?, spelled(right)?))
            }
        };
        let pairs: Option<Vec<_>> = self.merges.into_iter().map(pair).collect();
        let pairs = pairs.ok_or("model.merges: has one that isn't two byte-level tokens")?;
        // Special tokens may be in the vocabulary too; they are spelled in another way, or are
        // never made by merging.
        Ok(Merges::of_pairs(self.vocab.keys().filter_map(|token| spelled(token)), pairs))
    }
}
