//! The counts of one row: three runs of this program under cachegrind.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::cachegrind::{self, Counts, Event};
use crate::places::Places;
use crate::row::Row;
use crate::work::Work;

/// The exit code of a counted process with a wrong result.
pub(crate) const WRONG: u8 = 3;

/// The least instructions of a pass; the call and the loop around it alone have fewer.
const INSTRUCTIONS_MIN: u64 = 32;

/// The greatest difference of the first passes from the average of all, in per cent, and in events
/// a pass.
const INSTRUCTIONS_DRIFT: (u64, u64) = (2, 500);

/// The same for D1 misses; some of them vary with addresses.
const MISSES_DRIFT: (u64, u64) = (5, 100);

/// Passes that are enough to see whether counts repeat.
const REPEATED_PASSES: u64 = 10;

/// The reason for missing counts of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// Its result is wrong, or it panicked.
    Wrong(String),
    /// It cannot be counted.
    Impossible(String),
}

impl Failure {
    pub(crate) fn text(&self) -> &str {
        let (Self::Wrong(text) | Self::Impossible(text)) = self;
        text
    }
}

/// The counts of a row.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The difference of the first and the last run.
    pub(crate) difference: Counts,
    /// The number of passes in the difference.
    pub(crate) passes: u64,
    /// The counts of the last run.
    pub(crate) whole: Counts,
    /// The work of a pass.
    pub(crate) work: Work,
    /// The files that cachegrind wrote for the two runs.
    pub(crate) files: [PathBuf; 2],
}

impl Measured {
    /// An event of the difference per unit and pass.
    pub(crate) fn per_unit(&self, event: Event) -> f64 {
        self.difference.of(event) as f64 / (self.passes * self.work.units) as f64
    }

    /// The least lines per unit.
    pub(crate) fn least_per_unit(&self) -> f64 {
        self.work.lines / self.work.units as f64
    }

    /// The counts of each line of source, in the difference.
    pub(crate) fn places(&self) -> Result<Places, String> {
        let [few, many] = &self.files;
        Ok(Places::difference(&Places::read(few)?, Places::read(many)?))
    }
}

/// Counts a row of this program, which starts itself.
pub(crate) fn measure(program: &Path, row: &Row, folder: &Path) -> Result<Measured, Failure> {
    let work = work_of(program, row)?;
    let run = |passes: u64| -> Result<(Counts, PathBuf), Failure> {
        let out = folder.join(format!("{}.{passes}.out", row.name));
        let mut command = cachegrind::command(program, &out);
        run_child(command.args(["--row", &row.name, "--passes", &passes.to_string()]), row)?;
        Ok((Counts::read(&out).map_err(Failure::Impossible)?, out))
    };
    let (few_passes, many_passes) = row.passes;
    let passes = many_passes - few_passes;
    let early_passes = early_passes(passes);
    let (few, few_file) = run(few_passes)?;
    let (early, _) = run(few_passes + early_passes)?;
    let (whole, whole_file) = run(many_passes)?;
    let difference = whole - few;
    check_work(row, &difference, passes, work)?;
    check_repeated(row, (early - few, early_passes), (difference, passes))?;
    Ok(Measured { difference, passes, whole, work, files: [few_file, whole_file] })
}

/// The work of a pass, from a process without valgrind.
fn work_of(program: &Path, row: &Row) -> Result<Work, Failure> {
    let mut command = cachegrind::native_command(program);
    let said = run_child(command.args(["--row", &row.name]), row)?;
    let name = &row.name;
    let impossible = |what: &str| Err(Failure::Impossible(format!("{name}: {what}")));
    let Some(work) = Work::parse(&said) else {
        return impossible("the set-up ended the process: let it return");
    };
    if work.units == 0 {
        return impossible("a pass has 0 units: does the set-up spawn what the query asks for?");
    }
    if !work.lines.is_finite() || work.lines < 0.0 {
        return impossible("the least lines are no number: see `Work`");
    }
    if work.lines == 0.0 && row.limits.ratio.is_some() {
        return impossible(
            "the least is 0, because all lines of a pass fit in 32 KiB or none are known, and has \
             no ratio: take more rows, or misses_max",
        );
    }
    Ok(work)
}

/// Runs a process of this program and returns its output.
fn run_child(command: &mut Command, row: &Row) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|error| Failure::Impossible(format!("{}: cannot start: {error}", row.name)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let name = &row.name;
    if output.status.code() == Some(i32::from(WRONG)) {
        return Err(Failure::Wrong(last_line(&said).to_owned()));
    }
    if let Some(panic) = panic_of(&said) {
        return Err(Failure::Wrong(format!("{name}: it panicked: {panic}")));
    }
    if is_illegal_instruction(output.status) {
        return Err(Failure::Impossible(format!(
            "{name}: an instruction that valgrind does not know: build without -C target-cpu=native \
             (x86-64-v3 works)"
        )));
    }
    let line = last_line(&said);
    Err(Failure::Impossible(format!("{name}: it ended with {}: {line}", output.status)))
}

fn last_line(said: &str) -> &str {
    said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message")
}

/// The place and message of a panic, from the output of a process.
fn panic_of(said: &str) -> Option<String> {
    let is_panic = |line: &&str| line.starts_with("thread '") && line.contains(" panicked at ");
    let mut lines = said.lines().skip_while(|line| !is_panic(line));
    let (_, place) = lines.next()?.split_once(" panicked at ")?;
    Some(format!("{} ({})", lines.next().unwrap_or("").trim(), place.trim_end_matches(':')))
}

#[cfg(unix)]
fn is_illegal_instruction(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGILL: i32 = 4;
    status.signal() == Some(SIGILL)
}

#[cfg(not(unix))]
fn is_illegal_instruction(_: ExitStatus) -> bool {
    false
}

/// Checks that a pass does work and touches its lines; an empty pass would be below every limit.
fn check_work(row: &Row, counts: &Counts, passes: u64, work: Work) -> Result<(), Failure> {
    let name = &row.name;
    let instructions = counts.instructions / passes;
    let references = counts.references / passes;
    let result = "if the compiler removed it, hand its result to std::hint::black_box";
    if instructions < INSTRUCTIONS_MIN {
        return Err(Failure::Impossible(format!(
            "{name}: a pass does nothing, in {instructions} instructions: {result}"
        )));
    }
    if references < work.touched {
        return Err(Failure::Impossible(format!(
            "{name}: a pass makes {references} data references and its query has {} lines, so it \
             does not touch them all: {result}",
            work.touched
        )));
    }
    Ok(())
}

/// Compares the first passes with all passes.
fn check_repeated(
    row: &Row,
    (early, early_passes): (Counts, u64),
    (all, passes): (Counts, u64),
) -> Result<(), Failure> {
    for (event, (share, events)) in
        [(Event::Instructions, INSTRUCTIONS_DRIFT), (Event::D1Misses, MISSES_DRIFT)]
    {
        let (a, b) = (early.of(event) / early_passes, all.of(event) / passes);
        if a.abs_diff(b) > events + a.max(b) * share / 100 {
            let what = event.name();
            return Err(Failure::Impossible(format!(
                "{}: counts do not repeat: {a} {what} a pass in the first {early_passes} and {b} in \
                 all {passes}: let every pass do the same work, seed what is random, use no threads",
                row.name
            )));
        }
    }
    Ok(())
}

/// The first of some passes, at least one, whose counts are compared with those of all.
fn early_passes(passes: u64) -> u64 {
    REPEATED_PASSES.min(passes / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new("walk", || (), |()| {}, |()| Work::of_units(1, 0.0))
    }

    fn counts(instructions: u64, references: u64, misses: u64) -> Counts {
        Counts { instructions, references, d1_read_misses: misses, ..Counts::default() }
    }

    #[test]
    fn a_pass_that_does_nothing_is_refused() {
        let work = Work { touched: 100, ..Work::of_units(1_000, 100.0) };
        let check = |counts: Counts| check_work(&row(), &counts, 10, work);
        assert_eq!(check(counts(20_000, 1_000, 0)), Ok(()));
        let nothing = check(counts(200, 20, 0)).expect_err("20 instructions");
        assert!(nothing.text().starts_with("walk: a pass does nothing"), "{nothing:?}");
        let removed = check(counts(20_000, 500, 0)).expect_err("half of the lines");
        assert!(removed.text().contains("50 data references"), "{removed:?}");
    }

    #[test]
    fn some_of_all_passes_are_early() {
        assert_eq!([1, 2, 3, 19, 20, 1_000].map(early_passes), [1, 1, 1, 9, 10, 10]);
    }

    #[test]
    fn counts_that_drift_are_refused() {
        let check = |early, all| check_repeated(&row(), (early, 5), (all, 10));
        assert_eq!(check(counts(50_000, 0, 500), counts(100_000, 0, 1_000)), Ok(()));
        assert_eq!(check(counts(52_000, 0, 900), counts(100_000, 0, 1_000)), Ok(()), "noise");
        let more = check(counts(50_000, 0, 500), counts(120_000, 0, 1_000)).expect_err("growth");
        assert!(more.text().contains("10000 instructions a pass in the first 5"), "{more:?}");
        assert!(check(counts(50_000, 0, 5_000), counts(100_000, 0, 20_000)).is_err(), "misses");
    }

    #[test]
    fn a_panic_is_quoted() {
        let said =
            "loading\n\nthread 'main' (7) panicked at src/a.rs:1:2:\nno rows\nnote: run with\n";
        assert_eq!(panic_of(said).as_deref(), Some("no rows (src/a.rs:1:2)"));
        assert_eq!(panic_of("nothing"), None);
        assert_eq!(last_line("a\nb\n\n"), "b");
    }
}
