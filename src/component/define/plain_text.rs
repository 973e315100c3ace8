//! Texts of tokens in which raw identifiers have their plain names: the name of `r#type` is `type`.

/// A text without the marks of raw identifiers, in a constant.
#[derive(Debug)]
pub struct PlainText<const LEN_MAX: usize> {
    bytes: [u8; LEN_MAX],
    len: usize,
}

impl<const LEN_MAX: usize> PlainText<LEN_MAX> {
    /// The text of tokens, which has up to `LEN_MAX` bytes. The first `given` ones are no tokens.
    ///
    /// # Panics
    ///
    /// If it has more.
    #[must_use]
    pub const fn of(text: &str, given: usize) -> Self {
        let text = text.as_bytes();
        let mut plain = Self { bytes: [0; LEN_MAX], len: 0 };
        let (mut i, mut is_in_word) = (0, false);
        while i < text.len() {
            if i >= given && !is_in_word && is_raw(text, i) {
                i += 2;
            }
            plain.bytes[plain.len] = text[i];
            plain.len += 1;
            is_in_word = is_of_word(text[i]);
            i += 1;
        }
        plain
    }

    /// The text.
    ///
    /// # Panics
    ///
    /// Never: ASCII letters are left out of a string.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("the rest of a string is one"),
        }
    }
}

/// Whether a raw identifier begins here, and no raw string.
const fn is_raw(text: &[u8], at: usize) -> bool {
    at + 2 < text.len() && text[at] == b'r' && text[at + 1] == b'#' && is_of_word(text[at + 2])
}

const fn is_of_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The name of an identifier.
#[must_use]
pub const fn plain_name(identifier: &'static str) -> &'static str {
    if is_raw(identifier.as_bytes(), 0) { identifier.split_at(2).1 } else { identifier }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_raw_identifiers_are_left_out() {
        let cases = [
            ("", ""),
            ("r#type", "type"),
            ("a::r#mod::B<r#fn, [r#struct; r#ä]>", "a::mod::B<fn, [struct; ä]>"),
            ("for#r", "for#r"),
            ("r#\"r#\"#", "r#\"r#\"#"),
            ("r r# r#", "r r# r#"),
        ];
        for (text, plain) in cases {
            assert_eq!(PlainText::<64>::of(text, 0).as_str(), plain);
        }
        assert_eq!(PlainText::<9>::of("r#a.r#in", 4).as_str(), "r#a.in");
        assert_eq!(["r#in", "r", "r#", "0"].map(plain_name), ["in", "r", "r#", "0"]);
    }
}
