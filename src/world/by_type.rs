//! Resources of a world, by their type.

use super::resources::{MissingResource, Res, ResMut};
use super::world::World;

/// # Resources
///
/// Values that belong to no entity, one of each type.
impl World {
    /// Adds a value that belongs to no entity: the time step, a random generator, a grid of
    /// neighbours. Replaces the value of the same type, if any, and returns it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Step(f32);
    ///
    /// let mut world = World::new();
    /// assert!(world.insert_resource(Step(0.016)).is_none());
    /// assert_eq!(world.insert_resource(Step(0.032)).unwrap().0, 0.016);
    /// ```
    pub fn insert_resource<R: Send + Sync + 'static>(&mut self, resource: R) -> Option<R> {
        self.resources.insert(resource)
    }

    /// Removes a resource and returns it; `None` if none of this type exists.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.insert_resource(String::from("level 1"));
    /// assert_eq!(world.remove_resource::<String>().unwrap(), "level 1");
    /// assert_eq!(world.remove_resource::<String>(), None);
    /// ```
    pub fn remove_resource<R: Send + Sync + 'static>(&mut self) -> Option<R> {
        self.resources.remove()
    }

    /// Borrows a resource for reading. The guard borrows the world until it is dropped, at the end
    /// of its block: copy the value out of it, or `drop` it before the world is changed.
    ///
    /// # Errors
    ///
    /// If there is none of this type.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Step(f32);
    ///
    /// let mut world = World::new();
    /// assert!(world.resource::<Step>().is_err());
    /// world.insert_resource(Step(0.016));
    /// assert_eq!(world.resource::<Step>()?.0, 0.016);
    /// # Ok::<(), phalanx::error::MissingResource>(())
    /// ```
    pub fn resource<R: Send + Sync + 'static>(&self) -> Result<Res<'_, R>, MissingResource> {
        self.store.note_guard();
        self.resources.read()
    }

    /// Borrows a resource for writing.
    ///
    /// # Errors
    ///
    /// If there is none of this type.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// struct Step(f32);
    ///
    /// let mut world = World::new();
    /// world.insert_resource(Step(0.016));
    /// world.resource_mut::<Step>()?.0 *= 2.0;
    /// assert_eq!(world.resource::<Step>()?.0, 0.032);
    /// # Ok::<(), phalanx::error::MissingResource>(())
    /// ```
    pub fn resource_mut<R: Send + Sync + 'static>(
        &mut self,
    ) -> Result<ResMut<'_, R>, MissingResource> {
        self.resources.get_mut()
    }
}
