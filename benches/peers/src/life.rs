//! The tables of a paper that compares storage by archetypes with storage by sparse sets: frame
//! times of Conway's Life, one entity a cell, and the time to make an entity.
//!
//! The paper's frames carry a fixed 0.8 ms, whatever their size: compare slopes, not frame times.

use crate::cli::Life;
use crate::compare::still_right;
use crate::data::Grid;
use crate::failure::Failure;
use crate::harness::{Finding, Phase, Row};
use crate::instantiate;
use crate::libs::{Library, OURS};
use crate::numbers::thousands;
use crate::stats::{MannWhitney, Summary};
use crate::table::table;
use crate::turn::Turn;
use crate::workloads::{LIFE, Workload};

/// The participants: archetypes, sparse sets, and the loop over arrays.
const LIBRARIES: [&str; 5] = ["raw", OURS, "hecs", "shipyard", "specs"];

/// The row that stands for sparse sets in the test.
const SPARSE: &str = "shipyard";

pub(crate) fn run(options: &Life) -> Result<(), Failure> {
    let workload = Workload::find(LIFE).expect("Life is a workload");
    let frames = usize::try_from(options.frames).expect("not too many");
    let mut found: Vec<Finding> = Vec::new();
    for grid in Grid::ALL {
        for library in LIBRARIES.map(|name| Library::find(name).expect("there is one")) {
            eprintln!("{}x{}: {}", grid.width, grid.height, library.name);
            let phase = Phase::Frames(frames);
            for finding in (Turn { library, workload, size: grid.cells(), phase }).run()? {
                still_right(workload, grid.cells(), &finding)?;
                found.push(finding);
            }
        }
    }
    println!("{}", frame_times(&found));
    println!("{}", slopes(&found));
    println!("{}", rank_tests(&found));
    println!("{}", instantiate::table(Grid::ALL[3].cells())?);
    Ok(())
}

/// Mean, median, standard deviation and range, in microseconds a frame.
fn frame_times(found: &[Finding]) -> String {
    let header = ["size", "library", "mean", "median", "sd", "least", "most"];
    let mut table = table(&header, 2);
    for finding in found {
        let Some(summary) = Summary::of(&finding.samples) else { continue };
        let grid = Grid::of(finding.row.size);
        let mut cells = vec![format!("{}x{}", grid.width, grid.height), finding.row.label()];
        let times =
            [summary.mean, summary.median, summary.standard_deviation, summary.min, summary.max];
        cells.extend(times.map(|ns| format!("{:.2}", ns / 1e3)));
        table.add_row(cells);
    }
    format!("frame times, in microseconds\n{table}")
}

/// The time that a cell adds to a frame, without the fixed part of every frame.
fn slopes(found: &[Finding]) -> String {
    let [.., small, large] = Grid::ALL.map(Grid::cells);
    let mut table = table(&["library", "ns a cell"], 1);
    for finding in found.iter().filter(|finding| finding.row.size == large) {
        let other = found.iter().find(|f| f.row == Row { size: small, ..finding.row.clone() });
        let medians = other.and_then(|other| {
            Some((Summary::of(&other.samples)?.median, Summary::of(&finding.samples)?.median))
        });
        let Some((of_small, of_large)) = medians else { continue };
        let slope = (of_large - of_small) / (large - small) as f64;
        table.add_row([finding.row.label(), format!("{slope:.2}")]);
    }
    let published =
        "the paper, whose frames carry a fixed 0.8 ms: 142 by archetypes, 272 by sparse sets";
    let (small, large) = (thousands(small), thousands(large));
    format!("slope, (median at {large} - median at {small}) / cells between\n{table}\n{published}")
}

/// A test whether phalanx's frames tend to be shorter than the frames of a sparse set.
fn rank_tests(found: &[Finding]) -> String {
    let mut table = table(&["size", "frames each", "U", "z", "p"], 1);
    for grid in Grid::ALL {
        let of = |library: &str| {
            let mut rows = found.iter();
            rows.find(|f| f.row.library == library && f.row.size == grid.cells())
        };
        let (Some(ours), Some(sparse)) = (of(OURS), of(SPARSE)) else { continue };
        let Some(test) = MannWhitney::of(&ours.samples, &sparse.samples) else { continue };
        let p = if test.p < 1e-300 { "< 1e-300".to_owned() } else { format!("{:.2e}", test.p) };
        table.add_row([
            format!("{}x{}", grid.width, grid.height),
            thousands(ours.samples.len()),
            format!("{:.1}", test.u),
            format!("{:.2}", test.z),
            p,
        ]);
    }
    format!(
        "Mann-Whitney, {OURS} against {SPARSE}; a negative z: {OURS} tends to be faster\n{table}"
    )
}
