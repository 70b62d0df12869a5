//! How byte-level vocabularies spell bytes as printable characters.
//!
//! Printable characters of Latin-1 stand for themselves, the other bytes, in their order, for the
//! characters from U+0100 on (GPT-2's `bytes_to_unicode`).

/// The bytes that a token is spelled with; none if it isn't spelled so.
pub fn bytes(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte).collect()
}

fn byte(character: char) -> Option<u8> {
    let code_point = u32::from(character);
    if let Ok(byte) = u8::try_from(code_point) {
        return is_printable(byte).then_some(byte);
    }
    let place = code_point.checked_sub(0x100)? as usize;
    (0..=255).filter(|byte| !is_printable(*byte)).nth(place)
}

const fn is_printable(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF)
}
