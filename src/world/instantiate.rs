//! Copies of an entity, column by column.

use crate::entity::Entity;
use crate::store::Store;

use super::error::SpawnError;
use super::spawn_batch::{Batch, Spawner, ensure_room};
use super::world::World;

impl World {
    /// Spawns `copies` entities with the present components of `prototype`, and returns their ids.
    ///
    /// The ids are borrowed from the world: call `to_vec` to keep them. Columns are filled by
    /// copying what is written already, twice as much each time, so this runs at the speed of
    /// `memcpy`: O(bytes). Stamps the chunks of the new rows, also that of the prototype if it gets
    /// copies.
    ///
    /// An [`Entity`] inside a component is copied like any value: the copy names the same entity.
    ///
    /// # Errors
    ///
    /// If the prototype is not alive, too few ids are left, or the copies need more memory than one
    /// call may allocate. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { #[derive(PartialEq, Debug)] struct Health(f32); struct Orc; }
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
            // Growth of a small block keeps the positions of its rows.
            batch.replicate(place.row(), &run);
        }
        Ok(batch.finish()?)
    }
}
