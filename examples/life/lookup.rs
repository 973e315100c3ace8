//! The general form: each cell stores the ids of its neighbours and looks them up.
//!
//! A step does not depend on rows, on a torus, or on the places of entities: the same code runs
//! Life on any graph with eight neighbours per cell. The cost is eight random reads per cell.

use crate::life::{Alive, Cell};
use crate::rule::Rule;
use crate::torus::Torus;
use phalanx::schedule::flip;
use phalanx::{Lookup, Previous, prelude::*};

/// The eight cells around a cell.
#[component]
#[derive(Debug)]
pub(crate) struct Neighbours([Entity; 8]);

impl Neighbours {
    /// Stores the neighbours of each cell; `entities` are all cells, row by row.
    pub(crate) fn introduce(world: &mut World, torus: Torus, entities: &[Entity]) {
        for (cell, neighbours) in world.query_mut::<(&Cell, &mut Neighbours)>().rows() {
            neighbours.0 = torus.around(cell.0 as usize).map(|around| entities[around]);
        }
    }

    /// The number of live neighbours.
    fn alive(&self, states: &Lookup<'_, Previous<Alive>>) -> u8 {
        self.0.iter().flat_map(|&cell| states.get(cell)).map(|alive| alive.0.0).sum()
    }
}

/// Steps a world of cells that store their neighbours.
///
/// States must not change while they are looked up. So they have two buffers, which are exchanged
/// before each generation: the previous states are read while the next ones are written.
pub(crate) struct ByLookup {
    schedule: Schedule,
}

impl ByLookup {
    pub(crate) fn new(rule: Rule, world: &mut World) -> Self {
        world.insert_resource(rule);
        let mut schedule = Schedule::new();
        schedule.add((flip::<Alive>, step)).chain();
        Self { schedule }
    }

    /// Computes the next generation.
    pub(crate) fn step(&mut self, world: &mut World) {
        self.schedule.run(world).expect("the rule is inserted");
    }
}

type Cells<'q> = (&'q mut Alive, &'q Previous<Alive>, &'q Neighbours);

fn step(cells: Query<Cells<'_>>, states: Lookup<'_, Previous<Alive>>, rule: Res<'_, Rule>) {
    cells.par().for_each_chunk(|(next, previous, neighbours)| {
        for ((next, previous), neighbours) in next.iter_mut().zip(previous).zip(neighbours) {
            next.0 = rule.next(previous.0.0, neighbours.alive(&states));
        }
    });
}
