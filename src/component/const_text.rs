//! Texts of compile errors, put together in constants.

/// A text that is concatenated at compile time, for the message of a compile error.
pub(crate) struct ConstText {
    bytes: [u8; Self::LEN_MAX],
    len: usize,
}

impl ConstText {
    /// Parts that do not fit are left out.
    pub(super) const LEN_MAX: usize = 1024;

    pub(crate) const fn of(parts: &[&str]) -> Self {
        let mut text = Self { bytes: [0; Self::LEN_MAX], len: 0 };
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i].as_bytes();
            if part.len() <= Self::LEN_MAX - text.len {
                let (_, room) = text.bytes.split_at_mut(text.len);
                room.split_at_mut(part.len()).0.copy_from_slice(part);
                text.len += part.len();
            }
            i += 1;
        }
        text
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("the parts are not whole strings"),
        }
    }
}

/// A number as text, in a `const`.
pub(crate) struct Decimal {
    digits: [u8; Self::LEN_MAX],
    start: usize,
}

impl Decimal {
    const LEN_MAX: usize = 20;

    #[expect(clippy::cast_possible_truncation, reason = "a digit")]
    pub(crate) const fn of(mut number: usize) -> Self {
        let (mut digits, mut start) = ([0; Self::LEN_MAX], Self::LEN_MAX);
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return Self { digits, start };
            }
        }
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.digits.split_at(self.start).1) {
            Ok(text) => text,
            Err(_) => panic!("digits are not text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_text_is_its_parts_as_far_as_they_fit() {
        const TEXT: ConstText = ConstText::of(&["a `", "::ä", "`", ""]);
        assert_eq!(TEXT.as_str(), "a `::ä`");
        let long = "x".repeat(ConstText::LEN_MAX);
        assert_eq!(ConstText::of(&["y", &long, "z"]).as_str(), "yz");
    }

    #[test]
    fn a_number_is_its_digits() {
        for number in [0, 7, 10, 4_096, usize::MAX] {
            assert_eq!(Decimal::of(number).as_str(), number.to_string());
        }
    }
}
