//! A whole run: a comparison of all results, and after it the times.

use crate::builds::Build;
use crate::chart;
use crate::cli::Compare;
use crate::failure::Failure;
use crate::harness::{Finding, Phase};
use crate::libs::Library;
use crate::report::{Report, Timing};
use crate::turn::Turn;
use crate::workloads::Workload;
use crate::{markdown, table, tsv};
use std::fs::OpenOptions;
use std::path::Path;

pub(crate) fn run(options: &Compare) -> Result<(), Failure> {
    let workloads = options.workloads().map_err(Failure::Usage)?;
    let libraries = options.libraries().map_err(Failure::Usage)?;
    if options.list {
        table::print_list();
        return Ok(());
    }
    // Before anything is measured: a long run should not end with a table that cannot be saved.
    for path in options.files() {
        writable(path)?;
    }

    let builds = if options.both_builds { Build::both()? } else { vec![Build::this()?] };
    eprintln!("checking that all libraries agree");
    for build in &builds {
        agree(build, &workloads, &libraries)?;
    }
    let timings = measure(options, &builds, &workloads, &libraries)?;

    let names: Vec<_> = builds.iter().map(|build| build.name.as_str()).collect();
    let report = Report::new(&workloads, &libraries, &names, timings);
    println!("{}", table::render(&report));
    save(&options.tsv, &tsv::render(&report))?;
    save(&options.svg, &chart::render(&report).map_err(Failure::Wrong)?)?;
    if let Some(path) = &options.brief_svg {
        save(path, &chart::render_brief(&report).map_err(Failure::Wrong)?)?;
    }
    if let Some(path) = &options.markdown {
        save(path, &markdown::render(&report))?;
    }
    let names: Vec<_> = options.files().map(|path| path.display().to_string()).collect();
    eprintln!("saved {}", names.join(", "));
    Ok(())
}

/// Lets every library make a few steps of every workload, and compares the outcomes.
fn agree(
    build: &Build,
    workloads: &[&'static Workload],
    libraries: &[&'static Library],
) -> Result<(), Failure> {
    let mut differences = Vec::new();
    for &workload in workloads {
        for &size in workload.sizes {
            let mut found = Vec::new();
            for &library in libraries {
                found.extend(Turn { library, workload, size, phase: Phase::Agree }.run(build)?);
            }
            differences.extend(disagreement(workload, size, &found));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(Failure::Wrong(differences.join("\n"))) }
}

/// Names the workload, the libraries and their values if they are not all the same.
fn disagreement(workload: &Workload, size: usize, found: &[Finding]) -> Option<String> {
    let steps = found.first()?.steps;
    let expected = (workload.expected)(size, steps);
    if found.iter().all(|finding| finding.steps == steps && finding.outcome == expected) {
        return None;
    }
    let each =
        found.iter().map(|finding| format!("{} has {}", finding.row.label(), finding.outcome));
    Some(format!(
        "{} at {size} {}: {expected} should come of {steps} steps; {}",
        workload.name,
        workload.size,
        each.collect::<Vec<_>>().join(", ")
    ))
}

/// Times all libraries in turn, for the given number of turns, each turn in a process of its own.
/// The builds take turns as well.
fn measure(
    options: &Compare,
    builds: &[Build],
    workloads: &[&'static Workload],
    libraries: &[&'static Library],
) -> Result<Vec<Timing>, Failure> {
    let mut timings: Vec<Timing> = Vec::new();
    let phase = Phase::Time(options.budget());
    for run in 1..=options.runs {
        for &library in libraries {
            eprintln!("run {run} of {}: {}", options.runs, library.name);
            for (workload, size, build) in rows(workloads, builds) {
                for found in (Turn { library, workload, size, phase }).run(build)? {
                    still_right(workload, size, &found)?;
                    add(&mut timings, &build.name, found);
                }
            }
        }
    }
    Ok(timings)
}

/// Each workload at each of its sizes, in each build.
fn rows<'a>(
    workloads: &'a [&'static Workload],
    builds: &'a [Build],
) -> impl Iterator<Item = (&'static Workload, usize, &'a Build)> {
    let sized = workloads.iter().flat_map(|&w| w.sizes.iter().map(move |&size| (w, size)));
    sized.flat_map(|(workload, size)| builds.iter().map(move |build| (workload, size, build)))
}

/// Checks that all measured rows did their work to the end.
fn still_right(workload: &Workload, size: usize, found: &Finding) -> Result<(), Failure> {
    let expected = (workload.expected)(size, found.steps);
    if found.outcome == expected {
        return Ok(());
    }
    let (row, steps) = (found.row.label(), found.steps);
    Err(Failure::Wrong(format!(
        "{} at {size} {}: {row} has {} after {steps} steps, not {expected}",
        workload.name, workload.size, found.outcome
    )))
}

fn add(timings: &mut Vec<Timing>, build: &str, Finding { row, samples, .. }: Finding) {
    match timings.iter_mut().find(|timing| timing.build == build && timing.row == row) {
        Some(timing) => timing.samples.extend(samples),
        None => timings.push(Timing { build: build.to_owned(), row, samples }),
    }
}

fn writable(path: &Path) -> Result<(), Failure> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| at(path, &error))
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Row;
    use crate::libs::LIBRARIES;
    use crate::outcome::Outcome;
    use crate::workloads::WORKLOADS;

    fn finding(library: &'static str, outcome: Outcome) -> Finding {
        let row = Row { workload: "pos_vel", size: 10_000, library, variant: String::new() };
        Finding { row, outcome, steps: 3, samples: Vec::new() }
    }

    #[test]
    fn a_difference_names_the_workload_the_libraries_and_the_values() {
        let workload = Workload::find("pos_vel").expect("there is one");
        let right = (workload.expected)(10_000, 3);
        let wrong = Outcome::Sum(1.5);
        let found = [finding("raw", right.clone()), finding("hecs", right.clone())];
        assert_eq!(disagreement(workload, 10_000, &found), None);
        let found = [finding("raw", right.clone()), finding("hecs", wrong)];
        let text = disagreement(workload, 10_000, &found).expect("they differ");
        for part in
            ["pos_vel", "10000 entities", "hecs has a sum of 1.5", &format!("raw has {right}")]
        {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }

    #[test]
    fn libraries_that_agree_on_something_wrong_are_found_too() {
        let workload = Workload::find("pos_vel").expect("there is one");
        let found = [finding("raw", Outcome::Sum(0.0)), finding("hecs", Outcome::Sum(0.0))];
        assert!(disagreement(workload, 10_000, &found).is_some());
    }

    /// Every library, at the smallest size of every workload that is quick without optimisation.
    /// Some libraries take minutes to make thousands of archetypes.
    fn quick(phase: Phase) -> impl Iterator<Item = (&'static Workload, Vec<Finding>)> {
        let quick = |w: &&Workload| {
            let size = w.sizes[0];
            let size_max = if w.size == "archetypes" { 1_000 } else { 100_000 };
            size <= size_max && (w.units)(size) <= 100_000
        };
        WORKLOADS.iter().filter(quick).map(move |workload| {
            let size = workload.sizes[0];
            let turns = LIBRARIES.iter().map(|library| Turn { library, workload, size, phase });
            (workload, turns.flat_map(|turn| turn.run_here()).collect())
        })
    }

    #[test]
    fn all_libraries_agree() {
        for (workload, found) in quick(Phase::Agree) {
            assert_eq!(disagreement(workload, workload.sizes[0], &found), None);
        }
    }

    /// A library whose steps do nothing must not be taken for the fastest one.
    #[test]
    fn steps_that_were_not_made_are_noticed() {
        for (workload, found) in quick(Phase::Idle) {
            for finding in found {
                let right = still_right(workload, finding.row.size, &finding).is_ok();
                assert!(!right, "{} of {}", finding.row.label(), workload.name);
            }
        }
    }
}
