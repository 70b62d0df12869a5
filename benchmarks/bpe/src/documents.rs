//! Texts: a corpus cut into documents, and the worst texts.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// A file of the corpus.
pub struct File {
    pub name: String,
    pub text: String,
}

/// Every file of `directory` that is UTF-8 text, gzipped or not, by name.
pub fn corpus(directory: &Path) -> Vec<File> {
    let entries = std::fs::read_dir(directory).expect("the corpus is a directory");
    let mut files: Vec<File> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let text = read(&entry.path()).ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            (!text.is_empty()).then_some(File { name, text })
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn read(path: &Path) -> std::io::Result<String> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return std::fs::read_to_string(path);
    }
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// `text` in documents of at most `size` bytes, cut between characters.
pub fn cut(text: &str, size: usize) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (document, after) = rest.split_at(rest.floor_char_boundary(size.max(4)));
        documents.push(document);
        rest = after;
    }
    documents
}

/// Texts that slow counters down, `size` bytes each; other ones for each `seed`, as far as they are
/// random.
pub fn worst(size: usize, seed: u64) -> Vec<(&'static str, String)> {
    let random = |name, alphabet: &str| {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = seed;
        let mut text = String::with_capacity(size + 4);
        while text.len() < size {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push(alphabet[(state >> 33) as usize % alphabet.len()]);
        }
        (name, text)
    };
    let span = |range: std::ops::Range<u32>| range.filter_map(char::from_u32).collect::<String>();
    vec![
        random("one letter", "a"),
        random("spaces", " "),
        random("newlines", "\n"),
        random("^", "^"),
        random("CJK", &span(0x4E00..0x9FA6)),
        random("one CJK", "中"),
        random("emoji", &span(0x1F300..0x1F650)),
        random("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
        random("combining", &span(0x300..0x370)),
        random("letters", "abcdefghijklmnopqrstuvwxyz"),
        random("Cyrillic", &span(0x430..0x450)),
        random("symbols", "!\"#$%&()*+,-./:;<=>?@[]^_`{|}~"),
    ]
}
