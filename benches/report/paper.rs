//! The two figures of a paper that compares archetypes with sparse sets: frame times over the
//! number of cells of Conway's Life, and the time to make entities over their number.

use std::hint::black_box;

use phalanx::simd::{scalars, scalars_mut};
use phalanx::{ChunkSize, World, component};
use phalanx_figures::{MannWhitney, Spearman, probability, significant, table};

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, count};
use crate::page::{Figure, Part};
use crate::programs::life::{
    Alive, around, cells_of, look_up, neighbours_world, next_state, reference, start,
};
use crate::sparse_set::{Id, Ids, SparseSet};

/// Widths and heights of the paper.
const GRIDS: [(usize, usize); 4] = [(10, 10), (50, 20), (100, 100), (500, 100)];
/// Generations that are compared with a reference before any is timed.
const CHECKED: usize = 8;
/// The sides of a pair, in the order of their samples.
const NAMES: [&str; 2] = ["phalanx, archetypes", "a sparse set for each component"];
/// The ways in which a frame finds neighbours: a pair of sides each, in the order of their samples.
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
/// The places of the eight cells around a cell, in the order of the query.
#[component]
struct Around([u32; 8]);

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
    let [by_entity, by_place] = [0, 2].map(|first| pair(&frames, first));
    let mut sees = Vec::new();
    for (form, frames) in FORMS.into_iter().zip([&by_entity, &by_place]) {
        sees.push(slopes(form, &series(frames)));
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

/// The two sides of a form, from side `first` on.
fn pair(measured: &[Measured], first: usize) -> Vec<Measured> {
    measured.iter().map(|(x, samples)| (*x, samples[first..first + 2].to_vec())).collect()
}

fn about(effort: &Effort) -> String {
    format!(
        "Life on a torus, one entity a cell, on grids of 10×10, 50×20, 100×100 and 500×100; all next \
         states are read, then written. By entity, each cell keeps its eight neighbours as entities and \
         looks them up, as the paper has it. By place, it keeps where they are in the order of the \
         rows or of the dense list, which holds while no entity comes or goes: archetypes gather the \
         states into one array first, a sparse set has them in one. Entities of two components (8 and \
         4 bytes) are made one by one, in a new world each time; the time includes its creation and its \
         end. A sample has as many frames or worlds as take long enough, and there are {} for each \
         point. The sparse set has pages, ids with generations that are used again, and dense values, \
         and nothing else that a library has. The paper times each frame for itself and has a fixed \
         0.8 ms in it, so its slopes compare, its times do not: 142 ns a cell with archetypes, 272 with \
         sparse sets.",
        effort.rounds
    )
}

/// Samples of a frame: both sides by entity, then both by place.
fn time_frames(effort: &Effort, width: usize, height: usize) -> Vec<Vec<f64>> {
    let len = width * height;
    let mut world = neighbours_world(ChunkSize::KIB_16, width, height);
    let mut placed = placed_world(width, height);
    let mut sets = [Cells::new(width, height), Cells::new(width, height)];
    let mut next = vec![0; len];
    let mut gathered = Vec::new();
    let mut want = start(len);
    let [by_entity, by_place] = &mut sets;
    for generation in 1..=CHECKED {
        look_up(&mut world, &mut next);
        by_entity.frame_by_entity();
        count_places(&mut placed, &mut gathered, &mut next);
        by_place.frame_by_place();
        want = reference(width, height, &want);
        assert!(cells_of(&world) == want, "generation {generation} in archetypes, by entity");
        assert!(by_entity.alive() == want, "generation {generation} in sparse sets, by entity");
        assert!(cells_of(&placed) == want, "generation {generation} in archetypes, by place");
        assert!(by_place.alive() == want, "generation {generation} in sparse sets, by place");
    }
    let mut others = next.clone();
    let mut sides: [&mut dyn FnMut(); 4] = [
        &mut || look_up(&mut world, &mut next),
        &mut || by_entity.frame_by_entity(),
        &mut || count_places(&mut placed, &mut gathered, &mut others),
        &mut || by_place.frame_by_place(),
    ];
    let samples = effort.time(1, &mut sides);
    // One more frame of each must follow from the states that the timed frames have reached.
    let before = [cells_of(&world), by_entity.alive(), cells_of(&placed), by_place.alive()];
    look_up(&mut world, &mut next);
    by_entity.frame_by_entity();
    count_places(&mut placed, &mut gathered, &mut next);
    by_place.frame_by_place();
    let after = [cells_of(&world), by_entity.alive(), cells_of(&placed), by_place.alive()];
    for (side, (before, after)) in before.iter().zip(&after).enumerate() {
        assert!(*after == reference(width, height, before), "the last frame of side {side}");
    }
    samples
}

/// Cells with the places of their neighbours among the rows.
fn placed_world(width: usize, height: usize) -> World {
    let mut world = World::new();
    let cells = (0..).zip(start(width * height));
    world.spawn_batch(
        cells.map(|(cell, alive)| (Alive(alive), Around(around(width, height, cell)))),
    );
    world
}

/// All states are gathered, all next states are computed from them, and afterwards written to the
/// world.
fn count_places(world: &mut World, states: &mut Vec<Alive>, next: &mut [u8]) {
    states.clear();
    world.query::<&Alive>().copies().gather_into(states);
    let states = scalars::<u8>(states);
    let mut rest = &mut *next;
    for (alive, around) in world.query::<(&Alive, &Around)>() {
        let next = rest.split_off_mut(..alive.len()).expect("as many as there are cells");
        for ((next, alive), around) in next.iter_mut().zip(alive).zip(around) {
            let neighbours = around.0.iter().map(|&place| states[place as usize]).sum();
            *next = next_state(alive.0, neighbours);
        }
    }
    let mut rest = &*next;
    for alive in world.query_mut::<&mut Alive>() {
        let next = rest.split_off(..alive.len()).expect("as many as there are cells");
        scalars_mut(alive).copy_from_slice(next);
    }
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
    effort.time(1, &mut [&mut archetypes, &mut sets])
}

/// The cells in sparse sets.
struct Cells {
    alive: SparseSet<u8>,
    neighbours: SparseSet<[Id; 8]>,
    places: SparseSet<[u32; 8]>,
    next: Vec<u8>,
}

impl Cells {
    fn new(width: usize, height: usize) -> Self {
        let mut ids = Ids::default();
        let entities: Vec<_> = (0..width * height).map(|_| ids.spawn()).collect();
        let (mut alive, mut neighbours, mut places) =
            (SparseSet::new(), SparseSet::new(), SparseSet::new());
        entities.iter().zip(start(width * height)).for_each(|(&id, state)| alive.insert(id, state));
        for (cell, &entity) in entities.iter().enumerate() {
            let around = around(width, height, cell).map(|cell| entities[cell as usize]);
            let place = |cell| alive.place(cell).expect("every cell has a state");
            places.insert(entity, around.map(place));
            neighbours.insert(entity, around);
        }
        Self { alive, neighbours, places, next: Vec::new() }
    }

    fn frame_by_entity(&mut self) {
        self.next.clear();
        let state = |entity| *self.alive.get(entity).expect("every cell has a state");
        self.next.extend(self.neighbours.iter().map(|(entity, around)| {
            next_state(state(entity), around.iter().map(|&other| state(other)).sum())
        }));
        for ((entity, _), next) in self.neighbours.iter().zip(&self.next) {
            *self.alive.get_mut(entity).expect("every cell has a state") = *next;
        }
    }

    /// All lists have one order, as no cell was removed; libraries have groups of components for
    /// this.
    fn frame_by_place(&mut self) {
        self.next.clear();
        let states = self.alive.values();
        self.next.extend(states.iter().zip(self.places.values()).map(|(state, around)| {
            next_state(*state, around.iter().map(|&place| states[place as usize]).sum())
        }));
        self.alive.values_mut().copy_from_slice(&self.next);
    }

    fn alive(&self) -> Vec<u8> {
        self.alive.values().to_vec()
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
    let mut table = table::markdown(header, 0);
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
fn slopes(form: &str, [ours, sparse]: &[Series; 2]) -> String {
    let slope = |series: &Series| {
        let [.., (few, of_few), (many, of_many)] = &series.points[..] else {
            return "?".to_owned();
        };
        significant((of_many.median - of_few.median) / (many - few))
    };
    format!(
        "Between the two largest grids a cell adds {} ns to a frame {form} with archetypes, and {} ns \
         with sparse sets.",
        slope(ours),
        slope(sparse)
    )
}

fn sentence(what: &str, measured: &[Measured]) -> String {
    let [ours, sparse] = series(measured);
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
