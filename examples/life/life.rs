//! Life in a world: one entity a cell.

use crate::lookup::{ByLookup, Neighbours};
use crate::rows::ByRows;
use crate::rule::Rule;
use crate::torus::Torus;
use phalanx::prelude::*;

/// Which cell an entity is, counted row by row.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Cell(pub(crate) u32);

/// Whether it lives: 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Alive(pub(crate) u8);

component!(Cell, Alive);

kernel! {
    /// How many cells of a chunk live.
    fn population(alive: &[Alive]) -> u64 {
        alive.iter().map(|alive| u64::from(alive.0)).sum()
    }
}

/// How a cell comes to know its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// By its place: the cells lie in row order, so neighbours are found by counting.
    Rows,
    /// By entity: each cell keeps the ids of its eight neighbours and looks them up.
    Lookup,
}

/// A torus of cells.
pub(crate) struct Life {
    world: World,
    stepper: Stepper,
}

/// What a form keeps from one generation to the next.
enum Stepper {
    Rows(ByRows),
    Lookup(ByLookup),
}

impl Life {
    /// One entity for each of `cells`, given row by row.
    pub(crate) fn new(torus: Torus, rule: Rule, cells: &[u8], form: Form) -> Self {
        assert_eq!(cells.len(), torus.cells_len(), "one state for each cell of the torus");
        let mut world = World::new();
        // Spawned in row order, entities lie in row order: what a query hands out are runs of cells.
        let cells = (0..).zip(cells).map(|(cell, &alive)| (Cell(cell), Alive(alive)));
        let stepper = match form {
            Form::Rows => {
                world.spawn_batch(cells);
                Stepper::Rows(ByRows::new(torus, rule))
            }
            Form::Lookup => {
                let cells = cells.map(|cell| (cell, Neighbours::zeroed()));
                let entities = world.spawn_batch(cells).to_vec();
                Neighbours::introduce(&mut world, torus, &entities);
                Stepper::Lookup(ByLookup::new(rule))
            }
        };
        Self { world, stepper }
    }

    /// Goes on to the next generation, on the threads of the current pool.
    pub(crate) fn step(&mut self) {
        match &mut self.stepper {
            Stepper::Rows(rows) => rows.step(&mut self.world),
            Stepper::Lookup(lookup) => lookup.step(&mut self.world),
        }
    }

    /// How many cells live.
    pub(crate) fn population(&self) -> u64 {
        self.world.query::<&Alive>().iter().map(population).sum()
    }

    /// The states of all cells, row by row.
    pub(crate) fn cells(&self) -> Vec<u8> {
        self.world.query::<&Alive>().iter().flat_map(scalars::<u8>).copied().collect()
    }
}
