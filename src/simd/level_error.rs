//! The errors of choosing a level: one that this machine does not support, and an environment
//! variable that names none.

use std::fmt;

use super::level::{Level, ParseLevelError};

/// The variable that names the level to start with.
pub(super) const ENVIRONMENT: &str = "PHALANX_LEVEL";

/// The error of [`Level::pin`] with a level that this machine cannot run.
///
/// ```
/// use phalanx::Level;
///
/// if let Err(unsupported) = Level::pin(Level::Avx512) {
///     eprintln!("{unsupported}");
/// }
/// # Level::unpin();
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedLevel(pub(super) Level);

impl UnsupportedLevel {
    /// The requested level.
    ///
    /// ```
    /// use phalanx::Level;
    ///
    /// if let Err(unsupported) = Level::pin(Level::Avx512) {
    ///     assert_eq!(unsupported.level(), Level::Avx512);
    /// }
    /// # Level::unpin();
    /// ```
    #[must_use]
    pub const fn level(self) -> Level {
        self.0
    }
}

impl fmt::Display for UnsupportedLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this machine does not support {}; expected", self.0)?;
        for (index, level) in Level::available().enumerate() {
            let separator = if index == 0 { "" } else { " or" };
            write!(f, "{separator} {level}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnsupportedLevel {}

/// The error of [`Level::try_current`]: `PHALANX_LEVEL` does not name a level of this machine.
///
/// It is displayed as one line with the variable, its value, and the values that it may have.
///
/// ```
/// use phalanx::simd::LevelError;
///
/// let error = LevelError::Unknown { name: "avx9".to_owned() };
/// assert_eq!(
///     error.to_string(),
///     "PHALANX_LEVEL=avx9: not a level: expected baseline, avx2 or avx512"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelError {
    /// The variable names no level.
    Unknown {
        /// Its value, with U+FFFD in place of bytes that are not UTF-8.
        name: String,
    },
    /// The variable names a level that this machine does not support.
    Unsupported(UnsupportedLevel),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Escaped, so that it stays one line.
            Self::Unknown { name } => {
                let name = name.escape_debug();
                write!(f, "{ENVIRONMENT}={name}: {}", ParseLevelError(()))
            }
            Self::Unsupported(error) => write!(f, "{ENVIRONMENT}={}: {error}", error.0),
        }
    }
}

impl std::error::Error for LevelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsupported_level_is_answered_with_the_supported_ones() {
        let level = Level::Avx512;
        let message = UnsupportedLevel(level).to_string();
        assert!(
            message.starts_with("this machine does not support avx512; expected baseline"),
            "{message}"
        );
    }
}
