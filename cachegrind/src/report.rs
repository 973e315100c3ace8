//! The table, and the rows above their limits.

use comfy_table::{CellAlignment, Table, presets};

use crate::budgets::Budget;
use crate::rows::Row;
use crate::valgrind::Measured;

/// The result of one row.
#[derive(Clone, Debug)]
pub struct Result {
    /// The row.
    pub row: &'static Row,
    /// Its limit.
    pub budget: Budget,
    /// The counts.
    pub measured: Measured,
}

impl Result {
    fn misses(&self) -> f64 {
        self.measured.per_unit(self.measured.difference.d1_misses)
    }

    fn limit(&self) -> f64 {
        self.budget.limit(self.measured.least_per_unit())
    }

    /// A message if the row misses or executes more than its limit.
    #[must_use]
    pub fn excess(&self) -> Option<String> {
        let (count, what) = match self.budget {
            Budget::Ratio(_) | Budget::Misses(_) => (self.misses(), "D1 misses"),
            Budget::Instructions(_) => {
                (self.measured.per_unit(self.measured.difference.instructions), "instructions")
            }
        };
        let limit = self.limit();
        (count > limit).then(|| {
            let share = if limit > 0.0 {
                format!(", {:.1} %", (count / limit - 1.0) * 100.0)
            } else {
                String::new()
            };
            format!(
                "{}: {count:.4} {what} per {}, limit {limit:.4}: {:.4} too many{share}",
                self.row.name,
                self.row.unit,
                count - limit,
            )
        })
    }
}

/// The table of all results: counts per unit and pass.
#[must_use]
pub fn table(results: &[Result]) -> Table {
    const HEADS: [&str; 10] = [
        "row",
        "unit",
        "instructions",
        "data refs",
        "D1 misses",
        "LL misses",
        "least",
        "ratio",
        "limit",
        "streams",
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(HEADS);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for result in results {
        let Measured { difference, streams, .. } = result.measured;
        let least = result.measured.least_per_unit();
        let per_unit = |count| result.measured.per_unit(count);
        let ratio =
            if least > 0.0 { format!("{:.3}", result.misses() / least) } else { "-".into() };
        table.add_row([
            result.row.name.to_owned(),
            result.row.unit.to_owned(),
            format!("{:.2}", per_unit(difference.instructions)),
            format!("{:.2}", per_unit(difference.references)),
            format!("{:.4}", result.misses()),
            format!("{:.4}", per_unit(difference.ll_misses)),
            format!("{least:.4}"),
            ratio,
            format!("{:.4}", result.limit()),
            if streams > 0 { streams.to_string() } else { "-".into() },
        ]);
    }
    table
}

/// Compares the whole program with the published figure.
#[must_use]
pub fn beside_published(result: &Result) -> Option<String> {
    let published = result.row.published?;
    let whole = result.measured.whole.d1_misses;
    let share = whole as f64 / published as f64;
    let (name, passes) = (result.row.name, result.row.passes.1);
    Some(format!(
        "{name}: {whole} D1 misses in all, {passes} updates and set-up; the article has {published} ({share:.4})"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::output::Counts;
    use crate::rows::ROWS;

    fn result(d1_misses: u64, budget: Budget) -> Result {
        let difference = Counts { d1_misses, ..Counts::default() };
        let measured = Measured {
            difference,
            passes: 10,
            whole: difference,
            units: 100,
            least: 50.0,
            streams: 0,
            files: [PathBuf::new(), PathBuf::new()],
        };
        Result { row: &ROWS[0], budget, measured }
    }

    #[test]
    fn only_rows_above_their_limits_are_named() {
        assert_eq!(result(505, Budget::Ratio(1.01)).excess(), None);
        assert_eq!(result(0, Budget::Misses(0.0)).excess(), None);
        let excess = result(1000, Budget::Misses(0.8)).excess().expect("above");
        let wanted =
            "pos_vel_10000: 1.0000 D1 misses per entity, limit 0.8000: 0.2000 too many, 25.0 %";
        assert_eq!(excess, wanted);
        assert_eq!(result(505, Budget::Instructions(0.0)).excess(), None, "misses are not counted");
    }

    #[test]
    fn the_table_has_counts_per_unit() {
        let text = table(&[result(505, Budget::Ratio(1.01))]).to_string();
        assert!(text.contains("0.5050") && text.contains("1.010"), "{text}");
    }
}
