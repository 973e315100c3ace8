//! Writes by entity, in random order.

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, Velocity, moving_world, position};
use super::proof::{same, sum_of_positions, sum_of_world};
use super::random::random_indices;

/// Entities in random order, and their world, in which positions are written.
pub struct RandomWrite {
    world: World,
    order: Vec<Entity>,
}

impl RandomWrite {
    /// `writes` writes over `len` entities.
    pub fn new(chunk: ChunkSize, len: usize, writes: usize) -> Self {
        let (world, entities) = moving_world(chunk, len);
        let order = random_indices(len, writes).map(|i| entities[i]).collect();
        Self { world, order }
    }

    /// Whether each write of each pass added one.
    fn check_sum(&self, passes: u64) -> Result<(), String> {
        let first: f64 = (0..self.world.len()).map(|i| sum_of_positions(&[position(i)])).sum();
        let added = (passes * self.order.len() as u64) as f64;
        same("the sum of the positions", sum_of_world(&self.world), first + added)
    }
}

/// One added to the `y` of entities by [`World::get_mut`].
pub struct GetMutOne(pub RandomWrite);

impl Program for GetMutOne {
    fn pass(&mut self) {
        let RandomWrite { world, order } = &mut self.0;
        order.iter().for_each(|&e| world.get_mut::<Position>(e).expect("alive").y += 1.0);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check_sum(passes)
    }
}

/// The same by [`Query::get_mut`] of one query over two columns.
pub struct QueryGetMut(pub RandomWrite);

impl Program for QueryGetMut {
    fn pass(&mut self) {
        let RandomWrite { world, order } = &mut self.0;
        let mut moving = world.query_mut::<(&mut Position, &Velocity)>();
        order.iter().for_each(|&e| moving.get_mut(e).expect("alive").0.y += 1.0);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check_sum(passes)
    }
}

/// The same by [`RowLookup::get_mut`](phalanx::rows::RowLookup::get_mut) of a query over two
/// columns.
pub struct RowWrite(pub RandomWrite);

impl Program for RowWrite {
    fn pass(&mut self) {
        let RandomWrite { world, order } = &mut self.0;
        let mut moving = world.query_mut::<(&mut Position, &Velocity)>();
        let mut rows = moving.lookup_mut();
        order.iter().for_each(|&e| rows.get_mut(e).expect("alive").0.y += 1.0);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check_sum(passes)
    }
}

/// The same by [`LookupMut::get_mut`](phalanx::LookupMut::get_mut).
pub struct LookupWrite(pub RandomWrite);

impl Program for LookupWrite {
    fn pass(&mut self) {
        let RandomWrite { world, order } = &mut self.0;
        let mut positions = world.lookup_mut::<Position>();
        order.iter().for_each(|&e| positions.get_mut(e).expect("alive").y += 1.0);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check_sum(passes)
    }
}
