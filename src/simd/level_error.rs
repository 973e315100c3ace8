//! The errors of levels: unknown names, and levels that this machine does not support.

use std::fmt;

use super::level::{ENVIRONMENT, Level};

/// The error of parsing a [`Level`] from a string that is not the name of a level.
///
/// ```
/// use phalanx::Level;
///
/// let error = "sse9".parse::<Level>().unwrap_err();
/// assert_eq!(error.to_string(), "not a level: expected baseline, avx2 or avx512");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLevelError(pub(super) ());

impl fmt::Display for ParseLevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a level: expected baseline, avx2 or avx512")
    }
}

impl std::error::Error for ParseLevelError {}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
/// use phalanx::error::LevelError;
///
/// let error = LevelError::Unknown { name: "avx9".to_owned() };
/// assert_eq!(
///     error.to_string(),
///     "PHALANX_LEVEL=avx9: not a level: expected baseline, avx2 or avx512"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
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
