//! The `main` of a benchmark that counts: the command line, and the processes it starts.

use std::env;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::cachegrind;
use crate::measure::{Failure, Measured, WRONG, measure};
use crate::report;
use crate::row::{Row, check_rows, choose};

/// Rows that are counted at a time.
const AT_A_TIME: usize = 2;

/// Counts instructions and cache misses with cachegrind and holds them to limits.
#[derive(Parser)]
struct Options {
    /// The rows to count, by names or parts of names [default: all].
    #[arg(value_name = "ROW")]
    rows: Vec<String>,
    /// Lists the rows.
    #[arg(long)]
    list: bool,
    /// The folder for the files of cachegrind [default: `cachegrind` beside the program's].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Counts, as `cargo bench` asks for; without it, each row runs once, without valgrind.
    #[arg(long)]
    bench: bool,
    /// In the counted process: the row to run.
    #[arg(long, hide = true, value_name = "ROW")]
    row: Option<String>,
    /// In the counted process: the number of passes. Without it, the work is printed.
    #[arg(long, hide = true, value_name = "N", requires = "row")]
    passes: Option<u64>,
}

/// Counts rows, prints the table, and compares each row with its limits: the whole `main` of a
/// benchmark with `harness = false`.
///
/// With `--bench`, which `cargo bench` passes, the program starts itself under cachegrind, three
/// times for each row, with few passes and with more, and takes the difference: the set-up cancels
/// out. Without it, as in `cargo test --benches`, each row runs one pass without valgrind and
/// proves its result.
///
/// The exit code is 0 if every row is within its limits; 1 if a row is above one, if its result is
/// wrong, or if it panicked; 2 if a row cannot be counted, after one line of advice. All other rows
/// are counted nevertheless.
///
/// See [`Row`] for an example.
#[must_use]
pub fn main(rows: impl IntoIterator<Item = Row>) -> ExitCode {
    let rows: Vec<Row> = rows.into_iter().collect();
    let program = env::current_exe().unwrap_or_default();
    let name = name_of(&program);
    let options = match parse(&name) {
        Ok(options) => options,
        Err(code) => return code,
    };
    match run(&options, &rows, &program, &name) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{name}: {message}");
            ExitCode::from(2)
        }
    }
}

/// The name of a program: cargo appends a hash.
fn name_of(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name.to_owned()
        }
        _ => stem,
    }
}

fn parse(name: &str) -> Result<Options, ExitCode> {
    let command = Options::command().bin_name(name);
    let parsed = command.try_get_matches().and_then(|matches| Options::from_arg_matches(&matches));
    parsed.map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let line = text.lines().next().unwrap_or("bad arguments").trim_start_matches("error: ");
        eprintln!("{name}: {line}: see --help");
        ExitCode::from(2)
    })
}

fn run(options: &Options, rows: &[Row], program: &Path, name: &str) -> Result<ExitCode, String> {
    check_rows(rows)?;
    if let Some(row) = &options.row {
        let row = rows.iter().find(|known| known.name == *row);
        return Ok(run_row(row.ok_or("a row of another program")?, options.passes));
    }
    let chosen = choose(rows, &options.rows)?;
    if options.list {
        chosen.iter().for_each(|row| println!("{}", row.name));
        return Ok(ExitCode::SUCCESS);
    }
    if !options.bench {
        return Ok(run_natively(&chosen, name));
    }
    let out = options.out.clone().unwrap_or_else(|| {
        let folder = program.parent().unwrap_or(Path::new("."));
        let is_deps = folder.file_name().is_some_and(|folder| folder == "deps");
        let folder = if is_deps { folder.parent().unwrap_or(folder) } else { folder };
        folder.join("cachegrind").join(name)
    });
    cachegrind::check_version()?;
    cachegrind::check_folder(&out)?;
    if cachegrind::level().is_none() {
        println!("No AVX2 here: rows run at the level that phalanx selects, so counts differ.");
    }
    Ok(report_all(measure_all(&chosen, program, &out), name))
}

/// Runs a row in the counted process, or prints its work.
fn run_row(row: &Row, passes: Option<u64>) -> ExitCode {
    let mut program = row.start();
    let Some(passes) = passes else {
        println!("{}", program.work().to_line());
        return ExitCode::SUCCESS;
    };
    for _ in 0..passes {
        black_box(&mut *program).pass();
    }
    if let Err(wrong) = program.check(passes) {
        eprintln!("{}: the result is wrong after {passes} passes: {wrong}", row.name);
        return ExitCode::from(WRONG);
    }
    ExitCode::SUCCESS
}

/// Runs a pass of each row without valgrind, and checks the results.
fn run_natively(rows: &[&Row], name: &str) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for row in rows {
        let mut program = row.start();
        program.pass();
        match program.check(1) {
            Ok(()) => println!("{}: ok", row.name),
            Err(wrong) => {
                eprintln!("{name}: {}: the result is wrong after 1 pass: {wrong}", row.name);
                code = ExitCode::FAILURE;
            }
        }
    }
    println!("Nothing was counted: `cargo bench` counts, or --bench.");
    code
}

/// Counts rows, [`AT_A_TIME`] of them in parallel; the outcomes are in their order.
fn measure_all<'r>(
    rows: &[&'r Row],
    program: &Path,
    out: &Path,
) -> Vec<(&'r Row, Result<Measured, Failure>)> {
    // Rows often grow in size, and the longest should start first.
    let waiting = Mutex::new(rows.iter().copied().enumerate().collect::<Vec<_>>());
    let done = Mutex::new(Vec::with_capacity(rows.len()));
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(rows.len()) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no thread panics").pop();
                    let Some((index, row)) = next else { break };
                    let outcome = measure(program, row, out);
                    eprintln!("counted {}", row.name);
                    done.lock().expect("no thread panics").push((index, row, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|&(index, ..)| index);
    done.into_iter().map(|(_, row, outcome)| (row, outcome)).collect()
}

/// Prints all counts, the counts above their limits, and the failures.
fn report_all(outcomes: Vec<(&Row, Result<Measured, Failure>)>, name: &str) -> ExitCode {
    let (mut results, mut failures) = (Vec::new(), Vec::new());
    for (row, outcome) in outcomes {
        match outcome {
            Ok(measured) => results.push((row, measured)),
            Err(failure) => failures.push(failure),
        }
    }
    if !results.is_empty() {
        println!("{}", report::table(&results));
    }
    let published = results.iter().filter_map(|(row, m)| report::beside_published(row, m));
    published.for_each(|line| println!("{line}"));
    let mut is_above = false;
    for (row, measured) in &results {
        let Measured { difference, passes, work, .. } = measured;
        for excess in row.limits.excesses(difference, *passes, *work, row.unit) {
            is_above = true;
            eprintln!("{name}: {}", report::excess(row, measured, &excess));
        }
    }
    failures.iter().for_each(|failure| eprintln!("{name}: {}", failure.text()));
    if is_above || failures.iter().any(|failure| matches!(failure, Failure::Wrong(_))) {
        ExitCode::FAILURE
    } else if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_cargo_is_no_part_of_the_name() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("target/release/deps/misses-0123456789abcdef"), "misses");
        assert_eq!(name("target/release/my-misses"), "my-misses");
    }
}
