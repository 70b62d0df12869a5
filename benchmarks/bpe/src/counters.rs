//! The counters that are compared, all behind one signature.

use splintr::AnyTokenizer;
use tiktoken_rs::CoreBPE;
use tokencount_core::bpe::Encoding;
use toktok::Tokenizer;

/// The encodings that every counter has.
pub const ENCODINGS: [Encoding; 2] = [Encoding::Cl100kBase, Encoding::O200kBase];

/// Names, in the order of [`load`] and of the columns.
pub const NAMES: [&str; 5] = ["ours", "tiktoken-rs", "toktok-rs", "bpe-openai", "splintr"];
pub const TIKTOKEN: usize = 1;
pub const TOKTOK: usize = 2;

/// Counts the tokens of a text.
pub type Count = Box<dyn Fn(&str) -> usize>;

/// All counters of one encoding, loaded.
pub fn load(encoding: Encoding) -> [Count; 5] {
    let cl100k = encoding == Encoding::Cl100kBase;
    let tiktoken: &'static CoreBPE = if cl100k {
        tiktoken_rs::cl100k_base_singleton()
    } else {
        tiktoken_rs::o200k_base_singleton()
    };
    let bpe = if cl100k { bpe_openai::cl100k_base() } else { bpe_openai::o200k_base() };
    let toktok = Tokenizer::builtin(encoding.name()).expect("toktok-rs has the encoding");
    let splintr: AnyTokenizer =
        splintr::from_pretrained(encoding.name()).expect("splintr has the encoding");
    Encoding::preload();
    [
        Box::new(move |text| encoding.count(text)),
        Box::new(|text| tiktoken.count_ordinary(text)),
        Box::new(move |text| toktok.count(text.as_bytes())),
        Box::new(|text| bpe.count(text)),
        Box::new(move |text| splintr.encode(text).len()),
    ]
}
