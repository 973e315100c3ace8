//! Parts of messages: numbers of bytes, and texts from outside.

use core::fmt;

/// Writes a number of bytes with its noun.
pub(crate) struct ByteCount(pub(crate) usize);

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// Whether a character is not shown, ends a line, or changes the order of those after it.
pub(crate) fn is_unshown(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(character, '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// Writes the beginning of a text from outside, with the characters that are not shown as escapes:
/// a message stays one line.
pub(crate) struct Outside<'t>(pub(crate) &'t str);

impl Outside<'_> {
    /// The most characters of a text that are written.
    const CHARS_MAX: usize = 300;
}

impl fmt::Display for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = self.0.char_indices().nth(Self::CHARS_MAX).map(|(at, _)| self.0.split_at(at));
        let (text, rest) = cut.unwrap_or((self.0, ""));
        text.split_inclusive(is_unshown).try_for_each(|part| {
            match part.char_indices().next_back() {
                Some((at, last)) if is_unshown(last) => {
                    write!(f, "{}{}", &part[..at], last.escape_default())
                }
                _ => f.write_str(part),
            }
        })?;
        if rest.is_empty() { Ok(()) } else { f.write_str("…") }
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
        assert_eq!(Outside("a\u{202e}b").to_string(), "a\\u{202e}b", "the order is kept");
        let cut = Outside(&"ü".repeat(1_000)).to_string();
        assert_eq!(cut, "ü".repeat(300) + "…");
        assert_eq!([0, 1, 2].map(|n| ByteCount(n).to_string()), ["0 bytes", "1 byte", "2 bytes"]);
    }
}
