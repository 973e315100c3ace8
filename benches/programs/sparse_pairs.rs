//! A sparse component that entities get and lose again, and a query that few rows match.

use phalanx::prelude::*;

use super::Program;
use super::components::{Position, world};
use super::proof::same;

#[component(sparse, plain, name = "bench.fuse")]
struct Fuse(u32);

/// Every so many entities get a value.
const ONE_OF: usize = 10;

/// Entities, some of which get a value in a pass, and lose it.
struct Pairs {
    world: World,
    chosen: Vec<Entity>,
    gained: usize,
}

impl Pairs {
    fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        let all = world.spawn_batch((0..len).map(|_| Position::default())).to_vec();
        Self { world, chosen: all.into_iter().step_by(ONE_OF).collect(), gained: 0 }
    }

    /// A pass by calls of the world, or of a view in a system.
    fn pass(&mut self, insert: fn(&mut World, &[Entity]), remove: fn(&mut World, &[Entity])) {
        insert(&mut self.world, &self.chosen);
        self.gained += self.world.sparse::<Fuse>().len();
        remove(&mut self.world, &self.chosen);
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        same("the number of gained values", self.gained as u64, passes * self.chosen.len() as u64)?;
        same("the number of values", self.world.sparse::<Fuse>().len(), 0)
    }
}

/// Pairs of `World::insert` and `World::remove`.
pub struct SparseByWorld(Pairs);

impl SparseByWorld {
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self(Pairs::new(chunk, len))
    }
}

impl Program for SparseByWorld {
    fn pass(&mut self) {
        self.0.pass(
            |world, chosen| {
                chosen.iter().for_each(|&one| world.insert(one, Fuse(1)).expect("alive"));
            },
            |world, chosen| {
                chosen.iter().for_each(|&one| _ = world.remove::<Fuse>(one).expect("it has one"));
            },
        );
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// The same by a `SparseMut` in a system.
pub struct SparseBySystem(Pairs);

impl SparseBySystem {
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        Self(Pairs::new(chunk, len))
    }
}

impl Program for SparseBySystem {
    fn pass(&mut self) {
        self.0.pass(
            |world, chosen| {
                world.run(|mut fuses: SparseMut<Fuse>| {
                    chosen.iter().for_each(|&one| _ = fuses.insert(one, Fuse(1)).expect("alive"));
                });
            },
            |world, chosen| {
                world.run(|mut fuses: SparseMut<Fuse>| {
                    chosen.iter().for_each(|&one| _ = fuses.remove(one).expect("it has one"));
                });
            },
        );
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.0.check(passes)
    }
}

/// Rows of which few have a sparse component: a pass must not look at the others.
pub struct FewMembers {
    world: World,
    members: usize,
}

impl FewMembers {
    /// `members` of `len` entities have a value, spread over all.
    pub fn new(chunk: ChunkSize, len: usize, members: usize) -> Self {
        let mut world = world(chunk);
        let all = world.spawn_batch((0..len).map(|_| Position::default())).to_vec();
        for one in all.into_iter().step_by(len / members).take(members) {
            world.insert(one, Fuse(1)).expect("alive");
        }
        Self { world, members }
    }
}

impl Program for FewMembers {
    fn pass(&mut self) {
        for (position, fuse) in self.world.query_mut::<(&mut Position, &Fuse)>().rows() {
            position.x += fuse.0 as f32;
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let sum: f32 = self.world.query::<&Position>().rows().map(|position| position.x).sum();
        same("the sum of positions", sum, (passes * self.members as u64) as f32)
    }
}
