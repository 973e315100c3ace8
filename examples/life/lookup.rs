//! The general form: each cell keeps the ids of its neighbours and looks them up.
//!
//! Nothing here knows of rows, of a torus, or of where entities lie: the same code runs Life on
//! any graph of eight neighbours a cell. The price is eight random reads a cell.

use crate::life::{Alive, Cell};
use crate::rule::Rule;
use crate::torus::Torus;
use phalanx::{Lookup, prelude::*};
use rayon::prelude::*;

/// The eight cells around a cell.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Neighbours([Entity; 8]);

component!(Neighbours);

impl Neighbours {
    /// Tells each cell who its neighbours are; `entities` are all cells, row by row.
    pub(crate) fn introduce(world: &mut World, torus: Torus, entities: &[Entity]) {
        for (cell, neighbours) in world.query_mut::<(&Cell, &mut Neighbours)>().rows() {
            neighbours.0 = torus.around(cell.0 as usize).map(|around| entities[around]);
        }
    }

    /// How many of them live.
    fn alive(&self, states: &Lookup<'_, Alive>) -> u8 {
        self.0.iter().filter_map(|&cell| states.get(cell)).map(|alive| alive.0).sum()
    }
}

/// Steps a world whose cells know their neighbours.
///
/// A generation is two passes. While states are looked up nothing may write them, so the first
/// pass only reads the world and leaves the next states here; the second carries them over.
pub(crate) struct ByLookup {
    rule: Rule,
    next: Vec<Alive>,
}

impl ByLookup {
    pub(crate) fn new(rule: Rule) -> Self {
        Self { rule, next: Vec::new() }
    }

    /// Goes on to the next generation.
    pub(crate) fn step(&mut self, world: &mut World) {
        self.look(world);
        let mut next = &self.next[..];
        for alive in world.query_mut::<&mut Alive>() {
            alive.copy_from_slice(
                next.split_off(..alive.len()).expect("as many as there are cells"),
            );
        }
    }

    fn look(&mut self, world: &World) {
        self.next.resize(world.len(), Alive(0));
        let (rule, states) = (self.rule, world.lookup::<Alive>());
        // Each chunk gets its own stretch of the next states, so that chunks can go in parallel.
        let mut rest = &mut self.next[..];
        let chunks: Vec<_> = world
            .query::<(&Alive, &Neighbours)>()
            .into_iter()
            .map(|(alive, neighbours)| {
                let next = rest.split_off_mut(..alive.len()).expect("as many as there are cells");
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
