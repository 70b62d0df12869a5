//! The vocabularies of open-weight models against `splintr`, which counts in its own way and is held
//! to the models' own tokenizers.

mod files;

use proptest::prelude::*;
use splintr::AnyTokenizer;
use tokencount_core::status::Status;
use tokencount_core::vocabulary;
use unicode_normalization::UnicodeNormalization;

/// Our names and theirs.
const NAMES: [(&str, &str); 4] = [
    ("deepseek_v3", "deepseek_v3"),
    ("glm4", "glm4"),
    ("qwen3", "qwen3"),
    ("tekken", "mistral_v3"),
];

fn reference(theirs: &str) -> AnyTokenizer {
    splintr::from_pretrained(theirs).expect("a feature bundles it")
}

/// The tokens that the reference counts. It leaves out that Qwen's tokenizer composes characters.
fn expected(ours: &str, reference: &AnyTokenizer, text: &str) -> usize {
    let composed: String = text.nfc().collect();
    reference.encode(if ours == "qwen3" { &composed } else { text }).len()
}

fn count(ours: &str, text: &str) -> usize {
    let counter = vocabulary::by_name(ours).expect("a vocabulary of ours");
    counter.count(text, &|| Ok(())).expect("never stopped") as usize
}

/// Text in scripts and shapes that pre-tokenisers are known to get wrong.
const TEXTS: [&str; 14] = [
    "",
    "The quick brown fox jumps over the lazy dog; it's 3.14159 o'clock, THEY'LL say we'VE won!\n",
    "Съешь ещё этих мягких французских булок, да выпей же чаю. ПРИВЕТ, МИР!\r\n\r\n",
    "いろはにほへと ちりぬるを、我が世誰ぞ常ならむ。カタカナと漢字が１２３混ざる・゛。\n\n  ",
    "天地玄黃,宇宙洪荒。日月盈昃，辰宿列張。 寒來暑往  秋收冬藏。",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले विष्णुवतार",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق ١٢٣",
    "fn main() {\n\t\tlet x: Vec<u8> = vec![0xFF; 1_000];\n    // ------\n}\n\n\nhttps://a.b/c?d=e//\n/",
    "👩‍👩‍👧‍👦 🇩🇪🇫🇷 ✨️ 𝐁𝐨𝐥𝐝 𝟙𝟚𝟛 ½ Ⅳ {\"k\":\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ\"}",
    "a  1  中  'ſ \u{85}\u{a0}\u{3000}x \u{a0}y \t\n \t z   ",
    "e\u{301}te\u{301} \u{1100}\u{1161}\u{11a8} \u{212b} \u{fb01}",
    "<think [ INST ] user | assistant ## ```json\n{\"a\": [1, 22, 333, 4444]}\n```",
    "1234567890 12 3 45.678,90 ١٢٣٤ ⅣⅤ ½¾",
];

#[test]
fn texts_of_many_kinds_count_as_with_the_reference() {
    for (ours, theirs) in NAMES {
        let reference = reference(theirs);
        for text in TEXTS {
            assert_eq!(count(ours, text), expected(ours, &reference, text), "{ours}: {text:?}");
        }
    }
}

/// Characters of every class that the patterns tell apart.
const CHARACTERS: [char; 44] = [
    'a', 's', 't', 'L', 'Z', '0', '7', ' ', ' ', '\t', '\n', '\r', '\u{b}', '\'', '/', '.', '^',
    '<', '|', '_', '-', '\0', '\u{7f}', '\u{85}', '\u{a0}', '\u{2028}', '\u{3000}', '\u{200b}',
    'é', 'É', '\u{130}', '\u{1c5}', 'ж', 'ª', '中', 'あ', 'カ', '\u{30fb}', '가', '\u{301}',
    '\u{93f}', '٠', '½', '😀',
];

/// The shortest names of special tokens: inside a user's text they are text, but the reference takes
/// them for what they name.
const SPECIAL: [&str; 4] = ["<s>", "</s>", "<unk>", "<pad>"];

fn odd_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        6 => prop::sample::select(CHARACTERS.to_vec()),
        1 => any::<char>(),
        3 => prop::char::range(' ', '~'),
    ];
    let run = (character, prop_oneof![9 => Just(1), 1 => 2_usize..20]);
    let runs = prop::collection::vec(run, 0..50);
    runs.prop_map(|runs| runs.into_iter().flat_map(|(c, times)| [c].repeat(times)).collect())
        .prop_filter("names a special token", |text: &String| {
            !SPECIAL.iter().any(|special| text.contains(special))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn odd_texts_count_as_with_the_reference(text in odd_text()) {
        static REFERENCES: std::sync::LazyLock<Vec<AnyTokenizer>> =
            std::sync::LazyLock::new(|| NAMES.map(|(_, theirs)| reference(theirs)).into());
        for ((ours, _), reference) in NAMES.iter().zip(REFERENCES.iter()) {
            prop_assert_eq!(count(ours, &text), expected(ours, reference, &text), "{}: {:?}", ours, text);
        }
    }
}

/// A caller that goes away waits for no more than a few KiB, whatever the text.
#[test]
fn long_texts_are_interrupted_all_along() {
    let letters = "the quick brown fox ".repeat(50_000);
    for text in ["a".repeat(1 << 20), " ".repeat(1 << 20), "中".repeat(1 << 18), letters] {
        for (ours, _) in NAMES {
            let counter = vocabulary::by_name(ours).expect("a vocabulary of ours");
            let asked = std::cell::Cell::new(0);
            let checkpoint = || {
                asked.set(asked.get() + 1);
                if asked.get() == 5 { Err(Status::stopped()) } else { Ok(()) }
            };
            assert_eq!(counter.count(&text, &checkpoint), Err(Status::stopped()), "{ours}");
        }
    }
}

/// A host may leave characters as they came: the bound holds for both.
#[test]
fn the_bound_holds_where_a_host_composes_no_characters() {
    let counter = vocabulary::by_name("qwen3").expect("a vocabulary of ours");
    for text in ["e\u{301}te\u{301}".repeat(9), "\u{958}\u{959}".repeat(9)] {
        let count = counter.count(&text, &|| Ok(())).expect("never stopped");
        let as_is = reference("qwen3").encode(&text).len();
        let bound = counter.bound(&text, count, &|| Ok(())).expect("never stopped");
        assert_eq!(bound as usize, as_is.max(count as usize), "{text:?}");
    }
}
