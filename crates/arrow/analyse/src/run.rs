//! A whole run: a simulation, its snapshot, each question asked in three ways.

use crate::answer::Answer;
use crate::engine::Engine;
use crate::herd::Herd;
use crate::questions::{QUESTIONS, Question};
use clap::Parser;
use comfy_table::{CellAlignment, Table, presets};
use datafusion::error::DataFusionError;
use phalanx_arrow::{ExportError, Footprint};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Simulates a herd, and asks questions about it in SQL: of the snapshot, and of files of it.
#[derive(Parser)]
#[command(name = "analyse")]
pub(crate) struct Options {
    /// Number of entities, 1000 at least
    #[arg(long, value_name = "N", default_value = "10000000",
          value_parser = clap::value_parser!(u32).range(1000..))]
    pub(crate) entities: u32,
    /// Number of steps of the simulation
    #[arg(long, value_name = "N", default_value = "20")]
    pub(crate) steps: u32,
    /// Rows of a file, at most
    #[arg(long, value_name = "N", default_value = "1000000",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: u32,
    /// Runs of each question; the median time is printed
    #[arg(long, value_name = "N", default_value = "3",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Write the files to this folder and keep them [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// The reason for a missing report.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Two ways to ask have two answers.
    Differs {
        question: &'static str,
        way: &'static str,
        answer: Answer,
        expected: Answer,
    },
    Engine(DataFusionError),
    Export(ExportError),
    Snapshot(phalanx::snapshot::SnapshotError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { question, way, answer, expected } => {
                write!(f, "{question}: the answer {way} is {answer}; a loop over the world has ")?;
                write!(f, "{expected}")
            }
            Self::Engine(error) => write!(f, "the engine: {error}"),
            Self::Export(error) => write!(f, "the files: {error}"),
            Self::Snapshot(error) => write!(f, "the snapshot: {error}"),
        }
    }
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        Self::Engine(error)
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::Export(error)
    }
}

impl From<phalanx::snapshot::SnapshotError> for Failure {
    fn from(error: phalanx::snapshot::SnapshotError) -> Self {
        Self::Snapshot(error)
    }
}

/// Returns the text to print.
pub(crate) async fn run(options: &Options) -> Result<String, Failure> {
    if let Some(folder) = &options.folder {
        return run_in(options, folder).await;
    }
    let number = std::process::id();
    let temporary = std::env::temp_dir().join(format!("phalanx-analyse-{number}"));
    let result = run_in(options, &temporary).await;
    // If it cannot be removed, it is left to the system.
    let _ = std::fs::remove_dir_all(temporary);
    result
}

async fn run_in(options: &Options, folder: &Path) -> Result<String, Failure> {
    let mut herd = Herd::new(options.entities);
    let mut steps = table(&["", "ms", ""]);
    let mut add = |what: &str, clock: Instant, result: String| {
        steps.add_row([what.to_owned(), milliseconds(clock), result]);
    };

    let clock = Instant::now();
    (0..options.steps).for_each(|_| herd.step());
    add(&format!("{} steps", options.steps), clock, format!("{} entities", options.entities));

    let clock = Instant::now();
    let snapshot = Arc::new(herd.world.snapshot()?);
    add("snapshot", clock, format!("{} MB copied", snapshot.bytes() / 1_000_000));

    let clock = Instant::now();
    let batches = phalanx_arrow::table(&snapshot)?;
    let mut footprint = Footprint::default();
    batches.batches.iter().for_each(|batch| footprint += Footprint::of(batch, &snapshot));
    let [shared, made] = [footprint.shared, footprint.copied].map(|bytes| bytes / 1_000_000);
    add("a table of it", clock, format!("{shared} MB are the snapshot's, {made} MB are made"));

    let clock = Instant::now();
    // A number of rows fits into 32 bits, and 32 bits into a length.
    let files = batches.write_files(folder, options.rows as usize)?;
    add("files", clock, format!("{}", files.len()));

    let memory = Engine::on_memory(&batches)?;
    let files = Engine::on_files(folder).await?;
    let mut answers = table(&["question", "memory, ms", "files, ms", "loop, ms"]);
    let mut rows = String::new();
    for question in QUESTIONS {
        let times = ask(question, [&memory, &files], &herd, options.runs).await?;
        let [memory, files, by_loop] = times.times;
        answers.add_row([question.name.to_owned(), memory, files, by_loop]);
        rows += &format!("\n{}: {}", question.name, times.answer);
    }
    for column in 1..4 {
        let column = answers.column_mut(column).expect("there are four");
        column.set_cell_alignment(CellAlignment::Right);
    }
    Ok(format!("{steps}\n\n{answers}\n{rows}"))
}

/// An answer, and its time in memory, from files, and by a loop.
struct Asked {
    answer: Answer,
    times: [String; 3],
}

/// Asks in all three ways, in turn. All answers must agree.
async fn ask(
    question: &Question,
    [memory, files]: [&Engine; 2],
    herd: &Herd,
    runs: u32,
) -> Result<Asked, Failure> {
    let mut times = [const { Vec::new() }; 3];
    let mut expected = None;
    for _ in 0..runs {
        let clock = Instant::now();
        let by_loop = (question.by_loop)(&herd.world);
        times[2].push(clock.elapsed());
        let ways = [("in memory", memory), ("from files", files)];
        for ((way, engine), times) in ways.into_iter().zip(&mut times) {
            let clock = Instant::now();
            let answer = engine.ask(question.sql).await?;
            times.push(clock.elapsed());
            compare(question.name, way, answer, &by_loop)?;
        }
        expected = Some(by_loop);
    }
    let times = times.map(|mut times| {
        times.sort_unstable();
        format!("{:.1}", times[times.len() / 2].as_secs_f64() * 1000.0)
    });
    Ok(Asked { answer: expected.expect("there is a run at least"), times })
}

/// An error if two answers differ.
pub(crate) fn compare(
    question: &'static str,
    way: &'static str,
    answer: Answer,
    expected: &Answer,
) -> Result<(), Failure> {
    if answer.agrees(expected) {
        return Ok(());
    }
    Err(Failure::Differs { question, way, answer, expected: expected.clone() })
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header);
    table
}

fn milliseconds(clock: Instant) -> String {
    format!("{:.1}", clock.elapsed().as_secs_f64() * 1000.0)
}
