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

    /// Parses `B3/S23` (in any order and case, with a slash or without), the older `23/3`, which
    /// has survivals first, or a name.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.contains(':') {
            return Err(RuleError::Grid);
        }
        let name = spelled(text);
        let known = NAMES.iter().find(|(known, _)| spelled(known) == name);
        let text = known.map_or(text, |(_, rule)| rule);
        let rule = Self::of_counts(text).ok_or(RuleError::NotLifeLike)?;
        if rule.births & 1 == 1 { Err(RuleError::BirthFromNothing) } else { Ok(rule) }
    }
}

impl Rule {
    /// Parses a rule, and after it the torus of Golly: `B3/S23:T100,73`, or `:T100` for a square.
    pub(crate) fn with_torus(text: &str) -> Result<(Self, Option<(u32, u32)>), RuleError> {
        let Some((rule, grid)) = text.split_once(':') else { return Ok((text.parse()?, None)) };
        let torus = torus(grid).ok_or(RuleError::Grid)?;
        Ok((rule.parse()?, Some(torus)))
    }

    /// Parses two halves. One of them may be missing if the other has a letter.
    fn of_counts(text: &str) -> Option<Self> {
        let text: String = text.split_whitespace().collect::<String>().to_ascii_lowercase();
        let (first, second) = match text.split_once('/') {
            Some(halves) => halves,
            // The last letter begins the second half. The first one has a letter or is empty.
            None => {
                let halves = text.split_at(text.rfind(['b', 's'])?);
                (halves.0.is_empty() || halves.0.starts_with(['b', 's'])).then_some(halves)?
            }
        };
        let has = |half: &str, letter| half.starts_with(letter);
        let births_first = has(first, 'b') || has(second, 's');
        if births_first && (has(first, 's') || has(second, 'b')) {
            return None;
        }
        let (births, survivals) = if births_first { (first, second) } else { (second, first) };
        Some(Self {
            births: counts(births.strip_prefix('b').unwrap_or(births))?,
            survivals: counts(survivals.strip_prefix('s').unwrap_or(survivals))?,
        })
    }
}

/// Rules that files have by name: the list of Golly, and others that are known by one.
const NAMES: [(&str, &str); 37] = [
    ("Life", "B3/S23"),
    ("Conway", "B3/S23"),
    ("Conway Life", "B3/S23"),
    ("Conway's Life", "B3/S23"),
    ("Conway's Game of Life", "B3/S23"),
    ("2x2", "B36/S125"),
    ("3-4 Life", "B34/S34"),
    ("Amoeba", "B357/S1358"),
    ("Anneal", "B4678/S35678"),
    ("AntiLife", "B0123478/S01234678"),
    ("Assimilation", "B345/S4567"),
    ("Coagulations", "B378/S235678"),
    ("Coral", "B3/S45678"),
    ("Day & Night", "B3678/S34678"),
    ("DayNight", "B3678/S34678"),
    ("Diamoeba", "B35678/S5678"),
    ("DotLife", "B3/S023"),
    ("DryLife", "B37/S23"),
    ("Flakes", "B3/S012345678"),
    ("Fredkin", "B1357/S02468"),
    ("Gnarl", "B1/S1"),
    ("HighLife", "B36/S23"),
    ("InverseLife", "B0123478/S34678"),
    ("Life without Death", "B3/S012345678"),
    ("Live Free or Die", "B2/S0"),
    ("Long Life", "B345/S5"),
    ("Maze", "B3/S12345"),
    ("Mazectric", "B3/S1234"),
    ("Morley", "B368/S245"),
    ("Move", "B368/S245"),
    ("Persian Rug", "B234/S"),
    ("Plow World", "B378/S012345678"),
    ("Pseudo Life", "B357/S238"),
    ("Replicator", "B1357/S1357"),
    ("Seeds", "B2/S"),
    ("Serviettes", "B234/S"),
    ("Walled Cities", "B45678/S2345"),
];

/// A name without case, spaces and signs: `Day & Night` and `day_and_night` are equal.
fn spelled(name: &str) -> String {
    let name = name.replace('&', "and");
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Parses `T100,73`. Golly knows other grids, shifted ones, and sides of 0 that have no end.
fn torus(grid: &str) -> Option<(u32, u32)> {
    let sides = grid.trim().strip_prefix(['T', 't'])?;
    let (width, height) = sides.split_once(',').unwrap_or((sides, sides));
    // `parse` takes a sign as well.
    let side = |text: &str| {
        let digits =
            Some(text.trim()).filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        digits?.parse().ok().filter(|&side: &u32| side > 0)
    };
    Some((side(width)?, side(height)?))
}

/// Parses digits as a set of neighbour counts.
fn counts(digits: &str) -> Option<u16> {
    // A cell has eight neighbours, so digits are from 0 to 8.
    digits.chars().try_fold(0, |set, digit| Some(set | 1 << digit.to_digit(9)?))
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
    Grid,
    BirthFromNothing,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotLifeLike => {
                "unknown rule: write it like B3/S23 or 23/3, or by a name such as HighLife"
            }
            Self::Grid => {
                "unknown grid after the `:`: write a torus like :T100,73, or leave it out and use \
                 --size"
            }
            Self::BirthFromNothing => {
                "B0 is refused: it makes the empty plane around the pattern alive, \
                 and a torus has no such plane"
            }
        })
    }
}

impl Error for RuleError {}
