//! The general form: each cell stores the ids of its neighbours and looks them up.
//!
//! A step does not depend on rows, on a torus, or on the places of entities: the same code runs
//! Life on any graph with eight neighbours per cell. The cost is eight random reads per cell.

use crate::life::{Alive, Cell};
use crate::rule::Rule;
use crate::torus::Torus;
use phalanx::{Lookup, prelude::*};
use rayon::prelude::*;

component! {
    /// The eight cells around a cell.
    #[derive(Debug)]
    pub(crate) struct Neighbours([Entity; 8]);
}

impl Neighbours {
    /// Stores the neighbours of each cell; `entities` are all cells, row by row.
    pub(crate) fn introduce(world: &mut World, torus: Torus, entities: &[Entity]) {
        for (cell, neighbours) in world.query_mut::<(&Cell, &mut Neighbours)>().rows() {
            neighbours.0 = torus.around(cell.0 as usize).map(|around| entities[around]);
        }
    }

    /// The number of live neighbours.
    fn alive(&self, states: &Lookup<'_, Alive>) -> u8 {
        self.0.iter().flat_map(|&cell| states.get(cell)).map(|alive| alive.0).sum()
    }
}

/// Steps a world whose cells store their neighbours.
///
/// A generation is two passes. States must not change while they are looked up, so the first pass
/// only reads the world and stores the next states here. The second pass copies them to the world.
pub(crate) struct ByLookup {
    rule: Rule,
    next: Vec<Alive>,
}

impl ByLookup {
    pub(crate) fn new(rule: Rule) -> Self {
        Self { rule, next: Vec::new() }
    }

    /// Computes the next generation.
    pub(crate) fn step(&mut self, world: &mut World) {
        self.look(world);
        let mut next = &self.next[..];
        for alive in world.query_mut::<&mut Alive>() {
            alive.copy_from_slice(
                next.split_off(..alive.len()).expect("`next` has fewer states than cells"),
            );
        }
    }

    fn look(&mut self, world: &World) {
        self.next.resize(world.len(), Alive(0));
        let (rule, states) = (self.rule, world.lookup::<Alive>());
        // Each chunk gets its own slice of the next states, so chunks can run in parallel.
        let mut rest = &mut self.next[..];
        let chunks: Vec<_> = world
            .query::<(&Alive, &Neighbours)>()
            .into_iter()
            .map(|(alive, neighbours)| {
                let next =
                    rest.split_off_mut(..alive.len()).expect("`next` has fewer states than cells");
                (alive, neighbours, next)
            })
            .collect();
        chunks.into_par_iter().for_each(|(alive, neighbours, next)| {
            for ((next, alive), neighbours) in next.iter_mut().zip(alive).zip(neighbours) {
                *next = Alive(rule.next(alive.0, neighbours.alive(&states)));
            }
        });
    }
}
