//! Thought signatures: the model's encrypted thinking, which is billed while the turn lasts.
//!
//! A signature is base64 of protocol-buffer records. Gemini 2.5 writes one record for a reply that
//! comes as a whole, and several for a streamed one: its thoughts piece by piece. The Developer API
//! bills only the latter: it did for 31 of 31 streamed signatures, and for none of 52 others.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;

use crate::rules::{Caveats, Kind, Tally};

/// The tag of a record of Gemini 2.5: field 1, of variable length.
const RECORD: u8 = 0x0a;
/// Bytes of a record that hold no thought: the key's id, the nonce and the authentication tag.
const RECORD_HEADER: usize = 36;

/// The tokens of a signature, by its length.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// So many base64 characters, its header, cost nothing.
    free: u32,
    /// The best estimate of the characters after those, in tokens each.
    rate: f64,
    /// The best estimate of a signature in several records, in tokens a byte of their content.
    #[serde(default)]
    streamed: f64,
    /// The most that was seen, in tokens a base64 character.
    most: f64,
}

impl Signature {
    /// Adds a signature. `kept`: it led to a call; one that led to an answer is dropped.
    pub fn add(&self, tally: &mut Tally, signature: &str, kept: bool) {
        let length = signature.len() as f64;
        let content = if self.streamed > 0.0 { streamed_bytes(signature) } else { None };
        let billed = match content {
            Some(bytes) => bytes as f64 * self.streamed,
            None => (length - f64::from(self.free)).max(0.0) * self.rate,
        };
        let tokens = if kept { billed.round() as u32 } else { 0 };
        tally.caveats.insert(Caveats::OPAQUE_REASONING);
        tally.add_passing(Kind::Reasoning, tokens, (length * self.most).ceil() as u32);
    }
}

/// The bytes of content of a signature in several records; `None` if it is of another kind.
fn streamed_bytes(signature: &str) -> Option<usize> {
    let alphabet = if signature.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let bytes = GeneralPurpose::new(alphabet, lenient).decode(signature).ok()?;
    let mut rest = bytes.as_slice();
    let (mut records, mut content) = (0, 0);
    while let Some((&RECORD, after)) = rest.split_first() {
        let (length, after) = varint(after)?;
        rest = after.get(length..)?;
        records += 1;
        content += length.saturating_sub(RECORD_HEADER);
    }
    (records > 1 && rest.is_empty()).then_some(content)
}

/// A length of at most four bytes, and what follows it.
fn varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(4).position(|byte| byte & 0x80 == 0)?;
    let (digits, rest) = bytes.split_at_checked(end + 1)?;
    let value = digits.iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f));
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE};

    use super::*;

    fn records(lengths: &[usize]) -> Vec<u8> {
        let record = |length: &usize| {
            let mut record = vec![RECORD, (length & 0x7f) as u8 | 0x80, (length >> 7) as u8];
            record.extend(vec![0xfb; *length]);
            record
        };
        lengths.iter().flat_map(record).collect()
    }

    #[test]
    fn records_are_read_in_either_alphabet() {
        let bytes = records(&[36, 136, 300]);
        assert_eq!(streamed_bytes(&URL_SAFE.encode(&bytes)), Some(100 + 264));
        assert_eq!(streamed_bytes(&STANDARD_NO_PAD.encode(&bytes)), Some(100 + 264));
    }

    #[test]
    fn one_record_or_none_is_not_streamed() {
        for bytes in [records(&[300]), vec![], vec![RECORD], vec![0x12, 1, 0], vec![RECORD, 200, 1]]
        {
            assert_eq!(streamed_bytes(&URL_SAFE.encode(bytes)), None);
        }
        assert_eq!(streamed_bytes("no base64!"), None);
    }

    #[test]
    fn only_what_led_to_a_call_is_billed() {
        let rule = Signature { free: 10, rate: 0.5, streamed: 0.0, most: 1.0 };
        let mut tally = Tally::default();
        rule.add(&mut tally, &"A".repeat(30), false);
        assert_eq!((tally.tokens(), tally.upper_bound()), (0, 30));
        rule.add(&mut tally, &"A".repeat(30), true);
        assert_eq!((tally.tokens(), tally.passing), (10, 10));
    }
}
