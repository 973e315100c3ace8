//! Life-like rules: the numbers of neighbours for a birth and for survival.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A rule of the family B…/S…; Conway's is B3/S23.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Bit n: a dead cell with n live neighbours becomes alive.
    births: u16,
    /// Bit n: a live cell with n live neighbours stays alive.
    survivals: u16,
}

impl Rule {
    /// Conway's rule, the default of files without a rule.
    pub(crate) const LIFE: Self = Self { births: 1 << 3, survivals: 1 << 2 | 1 << 3 };

    /// The next state (0 or 1) of a cell in state `alive` (0 or 1).
    ///
    /// A select and a shift, without branch or table, so that a kernel can be vectorised.
    #[inline(always)]
    pub(crate) fn next(self, alive: u8, neighbours: u8) -> u8 {
        let counts = if alive == 1 { self.survivals } else { self.births };
        u8::from((counts >> neighbours) & 1 == 1)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Parses `B3/S23` (halves in any order, in either case) and the older `23/3`, survivals first.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.contains(':') {
            return Err(RuleError::BoundedGrid);
        }
        let upper = text.to_ascii_uppercase();
        let (first, second) = upper.split_once('/').ok_or(RuleError::NotLifeLike)?;
        let (births, survivals) = if let Some(births) = first.strip_prefix('B') {
            (births, second.strip_prefix('S').ok_or(RuleError::NotLifeLike)?)
        } else if let Some(survivals) = first.strip_prefix('S') {
            (second.strip_prefix('B').ok_or(RuleError::NotLifeLike)?, survivals)
        } else {
            (second, first)
        };
        let rule = Self { births: counts(births)?, survivals: counts(survivals)? };
        if rule.births & 1 == 1 { Err(RuleError::BirthFromNothing) } else { Ok(rule) }
    }
}

/// Parses digits as a set of neighbour counts.
fn counts(digits: &str) -> Result<u16, RuleError> {
    digits.chars().try_fold(0, |set, digit| {
        // A cell has eight neighbours, so digits are from 0 to 8.
        let count = digit.to_digit(9).ok_or(RuleError::NotLifeLike)?;
        Ok(set | 1 << count)
    })
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |set: u16| -> String {
            (0..=8u8)
                .filter(|count| set >> count & 1 == 1)
                .map(|count| char::from(b'0' + count))
                .collect()
        };
        write!(f, "B{}/S{}", digits(self.births), digits(self.survivals))
    }
}

/// The reason why a rule is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleError {
    NotLifeLike,
    BoundedGrid,
    BirthFromNothing,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotLifeLike => "unknown rule: write it like B3/S23 or 23/3",
            Self::BoundedGrid => {
                "the rule names a bounded grid: leave out the `:` part and use --size"
            }
            Self::BirthFromNothing => {
                "B0 is refused: it makes the empty plane around the pattern alive, \
                 and a torus has no such plane"
            }
        })
    }
}

impl Error for RuleError {}
