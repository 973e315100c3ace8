//! The two figures of a paper that compares archetypes with sparse sets: frame times over the
//! number of cells of Conway's Life, and the time to make entities over their number.

use std::hint::black_box;

use phalanx::{World, component};
use phalanx_figures::{MannWhitney, Spearman, probability, significant, table};

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::page::{Figure, Part};
use crate::paper_life::{check, sides};
use crate::sparse_set::{Ids, SparseSet};

/// Widths and heights of the paper.
const GRIDS: [(usize, usize); 4] = [(10, 10), (50, 20), (100, 100), (500, 100)];
/// Generations that are compared with a reference before any is timed.
const CHECKED: usize = 8;
/// The storages, in the order of their samples.
const NAMES: [&str; 3] = ["phalanx, archetypes", "phalanx, sparse components", "plain sparse sets"];
/// The pairs of storages that are compared.
const PAIRS: [[usize; 2]; 3] = [[0, 2], [1, 2], [0, 1]];
/// The ways in which a frame finds neighbours: a side for each storage, in the order of their
/// samples.
const FORMS: [&str; 2] = ["by entity", "by place"];

/// The place of a cell.
#[component]
struct Place {
    x: u32,
    y: u32,
}
/// Whether it lives.
#[component]
struct State(u32);
/// [`Place`] as a sparse component.
#[component(sparse, plain)]
struct SparsePlace {
    x: u32,
    y: u32,
}
/// [`State`] as a sparse component.
#[component(sparse, plain)]
struct SparseState(u32);

/// Samples of all sides at one size.
type Measured = (f64, Vec<Vec<f64>>);

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let grids = effort.pick(&GRIDS[..], &GRIDS[..2]);
    let frames: Vec<Measured> =
        grids.iter().map(|&(w, h)| ((w * h) as f64, time_frames(effort, w, h))).collect();
    let numbers = effort.pick(&[100, 1_000, 10_000, 50_000][..], &[100, 1_000]);
    let spawns: Vec<Measured> =
        numbers.iter().map(|&len| (f64::from(len), time_spawns(effort, len))).collect();
    let [by_entity, by_place] = [0, NAMES.len()].map(|first| sides_from(&frames, first));
    let mut sees = Vec::new();
    for (form, frames) in FORMS.into_iter().zip([&by_entity, &by_place]) {
        sees.push(slopes(form, frames));
        sees.push(sentence(&format!("A frame {form}"), frames));
    }
    sees.push(sentence("To make all entities", &spawns));
    let measured = [
        ("frames by entity", &by_entity),
        ("frames by place", &by_place),
        ("instantiation", &spawns),
    ];
    let [entity_tests, place_tests, spawn_tests] =
        measured.map(|(what, measured)| Figure::Table(rank_tests(what, measured)));
    let curves = |title: String, label, y: &str, measured: &[Measured]| {
        Figure::Curves(Curves {
            title,
            x: Axis { label, format: count, base: 10.0 },
            y: y.to_owned(),
            series: series(measured).into(),
            marks: Vec::new(),
        })
    };
    let frame_curves = |form, frames: &[Measured]| {
        curves(format!("Frame times of Life, neighbours {form}"), "cells", "ns a frame", frames)
    };
    Part {
        title: "Archetypes and sparse sets: the two figures of the CGVC paper",
        about: about(effort),
        figures: vec![
            frame_curves(FORMS[0], &by_entity),
            entity_tests,
            frame_curves(FORMS[1], &by_place),
            place_tests,
            curves("Instantiation".to_owned(), "entities", "ns for all entities", &spawns),
            spawn_tests,
            Figure::Table(correlations(&measured)),
        ],
        sees,
    }
}

/// The sides of a form, from side `first` on.
fn sides_from(measured: &[Measured], first: usize) -> Vec<Measured> {
    measured.iter().map(|(x, samples)| (*x, samples[first..][..NAMES.len()].to_vec())).collect()
}

fn about(effort: &Effort) -> String {
    format!(
        "Life on a torus, one entity a cell, on grids of 10×10, 50×20, 100×100 and 500×100; all next \
         states are read, then written. Components are stored by archetypes, by phalanx as \
         `#[component(sparse)]`, and in plain sparse sets, which have pages, ids with generations that \
         are used again, and dense values, and nothing else that a library has. By entity, each cell \
         keeps its eight neighbours as entities and looks them up, as the paper has it. By place, it \
         keeps where they are in the order of the rows or of the dense list, which holds while no \
         entity comes or goes: the storages of phalanx gather the states into one array first, plain \
         sets have them in one. Entities of two components (8 and 4 bytes) are made one by one, in a new \
         world each time; the time includes its creation and its end. A sample has as many frames or \
         worlds as take long enough, and there are {} for each point. The paper times each frame for \
         itself and has a fixed 0.8 ms in it, so its slopes compare, its times do not: 142 ns a cell with \
         archetypes, 272 with sparse sets.",
        effort.rounds
    )
}

/// Samples of a frame: the sides by entity, then those by place.
fn time_frames(effort: &Effort, width: usize, height: usize) -> Vec<Vec<f64>> {
    let mut sides = sides(width, height);
    (0..CHECKED).for_each(|_| check(&mut sides, width, height));
    let generation = sides[0].alive();
    assert!(sides.iter().all(|side| side.alive() == generation), "all are in one state");
    let mut frames = sides.each_mut().map(|side| || side.frame());
    let mut frames = frames.each_mut().map(|frame| frame as &mut dyn FnMut());
    let samples = effort.time(1, &mut frames);
    // One more frame of each must follow from the states that the timed frames have reached.
    check(&mut sides, width, height);
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
    let mut components = || {
        let mut world = World::new();
        for i in 0..len {
            let (Place { x, y }, State(state)) = cell(i);
            black_box(world.spawn((SparsePlace { x, y }, SparseState(state))));
        }
        let made = (world.sparse::<SparsePlace>().len(), world.sparse::<SparseState>().len());
        assert_eq!(made, (len as usize, len as usize), "all are made");
    };
    let mut sets = || {
        let (mut ids, mut places, mut states) =
            (Ids::default(), SparseSet::new(), SparseSet::new());
        for i in 0..len {
            let (place, state) = cell(i);
            let entity = ids.spawn();
            places.insert(entity, place);
            states.insert(entity, state);
            black_box(entity);
        }
        let made = (places.values().len(), states.values().len());
        assert_eq!(made, (len as usize, len as usize), "all are made");
        black_box((places.values().last(), states.values().last()));
    };
    effort.time(1, &mut [&mut archetypes, &mut components, &mut sets])
}

fn series(measured: &[Measured]) -> [Series; NAMES.len()] {
    let mut series = NAMES.map(Series::new);
    for (x, samples) in measured {
        for (series, samples) in series.iter_mut().zip(samples) {
            series.push(*x, samples);
        }
    }
    series
}

/// Each pair of sides at each size.
fn rank_tests(what: &str, measured: &[Measured]) -> String {
    let header = ["first", "second", "size", "samples each", "ratio of medians", "U", "z", "p"];
    let mut table = table::markdown(header, 2);
    let series = series(measured);
    for [first, second] in PAIRS {
        for (x, samples) in measured {
            let ratio = format!("{:.3}", series[first].at(*x) / series[second].at(*x));
            let mut cells = [first, second].map(|side| NAMES[side].to_owned()).to_vec();
            cells.extend([count(*x), samples[first].len().to_string(), ratio]);
            if let Some(test) = MannWhitney::of(&samples[first], &samples[second]) {
                let found = [format!("{:.1}", test.u), format!("{:.2}", test.z)];
                cells.extend(found.into_iter().chain([probability(test.p)]));
            }
            table.add_row(cells);
        }
    }
    format!(
        "{what}, Mann-Whitney tests of one storage against another (a negative z: the first tends to \
         be faster):\n\n{table}"
    )
}

/// Whether total times grow with the number, and whether times of one cell or entity do.
fn correlations(all: &[(&str, &Vec<Measured>)]) -> String {
    let header = ["figure", "side", "rho of the time", "p", "rho of the time of one", "p"];
    let mut table = table::markdown(header, 2);
    for (what, measured) in all {
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
            let cells = [(*what).to_owned(), (*name).to_owned()].into_iter();
            table.add_row(cells.chain(of(|_, time| time)).chain(of(|x, time| time / x)));
        }
    }
    format!(
        "Spearman's rank correlation of the number of cells or entities with the time of all, and \
         with that of one, over all samples:\n\n{table}"
    )
}

/// The time added by a cell, between the two largest grids.
fn slopes(form: &str, measured: &[Measured]) -> String {
    let slope = |series: &Series| {
        let [.., (few, of_few), (many, of_many)] = &series.points[..] else {
            return "?".to_owned();
        };
        significant((of_many.median - of_few.median) / (many - few))
    };
    let [archetypes, components, sets] = &series(measured).map(|series| slope(&series));
    format!(
        "Between the two largest grids a cell adds {archetypes} ns to a frame {form} with archetypes, \
         {components} ns with sparse components, and {sets} ns with plain sparse sets."
    )
}

fn sentence(what: &str, measured: &[Measured]) -> String {
    let series = series(measured);
    let [by_set, sparse_by_set, by_sparse] = PAIRS.map(|[first, second]| {
        let list = measured.iter().map(|(x, samples)| {
            let test = MannWhitney::of(&samples[first], &samples[second]);
            let differs =
                if test.is_some_and(|test| test.p < 0.01) { "" } else { " (not told apart)" };
            let ratio = significant(series[first].at(*x) / series[second].at(*x));
            format!("{ratio} times at {}{differs}", count(*x))
        });
        list.collect::<Vec<_>>().join(", ")
    });
    format!(
        "{what} takes with archetypes, of its time with plain sparse sets: {by_set}; with sparse \
         components: {sparse_by_set}. With archetypes it takes, of its time with sparse components: \
         {by_sparse}."
    )
}
