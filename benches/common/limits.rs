//! The distance of phalanx from flat `Vec`s: every workload beside its limit, as one table of
//! ratios.
//!
//!     cargo bench -- --limits
//!     cargo bench -- --limits '^pos_vel/.*1000000' '^sum/' --chunk 16 --chunk 256
//!
//! The clock of a shared machine wanders by more than the differences that matter, so the two
//! sides run in turn (A B A B …) and only the ratios mean something. `ratio` divides the medians;
//! `spread` is the middle half of the ratios of the single rounds.

use std::time::Duration;

use clap::Parser;
use phalanx_figures::Summary;
use regex::Regex;

use super::sides::{DEFAULT_CHUNK_KIB, Side, Variant, Workload};

/// Times phalanx and its limit in turn, and prints their ratio.
#[derive(Parser)]
struct Options {
    /// Asks for this table; without it Criterion runs, with options of its own.
    #[arg(long, required = true)]
    limits: bool,
    /// Only names (`workload/side/size`) that one of these regular expressions finds.
    filters: Vec<Regex>,
    /// Chunk size in KiB; may be repeated. Without it each workload has its own.
    #[arg(long, value_name = "KIB")]
    chunk: Vec<usize>,
    /// Rounds, each of one sample of either side.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Milliseconds a sample takes at least.
    #[arg(long, default_value_t = 5)]
    sample_ms: u32,
    /// Only runs and checks each side once.
    #[arg(long)]
    test: bool,
    /// Given by `cargo bench`; `cargo test` leaves it out, and means `--test`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Whether the command line asks for the table.
pub(crate) fn are_asked_for() -> bool {
    std::env::args().any(|argument| argument == "--limits")
}

/// Prints the table of the workloads that the command line names.
pub(crate) fn print(workloads: Vec<Workload>) {
    let options = Options::parse();
    let once = options.test || !options.bench;
    let wanted = |name: &str| {
        options.filters.is_empty() || options.filters.iter().any(|filter| filter.is_match(name))
    };
    let is_wanted = |w: &Workload| w.variants.iter().any(|v| wanted(&w.name_of(&v.name)));
    if !workloads.iter().any(is_wanted) {
        eprintln!("no benchmark has such a name; `cargo bench -- --list` prints the names");
        std::process::exit(2);
    }
    if !once {
        println!(
            "{:<48}{:>8}  {:>10}{:>10}{:>8}  spread",
            "workload/side/size", "chunk", "limit ns", "ours ns", "ratio"
        );
    }
    for workload in workloads {
        for variant in &workload.variants {
            let name = workload.name_of(&variant.name);
            if !wanted(&name) {
                continue;
            }
            for chunk_kib in chunks(&options, variant) {
                if once {
                    run_once(&workload, variant, chunk_kib);
                    println!("{name} ({chunk_kib} KiB): ok");
                } else {
                    println!(
                        "{name:<48}{chunk_kib:>4} KiB  {}",
                        row(&options, &workload, variant, chunk_kib)
                    );
                }
            }
        }
    }
}

/// The sizes asked for, else the variant's own. Variants that are about a size keep theirs.
fn chunks(options: &Options, variant: &Variant) -> Vec<usize> {
    match &options.chunk[..] {
        [] => vec![variant.chunk_kib],
        asked if variant.chunk_kib == DEFAULT_CHUNK_KIB => asked.to_vec(),
        _ => Vec::new(),
    }
}

/// Making a side also runs and checks a few passes, which is the whole test.
fn run_once(workload: &Workload, variant: &Variant, chunk_kib: usize) {
    drop(workload.make_limit());
    drop(variant.make(chunk_kib));
}

/// Medians, ratio and spread of a pair; without a limit only the time.
fn row(options: &Options, workload: &Workload, variant: &Variant, chunk_kib: usize) -> String {
    let mut limit = workload.make_limit();
    let mut ours = variant.make(chunk_kib);
    let passes = passes(&mut *ours, Duration::from_millis(options.sample_ms.into()));
    let sample = |side: &mut dyn Side| {
        // The other side has had the caches until now.
        side.run(1);
        side.run(passes).as_secs_f64() * 1e9 / (passes * workload.units) as f64
    };
    let (mut limits, mut all_ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds.max(1) {
        let limit_ns = limit.as_mut().map(|limit| sample(&mut **limit));
        let ours_ns = sample(&mut *ours);
        all_ours.push(ours_ns);
        limits.extend(limit_ns);
        ratios.extend(limit_ns.map(|limit_ns| ours_ns / limit_ns));
    }
    ours.check();
    let of = |samples: &[f64]| Summary::of(samples).expect("one round at least");
    let ours_ns = of(&all_ours).median;
    let Some(mut limit) = limit else {
        return format!("{:>10}{ours_ns:>10.3}{:>8}  -", "-", "-");
    };
    limit.check();
    let limit_ns = of(&limits).median;
    let [low, high] = of(&ratios).quartiles;
    format!("{limit_ns:>10.3}{ours_ns:>10.3}{:>8.3}  {low:.3} to {high:.3}", ours_ns / limit_ns)
}

/// The number of passes that make a sample of at least `least`; finding it also warms up.
fn passes(side: &mut dyn Side, least: Duration) -> u64 {
    let mut passes = 1;
    while side.run(passes) < least {
        passes *= 2;
    }
    passes
}
