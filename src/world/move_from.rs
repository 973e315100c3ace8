//! Some entities of a world go to another one.

use crate::query::{Filter, MatchedChunks, MatchedRows, Terms, matches_in};
use crate::store::{Leaving, LeavingRows, MergeErrorKind};

use super::matching::Matching;
use super::merge::Merged;
use super::world::World;

impl World {
    /// Takes over the entities of another world that a query [matches](World::matching), with all
    /// that they have. They get new ids; [`Merged`] tells which. The others stay where they are.
    ///
    /// A level leaves the game while another one comes, or what a thread has prepared is taken over
    /// piece by piece. [`merge`](World::merge) takes over a whole world.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// component! {
    ///     struct Health(f32);
    ///     struct Target { entity: Entity }
    ///     struct Ready;
    /// }
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
    /// Those that [`Matching::despawn`] would end: hidden ones if the query sees them, only those
    /// in which a component is enabled if it names the component, and all filters of [`Matching`]
    /// select as they do there. Entities that are [`Gone`](crate::Gone) go along if the query
    /// matches them, and are gone here. `&mut` terms stamp nothing.
    /// [Reserved](World::reserve_entity) ids of both worlds are spawned first.
    ///
    /// # References
    ///
    /// An [`Entity`](crate::Entity) in a component that comes, in a
    /// [value of a chunk](crate::PerChunk) or in a [shared value](World::map_shared), is replaced
    /// by the new id if it refers to an entity that came with the same call. Any other becomes
    /// [null](crate::Entity::NULL), also if the entity has stayed: ids carry no world, so the old
    /// one would refer to any entity here. To keep two entities together, move them in one call.
    /// What [`merge`](World::merge) says of references that are not found is true here too.
    ///
    /// References that stay in the other world are not changed. If they refer to an entity that has
    /// left, they refer to one that is not alive any more, as they do after a despawn. `moved.get`
    /// has its new id.
    ///
    /// # What comes along
    ///
    /// What comes with a [`merge`](World::merge): components, enable bits, shared values and side
    /// values. No value is dropped or cloned, but shared ones with ids are made anew; of a
    /// [shared](crate::Shared) one that entities of both worlds have, both worlds own the same.
    /// Values of chunks come with chunks that move as a
    /// whole, and are those of new chunks otherwise. Cleanup components come along, and none stays.
    ///
    /// All that comes is new here: each column of it has one version, that of this call.
    /// [`Arrived`](crate::Arrived) and [`Inserted`](crate::Inserted) report it. New ids are given
    /// in the order of the query. So if all entities are matched, in the order of a merge.
    ///
    /// For the other world it is a despawn of them all, but that cleanup components do not stay,
    /// and no value is dropped: [`Despawned`](crate::Despawned) and [`Removed`](crate::Removed)
    /// report it, ids are used again, and the last rows of archetypes fill the gaps. What stays
    /// keeps its versions. Each world gets one new version, or none if nothing matches.
    ///
    /// # Memory
    ///
    /// If nothing stays, chunks change owner as in a [`merge`](World::merge), with all memory of
    /// the other world. Otherwise the columns of whole chunks are copied by one `memcpy` each. If
    /// the query chooses rows by enable bits and does not see all rows of its chunks, rows are
    /// copied twice, neighbours together. Archetypes that the two worlds have laid out differently
    /// are copied once more. O(bytes), O(entities), some 80 bytes each for ids, O(chunks × columns)
    /// for versions, and O(side tables) for each entity if there are any.
    ///
    /// # Errors
    ///
    /// As for [`merge`](World::merge), and what does not come does not count: types that only other
    /// entities have may have names that are taken. Neither world has changed then, but for
    /// reserved ids, which are spawned.
    ///
    /// # Panics
    ///
    /// If a hand-written [`MapEntities`](crate::MapEntities) does. All entities are here then. Of
    /// the column at which it panicked some references may have their old ids.
    ///
    /// If `Eq` or `Hash` of a shared value does, or its function of
    /// [`map_shared`](World::map_shared).
    /// Nothing has changed then.
    pub fn move_from<Q: Terms, F: Filter>(
        &mut self,
        entities: Matching<'_, Q, F>,
    ) -> Result<Merged, MergeErrorKind> {
        self.flush();
        let (other, filter) = entities.into_parts();
        let matches = matches_in::<Q, F>(other, &filter);
        let chunks = matches.chunks.into_iter().map(|MatchedChunks { archetype, chunks }| {
            Leaving { archetype, rows: LeavingRows::Chunks(chunks) }
        });
        let rows = matches.rows.into_iter().map(|MatchedRows { archetype, entities }| Leaving {
            archetype,
            rows: LeavingRows::Entities(entities),
        });
        let leaving: Vec<_> = chunks.chain(rows).collect();
        let plan = self.store.plan_move(other, &leaving)?;
        Ok(Merged { ids: self.store.move_from(other, &leaving, plan) })
    }
}
