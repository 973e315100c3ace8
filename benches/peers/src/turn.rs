//! A turn: one library at one workload, in a process of its own.
//!
//! An allocator keeps the pages that a library frees, and thread pools stay. In a common process each
//! library would inherit what the ones before it left. So the program starts itself once for each
//! turn, as a child that prints a line for each finding. The parent reads the lines, checks the
//! outcomes, and ends with an error if the child did not end well.

use crate::Failure;
use crate::harness::{Finding, Harness, Phase, Row};
use crate::libs::Library;
use crate::outcome::Outcome;
use crate::workloads::Workload;
use std::process::{Command, Output, Stdio};

/// The name of the command by which a child is started.
pub(crate) const COMMAND: &str = "turn";

/// What a child is started for.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) library: &'static Library,
    pub(crate) workload: &'static Workload,
    pub(crate) size: usize,
    pub(crate) phase: Phase,
}

impl Turn {
    /// Findings of a child; none where the library has no way to do it.
    pub(crate) fn run(&self) -> Result<Vec<Finding>, Failure> {
        if self.library.row(self.workload.name).is_none() {
            return Ok(Vec::new());
        }
        let program = std::env::current_exe();
        let started = program.and_then(|program| {
            Command::new(program).args(self.arguments()).stderr(Stdio::inherit()).output()
        });
        match started {
            Ok(output) => self.read(&output).map_err(|reason| self.failure(&reason)),
            Err(error) => Err(self.failure(&format!("its process cannot be started: {error}"))),
        }
    }

    /// Findings of this process.
    pub(crate) fn run_here(&self) -> Vec<Finding> {
        let Some(run) = self.library.row(self.workload.name) else {
            return Vec::new();
        };
        Harness::measure(self.phase, self.library.name, self.workload.name, self.size, run)
    }

    /// What the child does: prints a line for each finding.
    pub(crate) fn print(&self) {
        keep_freed_pages();
        for finding in self.run_here() {
            println!("{}", line(&finding));
        }
    }

    fn arguments(&self) -> Vec<String> {
        let size = self.size.to_string();
        let mut arguments = vec![COMMAND, self.library.name, self.workload.name, &size];
        let number;
        match self.phase {
            Phase::Agree => {}
            Phase::Time(budget) => {
                number = budget.as_millis().to_string();
                arguments.extend(["--budget-ms", &number]);
            }
            Phase::Frames(frames) => {
                number = frames.to_string();
                arguments.extend(["--frames", &number]);
            }
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn read(&self, output: &Output) -> Result<Vec<Finding>, String> {
        if !output.status.success() {
            return Err(format!("its process ended early, with {}", output.status));
        }
        let text = str::from_utf8(&output.stdout)
            .map_err(|_| "its process printed what is no text".to_owned())?;
        let read =
            |line: &str| self.finding(line).ok_or_else(|| format!("its process printed {line:?}"));
        let found: Vec<_> = text.lines().map(read).collect::<Result<_, _>>()?;
        if found.is_empty() {
            return Err("its process found nothing".to_owned());
        }
        Ok(found)
    }

    /// The inverse of [`line`].
    fn finding(&self, line: &str) -> Option<Finding> {
        let mut fields = line.split('\t');
        let row = Row {
            workload: self.workload.name,
            size: self.size,
            library: self.library.name,
            variant: fields.next()?.to_owned(),
        };
        let outcome = Outcome::parse(fields.next()?)?;
        let steps = fields.next()?.parse().ok()?;
        let samples = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
        Some(Finding { row, outcome, steps, samples })
    }

    fn failure(&self, reason: &str) -> Failure {
        let Self { library, workload, size, .. } = self;
        Failure::Wrong(format!(
            "{} at {size} {}: {}: {reason}",
            workload.name, workload.size, library.name
        ))
    }
}

/// The variant, the outcome, the steps, and the samples, with tabs between them. Rust prints a
/// number so that the same number is read again.
fn line(finding: &Finding) -> String {
    let mut fields =
        vec![finding.row.variant.clone(), finding.outcome.encode(), finding.steps.to_string()];
    fields.extend(finding.samples.iter().map(f64::to_string));
    fields.join("\t")
}

/// Frees one large block, which raises glibc's thresholds for giving memory back: every child has a
/// heap that keeps its pages, as in a long-running program.
fn keep_freed_pages() {
    drop(std::hint::black_box(vec![1_u8; 31 << 20]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn turn(phase: Phase) -> Turn {
        let library = Library::find("hecs").expect("there is one");
        let workload = Workload::find("fragmented_iter").expect("there is one");
        Turn { library, workload, size: 520, phase }
    }

    #[test]
    fn a_line_is_read_as_the_finding_that_was_printed() {
        let turn = turn(Phase::Agree);
        let outcomes = [
            Outcome::Sum(0.1 + 0.2),
            Outcome::Sum(f64::INFINITY),
            Outcome::Sums([1.0, -0.5, 1e300, 0.0, 1.0 / 3.0]),
            Outcome::Count(7),
            Outcome::cells(&[1, 0, 1]),
            Outcome::Changes { rows: 3, sum: 0.5, all: -1.0 },
        ];
        for outcome in outcomes {
            for (variant, samples) in [("", vec![]), ("a, b", vec![1.0 / 3.0, 12_345.678_9])] {
                let row = Row {
                    workload: "fragmented_iter",
                    size: 520,
                    library: "hecs",
                    variant: variant.to_owned(),
                };
                let finding = Finding { row, outcome: outcome.clone(), steps: 9, samples };
                assert_eq!(turn.finding(&line(&finding)), Some(finding));
            }
        }
    }

    #[test]
    fn what_is_no_finding_is_refused() {
        let turn = turn(Phase::Agree);
        for line in ["", "columns", "columns\tsum 1", "\tsum x\t3", "\tsum 1\t3\tx", "\tcount\t3"] {
            assert_eq!(turn.finding(line), None, "{line:?}");
        }
    }

    #[test]
    fn the_arguments_name_the_phase() {
        let agree = turn(Phase::Agree).arguments();
        assert_eq!(agree, ["turn", "hecs", "fragmented_iter", "520"]);
        let time = turn(Phase::Time(Duration::from_millis(50))).arguments();
        assert_eq!(time[4..], ["--budget-ms", "50"]);
        assert_eq!(turn(Phase::Frames(8)).arguments()[4..], ["--frames", "8"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_ends_early_or_finds_nothing_is_a_failure() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::ExitStatus;
        let output = |status, stdout: &str| Output {
            status: ExitStatus::from_raw(status),
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
        };
        let turn = turn(Phase::Agree);
        assert!(turn.read(&output(0, "\tsum 1\t3\n")).is_ok_and(|found| found.len() == 1));
        let refusals = [
            (output(11, "\tsum 1\t3\n"), "signal: 11"),
            (output(101 << 8, ""), "exit status: 101"),
            (output(0, ""), "found nothing"),
            (output(0, "\tsum 1\t3\nnoise\n"), "noise"),
        ];
        for (output, part) in refusals {
            let reason = turn.read(&output).expect_err("a failure");
            assert!(reason.contains(part), "{part} is not in {reason}");
        }
    }
}
