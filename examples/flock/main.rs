//! A flock of boids, its predators, and the schedule that runs them on all threads.
//!
//! ```text
//! cargo run --release --example flock -- --png flock.png
//! ```
//!
//! - [`model`] says what boids are made of, and fills a world with them;
//! - [`systems`] is what they do, and the order of it;
//! - [`grid`] finds neighbours;
//! - [`picture`] draws the last frame, [`report`] sums up the run.
//!
//! The last line that it prints is a hash of the world: the same for the same boids, frames and
//! seed, on any number of threads.

#![forbid(unsafe_code)]

mod grid;
mod model;
mod picture;
mod report;
mod systems;

use clap::Parser;
use grid::Grid;
use indicatif::{ProgressBar, ProgressStyle};
use model::Sky;
use phalanx::{Schedule, ScheduleError, World};
use report::Report;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

/// Runs a flock of boids and says what each system takes.
#[derive(Parser)]
#[command(name = "flock", allow_negative_numbers = true)]
struct Options {
    /// How many boids live, from 1 to 10000000
    #[arg(long, value_name = "N", default_value = "50000", value_parser = up_to::<10_000_000>)]
    boids: u32,
    /// How many frames to run
    #[arg(long, value_name = "N", default_value = "600", value_parser = up_to::<1_000_000>)]
    frames: u32,
    /// On how many threads to run [default: as many as the machine has]
    #[arg(long, value_name = "N", value_parser = up_to::<1024>)]
    threads: Option<u32>,
    /// Draw the last frame to this file
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The seed of all random numbers: the same seed, the same flock
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(help) if !help.use_stderr() => help.exit(),
        // The first line says what is wrong; the others repeat where help is.
        Err(error) => {
            let text = error.to_string();
            let wrong = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            return refuse(&format!("{wrong}; --help explains the options"));
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("flock: {message}");
    ExitCode::from(2)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    // Opened before the run: a long one should not end with a picture that cannot be written.
    let png = options.png.as_deref().map(|path| create(path).map(|file| (path, file)));
    let png = png.transpose()?;
    let threads = match options.threads {
        Some(threads) => threads as usize,
        None => available_parallelism()?.get(),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;

    let mut world = model::world(options.boids as usize, options.seed);
    let sky = *world.resource::<Sky>()?;
    world.insert_resource(Grid::new(sky));
    let mut schedule = systems::schedule();
    let start = Instant::now();
    // A schedule runs on the threads of the pool that it is called in, and so do the parallel loops
    // within its systems.
    pool.install(|| animate(&mut world, &mut schedule, options.frames))?;
    let spent = start.elapsed();

    if let Some((path, file)) = png {
        picture::write(file, &world, sky).map_err(|error| at(path, error))?;
    }
    let report = Report::new(&world, schedule.timings(), options.frames, threads, spent)?;
    writeln!(io::stdout(), "{report}")?;
    Ok(())
}

fn animate(world: &mut World, schedule: &mut Schedule, frames: u32) -> Result<(), ScheduleError> {
    // Draws itself on stderr, and nothing at all where that is not a terminal.
    let progress = ProgressBar::new(frames.into()).with_style(
        ProgressStyle::with_template("{bar:40} frame {pos} of {len}, {eta} left")
            .expect("the template is well-formed"),
    );
    for _ in progress.wrap_iter(0..frames) {
        schedule.run(world)?;
    }
    progress.finish_and_clear();
    Ok(())
}

fn create(path: &Path) -> Result<BufWriter<File>, String> {
    let advice = "choose a file that can be written, in a folder that exists";
    let file = File::create(path).map_err(|error| format!("{}; {advice}", at(path, error)))?;
    Ok(BufWriter::new(file))
}

fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// Reads a number from 1 to `MAX`.
fn up_to<const MAX: u32>(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {MAX}"))
}
