//! A turn: one library at one workload, in a process of its own.
//!
//! An allocator keeps the pages that a library frees, and thread pools stay. In a common process
//! each library would inherit the heap and threads of earlier ones. The program therefore starts
//! itself once for each turn, as a child that prints a line for each finding. The parent reads the
//! lines, checks the outcomes, and ends with an error if the child fails.

use crate::builds::Build;
use crate::child;
use crate::failure::Failure;
use crate::harness::{Finding, Harness, Phase, Row};
use crate::libs::Library;
use crate::outcome::Outcome;
use crate::workloads::Workload;

/// The name of the command by which a child is started.
pub(crate) const COMMAND: &str = "turn";

/// The task of a child.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) library: &'static Library,
    pub(crate) workload: &'static Workload,
    pub(crate) size: usize,
    pub(crate) phase: Phase,
}

impl Turn {
    /// Findings of a child, which is this build; none if the library cannot do it.
    pub(crate) fn run(&self, build: &Build) -> Result<Vec<Finding>, Failure> {
        if self.workload.way(self.library).is_none() {
            return Ok(Vec::new());
        }
        let output = child::output(&build.program, self.arguments());
        output.and_then(|text| self.read(&text)).map_err(|reason| self.failure(&reason))
    }

    /// Findings of this process.
    pub(crate) fn run_here(&self) -> Vec<Finding> {
        let Some(run) = self.workload.way(self.library) else {
            return Vec::new();
        };
        Harness::measure(self.phase, self.library.name, self.workload.name, self.size, run)
    }

    /// The work of the child: prints a line for each finding.
    pub(crate) fn print(&self) {
        child::keep_freed_pages();
        for finding in self.run_here() {
            println!("{}", line(&finding));
        }
    }

    fn arguments(&self) -> Vec<String> {
        let size = self.size.to_string();
        let mut arguments = vec![COMMAND, self.library.name, self.workload.name, &size];
        let number;
        if let Phase::Time(budget) = self.phase {
            number = budget.as_millis().to_string();
            arguments.extend(["--budget-ms", &number]);
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn read(&self, text: &str) -> Result<Vec<Finding>, String> {
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

/// The variant, the outcome, the steps, and the samples, with tabs between them.
fn line(finding: &Finding) -> String {
    let mut fields =
        vec![finding.row.variant.clone(), finding.outcome.encode(), finding.steps.to_string()];
    fields.extend(finding.samples.iter().map(f64::to_string));
    fields.join("\t")
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
            Outcome::Count(7).held(21),
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
        for line in [
            "",
            "columns",
            "columns\tsum 1",
            "\tsum x\t3",
            "\tsum 1\t3\tx",
            "\tcount\t3",
            "\theld 3\t3",
        ] {
            assert_eq!(turn.finding(line), None, "{line:?}");
        }
    }

    #[test]
    fn the_arguments_name_the_phase() {
        let agree = turn(Phase::Agree).arguments();
        assert_eq!(agree, ["turn", "hecs", "fragmented_iter", "520"]);
        let time = turn(Phase::Time(Duration::from_millis(50))).arguments();
        assert_eq!(time[4..], ["--budget-ms", "50"]);
    }

    #[test]
    fn a_child_that_finds_nothing_or_prints_something_else_is_a_failure() {
        let turn = turn(Phase::Agree);
        assert!(turn.read("\tsum 1\t3\n").is_ok_and(|found| found.len() == 1));
        for (text, part) in [("", "found nothing"), ("\tsum 1\t3\nnoise\n", "noise")] {
            let reason = turn.read(text).expect_err("a failure");
            assert!(reason.contains(part), "{part} is not in {reason}");
        }
    }
}
