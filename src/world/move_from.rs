//! Moves some entities of a world to another one.

use crate::query::{Filter, Terms, matches_in};
use crate::store::MergeErrorKind;

use super::matching::Matching;
use super::merge::Merged;
use super::world::World;

/// # Some entities of other worlds
impl World {
    /// Takes over the entities of another world that a query [matches](World::matching), with
    /// everything that belongs to them. They get new ids, listed in [`Merged`]. The other entities
    /// stay where they are.
    ///
    /// For example, a level leaves the game while another one arrives, or entities that a thread
    /// has prepared are taken over piece by piece. [`merge`](World::merge) takes over a whole
    /// world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component]
    /// struct Health(f32);
    /// #[component]
    /// struct Target { entity: Entity }
    /// #[component]
    /// struct Ready;
    ///
    /// let mut level = World::new();
    /// let [tower, gate] = [level.spawn((Health(9.0), Ready)), level.spawn(Health(5.0))];
    /// level.spawn_batch((0..1000).map(|_| (Health(1.0), Target { entity: tower }, Ready)));
    /// let scout = level.spawn((Target { entity: gate }, Ready));
    ///
    /// let mut world = World::new();
    /// let moved = world.move_from(level.matching::<Entity>().with::<Ready>())?;
    /// assert_eq!((moved.len(), world.len(), level.len()), (1002, 1002, 1));
    /// assert!(!level.contains(tower) && level.contains(gate));
    ///
    /// // Ids of what came along are replaced, others are null.
    /// let [tower, scout] = [tower, scout].map(|old| moved.get(old).unwrap());
    /// let at_tower = world.query::<&Target>().rows().filter(|target| target.entity == tower);
    /// assert_eq!(at_tower.count(), 1000);
    /// assert!(world.get::<Target>(scout).unwrap().entity.is_null());
    /// assert_eq!(moved.get(gate), None);
    /// # Ok::<(), phalanx::error::MergeErrorKind>(())
    /// ```
    ///
    /// # Which entities
    ///
    /// The entities that [`Matching::despawn`] would despawn: hidden ones if the query sees them,
    /// only entities in which a component is enabled if the query names the component, and all
    /// filters of [`Matching`] select as usual. Entities that are [`Gone`](crate::Gone) move too if
    /// the query matches them, and are gone here as well. `&mut` terms do not stamp.
    /// [Reserved](World::reserve_entity) ids of both worlds are spawned first.
    ///
    /// # References
    ///
    /// An [`Entity`](crate::Entity) in a moved component, [value of a
    /// chunk](crate::chunks::PerChunk) or [shared
    /// value](crate::shared::SharedValuesMut::map_entities) is replaced by the new id if it refers
    /// to an entity moved by the same call. Any other becomes [null](crate::Entity::NULL), also if
    /// its entity has stayed: ids carry no world, so the old one could refer to any entity here. To
    /// keep two entities together, move them in one call. For the references that are not found see
    /// [`merge`](World::merge).
    ///
    /// References that stay in the other world are not changed. If they refer to an entity that has
    /// left, they refer to an entity that is not alive any more, as after a despawn. `moved.get`
    /// returns its new id.
    ///
    /// # Contents of the move
    ///
    /// The same as in a [`merge`](World::merge): components, enable bits, shared values and side
    /// values. No value is dropped or cloned, except that shared values with ids are made again; if
    /// entities of both worlds have a [shared](crate::shared::Shared) value, both worlds own it.
    /// Values of chunks move with whole chunks; other rows get the values of new chunks. Cleanup
    /// components move, and none stays.
    ///
    /// Everything counts as new in this world: each new column has one version, the version of this
    /// call. [`Arrived`](crate::Arrived) and [`Inserted`](crate::logs::Inserted) report it. New ids
    /// are given in the order of the query; if all entities are matched, this is the order of a
    /// merge.
    ///
    /// For the other world it is a despawn of all these entities, except that cleanup components do
    /// not stay and no value is dropped: [`Despawned`](crate::logs::Despawned) and
    /// [`Removed`](crate::logs::Removed) report it, ids are used again, and the last rows of
    /// archetypes fill the gaps. Remaining rows keep their versions. Each world gets one new
    /// version, or none if no entity matches.
    ///
    /// # Memory
    ///
    /// If no entity stays, chunks change owner as in a [`merge`](World::merge), with all memory of
    /// the other world. Otherwise the columns of whole chunks are copied by one `memcpy` each. If
    /// the query chooses rows by enable bits and does not see all rows of its chunks, rows are
    /// copied twice, in runs of neighbours. Archetypes with different layouts in the two worlds are
    /// copied once more. O(bytes), O(entities), some 80 bytes each for ids, O(chunks × columns) for
    /// versions, and O(side tables) for each entity if there are any.
    ///
    /// # Errors
    ///
    /// The errors of [`merge`](World::merge). Only moved entities count: the types of other
    /// entities may have names that are taken. Neither world has changed, except that reserved ids
    /// are spawned.
    ///
    /// # Panics
    ///
    /// If a hand-written [`MapEntities`](crate::MapEntities) panics. All entities are in this world
    /// at that point. In the column at which it panicked, some references may have their old ids.
    ///
    /// If `Eq` or `Hash` of a shared value panics, or the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities). Neither world has changed.
    pub fn move_from<Q: Terms, F: Filter>(
        &mut self,
        entities: Matching<'_, Q, F>,
    ) -> Result<Merged, MergeErrorKind> {
        self.flush();
        let (other, filter) = entities.into_parts();
        let leaving = matches_in::<Q, F>(other, &filter);
        let plan = self.store.plan_move(other, &leaving)?;
        Ok(Merged { ids: self.store.move_from(other, &leaving, plan) })
    }
}
