//! Changes of structure, one entity at a time.

use phalanx::prelude::*;

use super::Program;
use super::components::world;
use super::proof::same;

/// The component that stays.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Kept(pub f32);

/// The component that is added and removed.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Added(pub f32);

impl_component!(Kept as "bench.kept", Added as "bench.added");

/// A component added to each entity in turn, and afterwards removed from each in turn.
pub struct AddRemove {
    pub world: World,
    pub entities: Vec<Entity>,
    /// Components that were added in all passes: the world is as it was before a pass.
    gained: u64,
}

impl AddRemove {
    /// `len` entities with a number each.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut world = world(chunk);
        let entities = world.spawn_batch((0..len).map(|i| Kept(i as f32))).to_vec();
        Self { world, entities, gained: 0 }
    }
}

/// The changes of [`AddRemove`], recorded in a buffer and applied together.
pub struct AddRemoveCommands {
    pub changes: AddRemove,
    pub buffer: CommandBuffer,
}

impl AddRemoveCommands {
    /// `len` entities with a number each.
    ///
    /// # Panics
    ///
    /// Never: the buffer needs no ids.
    pub fn new(chunk: ChunkSize, len: usize) -> Self {
        let mut changes = AddRemove::new(chunk, len);
        let buffer = changes.world.command_buffer(0).expect("it needs no ids");
        Self { changes, buffer }
    }
}

impl Program for AddRemoveCommands {
    fn pass(&mut self) {
        let Self { changes: AddRemove { world, entities, gained }, buffer } = self;
        entities.iter().for_each(|&entity| buffer.insert(entity, Added(1.0)));
        *gained += world.apply(buffer).expect("all are alive").moved as u64;
        entities.iter().for_each(|&entity| buffer.remove::<Added>(entity));
        world.apply(buffer).expect("all are alive");
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        self.changes.check(passes)
    }
}

impl Program for AddRemove {
    fn pass(&mut self) {
        let Self { world, entities, gained } = self;
        for &entity in &*entities {
            world.insert(entity, Added(1.0)).expect("alive");
        }
        for &entity in &*entities {
            let Added(one) = world.remove::<Added>(entity).expect("was just added");
            *gained += u64::from(one > 0.0);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let pairs = passes * self.entities.len() as u64;
        same("the number of components added", self.gained, pairs)?;
        same("the number of components left", self.world.query::<&Added>().iter().count(), 0)?;
        let kept = |&(i, &entity): &(usize, &Entity)| {
            self.world.get::<Kept>(entity) == Ok(&Kept(i as f32))
        };
        let count = self.entities.iter().enumerate().filter(kept).count();
        same("the number of entities that kept theirs", count, self.world.len())
    }
}
