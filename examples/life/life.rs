//! Life in a world: one entity per cell.

use crate::lookup::{ByLookup, Neighbours};
use crate::rows::ByRows;
use crate::rule::Rule;
use crate::torus::Torus;
use phalanx::prelude::*;

/// The number of the cell, counted row by row.
#[component]
#[derive(Debug)]
pub(crate) struct Cell(pub(crate) u32);

/// The state of the cell: 1 if it is alive, 0 if not.
#[component]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alive(pub(crate) u8);

/// Counts the live cells of a chunk.
#[kernel]
fn population(alive: &[Alive]) -> u64 {
    alive.iter().map(|alive| u64::from(alive.0)).sum()
}

/// The way in which the neighbours of a cell are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// By place: the cells are stored in row order, so the index of a neighbour is computed.
    Rows,
    /// By entity: each cell stores the ids of its eight neighbours and looks them up.
    Lookup,
}

/// A torus of cells.
pub(crate) struct Life {
    world: World,
    stepper: Stepper,
}

/// The state that a form keeps between generations.
enum Stepper {
    Rows(ByRows),
    Lookup(Box<ByLookup>),
}

impl Life {
    /// Creates one entity for each of `cells`, which are in row order.
    pub(crate) fn new(torus: Torus, rule: Rule, cells: &[u8], form: Form) -> Self {
        assert_eq!(
            cells.len(),
            torus.cells_len(),
            "`cells` must have one state per cell of the torus"
        );
        let mut world = World::new();
        // Entities are stored in the order in which they are spawned, so slices are runs of cells.
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
                Stepper::Lookup(Box::new(ByLookup::new(rule, &mut world)))
            }
        };
        Self { world, stepper }
    }

    /// Computes the next generation, on the threads of the current pool.
    pub(crate) fn step(&mut self) {
        match &mut self.stepper {
            Stepper::Rows(rows) => rows.step(&mut self.world),
            Stepper::Lookup(lookup) => lookup.step(&mut self.world),
        }
    }

    /// The number of live cells.
    pub(crate) fn population(&self) -> u64 {
        self.world.query::<&Alive>().iter().map(population).sum()
    }

    /// The states of all cells, row by row.
    pub(crate) fn cells(&self) -> Vec<u8> {
        self.world.query::<&Alive>().iter().flat_map(scalars::<u8>).copied().collect()
    }
}
