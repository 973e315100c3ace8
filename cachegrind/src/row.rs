//! A row of the table: a set-up, a pass over it, its work, and its limits.

use std::fmt;
use std::sync::Arc;

use crate::limits::Limits;
use crate::work::Work;

/// A program that is counted: the state after its set-up, and one pass over it.
///
/// [`Row::new`] makes one from closures. Implement it for a program that is also run elsewhere, or
/// that proves its result, and pass it to [`Row::of`].
pub trait Workload {
    /// Runs the work once. Every pass must do the same work.
    fn pass(&mut self);

    /// The work of a pass; called after the set-up, before the first pass.
    fn work(&mut self) -> Work;

    /// Checks the result after a number of passes.
    ///
    /// # Errors
    ///
    /// A line with the expected and the found result.
    fn check(&self, passes: u64) -> Result<(), String> {
        let _ = passes;
        Ok(())
    }
}

/// Makes the program of a row.
pub(crate) type Start = Box<dyn Fn() -> Box<dyn Workload> + Send + Sync>;

/// A row of the table: a program with its set-up and its work, and the limits of its counts.
///
/// ```no_run
/// use phalanx::prelude::*;
/// use phalanx_cachegrind::{Row, Work};
/// # #[component] struct Health(f32);
///
/// #[kernel]
/// fn wither(health: &mut [Health]) {
///     health.iter_mut().for_each(|h| h.0 *= 0.5);
/// }
///
/// fn set_up() -> World {
///     let mut world = World::new();
///     world.spawn_batch((0..100_000).map(|_| Health(1.0)));
///     world
/// }
///
/// fn pass(world: &mut World) {
///     world.query_mut::<&mut Health>().into_iter().for_each(wither);
/// }
///
/// fn main() -> std::process::ExitCode {
///     phalanx_cachegrind::main([
///         Row::new("wither", set_up, pass, |world: &mut World| {
///             Work::of_query(&world.query_mut::<&mut Health>().explain())
///         })
///         .ratio_max(1.02)
///         .instructions_max(0.5),
///     ])
/// }
/// ```
pub struct Row {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) passes: (u64, u64),
    pub(crate) start: Start,
    pub(crate) limits: Limits,
    pub(crate) published: Option<u64>,
}

impl Row {
    /// A row from closures: its name, the set-up, one pass over the result of the set-up, and the
    /// work of a pass.
    ///
    /// The name has letters, digits, `_` and `-`: it is part of file names. The set-up runs once in
    /// each counted process and is not part of the counts. Seed all random numbers, and use no
    /// threads: a row with counts that do not repeat is an error.
    #[must_use]
    pub fn new<T: 'static>(
        name: impl Into<String>,
        set_up: impl Fn() -> T + Send + Sync + 'static,
        pass: impl Fn(&mut T) + Send + Sync + 'static,
        work: impl Fn(&mut T) -> Work + Send + Sync + 'static,
    ) -> Self {
        let (pass, work) = (Arc::new(pass), Arc::new(work));
        Self::of(name, move || Closures {
            state: set_up(),
            pass: Arc::clone(&pass),
            work: Arc::clone(&work),
        })
    }

    /// A row from a program of its own type.
    ///
    /// ```
    /// use phalanx_cachegrind::{Row, Work, Workload};
    ///
    /// struct Sum(Vec<u64>, u64);
    ///
    /// impl Workload for Sum {
    ///     fn pass(&mut self) {
    ///         self.1 = self.0.iter().sum();
    ///     }
    ///     fn work(&mut self) -> Work {
    ///         Work::of_units(self.0.len() as u64, self.0.len() as f64 / 8.0)
    ///     }
    ///     fn check(&self, _: u64) -> Result<(), String> {
    ///         if self.1 == 4_999_950_000 { Ok(()) } else { Err(format!("the sum is {}", self.1)) }
    ///     }
    /// }
    ///
    /// let row = Row::of("sum", || Sum((0..100_000).collect(), 0)).unit("number").ratio_max(1.01);
    /// assert_eq!(row.name(), "sum");
    /// ```
    #[must_use]
    pub fn of<P: Workload + 'static>(
        name: impl Into<String>,
        start: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            unit: "row",
            passes: (2, 12),
            start: Box::new(move || Box::new(start())),
            limits: Limits::default(),
            published: None,
        }
    }

    /// The name of a unit in the table: `"row"` if this is not called.
    #[must_use]
    pub fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The passes of the two runs that are subtracted: 2 and 12 if this is not called.
    ///
    /// The passes of the first run fill the caches. More passes in the second make noise smaller,
    /// for work of a few hundred units, and fewer save time, for work of millions.
    #[must_use]
    pub fn passes(mut self, few: u64, many: u64) -> Self {
        self.passes = (few, many);
        self
    }

    /// The most first-level data misses for each line of the least: 1.02 is two per cent above the
    /// least that the layout allows.
    #[must_use]
    pub fn ratio_max(mut self, limit: f64) -> Self {
        self.limits.ratio = Some(limit);
        self
    }

    /// The most first-level data misses a unit.
    #[must_use]
    pub fn misses_max(mut self, limit: f64) -> Self {
        self.limits.misses = Some(limit);
        self
    }

    /// The most instructions a unit. A vectorised kernel has a fraction of the instructions of the
    /// scalar loop, so this limit also asserts that a kernel is vectorised.
    #[must_use]
    pub fn instructions_max(mut self, limit: f64) -> Self {
        self.limits.instructions = Some(limit);
        self
    }

    /// The most first-level instruction misses a unit: for passes with more code than 32 KiB.
    #[must_use]
    pub fn code_misses_max(mut self, limit: f64) -> Self {
        self.limits.code_misses = Some(limit);
        self
    }

    /// First-level data misses of the whole second run in a published measurement, printed beside
    /// the misses of this program.
    #[must_use]
    pub fn published_misses(mut self, misses: u64) -> Self {
        self.published = Some(misses);
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the program: its set-up runs, but no pass. For tests of your own.
    ///
    /// ```
    /// use phalanx_cachegrind::{Row, Work};
    ///
    /// let count = |n: &mut u64| Work::of_units(*n, 0.0);
    /// let row = Row::new("count", || 7_u64, |n| *n += 1, count);
    /// let mut program = row.start();
    /// program.pass();
    /// assert_eq!(program.work().units, 8);
    /// ```
    #[must_use]
    pub fn start(&self) -> Box<dyn Workload> {
        (self.start)()
    }

    /// Returns the mistake in the declaration, if any.
    pub(crate) fn mistake(&self) -> Option<String> {
        let name = &self.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
            let what = "a name has letters, digits, '_' and '-', and begins with no '-'";
            return Some(format!("no row can be called {name:?}: {what}"));
        }
        let (few, many) = self.passes;
        if few == 0 || many <= few {
            let what = "the first run has at least one pass, and the second has more";
            return Some(format!("{name}: passes({few}, {many}): {what}"));
        }
        self.limits.mistake().map(|what| format!("{name}: {what}"))
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("name", &self.name)
            .field("unit", &self.unit)
            .field("passes", &self.passes)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The program of [`Row::new`].
struct Closures<T, P, W> {
    state: T,
    pass: Arc<P>,
    work: Arc<W>,
}

impl<T, P: Fn(&mut T), W: Fn(&mut T) -> Work> Workload for Closures<T, P, W> {
    fn pass(&mut self) {
        (self.pass)(&mut self.state);
    }

    fn work(&mut self) -> Work {
        (self.work)(&mut self.state)
    }
}

/// Checks the rows.
///
/// # Errors
///
/// A line of advice.
pub(crate) fn check_rows(rows: &[Row]) -> Result<(), String> {
    if rows.is_empty() {
        return Err("no rows: give `main` at least one".into());
    }
    for (i, row) in rows.iter().enumerate() {
        if let Some(mistake) = row.mistake() {
            return Err(mistake);
        }
        if rows[..i].iter().any(|other| other.name == row.name) {
            return Err(format!("two rows are called {}: rename one", row.name));
        }
    }
    Ok(())
}

/// The rows that some words choose: the row of that name, or else all rows with names that contain
/// the word. No words choose all rows.
///
/// # Errors
///
/// A line that names all rows, if a word chooses none.
pub(crate) fn choose<'r>(rows: &'r [Row], words: &[String]) -> Result<Vec<&'r Row>, String> {
    let mut chosen = vec![words.is_empty(); rows.len()];
    for word in words {
        if let Some(exact) = rows.iter().position(|row| row.name == *word) {
            chosen[exact] = true;
            continue;
        }
        let mut found = false;
        for (chosen, _) in chosen.iter_mut().zip(rows).filter(|(_, row)| row.name.contains(word)) {
            (*chosen, found) = (true, true);
        }
        if !found {
            let names: Vec<&str> = rows.iter().map(Row::name).collect();
            return Err(format!("no row {word:?}: choose of {}", names.join(", ")));
        }
    }
    Ok(rows.iter().zip(chosen).filter_map(|(row, chosen)| chosen.then_some(row)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        Row::new(name, || 1_u64, |n| *n += 1, |n| Work::of_units(*n, 0.0))
    }

    #[test]
    fn each_mistake_is_named() {
        for (rows, wanted) in [
            (vec![], "no rows"),
            (vec![row("a"), row("b"), row("a")], "two rows are called a: rename one"),
            (vec![row("")], "no row can be called \"\""),
            (vec![row("a b")], "no row can be called \"a b\""),
            (vec![row("--list")], "no row can be called \"--list\""),
            (vec![row("a").passes(0, 2)], "a: passes(0, 2)"),
            (vec![row("a").passes(2, 2)], "a: passes(2, 2)"),
            (vec![row("a").ratio_max(f64::NAN)], "a: ratio_max(NaN)"),
            (vec![row("a").misses_max(-1.0)], "a: misses_max(-1)"),
        ] {
            let wrong = check_rows(&rows).expect_err(wanted);
            assert!(wrong.starts_with(wanted), "{wrong}");
        }
        assert_eq!(check_rows(&[row("a"), row("b")]), Ok(()));
    }

    #[test]
    fn a_whole_name_is_preferred_to_a_part() {
        let rows = [row("walk_10"), row("walk_100"), row("spawn")];
        let names = |words: &[&str]| -> Result<Vec<String>, String> {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let chosen = choose(&rows, &words)?;
            Ok(chosen.iter().map(|row| row.name.clone()).collect())
        };
        assert_eq!(names(&[]).expect("all").len(), 3);
        assert_eq!(names(&["walk_10"]), Ok(vec!["walk_10".to_owned()]));
        assert_eq!(names(&["walk"]).expect("two").len(), 2);
        assert_eq!(names(&["spawn", "walk_100"]).expect("two")[0], "walk_100", "in their order");
        let wrong = names(&["spawn", "wolk"]).expect_err("no such row");
        assert_eq!(wrong, "no row \"wolk\": choose of walk_10, walk_100, spawn");
    }
}
