//! Any text at all, as proptest finds and shrinks it.

use proptest::prelude::*;
use tokencount_core::bpe::Keep;

use crate::support::{ENCODINGS, REPRESENTATIVES, assert_same_in_all};

fn odd_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::sample::select(REPRESENTATIVES.to_vec()),
        1 => any::<char>(),
        2 => prop::char::range(' ', '~'),
    ];
    prop::collection::vec(character, 0..60).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn counts_are_exact(text in odd_text()) {
        assert_same_in_all(&text);
    }

    #[test]
    fn a_limit_tells_whether_it_is_kept(text in odd_text(), limit in 0_usize..40) {
        for encoding in ENCODINGS {
            let count = encoding.count(&text);
            prop_assert_eq!(encoding.count_up_to(&text, limit), (count <= limit).then_some(count));
        }
    }

    #[test]
    fn what_is_kept_is_an_end_of_the_text_within_the_limit(text in odd_text(), limit in 0_usize..40) {
        for encoding in ENCODINGS {
            let (start, end) = (
                encoding.truncate(&text, limit, Keep::Start),
                encoding.truncate(&text, limit, Keep::End),
            );
            prop_assert!(text.starts_with(start) && text.ends_with(end));
            prop_assert!(encoding.count(start) <= limit && encoding.count(end) <= limit);
            if encoding.count(&text) <= limit {
                prop_assert!(start == text && end == text);
            }
        }
    }
}
