//! The limits: one line per row, `ROW KIND LIMIT`. `#` begins a comment.

use crate::rows::{ROWS, find};

/// The most misses or instructions of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// D1 misses per line of the least.
    Ratio(f64),
    /// D1 misses per unit.
    Misses(f64),
    /// Instructions per unit.
    Instructions(f64),
}

/// Parses a file of budgets. Returns one per row, in the order of [`ROWS`].
///
/// # Errors
///
/// A line that names the place of the mistake: an unknown row or kind, a bad number, a row that
/// appears twice or is missing.
pub fn parse(text: &str) -> Result<Vec<Budget>, String> {
    let mut budgets = [None; ROWS.len()];
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let (name, budget) =
            parse_line(&words).map_err(|wrong| format!("line {number}: {wrong}"))?;
        let index = ROWS.iter().position(|row| row.name == name).expect("a parsed row is unknown");
        if budgets[index].replace(budget).is_some() {
            return Err(format!("line {number}: {name} appears twice: remove one"));
        }
    }
    let with_name = ROWS.iter().zip(budgets);
    with_name
        .map(|(row, budget)| {
            budget.ok_or_else(|| format!("{0} is missing: add a line '{0} misses LIMIT'", row.name))
        })
        .collect()
}

fn parse_line(words: &[&str]) -> Result<(&'static str, Budget), String> {
    let &[name, kind, limit] = words else {
        return Err(format!("{} words: write 'ROW KIND LIMIT'", words.len()));
    };
    let row = find(name)?;
    let number = limit.parse::<f64>().ok().filter(|limit| limit.is_finite() && *limit >= 0.0);
    let limit = number.ok_or_else(|| format!("{limit:?} is no limit: write a number like 1.01"))?;
    match kind {
        "ratio" => Ok((row.name, Budget::Ratio(limit))),
        "misses" => Ok((row.name, Budget::Misses(limit))),
        "instructions" => Ok((row.name, Budget::Instructions(limit))),
        _ => Err(format!("no kind {kind:?}: write 'ratio', 'misses' or 'instructions'")),
    }
}

impl Budget {
    /// The most misses or instructions per unit, if a pass misses at least `least` lines per unit.
    #[must_use]
    pub fn limit(self, least: f64) -> f64 {
        match self {
            Self::Ratio(ratio) => ratio * least,
            Self::Misses(limit) | Self::Instructions(limit) => limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> String {
        ROWS.map(|row| format!("{} misses 2.5\n", row.name)).concat()
    }

    #[test]
    fn a_complete_file_is_read() {
        let text =
            format!("# a comment\n\n{}", complete().replacen("misses 2.5", "ratio 1 # so", 1));
        let budgets = parse(&text).expect("all rows have budgets");
        assert_eq!(budgets[0], Budget::Ratio(1.0));
        assert_eq!(budgets[1..], [Budget::Misses(2.5); ROWS.len() - 1]);
    }

    #[test]
    fn the_file_beside_the_sources_is_read() {
        assert_eq!(parse(include_str!("../budgets.txt")).map(|all| all.len()), Ok(ROWS.len()));
    }

    #[test]
    fn each_mistake_is_named() {
        for (line, wanted) in [
            ("pos_vol_10000 misses 1", "line 14: no row \"pos_vol_10000\""),
            ("simple_iter mises 1", "line 14: no kind \"mises\""),
            ("simple_iter misses 1,5", "line 14: \"1,5\" is no limit"),
            ("simple_iter misses -1", "line 14: \"-1\" is no limit"),
            ("simple_iter misses nan", "line 14: \"nan\" is no limit"),
            ("simple_iter misses", "line 14: 2 words"),
            ("simple_iter misses 1", "line 14: simple_iter appears twice"),
        ] {
            let wrong = parse(&(complete() + line)).expect_err(line);
            assert!(wrong.starts_with(wanted), "{line}: {wrong}");
        }
        let missing = complete().replace("add_remove misses 2.5\n", "");
        let wrong = parse(&missing).expect_err("a row is missing");
        assert!(wrong.starts_with("add_remove is missing"), "{wrong}");
    }

    #[test]
    fn a_ratio_is_relative_to_the_least() {
        assert_eq!(Budget::Ratio(1.5).limit(2.0), 3.0);
        assert_eq!(Budget::Misses(1.5).limit(2.0), 1.5);
        assert_eq!(Budget::Instructions(1.5).limit(2.0), 1.5);
    }
}
