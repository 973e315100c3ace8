//! Reads by entity, in random order.

use phalanx::prelude::*;

use super::Program;
use super::archetypes::{ENTITIES, spawn_tagged};
use super::components::{Data, Position, Velocity, moving_world, position, world};
use super::proof::{full_archetypes, same};
use super::random::random_indices;

/// The sum of the `x` of entities in random order.
pub struct RandomLookup {
    pub world: World,
    pub order: Vec<Entity>,
    sum: f32,
}

impl RandomLookup {
    /// `reads` reads over `len` entities.
    pub fn new(chunk: ChunkSize, len: usize, reads: usize) -> Self {
        let (world, entities) = moving_world(chunk, len);
        let order = random_indices(len, reads).map(|i| entities[i]).collect();
        Self { world, order, sum: 0.0 }
    }
}

impl Program for RandomLookup {
    fn pass(&mut self) {
        let positions = self.world.lookup::<Position>();
        self.sum = self.order.iter().map(|&entity| positions.get(entity).expect("alive").x).sum();
    }

    fn check(&self, _: u64) -> Result<(), String> {
        same("the sum of what was read", self.sum, sum_read(self.world.len(), self.order.len()))
    }
}

/// The sum of the data of entities in random order, among [`SEVERAL`] archetypes: neighbours in the
/// order of their ids are in different ones.
pub struct SeveralLookup {
    world: World,
    order: Vec<Entity>,
    sum: f32,
}

/// The archetypes of a [`SeveralLookup`].
pub const SEVERAL: usize = 50;

impl SeveralLookup {
    /// `reads` reads.
    pub fn new(chunk: ChunkSize, reads: usize) -> Self {
        let mut world = world(chunk);
        let entities = spawn_tagged(&mut world, SEVERAL);
        let mut data = world.lookup_mut::<Data>();
        for (i, &entity) in entities.iter().enumerate() {
            data.get_mut(entity).expect("alive").0 = position(i).x;
        }
        let order = random_indices(ENTITIES, reads).map(|i| entities[i]).collect();
        Self { world, order, sum: 0.0 }
    }
}

impl Program for SeveralLookup {
    fn pass(&mut self) {
        let data = self.world.lookup::<Data>();
        self.sum = self.order.iter().map(|&entity| data.get(entity).expect("alive").0).sum();
    }

    fn check(&self, _: u64) -> Result<(), String> {
        full_archetypes(&self.world, SEVERAL)?;
        same("the sum of what was read", self.sum, sum_read(ENTITIES, self.order.len()))
    }
}

/// The sum of a [`RandomLookup`] by [`World::get`], which looks up the type of the component at
/// each read.
pub struct GetOne(pub RandomLookup);

impl Program for GetOne {
    fn pass(&mut self) {
        let RandomLookup { world, order, sum } = &mut self.0;
        *sum = order.iter().map(|&e| world.get::<Position>(e).expect("alive").x).sum();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The same sum by [`Query::get`] of one query over two columns.
pub struct QueryGet(pub RandomLookup);

impl Program for QueryGet {
    fn pass(&mut self) {
        let RandomLookup { world, order, sum } = &mut self.0;
        let moving = world.query::<(&Position, &Velocity)>();
        *sum = order.iter().map(|&e| moving.get(e).expect("alive").0.x).sum();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The same sum by [`RowLookup::get`](phalanx::rows::RowLookup::get) of a query over one column.
pub struct RowOfOne(pub RandomLookup);

impl Program for RowOfOne {
    fn pass(&mut self) {
        let RandomLookup { world, order, sum } = &mut self.0;
        let query = world.query::<&Position>();
        let rows = query.lookup();
        *sum = order.iter().map(|&e| rows.get(e).expect("alive").x).sum();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The same sum by [`RowLookup::get`](phalanx::rows::RowLookup::get) of a query over two columns.
pub struct RowOfTwo(pub RandomLookup);

impl Program for RowOfTwo {
    fn pass(&mut self) {
        let RandomLookup { world, order, sum } = &mut self.0;
        let query = world.query::<(&Position, &Velocity)>();
        let rows = query.lookup();
        *sum = order.iter().map(|&e| rows.get(e).expect("alive").0.x).sum();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The same sum by [`LookupMut::get`](phalanx::LookupMut::get).
pub struct ReadWritable(pub RandomLookup);

impl Program for ReadWritable {
    fn pass(&mut self) {
        let RandomLookup { world, order, sum } = &mut self.0;
        let positions = world.lookup_mut::<Position>();
        *sum = order.iter().map(|&e| positions.get(e).expect("alive").x).sum();
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The sum of the values that `reads` reads over `len` entities: one `f32`, in one order, so that
/// all round alike.
pub fn sum_read(len: usize, reads: usize) -> f32 {
    random_indices(len, reads).map(|i| position(i).x).sum()
}
