//! Copies of an entity, by the column.

use crate::entity::Entity;
use crate::store::Store;

use super::error::SpawnError;
use super::spawn_batch::{Batch, Spawner, ensure_room};
use super::world::World;

impl World {
    /// Makes `copies` entities with the components that `prototype` has now, and returns their ids.
    ///
    /// The ids are borrowed from the world: call `to_vec` to keep them. Columns are filled by copying
    /// what is there already, twice as much each time, so this runs at the speed of `memcpy`:
    /// O(bytes). All versions of the new rows are new; those of the prototype's chunk are too, if
    /// copies come to stand there.
    ///
    /// An [`Entity`] inside a component is copied like any value: it names whom it named.
    ///
    /// # Errors
    ///
    /// If the prototype does not live, there are not as many ids left, or the copies would take more
    /// memory than one call may. The world is as it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug)] #[repr(C)] struct Health(f32);
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Orc;
    /// # component!(Health, Orc);
    /// let mut world = World::new();
    /// let prototype = world.spawn((Health(80.0), Orc));
    /// let horde = world.instantiate(prototype, 1000)?.to_vec();
    /// assert_eq!(world.get::<Health>(horde[999]), Ok(&Health(80.0)));
    /// assert_eq!(world.query::<&Orc>().count_rows(), 1001);
    /// # Ok::<(), phalanx::SpawnError>(())
    /// ```
    pub fn instantiate(
        &mut self,
        prototype: Entity,
        copies: usize,
    ) -> Result<&[Entity], SpawnError> {
        self.flush();
        let place = self.store.entities.locate(prototype)?;
        let Store { archetypes, entities, .. } = &mut self.store;
        ensure_room(archetypes.get(place.archetype()), entities, copies)?;
        let mut batch = Batch::new(Spawner::at(self, place.archetype()));
        while batch.len() < copies {
            let left = copies - batch.len();
            let run = batch.room(left, left)?;
            // A small block that grows keeps its rows' places.
            batch.replicate(place.row(), &run);
        }
        Ok(batch.finish()?)
    }
}
