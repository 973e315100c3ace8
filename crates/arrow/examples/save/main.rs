//! A simulation that is saved as a folder of Arrow files, and counted from the files.
//!
//! ```text
//! cargo run --release --example save -- --entities 100000 --folder herd
//! ```
//!
//! [`herd`] is the simulation: animals that walk, rest and hunt.

#![forbid(unsafe_code)]

#[expect(unreachable_pub, reason = "the file is of a library as well")]
#[path = "../../../../examples/common/chance.rs"]
mod chance;
mod herd;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_ipc::reader::FileReader;
use clap::Parser;
use herd::{Herd, Kind};
use phalanx_arrow::Footprint;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Simulates a herd and saves it as Arrow files.
#[derive(Parser)]
#[command(name = "save")]
struct Options {
    /// Number of entities, 100 at least
    #[arg(long, value_name = "N", default_value = "10000000",
          value_parser = clap::value_parser!(u32).range(100..))]
    entities: u32,
    /// Number of steps of the simulation
    #[arg(long, value_name = "N", default_value = "20")]
    steps: u32,
    /// Rows of a file, at most
    #[arg(long, value_name = "N", default_value = "1000000",
          value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Write the files to this folder and keep them [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    if let Some(folder) = &options.folder {
        return run(&options, folder);
    }
    let temporary = std::env::temp_dir().join(format!("phalanx-save-{}", std::process::id()));
    let result = run(&options, &temporary);
    if temporary.exists() {
        std::fs::remove_dir_all(temporary)?;
    }
    result
}

fn run(options: &Options, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut herd = Herd::new(options.entities);
    let clock = Instant::now();
    (0..options.steps).for_each(|_| herd.step());
    row(&format!("{} steps", options.steps), clock, &format!("{} entities", options.entities));

    let clock = Instant::now();
    let snapshot = Arc::new(herd.world.snapshot()?);
    row("snapshot", clock, &format!("{} MB copied", snapshot.bytes() / 1_000_000));

    let clock = Instant::now();
    let batches = phalanx_arrow::record_batches(&snapshot)?;
    let mut footprint = Footprint::default();
    batches.iter().for_each(|batch| footprint += Footprint::of(batch, &snapshot));
    row("a batch for each archetype", clock, &text(footprint));

    let clock = Instant::now();
    let table = phalanx_arrow::table(&snapshot)?;
    let mut footprint = Footprint::default();
    table.batches.iter().for_each(|batch| footprint += Footprint::of(batch, &snapshot));
    row("one table", clock, &text(footprint));

    let clock = Instant::now();
    let files = table.write_files(folder, usize::try_from(options.rows)?)?;
    let sizes = files.iter().map(|file| Ok(file.metadata()?.len()));
    let bytes: u64 = sizes.sum::<std::io::Result<_>>()?;
    row("files", clock, &format!("{}, {} MB", files.len(), bytes / 1_000_000));

    let clock = Instant::now();
    let mut counts = [0; 3];
    for file in &files {
        count(file, &mut counts)?;
    }
    row("the kinds, from the files", clock, &format!("{counts:?}"));

    let clock = Instant::now();
    let expected = count_in_world(&herd);
    row("… by a loop over the world", clock, &format!("{expected:?}"));
    if counts != expected {
        return Err("the files do not have what the world has".into());
    }
    Ok(())
}

fn row(what: &str, clock: Instant, result: &str) {
    println!("{what:28} {:7.3} s   {result}", clock.elapsed().as_secs_f64());
}

fn text(footprint: Footprint) -> String {
    let [shared, copied] = [footprint.shared, footprint.copied].map(|bytes| bytes / 1_000_000);
    format!("{shared} MB are the snapshot's, {copied} MB copied or made")
}

/// The number of animals of each kind, by a loop over the columns.
fn count_in_world(herd: &Herd) -> [i64; 3] {
    let mut counts = [0; 3];
    for kinds in herd.world.query::<&Kind>() {
        kinds.iter().for_each(|kind| counts[*kind as usize] += 1);
    }
    counts
}

/// Adds the kinds of the animals in a file. It reads no other column.
fn count(file: &Path, counts: &mut [i64; 3]) -> Result<(), Box<dyn Error>> {
    let file = File::open(file)?;
    let column = FileReader::try_new(&file, None)?.schema().index_of("kind")?;
    for batch in FileReader::try_new(&file, Some(vec![column]))? {
        let batch = batch?;
        let kinds = batch.column(0).as_dictionary::<UInt8Type>().keys();
        kinds.values().iter().for_each(|&kind| counts[usize::from(kind)] += 1);
    }
    Ok(())
}
