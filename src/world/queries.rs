//! Queries of a world.

use crate::query::{Query, ReadTerms, Terms, assert_unaliased};

use super::world::World;

/// # Queries
impl World {
    /// A query that only reads. See [`Query`].
    ///
    /// # Panics
    ///
    /// When a pass begins, if another type has the [name](crate::error::NameTaken) of a component.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(0.5)));
    /// let sum: f32 = world.query::<&Health>().iter().flatten().map(|h| h.0).sum();
    /// assert_eq!(sum, 50.0);
    /// ```
    ///
    /// A query that writes needs [`World::query_mut`]:
    ///
    /// ```compile_fail,E0277
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let world = World::new();
    /// for health in world.query::<&mut Health>() {} // `query` only reads
    /// ```
    #[inline]
    pub fn query<Q: ReadTerms>(&self) -> Query<'_, Q> {
        const { assert_unaliased::<Q>() };
        Query::shared(&self.store)
    }

    /// A query that may write. See [`Query`].
    ///
    /// Each pass advances the clock, and stamps the columns of `&mut` terms chunk by chunk.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types), here or when the pass begins.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Poison(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| (Health(0.5), Poison(0.25))));
    /// for (health, poison) in world.query_mut::<(&mut Health, &Poison)>() {
    ///     health.iter_mut().zip(poison).for_each(|(h, p)| h.0 -= p.0);
    /// }
    /// assert!(world.query::<&Health>().iter().flatten().all(|h| h.0 == 0.25));
    /// ```
    #[inline]
    pub fn query_mut<Q: Terms>(&mut self) -> Query<'_, Q> {
        const { assert_unaliased::<Q>() };
        self.flush();
        Query::exclusive(&mut self.store)
    }
}
