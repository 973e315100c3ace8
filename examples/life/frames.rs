//! The table of a published comparison of archetype storage with sparse-set storage: the time of a
//! frame of Life at four sizes, with one entity per cell.
//!
//! The paper ("10×10, 50×20, 100×100, 500×100; 5000 frames") reports frames that include a fixed
//! 0.8 ms at every size. The slope is comparable: the nanoseconds that a cell adds.

use crate::life::{Form, Life};
use crate::rule::Rule;
use crate::torus::Torus;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use std::time::Instant;

/// The tori of the paper.
const SIZES: [(u32, u32); 4] = [(10, 10), (50, 20), (100, 100), (500, 100)];

/// Statistics of frame times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) mean: f64,
    pub(crate) median: f64,
    /// The sample standard deviation: the divisor is the number of frames minus one.
    pub(crate) deviation: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Statistics {
    /// Computes the statistics of at least two frames.
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        assert!(times.len() > 1, "a deviation needs at least two frames");
        times.sort_by(f64::total_cmp);
        let len = times.len() as f64;
        let mean = times.iter().sum::<f64>() / len;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        let (lower, upper) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
        Self {
            mean,
            median: f64::midpoint(lower, upper),
            deviation: (squares / (len - 1.0)).sqrt(),
            least: times[0],
            most: times[times.len() - 1],
        }
    }
}

/// Runs Life at all sizes in both forms, on the threads of the current pool.
pub(crate) fn table(frames: u64) -> String {
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(line).bottom_border(line));
    table.set_header(["size", "neighbours", "mean", "median", "sd", "least", "most"]);
    let mut slopes = String::new();
    for (form, name) in [(Form::Lookup, "by entity"), (Form::Rows, "by place")] {
        let mut medians = Vec::new();
        for (width, height) in SIZES {
            let torus = Torus::new(width, height).expect("the torus has no cells");
            let s = Statistics::of(times(torus, form, frames));
            medians.push((torus.cells_len() as f64, s.median));
            let figures = [s.mean, s.median, s.deviation, s.least, s.most];
            let figures = figures.map(|time| format!("{:.2}", time / 1e3));
            table.add_row([vec![torus.to_string(), name.to_owned()], figures.to_vec()].concat());
        }
        let [.., (small, of_small), (large, of_large)] = medians[..] else { continue };
        let slope = (of_large - of_small) / (large - small);
        slopes += &format!("\n{slope:.2} ns a cell {name}, from {small} to {large} cells");
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{frames} frames, in microseconds\n{table}{slopes}")
}

/// The time of each frame, in nanoseconds.
fn times(torus: Torus, form: Form, frames: u64) -> Vec<f64> {
    let mut life = Life::new(torus, Rule::LIFE, &soup(torus.cells_len()), form);
    let frame = |_| {
        let start = Instant::now();
        life.step();
        start.elapsed().as_secs_f64() * 1e9
    };
    (0..frames).map(frame).collect()
}

/// Random states with half of the cells alive, the same in every run.
fn soup(cells: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let cell = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::from(state >> 63 == 1)
    };
    (0..cells).map(cell).collect()
}
