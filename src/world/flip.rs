//! Double-buffered components: two columns that are exchanged.

use bytemuck::Pod;

use crate::component::{Component, Previous};
use crate::query::{IgnoreEnabled, IncludeHidden};
use crate::storage::LayoutError;

use super::world::World;

/// # Double-buffered components
impl World {
    /// Begins a step of a double-buffered component: the values of `C` become
    /// [`Previous<C>`](Previous). The step computes `C` of every row from them.
    ///
    /// The two columns are exchanged in every archetype without touching a row, so until `C` is
    /// written it has the values of the step before the last. Entities without `Previous<C>` get
    /// it, and their `C` is zero until it is written; so a program spawns entities with `C` alone.
    /// Columns are exchanged whole, also if `C` is [disabled](World::set_enabled) or the entity
    /// hidden. Both columns count as changed. In a schedule, use the system
    /// [`schedule::flip`](crate::schedule::flip).
    ///
    /// O(archetypes + chunks + queries × archetypes that have `C`), plus the rows of the entities
    /// that lack `Previous<C>`, which move. The first insertion or removal of each kind from each
    /// of these archetypes afterwards computes its copied columns again: O(components).
    ///
    /// # Errors
    ///
    /// If a row with both does not fit a chunk. No column is exchanged.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types): no column is exchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::{Lookup, Previous};
    ///
    /// #[component]
    /// struct Heat(f32);
    /// #[component]
    /// struct Neighbours { left: Entity, right: Entity }
    ///
    /// type Rods<'a> = (&'a mut Heat, &'a Previous<Heat>, &'a Neighbours);
    ///
    /// fn diffuse(rods: Query<Rods>, before: Lookup<Previous<Heat>>) {
    ///     let heat = |entity| before.get(entity).map_or(0.0, |heat| heat.0.0);
    ///     rods.par().for_each_chunk(|(heats, own, neighbours)| {
    ///         for ((next, own), around) in heats.iter_mut().zip(own).zip(neighbours) {
    ///             next.0 = 0.5 * own.0.0 + 0.25 * (heat(around.left) + heat(around.right));
    ///         }
    ///     });
    /// }
    ///
    /// let mut world = World::new();
    /// let rods = world.spawn_batch((0..4).map(|i| Heat(f32::from(i == 1u8)))).to_vec();
    /// for (i, &rod) in rods.iter().enumerate() {
    ///     let (left, right) = (rods[(i + 3) % 4], rods[(i + 1) % 4]);
    ///     world.insert(rod, Neighbours { left, right })?;
    /// }
    /// let mut schedule = Schedule::new();
    /// schedule.add((phalanx::schedule::flip::<Heat>, diffuse)).chain();
    /// schedule.run(&mut world)?;
    /// let heat: Vec<f32> = rods.iter().map(|&rod| world.get::<Heat>(rod).unwrap().0).collect();
    /// assert_eq!(heat, [0.25, 0.5, 0.25, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flip<C: Component + Pod>(&mut self) -> Result<(), LayoutError> {
        let lacking = self.matching::<&C>().without::<Previous<C>>();
        lacking.filter::<(IncludeHidden, IgnoreEnabled)>().insert(Previous(C::zeroed()))?;
        let registry = self.registry_mut();
        let id = registry.register::<C>().unwrap_or_else(|taken| taken.refuse());
        let previous = registry.register::<Previous<C>>().unwrap_or_else(|taken| taken.refuse());
        self.store.swap_columns([id, previous]);
        Ok(())
    }
}
