//! Parts of messages: numbers of bytes, and texts from outside.

use core::fmt;

/// Writes a number of bytes with its noun.
pub(crate) struct ByteCount(pub(crate) usize);

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// Writes a text from outside, with its control characters as escapes: a message stays one line,
/// and a terminal shows all of it.
pub(crate) struct Outside<'t>(pub(crate) &'t str);

impl fmt::Display for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.split_inclusive(char::is_control).try_for_each(|part| {
            match part.char_indices().next_back() {
                Some((at, last)) if last.is_control() => {
                    write!(f, "{}{}", &part[..at], last.escape_default())
                }
                _ => f.write_str(part),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_one_line_and_count_in_words() {
        let texts = ["", "plain ü", "a\nb", "\u{1b}[31m\r\n", "\0"];
        let shown = texts.map(|text| Outside(text).to_string());
        assert_eq!(shown, ["", "plain ü", "a\\nb", "\\u{1b}[31m\\r\\n", "\\u{0}"]);
        assert_eq!([0, 1, 2].map(|n| ByteCount(n).to_string()), ["0 bytes", "1 byte", "2 bytes"]);
    }
}
