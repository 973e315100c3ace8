//! The outcome of a workload, in a form that can be compared between all libraries.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The result of a workload after a known number of steps.
///
/// Initial values are chosen so that every sum is exact in `f64`, whatever the order of the rows:
/// outcomes are compared for equality, without a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// One sum over all rows.
    Sum(f64),
    /// A sum for each of several components.
    Sums([f64; 5]),
    /// The number of entities that are left, or matched.
    Count(usize),
    /// Rows that were visited because they changed, the sum of these visits, and the sum of all.
    Changes { rows: usize, sum: f64, all: f64 },
    /// Values in the order of the entities: their number, and their hash.
    Rows(usize, u64),
    /// The entities that a step had changed before it changed them back, added up over all steps,
    /// and the outcome after the last step.
    Held { sum: usize, after: Box<Self> },
}

impl Outcome {
    /// The states of all cells, row by row.
    pub(crate) fn cells(cells: &[u32]) -> Self {
        Self::rows(cells.iter().copied())
    }

    /// Floats in the order of the entities, compared by their bits.
    pub(crate) fn floats(values: impl IntoIterator<Item = f32>) -> Self {
        Self::rows(values.into_iter().map(f32::to_bits))
    }

    /// The values that entities kept while a component came and went, and how many still have it.
    pub(crate) fn kept(values: impl IntoIterator<Item = f32>, left_over: usize) -> Self {
        Self::floats(values.into_iter().chain([left_over as f32]))
    }

    /// This, after steps that had changed so many entities and changed them back.
    pub(crate) fn held(self, sum: usize) -> Self {
        Self::Held { sum, after: Box::new(self) }
    }

    /// A form for other processes: a word, followed by the numbers.
    pub(crate) fn encode(&self) -> String {
        match self {
            Self::Sum(sum) => format!("sum {sum}"),
            Self::Sums(sums) => format!("sums {}", sums.map(|sum| sum.to_string()).join(" ")),
            Self::Count(count) => format!("count {count}"),
            Self::Changes { rows, sum, all } => format!("changes {rows} {sum} {all}"),
            Self::Rows(count, hash) => format!("rows {count} {hash}"),
            Self::Held { sum, after } => format!("held {sum} {}", after.encode()),
        }
    }

    /// The inverse of [`encode`](Self::encode).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some((sum, after)) = text.strip_prefix("held ").and_then(|rest| rest.split_once(' '))
        {
            return Some(Self::parse(after)?.held(sum.parse().ok()?));
        }
        let words: Vec<_> = text.split(' ').collect();
        let float = |word: &str| word.parse::<f64>().ok();
        match words[..] {
            ["sum", sum] => Some(Self::Sum(float(sum)?)),
            ["sums", a, b, c, d, e] => {
                Some(Self::Sums([float(a)?, float(b)?, float(c)?, float(d)?, float(e)?]))
            }
            ["count", count] => Some(Self::Count(count.parse().ok()?)),
            ["changes", rows, sum, all] => {
                let (sum, all) = (float(sum)?, float(all)?);
                Some(Self::Changes { rows: rows.parse().ok()?, sum, all })
            }
            ["rows", count, hash] => Some(Self::Rows(count.parse().ok()?, hash.parse().ok()?)),
            _ => None,
        }
    }

    fn rows(values: impl IntoIterator<Item = u32>) -> Self {
        let mut hasher = DefaultHasher::new();
        let count = values.into_iter().inspect(|value| value.hash(&mut hasher)).count();
        Self::Rows(count, hasher.finish())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sum(sum) => write!(f, "a sum of {sum}"),
            Self::Sums(sums) => write!(f, "sums of {sums:?}"),
            Self::Count(count) => write!(f, "{count} entities"),
            Self::Changes { rows, sum, all } => {
                write!(f, "visits of {rows} rows with a sum of {sum}, and a sum of {all} in all")
            }
            Self::Rows(count, hash) => write!(f, "{count} rows with hash {hash:016x}"),
            Self::Held { sum, after } => write!(f, "{sum} rows changed and back, then {after}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_differ_by_value_and_by_order() {
        assert_eq!(Outcome::cells(&[0, 1]), Outcome::cells(&[0, 1]));
        assert_ne!(Outcome::cells(&[0, 1]), Outcome::cells(&[1, 0]));
        assert_ne!(Outcome::floats([0.0]), Outcome::floats([-0.0]), "bits, not values");
    }
}
