//! The output of cachegrind: a line with the names of the events, and a line with their totals.

use std::ops::Sub;

/// Events of a run, or of the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: u64,
    /// Data reads and writes.
    pub references: u64,
    /// Reads and writes that missed the first-level cache.
    pub d1_misses: u64,
    /// Reads and writes that missed the last-level cache.
    pub ll_misses: u64,
}

impl Counts {
    /// Parses the totals of a `cachegrind.out` file.
    ///
    /// # Errors
    ///
    /// A line that names what is missing in the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = |prefix: &str| -> Result<Vec<&str>, String> {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix));
            let rest = line.ok_or_else(|| format!("no line '{prefix}': was the run cut short?"))?;
            Ok(rest.split_whitespace().collect())
        };
        let (names, totals) = (words("events:")?, words("summary:")?);
        if names.len() != totals.len() {
            return Err(format!("{} events and {} totals", names.len(), totals.len()));
        }
        let total = |name: &str| -> Result<u64, String> {
            let at = names.iter().position(|known| *known == name);
            let at = at.ok_or_else(|| format!("no event {name}: run with --cache-sim=yes"))?;
            totals[at].parse().map_err(|_| format!("{name} is {:?}, no number", totals[at]))
        };
        Ok(Self {
            instructions: total("Ir")?,
            references: total("Dr")? + total("Dw")?,
            d1_misses: total("D1mr")? + total("D1mw")?,
            ll_misses: total("DLmr")? + total("DLmw")?,
        })
    }
}

/// The difference of all counts; negative differences are zero.
impl Sub for Counts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(other.instructions),
            references: self.references.saturating_sub(other.references),
            d1_misses: self.d1_misses.saturating_sub(other.d1_misses),
            ll_misses: self.ll_misses.saturating_sub(other.ll_misses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "desc: D1 cache: 32768 B, 64 B, 8-way associative\ncmd: profile simple_iter\n\
        events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfn=main\n3 9 0 0 4 1 1 2 2 0\n\
        summary: 1000 5 4 300 20 10 100 7 3\n";

    #[test]
    fn totals_are_found_by_the_names_of_the_events() {
        let counts = Counts::parse(TEXT).expect("complete");
        let want = Counts { instructions: 1000, references: 400, d1_misses: 27, ll_misses: 13 };
        assert_eq!(counts, want);
        assert_eq!(counts - want, Counts::default());
    }

    #[test]
    fn what_is_missing_is_named() {
        for (from, to, wanted) in [
            ("summary:", "sum:", "no line 'summary:'"),
            ("D1mw DLmw", "", "7 events and 9 totals"),
            ("D1mr", "D2mr", "no event D1mr"),
            ("1000", "many", "Ir is \"many\""),
        ] {
            let wrong = Counts::parse(&TEXT.replace(from, to)).expect_err(from);
            assert!(wrong.starts_with(wanted), "{wrong}");
        }
    }
}
