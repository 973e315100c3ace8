//! Switches components off and on without moving rows.

use crate::component::{Component, ComponentId};
use crate::entity::{Entity, Location};
use crate::query::{Filter, Terms, assert_enableable, masks_in};
use crate::storage::{ChunkBits, StampKind};
use crate::store::EntityError;

use super::by_name::{Reflect, ReflectMut};
use super::bytes_error::BytesError;
use super::matching::Matching;
use super::world::World;

/// # Components that are switched off where they are
impl World {
    /// Enables or disables component `C` of an entity. Returns whether it was enabled before.
    ///
    /// A component that is defined with `#[component(enableable)]` has a bit in each row. A
    /// disabled component keeps its place and its value, but **queries treat it as absent**: `&C`,
    /// `&mut C` and `with::<C>()` do not see the entity, `without::<C>()` does, and `AnyOf` counts
    /// only enabled components. So a state that changes every frame need not move the entity
    /// between archetypes. New rows are enabled; a copy of an entity has the bits of the original.
    ///
    /// | query | sees |
    /// | --- | --- |
    /// | [`filter::<WithDisabled<C>>()`](crate::WithDisabled) | entities in which `C` is disabled |
    /// | [`filter::<IgnoreEnabled>()`](crate::IgnoreEnabled) | all, regardless of their bits |
    /// | [`Enabled<C>`](crate::Enabled), [`EnabledMut<C>`](crate::EnabledMut) | all that have `C`, and its bits |
    /// | `Option<&C>` | all rows, `None` in a disabled one; slices have all rows |
    ///
    /// If a query sees all rows of a chunk, it yields the chunk as usual; if it sees none, it skips
    /// the chunk; otherwise it yields each run of visible rows. The kernel always gets the same
    /// kind of slices. [`masked`](crate::Query::masked) yields whole chunks with a mask instead.
    /// [`rows`](crate::Query::rows) finds rows bit by bit where runs are short. A
    /// [table](crate::component#enableable-components) compares the costs.
    ///
    /// Calls that name an entity ignore the bits: [`get`](World::get), [`has`](World::has),
    /// lookups. A bit moves with its row. An inserted component is enabled, even if it overwrites a
    /// disabled one.
    ///
    /// A change of the bit stamps the column of `C` in the entity's chunk, as a write does, so that
    /// a system that skipped the disabled rows sees their column as changed when they are enabled.
    /// The entity's other columns are not stamped: a system that looks for their changes in
    /// entities with an enabled tag must look for changes of the tag as well. O(1), and no row
    /// moves. For many entities use [`LookupMut::set_enabled`](crate::LookupMut::set_enabled), for
    /// the rows of a query [`Matching::enable`] and [`Matching::disable`] or the term
    /// [`EnabledMut`](crate::EnabledMut).
    ///
    /// # Errors
    ///
    /// If the entity is not alive or has no `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component]
    /// struct Speed(f32);
    /// #[component(enableable)]
    /// struct Awake;
    /// let mut world = World::new();
    /// let [one, _] = [1.0, 2.0].map(|speed| world.spawn((Speed(speed), Awake)));
    /// assert!(world.set_enabled::<Awake>(one, false)?, "it was enabled");
    /// let awake = world.query::<&Speed>().with::<Awake>();
    /// assert_eq!(awake.rows().map(|speed| speed.0).collect::<Vec<_>>(), [2.0]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component] struct Speed(f32);
    /// # let mut world = World::new();
    /// # let entity = world.spawn(Speed(1.0));
    /// world.set_enabled::<Speed>(entity, false); // `Speed` is not `#[component(enableable)]`
    /// ```
    pub fn set_enabled<C: Component>(
        &mut self,
        entity: Entity,
        enabled: bool,
    ) -> Result<bool, EntityError> {
        const { assert_enableable::<C>() };
        self.switch(entity, (self.store.registry().id::<C>(), C::NAME), enabled)
    }

    fn switch(
        &mut self,
        entity: Entity,
        component: (ComponentId, &'static str),
        enabled: bool,
    ) -> Result<bool, EntityError> {
        self.flush();
        let (bits, place, column) = self.bits(entity, component)?;
        let archetype = self.archetype(place);
        let at = archetype.list().split(place.row());
        let switched = bits.set_alone(at.row, enabled);
        if switched {
            let now = self.store.advance_clock();
            let beside = self.archetype(place).beside();
            beside.touch_rows(column, at.chunk, at.row..at.row + 1, now);
        }
        Ok(enabled != switched)
    }

    /// Whether component `C` of an entity is enabled: see [`set_enabled`](World::set_enabled).
    ///
    /// # Errors
    ///
    /// If the entity is not alive or has no `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// let mut world = World::new();
    /// let entity = world.spawn(Awake);
    /// assert!(world.is_enabled::<Awake>(entity)?);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn is_enabled<C: Component>(&self, entity: Entity) -> Result<bool, EntityError> {
        const { assert_enableable::<C>() };
        let component = (self.store.registry().id::<C>(), C::NAME);
        let (bits, place, _) = self.bits(entity, component)?;
        Ok(bits.is_enabled(self.archetype(place).list().split(place.row()).row))
    }

    /// The enable bits of a component in the entity's chunk, with the place of the entity and the
    /// column.
    fn bits(
        &self,
        entity: Entity,
        (id, name): (ComponentId, &'static str),
    ) -> Result<(ChunkBits<'_>, Location, u16), EntityError> {
        let lacking = || self.lacking(entity, name);
        let place = self.store.entities().locate(entity).map_err(|_| lacking())?;
        let archetype = self.archetype(place);
        let column = archetype.column(id).ok_or_else(lacking)?;
        let bits = archetype.bits(column);
        let bits = bits.expect("an archetype has no bits of an enableable component");
        Ok((bits.chunk(archetype.list().split(place.row()).chunk), place, column))
    }
}

impl ReflectMut<'_> {
    /// Enables or disables the component of an entity that has a name. Returns whether it was
    /// enabled before. See [`World::set_enabled`]. O(1).
    ///
    /// # Errors
    ///
    /// If the name is unknown, the component is not `enableable`, or the entity is not alive or has
    /// no such component. The entity is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::reflect::NamedQuery;
    ///
    /// let mut world = World::new();
    /// let mut reflect = world.reflect_mut();
    /// reflect.register_layout_with("mod.power", ["enableable"], [("volts", "f32")])?;
    /// let lamp = reflect.spawn([("mod.power", &230_f32.to_ne_bytes()[..])])?;
    /// assert_eq!(reflect.set_enabled(lamp, "mod.power", false), Ok(true));
    /// let powered = NamedQuery::new().with("mod.power");
    /// assert_eq!(world.reflect().chunks(&powered)?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_enabled(
        &mut self,
        entity: Entity,
        name: &str,
        enabled: bool,
    ) -> Result<bool, BytesError> {
        let id = Reflect { world: self.world }.known(name)?;
        let info = self.world.store.registry().info(id);
        if !info.is_enableable() {
            return Err(BytesError::NotEnableable { name: name.to_owned() });
        }
        let component = (id, info.name());
        Ok(self.world.switch(entity, component, enabled)?)
    }
}

impl<Q: Terms, F: Filter> Matching<'_, Q, F> {
    /// Enables component `C` of all entities that match and have it. Returns the number of
    /// components that were disabled before. O(rows / 64): no row moves.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Speed(f32);
    /// # #[component(enableable)] struct Awake;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|i| (Speed(i as f32), Awake)));
    /// assert_eq!(world.matching::<&Speed>().disable::<Awake>(), 1000);
    /// assert_eq!(world.query::<&Awake>().count_rows(), 0);
    /// assert_eq!(world.matching::<&Speed>().enable::<Awake>(), 1000);
    /// ```
    pub fn enable<C: Component>(self) -> usize {
        self.switch::<C>(true)
    }

    /// Disables component `C` of all entities that match and have it: see [`World::set_enabled`].
    /// Returns the number of components that were enabled before. O(rows / 64): no row moves.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Awake;
    /// # #[component] struct Player;
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Awake));
    /// world.spawn((Awake, Player));
    /// assert_eq!(world.matching::<&Awake>().without::<Player>().disable::<Awake>(), 1000);
    /// assert_eq!(world.query::<&Awake>().count_rows(), 1);
    /// ```
    pub fn disable<C: Component>(self) -> usize {
        self.switch::<C>(false)
    }

    fn switch<C: Component>(self, enabled: bool) -> usize {
        const { assert_enableable::<C>() };
        let (store, filter) = self.into_parts();
        let (id, now) = (store.registry().id::<C>(), store.clock().next());
        let mut switched = 0;
        for (_, archetype, mask) in masks_in::<Q, F>(store, &filter) {
            let Some(column) = archetype.column(id) else { continue };
            let bits = archetype.bits(column);
            let bits = bits.expect("an archetype has no bits of an enableable component");
            // The rows that are seen may depend on the bits that are switched.
            let lines = archetype.beside().chunk_lines(column, mask.chunk());
            let lines = lines.map(|lines| (lines, mask.runs_in_chunk().collect::<Vec<_>>()));
            let rows = mask.switch(bits.chunk(mask.chunk()), enabled);
            if rows > 0 {
                switched += rows;
                match lines {
                    Some((lines, runs)) => runs.into_iter().for_each(|run| lines.touch(run, now)),
                    None => {
                        let kind = StampKind::column(column);
                        archetype.stamps().touch(kind, mask.chunk() as usize, now);
                    }
                }
            }
        }
        if switched > 0 {
            store.advance_clock();
        }
        switched
    }
}
