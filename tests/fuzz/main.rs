//! Random operations on worlds and on a naive model of them, for any length of time.
//!
//! ```text
//! cargo test --test fuzz                                                  # a few seconds
//! cargo test --release --test fuzz -- --operations 10000000 --seed 7
//! cargo test --release --test fuzz -- --seconds 60 --seed random
//! cargo test --release --test fuzz -- --seed 0x1f2e --until 812 --shorten # as a failure says
//! ```
//!
//! Every operation calls one public function of a `World` or a `CommandBuffer`. Its answer (ids,
//! errors, values, counts, the order of rows) is compared with the answer of the [`model`]. From
//! time to time everything is compared: all values, all places of rows, all change stamps, and
//! `World::check`. About three of ten worlds have a twin, which receives the same calls in another
//! way ([`profile`]). The twin must give the same ids and answers, and the same hash if its chunks
//! have the same size.
//!
//! The worlds run one after the other, each from its own seed: the first world has the seed of the
//! command line, and each next seed is the previous one, mixed. A failure names the seed of its
//! world and is replayed from there. A histogram at the end counts the outcomes of the operations,
//! so that a run with only errors is noticed.
//!
//! The operations are listed in [`operations`]. Their effects and expected answers are in
//! [`spawns`], [`rows`], [`queries`], [`bulk`], [`finer`], [`order`], [`places`], [`shared`],
//! [`beside`], [`charges`], [`grips`], [`related`], [`named`], [`trees`], [`passes`], [`ends`],
//! [`travel`], [`buffers`], [`states`] and [`systems`], and the logs of rows in [`logs`]. The model
//! is a map of rows ([`model`]), pairs of entities ([`relations`]), a ledger of ids ([`ids`]), and
//! exact places and stamps of rows ([`chunks`]).

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]
#![expect(clippy::unit_arg, reason = "the empty bundle is a bundle as well")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;

mod beside;
mod buffers;
mod bulk;
mod chance;
mod charges;
mod chunks;
mod commands;
mod compare;
mod ends;
mod filters;
mod finer;
mod grips;
mod ids;
mod logs;
mod model;
mod named;
mod operations;
mod order;
mod outcome;
mod parts;
mod passes;
mod places;
mod playback;
mod profile;
mod queries;
mod related;
mod relations;
mod replay;
mod rows;
mod shared;
mod spawns;
mod states;
mod systems;
mod travel;
mod trees;
mod trial;

use chance::Chance;
use replay::Difference;

/// The default number of operations of a run: a few seconds, in the profile of tests.
const OPERATIONS: u64 = if cfg!(miri) { 200 } else { 30_000 };

/// The number of operations that a failure prints.
const SHOWN: usize = 50;

/// Drives worlds and a naive model of them with random operations.
#[derive(Debug, Parser)]
struct Arguments {
    /// The source of all random numbers: decimal, hexadecimal after 0x, or `random`.
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Ends after this number of operations.
    #[arg(long, conflicts_with_all = ["seconds", "until"])]
    operations: Option<u64>,
    /// Ends with the first world that finishes after this time.
    #[arg(long, conflicts_with = "until")]
    seconds: Option<u64>,
    /// Runs only this number of operations of the first world.
    #[arg(long)]
    until: Option<usize>,
    /// Removes the operations that a failure does not need. Takes a while.
    #[arg(long)]
    shorten: bool,
    #[command(flatten)]
    harness: Harness,
}

/// Arguments that `cargo test` and similar tools pass to every test program.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "As any test program")]
struct Harness {
    /// Runs only if one of these names is part of `fuzz`.
    filters: Vec<String>,
    /// Does not run if one of these names is part of `fuzz`.
    #[arg(long)]
    skip: Vec<String>,
    /// Lists the one test.
    #[arg(long)]
    list: bool,
    /// Runs only ignored tests; this program has none.
    #[arg(long)]
    ignored: bool,
    #[arg(long, hide = true)]
    exact: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    #[arg(long, hide = true, alias = "no-capture")]
    nocapture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, short, hide = true)]
    quiet: bool,
    #[arg(long, hide = true)]
    test_threads: Option<usize>,
    #[arg(long, hide = true)]
    format: Option<String>,
    #[arg(long, hide = true)]
    color: Option<String>,
}

impl Harness {
    /// Whether the arguments select the one test of this program.
    fn is_asked_for(&self) -> bool {
        let named = |part: &String| if self.exact { part == "fuzz" } else { "fuzz".contains(part) };
        let is_chosen = self.filters.is_empty() || self.filters.iter().any(named);
        is_chosen && !self.skip.iter().any(named) && !self.ignored
    }
}

fn seed(text: &str) -> Result<u64, String> {
    let parsed = match (text, text.strip_prefix("0x")) {
        ("random", _) => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            return Ok(Chance::new(since.as_secs() ^ u64::from(since.subsec_nanos())).bits());
        }
        (_, Some(digits)) => u64::from_str_radix(digits, 16),
        (_, None) => text.parse(),
    };
    parsed.map_err(|error| format!("{error}: a number, one after 0x, or `random`"))
}

/// The number of times that each operation had each outcome.
type Histogram = BTreeMap<(&'static str, &'static str), u64>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.harness.list {
        println!("fuzz: test");
        return ExitCode::SUCCESS;
    }
    if !arguments.harness.is_asked_for() {
        println!("fuzz: not asked for");
        return ExitCode::SUCCESS;
    }
    replay::keep_panics();
    println!("fuzz: seed {:#x}", arguments.seed);
    let start = Instant::now();
    let mut histogram = Histogram::new();
    let mut count = |op, outcome| *histogram.entry((op, outcome)).or_default() += 1;
    let (mut seed, mut worlds, mut done) = (arguments.seed, 0u32, 0u64);
    let limit = arguments.seconds.map(Duration::from_secs);
    let operations = arguments.operations.unwrap_or(OPERATIONS);
    loop {
        let left = match (arguments.until, limit) {
            (Some(until), _) => until,
            (None, Some(_)) => usize::MAX,
            (None, None) => usize::try_from(operations - done).unwrap_or(usize::MAX),
        };
        match replay::run(seed, left, &mut count) {
            Ok(ran) => done += ran as u64,
            Err(difference) => {
                report(seed, *difference, arguments.shorten);
                return ExitCode::FAILURE;
            }
        }
        worlds += 1;
        seed = Chance::new(seed).bits();
        let is_over = limit.map_or(done >= operations, |limit| start.elapsed() >= limit);
        if is_over || arguments.until.is_some() {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    print_histogram(&histogram);
    println!("fuzz: {done} operations on {worlds} worlds, as the model says; {seconds:.1} s");
    ExitCode::SUCCESS
}

fn print_histogram(histogram: &Histogram) {
    let mut last = "";
    for (&(op, outcome), times) in histogram {
        println!("{:<20} {outcome:<24} {times:>12}", if op == last { "" } else { op });
        last = op;
    }
}

/// Prints the operations that led to a difference, and the command line that repeats it.
fn report(seed: u64, Difference { profile, log, text }: Difference, shorten: bool) {
    let len = log.len();
    println!("\n{profile:?}\n\nThe last operations of {len}:");
    for (number, (op, outcome)) in log.iter().enumerate().skip(len.saturating_sub(SHOWN)) {
        println!("{:>7}  {op:?} -> {outcome}", number + 1);
    }
    println!("\n{text}\n\nTo see it again: --seed {seed:#x} --until {len}");
    if !shorten {
        println!("and, for a shorter way to it: --shorten");
        return;
    }
    let ops = replay::shorten(profile, log.into_iter().map(|(op, _)| op).collect());
    println!("\nOf these, {} are enough:", ops.len());
    ops.iter().for_each(|op| println!("         {op:?}"));
    println!("\n{}", replay::last_panic());
}
