//! Vocabularies from files, against byte-pair encoding by its definition.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use tokencount_core::profile::Profiles;

/// Byte-level spelling of a byte, as GPT-2 has it.
fn spelled(byte: u8) -> char {
    let is_printable = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if is_printable(&byte) {
        return char::from(byte);
    }
    let place = (0..byte).filter(|byte| !is_printable(byte)).count() as u32;
    char::from_u32(0x100 + place).expect("a letter")
}

/// Among others one before a merge that makes a part of it ("thing"), one of which a part is never
/// made ("this"), and a token that two pairs make ("then").
const MERGES: [&str; 14] = [
    "t h", "i n", "th ing", "in g", "Ġ th", "Ġth e", "e n", "th en", "th e", "the n", "t his",
    "g g", "gg gg", "n t",
];

/// The tokens of a piece: the first merge of the list that fits anywhere, at its leftmost place,
/// again and again.
fn merged(piece: &str) -> usize {
    let mut tokens: Vec<String> = piece.bytes().map(|byte| spelled(byte).to_string()).collect();
    while let Some((at, whole)) = MERGES.iter().find_map(|merge| {
        let (left, right) = merge.split_once(' ').expect("a pair");
        let at = tokens.windows(2).position(|two| two[0] == left && two[1] == right)?;
        Some((at, format!("{left}{right}")))
    }) {
        tokens.splice(at..at + 2, [whole]);
    }
    tokens.len()
}

/// A `tokenizer.json` with that pattern.
fn tokenizer(pattern: &str) -> serde_json::Value {
    let bytes = (0..=255).map(|byte| spelled(byte).to_string());
    let wholes = MERGES.iter().map(|merge| merge.replace(' ', ""));
    let tokens = bytes.chain(["his".to_owned()]).chain(wholes);
    let vocab: serde_json::Map<_, _> =
        tokens.enumerate().map(|(id, token)| (token, json!(id))).collect();
    json!({
        "version": "1.0", "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        ]},
        "post_processor": null, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "fuse_unk": false,
                  "byte_fallback": false, "vocab": vocab, "merges": MERGES},
    })
}

const PATTERN: &str = r" ?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

fn load(directory: &Path, table: &str) -> Result<Profiles, String> {
    Profiles::load(Some(table), directory).map_err(|error| error.to_string())
}

fn own() -> Profiles {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("own.json"), tokenizer(PATTERN).to_string())
        .expect("written");
    load(directory.path(), "[vocabularies.own]\nfile = \"own.json\"").expect("a right table")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn a_tokenizer_json_merges_by_the_definition(words in prop::collection::vec("[thinges]{1,12}|thing|this|then", 1..9)) {
        static OWN: std::sync::LazyLock<Profiles> = std::sync::LazyLock::new(own);
        let counter = OWN.vocabulary("own").expect("the table has it");
        let count = counter.count(&words.join(" "), &|| Ok(())).expect("never stopped") as usize;
        let first = merged(&words[0]);
        let others: usize = words[1..].iter().map(|word| merged(&format!(" {word}"))).sum();
        prop_assert_eq!(count, first + others);
    }
}

#[test]
fn lines_of_tokens_and_ranks_need_a_pattern() {
    let directory = tempfile::tempdir().expect("a directory");
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"th".to_vec(), b"the".to_vec()]);
    let lines = tokens.enumerate().map(|(rank, token)| {
        use base64::Engine as _;
        format!("{} {rank}\n", base64::prelude::BASE64_STANDARD.encode(token))
    });
    std::fs::write(directory.path().join("a.tiktoken"), lines.collect::<String>())
        .expect("written");
    let table = "[vocabularies.own]\nfile = \"a.tiktoken\"\npattern = '\\p{L}+|\\s+(?!\\S)|\\s+'";
    let profiles = load(directory.path(), table).expect("a right table");
    assert_eq!(profiles.vocabularies().last(), Some(&"own"));
    let counter = profiles.vocabulary("own").expect("the table has it");
    assert_eq!(counter.count("the  ath", &|| Ok(())), Ok(1 + 2 + 2));
    let fault = load(directory.path(), "[vocabularies.own]\nfile = \"a.tiktoken\"").err();
    assert!(fault.expect("no pattern").contains("vocabularies.own.file"), "it names the field");
}

#[test]
fn faults_name_the_field_and_the_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut broken = tokenizer(PATTERN);
    broken["pre_tokenizer"] = json!({"type": "Metaspace"});
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("written");
    };
    write("metaspace.json", &broken.to_string());
    write("look.json", &tokenizer(r"(?<=a)b|\s+").to_string());
    write("greedy.json", &tokenizer(r"\p{L}++|\s").to_string());
    write("empty.json", &tokenizer(r"\p{L}*").to_string());
    write("text.json", "Not JSON.");
    for (file, reason) in [
        ("missing.json", "give the path"),
        ("metaspace.json", "pre_tokenizer"),
        ("look.json", "look-around"),
        ("greedy.json", "possessive"),
        ("empty.json", "matches the empty text"),
        ("text.json", "tokenizer.json"),
    ] {
        let table = format!("[vocabularies.own]\nfile = \"{file}\"");
        let fault = load(directory.path(), &table).err().expect("it is refused");
        assert!(fault.contains("vocabularies.own.file") && fault.contains(reason), "{fault}");
    }
    let fault = load(directory.path(), "[vocabularies.o200k_base]\nfile = \"x\"").err();
    assert!(fault.expect("the name is taken").contains("built in"));
}
