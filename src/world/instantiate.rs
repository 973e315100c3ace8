//! Copies of an entity.

use crate::entity::Entity;
use crate::store::SpawnError;

use super::world::World;

/// # Copies
impl World {
    /// Spawns `copies` entities with the components of `prototype`, and returns their ids. Three
    /// kinds of components are not copied: a [`Prototype`](crate::Prototype) tag, so that the
    /// copies are visible, and [cleanup components](crate::component#cleanup-components), which
    /// exist only once. All others are copied, including [`Disabled`](crate::Disabled).
    ///
    /// The ids are borrowed from the world: call `to_vec` to keep them. Columns are filled by
    /// copying the rows that are already written, twice as many each time, so this runs at the
    /// speed of `memcpy`: O(bytes). Stamps the chunks of the new rows, which may include the chunk
    /// of the prototype.
    ///
    /// An [`Entity`] inside a component is copied like any value: the copy names the same entity.
    /// [Side values](World::insert_side) are not copied: they need not be `Clone`.
    ///
    /// # Errors
    ///
    /// If the prototype is not alive, too few ids are left, or the copies need more memory than one
    /// call may allocate. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Debug)] struct Health(f32);
    /// # #[component] struct Orc;
    /// let mut world = World::new();
    /// let prototype = world.spawn((Health(80.0), Orc));
    /// let horde = world.instantiate(prototype, 1000)?.to_vec();
    /// assert_eq!(world.get::<Health>(horde[999]), Ok(&Health(80.0)));
    /// assert_eq!(world.query::<&Orc>().count_rows(), 1001);
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    pub fn instantiate(
        &mut self,
        prototype: Entity,
        copies: usize,
    ) -> Result<&[Entity], SpawnError> {
        self.flush();
        self.store.instantiate(prototype, copies)
    }
}
