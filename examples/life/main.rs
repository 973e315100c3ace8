//! Conway's Game of Life on a torus, with one entity per cell.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin life -- examples/patterns/rpentomino.rle \
//!     --size 640x640 --generations 1103
//! ```
//!
//! - [`rle`] parses the pattern, [`rule`] its rule, [`torus`] is the geometry;
//! - [`life`] spawns the cells in a world and steps it in one of two forms: [`rows`] computes the
//!   indices of neighbours, [`lookup`] finds them by entity id;
//! - [`picture`] draws the cells;
//! - [`frames`] measures frame times at four sizes, for `--table`.

#![forbid(unsafe_code)]

mod frames;
mod life;
mod lookup;
mod picture;
mod rle;
mod rows;
mod rule;
mod torus;

use clap::Parser;
use life::{Form, Life};
use phalanx::Level;
use phalanx_examples::options::{number, pool};
use phalanx_examples::output::Output;
use phalanx_examples::{program, progress};
use rle::Pattern;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use torus::Torus;

/// The empty cells on every side of a pattern if no size is given.
const MARGIN: u32 = 32;

/// The most generations in a row of the table, since the time of each is stored.
const TABLE_FRAMES_MAX: u64 = 1_000_000;

/// Runs a pattern of Conway's Game of Life, or of any rule B…/S…, on a torus.
#[derive(Parser)]
#[command(name = "life", allow_negative_numbers = true)]
struct Options {
    /// The pattern: a run-length-encoded file, such as examples/patterns/rpentomino.rle
    #[arg(required_unless_present = "table")]
    pattern: Option<PathBuf>,
    /// Number of generations to run [default: 100, and 5000 for each row of the table]
    #[arg(long, value_name = "N")]
    generations: Option<u64>,
    /// Print frame times at four sizes instead, from random cells
    #[arg(long, conflicts_with_all = ["pattern", "size", "neighbours", "png"])]
    table: bool,
    /// The size of the torus [default: the one in the pattern's rule, such as B3/S23:T100,73, or
    /// the pattern with 32 cells more on every side]
    #[arg(long, value_name = "WxH", value_parser = width_and_height)]
    size: Option<(u32, u32)>,
    /// Number of threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number(1..=1024))]
    threads: u32,
    /// The way in which the neighbours of a cell are found
    #[arg(long, value_enum, default_value_t = Form::Rows)]
    neighbours: Form,
    /// Draw the last generation to this file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let pool = pool(Some(options.threads))?;
    let Some(path) = options.pattern.as_deref() else {
        let frames = options.generations.unwrap_or(5_000);
        if !(2..=TABLE_FRAMES_MAX).contains(&frames) {
            let at = format!("at least two generations, and at most {TABLE_FRAMES_MAX}");
            return Err(format!("a table of frame times needs {at}").into());
        }
        writeln!(io::stdout(), "{}", pool.install(|| frames::table(frames)))?;
        return Ok(());
    };
    let generations = options.generations.unwrap_or(100);
    let pattern = read(path)?;
    let with_margin = (pattern.width + 2 * MARGIN, pattern.height + 2 * MARGIN);
    let (width, height) = options.size.or(pattern.torus).unwrap_or(with_margin);
    let torus = Torus::new(width, height)?;
    let cells = torus.with_pattern(&pattern)?;
    // The file is created first, so that an unwritable path is an error before the run.
    let png = Output::create_if(options.png.as_deref())?;

    let mut out = io::stdout();
    writeln!(out, "{}: {} on a torus of {torus}", path.display(), pattern.rule)?;
    let mut life = Life::new(torus, pattern.rule, &cells, options.neighbours);
    let start = Instant::now();
    pool.install(|| advance(&mut life, generations));
    if generations > 0 {
        let steps = torus.cells_len() as f64 * generations as f64;
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / steps;
        writeln!(out, "{nanoseconds:.2} ns a cell and generation")?;
    }

    if let Some(png) = png {
        png.write(|file| picture::write(file, width, height, &life.cells()))?;
    }
    writeln!(out, "generation {}: {} alive", generations, life.population())?;
    Ok(())
}

fn advance(life: &mut Life, generations: u64) {
    for _ in progress::steps(generations, "generation") {
        life.step();
    }
}

fn read(path: &Path) -> Result<Pattern, String> {
    let advice = "choose a pattern, such as examples/patterns/glider.rle";
    let text = fs::read(path)
        .map_err(|error| format!("{}; {advice}", program::cannot("read", path, error)))?;
    rle::parse(&text).map_err(|malformed| format!("{}:{malformed}", path.display()))
}

/// Parses `640x480`.
fn width_and_height(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once(['x', 'X']).map(|(width, height)| (width.parse(), height.parse()));
    match parsed {
        Some((Ok(width), Ok(height))) => Ok((width, height)),
        _ => Err("expected a width and a height, such as 640x480".to_owned()),
    }
}
