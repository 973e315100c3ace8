//! A row with filled caches, for another counting program: iai-callgrind.

use std::fmt;

use crate::row::{Row, Workload, check_rows};

/// A row after its set-up and its first passes, for a benchmark of another harness.
///
/// iai-callgrind counts a function, so the function makes one pass of this row, and the setup and
/// the first passes, which fill the caches, are outside the counts. Its functions are known when it
/// compiles, and rows are values; so one function counts all rows, and its arguments are their
/// names:
///
/// ```ignore
/// fn warm(name: &str) -> WarmRow {
///     WarmRow::new(rows(), name)
/// }
///
/// #[library_benchmark(setup = warm, teardown = WarmRow::check)]
/// #[benches::of(args = ["step", "turn"])]
/// fn row(row: WarmRow) -> WarmRow {
///     row.pass()
/// }
/// ```
pub struct WarmRow {
    name: String,
    program: Box<dyn Workload>,
    passes: u64,
}

impl WarmRow {
    /// Sets up the row of that name, and makes the passes of its first run: see [`Row::passes`].
    ///
    /// # Panics
    ///
    /// If no row has that name, or if a row is declared wrongly: [`main`](crate::main) has the same
    /// messages.
    ///
    /// ```
    /// use phalanx_cachegrind::{Row, WarmRow, Work};
    ///
    /// let count = |n: &mut u64| Work::of_units(*n, 0.0);
    /// let row = Row::new("count", || 7_u64, |n| *n += 1, count).passes(3, 6);
    /// WarmRow::new([row], "count").pass().check();
    /// ```
    #[must_use]
    pub fn new(rows: impl IntoIterator<Item = Row>, name: &str) -> Self {
        let rows: Vec<Row> = rows.into_iter().collect();
        if let Err(mistake) = check_rows(&rows) {
            panic!("{mistake}");
        }
        let Some(row) = rows.iter().find(|row| row.name() == name) else {
            let names: Vec<&str> = rows.iter().map(Row::name).collect();
            panic!("no row {name:?}: choose of {}", names.join(", "));
        };
        let mut program = row.start();
        let (passes, _) = row.passes;
        (0..passes).for_each(|_| program.pass());
        Self { name: name.to_owned(), program, passes }
    }

    /// Makes one pass, the counted part.
    #[must_use]
    pub fn pass(mut self) -> Self {
        self.program.pass();
        self.passes += 1;
        self
    }

    /// Proves the result of all passes: see [`Workload::check`].
    ///
    /// # Panics
    ///
    /// If it is wrong.
    pub fn check(self) {
        if let Err(wrong) = self.program.check(self.passes) {
            panic!("{}: the result is wrong after {} passes: {wrong}", self.name, self.passes);
        }
    }
}

impl fmt::Debug for WarmRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WarmRow")
            .field("name", &self.name)
            .field("passes", &self.passes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    /// Counts its passes; its check passes after four.
    struct Four(u64);

    impl Workload for Four {
        fn pass(&mut self) {
            self.0 += 1;
        }

        fn work(&mut self) -> Work {
            Work::of_units(1, 0.0)
        }

        fn check(&self, passes: u64) -> Result<(), String> {
            if (passes, self.0) == (4, 4) { Ok(()) } else { Err(format!("{} passes", self.0)) }
        }
    }

    fn rows(few: u64) -> [Row; 2] {
        [Row::of("other", || Four(100)), Row::of("four", || Four(0)).passes(few, few + 1)]
    }

    #[test]
    fn the_first_passes_and_one_more_are_proved() {
        WarmRow::new(rows(3), "four").pass().check();
    }

    #[test]
    #[should_panic(expected = "four: the result is wrong after 3 passes: 3 passes")]
    fn a_wrong_result_is_named() {
        WarmRow::new(rows(2), "four").pass().check();
    }

    #[test]
    #[should_panic(expected = "no row \"fore\": choose of other, four")]
    fn an_unknown_row_is_named() {
        let _ = WarmRow::new(rows(2), "fore");
    }

    #[test]
    #[should_panic(expected = "four: passes(0, 1)")]
    fn a_wrong_row_is_named() {
        let _ = WarmRow::new(rows(0), "four");
    }
}
