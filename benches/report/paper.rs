//! The two figures of a paper that compares archetypes with sparse sets: frame times over the
//! number of cells of Conway's Life, and the time to make entities over their number.

use std::hint::black_box;

use phalanx::{ChunkSize, World, component};

use crate::curves::{Axis, Curves, Series, table};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::numbers::significant;
use crate::page::{Figure, Part};
use crate::programs::life::{
    around, cells_of, look_up, neighbours_world, next_state, reference, start,
};
use crate::rank::{Spearman, probability};
use crate::sparse_set::SparseSet;
use crate::stats::MannWhitney;

/// Widths and heights of the paper.
const GRIDS: [(usize, usize); 4] = [(10, 10), (50, 20), (100, 100), (500, 100)];
/// Generations that are compared with a reference before any is timed.
const CHECKED: usize = 8;
/// The sides, in the order of their samples.
const NAMES: [&str; 2] = ["phalanx, archetypes", "a sparse set for each component"];

component! {
    /// Where a cell is.
    struct Place { x: u32, y: u32 }
    /// Whether it lives.
    struct State(u32);
}

/// Samples of both sides at one size.
type Measured = (f64, Vec<Vec<f64>>);

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let grids = effort.pick(&GRIDS[..], &GRIDS[..2]);
    let frames: Vec<Measured> =
        grids.iter().map(|&(w, h)| ((w * h) as f64, time_frames(effort, w, h))).collect();
    let numbers = effort.pick(&[100, 1_000, 10_000, 50_000][..], &[100, 1_000]);
    let spawns: Vec<Measured> =
        numbers.iter().map(|&len| (f64::from(len), time_spawns(effort, len))).collect();
    let frame_series = series(&frames);
    let spawn_series = series(&spawns);
    let mut sees = vec![slopes(&frame_series)];
    sees.push(sentence("A frame", &frames, &frame_series));
    sees.push(sentence("To make all entities", &spawns, &spawn_series));
    let tests = [rank_tests("frames", &frames), rank_tests("instantiation", &spawns)];
    let correlations = correlations(&frames, &spawns);
    let curves = |title: &str, label, y: &str, series: [Series; 2]| {
        Figure::Curves(Curves {
            title: title.to_owned(),
            x: Axis { label, format: count, base: 10.0 },
            y: y.to_owned(),
            series: series.into(),
            marks: Vec::new(),
        })
    };
    let [frame_tests, spawn_tests] = tests;
    Part {
        title: "Archetypes and sparse sets: the two figures of the CGVC paper",
        about: about(effort),
        figures: vec![
            curves("Frame times of Life", "cells", "ns a frame", frame_series),
            Figure::Table(frame_tests),
            curves("Instantiation", "entities", "ns for all entities", spawn_series),
            Figure::Table(spawn_tests),
            Figure::Table(correlations),
        ],
        sees,
    }
}

fn about(effort: &Effort) -> String {
    format!(
        "Life on a torus, one entity a cell, on grids of 10×10, 50×20, 100×100 and 500×100: each cell \
         keeps its eight neighbours as entities and looks them up; all next states are read, then \
         written. Entities of two components (8 and 4 bytes) are made one by one, in a new world \
         each time; the time includes its creation and its end. A sample has as many frames or worlds \
         as take long enough, and there are {} for each point. The sparse set is one of a few lines \
         in this benchmark, not paged and without generations: less than a library must do. The paper \
         times each frame for itself and has a fixed 0.8 ms in it, so its slopes compare, its times \
         do not: 142 ns a cell with archetypes, 272 with sparse sets.",
        effort.rounds
    )
}

/// Samples of a frame.
fn time_frames(effort: &Effort, width: usize, height: usize) -> Vec<Vec<f64>> {
    let mut world = neighbours_world(ChunkSize::KIB_16, width, height);
    let mut sets = Cells::new(width, height);
    let mut next = vec![0; width * height];
    let mut want = start(width * height);
    for generation in 1..=CHECKED {
        look_up(&mut world, &mut next);
        sets.frame();
        want = reference(width, height, &want);
        assert!(cells_of(&world) == want, "generation {generation} in archetypes");
        assert!(sets.alive() == want, "generation {generation} in sparse sets");
    }
    let samples =
        effort.time(1, &mut [&mut || look_up(&mut world, &mut next), &mut || sets.frame()]);
    // One more of each follows from where its frames have led.
    let (before, sets_before) = (cells_of(&world), sets.alive());
    look_up(&mut world, &mut next);
    sets.frame();
    assert!(cells_of(&world) == reference(width, height, &before), "the last in archetypes");
    assert!(sets.alive() == reference(width, height, &sets_before), "the last in sparse sets");
    samples
}

/// Samples of making `len` entities.
fn time_spawns(effort: &Effort, len: u32) -> Vec<Vec<f64>> {
    let cell = |i: u32| (Place { x: i % 500, y: i / 500 }, State(i & 1));
    let mut archetypes = || {
        let mut world = World::new();
        for i in 0..len {
            black_box(world.spawn(cell(i)));
        }
        assert_eq!(world.len(), len as usize, "all are made");
    };
    let mut sets = || {
        let (mut places, mut states) = (SparseSet::new(), SparseSet::new());
        for entity in 0..len {
            let (place, state) = cell(entity);
            places.insert(entity, place);
            states.insert(entity, state);
            black_box(entity);
        }
        assert_eq!((places.len(), states.len()), (len as usize, len as usize), "all are made");
        black_box((places.get(len - 1), states.get(len - 1)));
    };
    effort.time(1, &mut [&mut archetypes, &mut sets])
}

/// The cells in sparse sets.
struct Cells {
    alive: SparseSet<u8>,
    neighbours: SparseSet<[u32; 8]>,
    next: Vec<u8>,
}

impl Cells {
    fn new(width: usize, height: usize) -> Self {
        let (mut alive, mut neighbours) = (SparseSet::new(), SparseSet::new());
        for ((entity, state), cell) in (0..).zip(start(width * height)).zip(0..) {
            alive.insert(entity, state);
            neighbours.insert(entity, around(width, height, cell));
        }
        Self { alive, neighbours, next: Vec::new() }
    }

    fn frame(&mut self) {
        self.next.clear();
        let state = |entity| *self.alive.get(entity).expect("every cell has a state");
        self.next.extend(self.neighbours.iter().map(|(entity, around)| {
            next_state(state(entity), around.iter().map(|&other| state(other)).sum())
        }));
        for ((entity, _), next) in self.neighbours.iter().zip(&self.next) {
            *self.alive.get_mut(entity).expect("every cell has a state") = *next;
        }
    }

    fn alive(&self) -> Vec<u8> {
        self.alive.iter().map(|(_, state)| *state).collect()
    }
}

fn series(measured: &[Measured]) -> [Series; 2] {
    let mut series = NAMES.map(Series::new);
    for (x, samples) in measured {
        for (series, samples) in series.iter_mut().zip(samples) {
            series.push(*x, samples);
        }
    }
    series
}

/// Both sides at each size.
fn rank_tests(what: &str, measured: &[Measured]) -> String {
    let header = ["size", "samples each", "ratio of medians", "U", "z", "p"];
    let mut table = table(header.map(str::to_owned), 0);
    let [ours, sparse] = series(measured);
    for (x, samples) in measured {
        let ratio = format!("{:.3}", ours.at(*x) / sparse.at(*x));
        let mut cells = vec![count(*x), samples[0].len().to_string(), ratio];
        if let Some(test) = MannWhitney::of(&samples[0], &samples[1]) {
            cells.extend([format!("{:.1}", test.u), format!("{:.2}", test.z), probability(test.p)]);
        }
        table.add_row(cells);
    }
    format!(
        "{what}, Mann-Whitney test of archetypes against sparse sets (a negative z: archetypes tend \
         to be faster):\n\n{table}"
    )
}

/// Whether times grow with numbers, and whether times of one cell or entity do.
fn correlations(frames: &[Measured], spawns: &[Measured]) -> String {
    let header = ["figure", "side", "rho of the time", "p", "rho of the time of one", "p"];
    let mut table = table(header.map(str::to_owned), 2);
    for (what, measured) in [("frames", frames), ("instantiation", spawns)] {
        for (side, name) in NAMES.iter().enumerate() {
            let of = |each: fn(f64, f64) -> f64| {
                let pairs = measured.iter().flat_map(|(x, samples)| {
                    samples[side].iter().map(move |&sample| (*x, each(*x, sample)))
                });
                let found = Spearman::of(&pairs.collect::<Vec<_>>());
                found.map_or([String::new(), String::new()], |found| {
                    [format!("{:.3}", found.rho), probability(found.p)]
                })
            };
            let cells = [what.to_owned(), (*name).to_owned()].into_iter();
            table.add_row(cells.chain(of(|_, time| time)).chain(of(|x, time| time / x)));
        }
    }
    format!(
        "Spearman's rank correlation of the number of cells or entities with the time of all, and \
         with that of one, over all samples:\n\n{table}"
    )
}

/// What a cell adds between the two largest grids.
fn slopes([ours, sparse]: &[Series; 2]) -> String {
    let slope = |series: &Series| {
        let [.., (few, of_few), (many, of_many)] = &series.points[..] else {
            return "?".to_owned();
        };
        significant((of_many.median - of_few.median) / (many - few))
    };
    format!(
        "Between the two largest grids a cell adds {} ns to a frame with archetypes, and {} ns with \
         sparse sets.",
        slope(ours),
        slope(sparse)
    )
}

fn sentence(what: &str, measured: &[Measured], [ours, sparse]: &[Series; 2]) -> String {
    let list = measured.iter().map(|(x, samples)| {
        let test = MannWhitney::of(&samples[0], &samples[1]);
        let differs = if test.is_some_and(|test| test.p < 0.01) { "" } else { " (not told apart)" };
        format!("{} times at {}{differs}", significant(ours.at(*x) / sparse.at(*x)), count(*x))
    });
    format!(
        "{what} takes with archetypes, of what it takes with sparse sets: {}.",
        list.collect::<Vec<_>>().join(", ")
    )
}
