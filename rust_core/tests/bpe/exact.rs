//! Millions of texts, systematic and random, counted by both.

use tokencount_core::bpe::Encoding;

use crate::support::{
    ENCODINGS, REPRESENTATIVES, Random, assert_same, assert_same_in_all, reference,
};

fn triples(encoding: Encoding) {
    let mut text = String::new();
    for a in REPRESENTATIVES {
        for b in REPRESENTATIVES {
            for c in REPRESENTATIVES {
                text.clear();
                text.extend([a, b, c]);
                assert_same(encoding, &text);
            }
            assert_same(encoding, &text[..a.len_utf8() + b.len_utf8()]);
        }
        assert_same(encoding, &text[..a.len_utf8()]);
    }
}

#[test]
fn all_triples_cl100k() {
    triples(Encoding::Cl100kBase);
}

#[test]
fn all_triples_o200k() {
    triples(Encoding::O200kBase);
}

#[test]
fn all_triples_p50k() {
    triples(Encoding::P50kBase);
}

#[test]
fn all_triples_r50k() {
    triples(Encoding::R50kBase);
}

const GLUE: [&str; 8] = [" ", "\n", "  ", "\r\n", "'s", "'LL", "\n\n\t", "/\n"];

/// What random texts are put together from: the vocabularies' own tokens, characters of every
/// class, and whitespace, over and over.
fn random_text(random: &mut Random, parts: usize, text: &mut String) {
    text.clear();
    for _ in 0..=random.below(parts) {
        match random.below(8) {
            0 => text.push(*random.choose(&REPRESENTATIVES)),
            1 => {
                let character = *random.choose(&REPRESENTATIVES);
                let times = random.below(20);
                text.extend(std::iter::repeat_n(character, times));
            }
            2 => text.push_str(GLUE[random.below(GLUE.len())]),
            3 => text.extend(char::from_u32(random.below(0x11_0000) as u32)),
            _ => {
                let encoding = *random.choose(&ENCODINGS);
                let token = random.below(200_000) as u32;
                let bytes = reference(encoding).decode_bytes(&[token]).unwrap_or_default();
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }
}

fn random_texts(seed: u64, count: usize) {
    let mut random = Random(seed);
    let mut text = String::new();
    for _ in 0..count {
        random_text(&mut random, 6, &mut text);
        for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
            assert_same(encoding, &text);
        }
    }
}

#[test]
fn random_texts_1() {
    random_texts(1, 250_000);
}

#[test]
fn random_texts_2() {
    random_texts(2, 250_000);
}

#[test]
fn random_texts_of_old_encodings() {
    let mut random = Random(3);
    let mut text = String::new();
    for _ in 0..50_000 {
        random_text(&mut random, 6, &mut text);
        assert_same(Encoding::P50kBase, &text);
        assert_same(Encoding::R50kBase, &text);
    }
}

/// Longer than a batch of pieces, and with pieces longer than any cache's keys.
#[test]
fn long_random_texts() {
    let mut random = Random(4);
    let mut text = String::new();
    for _ in 0..300 {
        random_text(&mut random, 3000, &mut text);
        assert_same_in_all(&text);
    }
}

#[test]
fn runs_of_one_character() {
    for character in REPRESENTATIVES {
        for length in (1..70).chain([100, 255, 256, 257, 1000]) {
            let run: String = std::iter::repeat_n(character, length).collect();
            for text in
                [run.clone(), format!("{run}a"), format!("a{run}"), format!(" {run}\n{run} ")]
            {
                assert_same_in_all(&text);
            }
        }
    }
}

/// Long pieces that repeat themselves, but for one character.
#[test]
fn texts_that_repeat_themselves() {
    const ALPHABETS: [&str; 6] = ["a", "ab", "=-", "aéж", "中あ", "\u{301}\u{20dd}"];
    let mut random = Random(5);
    for alphabet in ALPHABETS {
        let alphabet: Vec<char> = alphabet.chars().collect();
        for _ in 0..500 {
            let period = 1 + random.below(12);
            let part: Vec<char> = (0..period).map(|_| *random.choose(&alphabet)).collect();
            let mut text: Vec<char> = part.repeat(300 / period);
            let changed = random.below(text.len());
            text[changed] = *random.choose(&alphabet);
            assert_same_in_all(&String::from_iter(text));
        }
    }
}

/// Every token of a vocabulary, alone and between other characters.
#[test]
fn all_tokens() {
    for encoding in ENCODINGS {
        for token in 0..200_000 {
            let Ok(bytes) = reference(encoding).decode_bytes(&[token]) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            assert_same(encoding, &text);
            assert_same(encoding, &format!("{text}{text}"));
        }
    }
}

#[test]
fn cut_texts_of_many_scripts() {
    const TEXTS: [&str; 10] = [
        "The quick brown fox jumps over the lazy dog; it's 3.14159 o'clock, they'll say WE'VE won!\n",
        "Съешь ещё этих мягких французских булок, да выпей же чаю. ПРИВЕТ, МИР!\r\n\r\n",
        "いろはにほへと ちりぬるを、我が世誰ぞ常ならむ。カタカナと漢字が１２３混ざる。\n\n  ",
        "天地玄黃,宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。",
        "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
        "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले विष्णुवतार",
        "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق ١٢٣",
        "Zażółć gęślą jaźń; e\u{301}te\u{301} — naïve Ǆungla ǅungla, İstanbul'ſ ıssız",
        "fn main() {\n\t\tlet x: Vec<u8> = vec![0xFF; 1_000];\n    // ------\n}\n\n\nhttps://a.b/c?d=e//\n/",
        "👩‍👩‍👧‍👦 🇩🇪🇫🇷 ✨️ 𝐁𝐨𝐥𝐝 𝟙𝟚𝟛 ½ Ⅳ {\"k\":\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ\"}",
    ];
    for text in TEXTS {
        let edges: Vec<usize> = (0..=text.len()).filter(|i| text.is_char_boundary(*i)).collect();
        for (i, start) in edges.iter().enumerate() {
            for end in &edges[i..] {
                assert_same(Encoding::Cl100kBase, &text[*start..*end]);
                assert_same(Encoding::O200kBase, &text[*start..*end]);
            }
        }
    }
}

/// The longer run, `make fuzz`: tells how far it is.
#[test]
#[ignore = "takes hours"]
fn a_hundred_million_random_texts() {
    for million in 1..=100 {
        random_texts(100 + million, 500_000);
        println!("{million},000,000 counts agree");
    }
}
