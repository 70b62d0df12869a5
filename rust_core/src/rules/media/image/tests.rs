//! What images of known and unknown sizes cost.

use super::*;

const TILES: ImageRule = ImageRule::Tiles { base: 85, tile: 170 };

const fn sized(width: u32, height: u32) -> Dimensions {
    Dimensions { width, height }
}

fn tokens(rule: &ImageRule, width: u32, height: u32, detail: &str) -> u32 {
    rule.cost(Some(sized(width, height)), detail).tokens
}

#[test]
fn tiles_follow_the_published_examples() {
    assert_eq!(tokens(&TILES, 1024, 1024, "high"), 765);
    assert_eq!(tokens(&TILES, 2048, 4096, ""), 1105);
    assert_eq!(tokens(&TILES, 4096, 8192, "low"), 85);
    assert_eq!(tokens(&TILES, 1, 1, "auto"), 255);
    assert_eq!(tokens(&TILES, 512, 512, ""), 255);
}

#[test]
fn patches_follow_the_published_examples() {
    let rule = ImageRule::Patches { multiplier: 1.0, auto: 1536, high: 1536, original: 1536 };
    assert_eq!(tokens(&rule, 1024, 1024, ""), 1024);
    assert_eq!(tokens(&rule, 1800, 2400, ""), 1452);
    assert_eq!(tokens(&rule, 1, 4_000_000_000, ""), 1536);
}

#[test]
fn patches_keep_to_the_budget_of_the_detail() {
    let rule = ImageRule::Patches { multiplier: 1.2, auto: 30_000, high: 2500, original: 30_000 };
    assert_eq!(tokens(&rule, 3200, 3200, ""), 12_000);
    assert_eq!(tokens(&rule, 3200, 3200, "high"), 3000);
    let low = rule.cost(Some(sized(3200, 3200)), "low");
    assert!(low.tokens <= 308 && low.most == 12_000, "{low:?}");
    assert_eq!(rule.cost(None, "high"), Cost::unknown_size(3000));
}

#[test]
fn claude_pays_cells_of_28_up_to_a_limit() {
    let rule = ImageRule::Grid28 { side: 1568, most: 1568 };
    assert_eq!(tokens(&rule, 280, 281, ""), 110);
    assert_eq!(tokens(&rule, 8000, 8000, ""), 1568);
    assert_eq!(tokens(&rule, 3136, 28, ""), 56);
}

#[test]
fn gemini_3_fits_cells_to_a_budget() {
    let rule = ImageRule::Fit { budget: 1120 };
    assert_eq!(tokens(&rule, 400, 400, ""), 33 * 33);
    assert_eq!(tokens(&rule, 1200, 600, "high"), 47 * 23);
    assert_eq!(tokens(&rule, 1200, 600, "low"), 23 * 11);
    assert_eq!(tokens(&rule, 1, 4_000_000_000, "low"), 280);
    assert_eq!(rule.cost(None, "ultra_high"), Cost::unknown_size(2240));
}

#[test]
fn gemini_pays_crops() {
    let rule = ImageRule::Crops { crop: 258, most: 5000 };
    assert_eq!(tokens(&rule, 384, 384, ""), 258);
    assert_eq!(tokens(&rule, 768, 768, ""), 258 * 5);
    assert_eq!(rule.cost(None, ""), Cost::unknown_size(5000));
}

#[test]
fn an_unknown_size_costs_the_most() {
    let cost = TILES.cost(None, "");
    assert_eq!((cost.tokens, cost.caveats), (1445, Caveats::IMAGE_SIZE_UNKNOWN));
    for (width, height) in [(2048, 768), (5000, 5000), (1, 100_000)] {
        assert!(tokens(&TILES, width, height, "") <= cost.tokens);
    }
}

#[test]
fn the_header_of_the_bytes_wins() {
    let gif = bytes::Bytes::from_static(b"GIF89a\x20\x00\x10\x00\x00\x00\x00");
    let media = Media { data: gif, width: 5, height: 5, ..Media::default() };
    assert_eq!(Dimensions::of(&media), Some(sized(32, 16)));
    let media = Media { width: 5, height: 6, ..Media::default() };
    assert_eq!(Dimensions::of(&media), Some(sized(5, 6)));
    assert_eq!(Dimensions::of(&Media::default()), None);
}
