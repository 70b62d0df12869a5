//! JSON as Python's `json` writes it.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// With spaces: `{"a": 1, "b": [2, 3]}`.
#[must_use]
pub fn spaced(value: &impl Serialize) -> String {
    written(value, Style { spaces: true, ascii: false })
}

/// With spaces, and with what isn't ASCII escaped.
#[must_use]
pub fn spaced_ascii(value: &impl Serialize) -> String {
    written(value, Style { spaces: true, ascii: true })
}

/// Without spaces, and with what isn't ASCII escaped.
#[must_use]
pub fn dense_ascii(value: &impl Serialize) -> String {
    written(value, Style { spaces: false, ascii: true })
}

fn written(value: &impl Serialize, style: Style) -> String {
    let mut text = Vec::new();
    // Writing to memory fails only for map keys that aren't strings, which a `Value` can't have.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, style));
    String::from_utf8_lossy(&text).into_owned()
}

struct Style {
    /// A space follows each comma and colon.
    spaces: bool,
    /// What isn't ASCII is escaped.
    ascii: bool,
}

impl Style {
    const fn comma(&self, first: bool) -> &'static [u8] {
        match (first, self.spaces) {
            (true, _) => b"",
            (false, true) => b", ",
            (false, false) => b",",
        }
    }
}

impl Formatter for Style {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        writer.write_all(self.comma(first))
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        writer.write_all(self.comma(first))
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.spaces { b": " } else { b":" })
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !self.ascii || fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for unit in fragment.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => writer.write_all(&[byte])?,
                _ => write!(writer, "\\u{unit:04x}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn is_written_as_python_writes_it() {
        let sent = value!({"a": [1, "x\ny"], "é🌞": null, "n": 1.0});
        assert_eq!(spaced(&sent), r#"{"a": [1, "x\ny"], "é🌞": null, "n": 1.0}"#);
        let escaped = r#"{"a": [1, "x\ny"], "\u00e9\ud83c\udf1e": null, "n": 1.0}"#;
        assert_eq!(spaced_ascii(&sent), escaped);
        assert_eq!(dense_ascii(&sent), escaped.replace(": ", ":").replace(", ", ","));
    }
}
