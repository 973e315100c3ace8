//! Counts rows with valgrind, prints the table and compares each row with its budget.
//!
//! Exit code 0 if all rows are within their budgets; 1 if a row is above or its result is wrong; 2
//! after one line that says what to do.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use clap::Parser;
use phalanx_cachegrind::budgets::{self, Budget};
use phalanx_cachegrind::report::{self, Result as RowResult};
use phalanx_cachegrind::rows::{ROWS, Row, find};
use phalanx_cachegrind::valgrind::{self, Measured};

/// Rows that are counted in parallel.
const AT_A_TIME: usize = 2;

/// Counts instructions, references and cache misses of phalanx with cachegrind and compares them
/// with budgets.
#[derive(Parser)]
#[command(name = "cachegrind/run")]
struct Options {
    /// The rows to count [default: all].
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
    /// Lists all rows.
    #[arg(long, conflicts_with = "rows")]
    list: bool,
    /// The file of limits.
    #[arg(long, value_name = "FILE", default_value = "cachegrind/budgets.txt")]
    budgets: PathBuf,
    /// The directory for the files of cachegrind.
    #[arg(long, value_name = "DIR", default_value = "target/cachegrind")]
    out: PathBuf,
}

fn main() -> ExitCode {
    let options = Options::try_parse().unwrap_or_else(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let line = text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: ");
        eprintln!("cachegrind/run: {line} (see --help)");
        std::process::exit(2);
    });
    if options.list {
        ROWS.iter().for_each(|row| println!("{}", row.name));
        return ExitCode::SUCCESS;
    }
    let counted =
        prepare(&options).map(|(rows, profile)| measure_all(rows, &profile, &options.out));
    match counted {
        Ok(outcomes) => report(outcomes),
        Err(message) => {
            eprintln!("cachegrind/run: {message}");
            ExitCode::from(2)
        }
    }
}

/// A row and its limit.
type Job = (&'static Row, Budget);

/// Checks everything before a count: rows, limits, programs, the directory for files.
fn prepare(options: &Options) -> Result<(Vec<Job>, PathBuf), String> {
    let file = options.budgets.display();
    let text = std::fs::read_to_string(&options.budgets)
        .map_err(|error| format!("cannot read {file} ({error}): give another --budgets"))?;
    let budgets = budgets::parse(&text).map_err(|wrong| format!("{file}: {wrong}"))?;
    let wanted: Vec<&Row> = options.rows.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    let is_wanted = |row: &Row| wanted.is_empty() || wanted.iter().any(|w| w.name == row.name);
    let jobs = ROWS.iter().zip(budgets).filter(|(row, _)| is_wanted(row)).collect();
    let profile = std::env::current_exe()
        .map_err(|error| error.to_string())?
        .with_file_name(format!("profile{}", std::env::consts::EXE_SUFFIX));
    if !profile.is_file() {
        return Err("the program profile is missing beside this one: start cachegrind/run".into());
    }
    valgrind::check_version()?;
    valgrind::check_directory(&options.out)?;
    if valgrind::level().is_none() {
        println!("No AVX2 here: rows run at the level that phalanx selects, so counts differ.");
    }
    Ok((jobs, profile))
}

/// Counts rows, [`AT_A_TIME`] of them in parallel; the outcomes are in the order of the jobs.
fn measure_all(jobs: Vec<Job>, profile: &Path, out: &Path) -> Vec<(Job, Result<Measured, String>)> {
    let count = jobs.len();
    // The last rows are the longest, so they start first.
    let waiting = Mutex::new(jobs.into_iter().enumerate().collect::<Vec<_>>());
    let done = Mutex::new(Vec::with_capacity(count));
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(count) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("a thread panicked").pop();
                    let Some((index, job)) = next else { break };
                    let outcome = valgrind::measure(profile, job.0, out);
                    eprintln!("counted {}", job.0.name);
                    done.lock().expect("a thread panicked").push((index, job, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("a thread panicked");
    done.sort_by_key(|&(index, ..)| index);
    done.into_iter().map(|(_, job, outcome)| (job, outcome)).collect()
}

/// Prints all results, then the failures.
fn report(outcomes: Vec<(Job, Result<Measured, String>)>) -> ExitCode {
    let (mut results, mut failures) = (Vec::new(), Vec::new());
    for ((row, budget), outcome) in outcomes {
        match outcome {
            Ok(measured) => results.push(RowResult { row, budget, measured }),
            Err(message) => failures.push(message),
        }
    }
    println!("{}", report::table(&results));
    results.iter().filter_map(report::beside_published).for_each(|line| println!("{line}"));
    for (excess, result) in results.iter().filter_map(|r| r.excess().map(|excess| (excess, r))) {
        let top = valgrind::annotate(&result.measured.files).unwrap_or_else(|message| message);
        failures.push(format!("{excess}\nwhere passes miss:\n{top}"));
    }
    for failure in &failures {
        eprintln!("cachegrind/run: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
