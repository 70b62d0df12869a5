//! Runs of ASCII characters of one kind, eight bytes at a time in ordinary registers.
//!
//! Words average five bytes, so one step finds the end of most of them without a loop whose exit
//! the processor can't predict. Needs no SIMD instructions and no `unsafe`.

/// A set of ASCII bytes: the high bit of each byte of the answer tells whether it belongs.
pub trait Set {
    /// The members among eight bytes.
    fn members(bytes: u64) -> u64;
}

/// `[A-Za-z]`
pub struct Letters;
/// `[A-Z]`
pub struct Uppers;
/// `[a-z]`
pub struct Lowers;
/// The space.
pub struct Spaces;
/// CR and LF.
pub struct Newlines;

/// The high bit of each byte.
pub const HIGH: u64 = repeat(0x80);

/// Eight times the same byte.
pub const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The high bit of each byte in `first..=last`, both ASCII: adding carries into the high bit from `first` on, and
/// again from beyond `last`.
#[inline]
pub const fn within(bytes: u64, first: u8, last: u8) -> u64 {
    let low = bytes & !HIGH;
    let from_first = low + repeat(0x80 - first);
    let beyond_last = low + repeat(0x7F - last);
    from_first & !beyond_last & !bytes & HIGH
}

impl Set for Letters {
    #[inline]
    fn members(bytes: u64) -> u64 {
        within(bytes | repeat(0x20), b'a', b'z')
    }
}
impl Set for Uppers {
    #[inline]
    fn members(bytes: u64) -> u64 {
        within(bytes, b'A', b'Z')
    }
}
impl Set for Lowers {
    #[inline]
    fn members(bytes: u64) -> u64 {
        within(bytes, b'a', b'z')
    }
}
impl Set for Newlines {
    #[inline]
    fn members(bytes: u64) -> u64 {
        within(bytes, b'\n', b'\n') | within(bytes, b'\r', b'\r')
    }
}
impl Set for Spaces {
    #[inline]
    fn members(bytes: u64) -> u64 {
        within(bytes, b' ', b' ')
    }
}

/// Where the run of members of `S` that begins at `at` ends (`at` itself if there is none).
#[inline]
#[must_use]
pub fn run_end<S: Set>(text: &[u8], mut at: usize) -> usize {
    while let Some(bytes) = eight(text, at) {
        let others = !S::members(bytes) & HIGH;
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let is_member = |&byte: &u8| S::members(u64::from(byte)) & 0x80 != 0;
    at + text[at..].iter().take_while(|byte| is_member(byte)).count()
}

#[inline]
fn eight(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
