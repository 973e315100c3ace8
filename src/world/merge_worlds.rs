//! Merges two worlds.

use core::error::Error;
use core::fmt;

use crate::entity::{Entity, IdMap};
use crate::query::{Filter, Terms, matches_in};
use crate::store::MergeErrorKind;

use super::matching::Matching;
use super::world::World;

/// # Entities of other worlds
impl World {
    /// Takes over all entities of another world, with everything that belongs to them. They get new
    /// ids, listed in [`Merged`]. [`move_from`](World::move_from) takes over some of the entities.
    ///
    /// The other world may have been filled on another thread while this one was in use, for
    /// example to load a level while the game runs.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component]
    /// struct Health(f32);
    /// #[component]
    /// struct Target { entity: Entity }
    ///
    /// let level = std::thread::spawn(|| {
    ///     let mut world = World::new();
    ///     let tower = world.spawn(Health(9.0));
    ///     world.spawn_batch((0..1000).map(|_| (Health(1.0), Target { entity: tower })));
    ///     (world, tower)
    /// });
    /// let mut world = World::new();
    /// world.spawn_batch((0..10).map(|_| Health(3.0)));
    ///
    /// let (level, tower) = level.join().unwrap();
    /// let merged = world.merge(level)?;
    /// let tower = merged.get(tower).unwrap();
    /// assert_eq!((merged.len(), world.len()), (1001, 1011));
    /// assert!(world.query::<&Target>().rows().all(|target| target.entity == tower));
    /// # Ok::<(), phalanx::error::MergeError>(())
    /// ```
    ///
    /// # Memory
    ///
    /// If columns lie in the same places of a chunk in both worlds, their components are not
    /// copied: this world takes over the memory of the other world. An archetype that is new to
    /// this world keeps its layout, so its chunks change owner as they are. The chunks of an
    /// archetype that both worlds have change owner if both worlds registered its components in the
    /// same order, and only rows of the last chunk are copied, so that all chunks but one are full;
    /// otherwise all its rows are copied. [`register`](World::register) gives two worlds one order.
    /// O(entities), some 50 bytes each for ids, O(chunks × columns) for versions, and the bytes
    /// that are copied.
    ///
    /// 100,000 entities of four components that come to as many take 0.32 ms at best, and about a
    /// millisecond more where the ids' 2 MB are pages that the process did not have yet (Zen 4,
    /// release build, 89aa1e6).
    ///
    /// # References
    ///
    /// An [`Entity`] in a component, or in the value of a pair, is replaced by the new id, also if
    /// its entity is [`Gone`](crate::Gone): see [`MapEntities`](crate::MapEntities). If its entity
    /// has ended in the other world, it becomes [`Entity::NULL`]. Ids in [values of
    /// chunks](crate::chunks::PerChunk) are replaced too. Ids in [shared
    /// values](crate::shared::Shared) are replaced by the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities); without one, a value with
    /// ids is refused. Ids in types that do not show them, and do not implement `MapEntities`, are
    /// not replaced: types that `impl_component!(Type)` only names, and [sparse
    /// components](crate::component#sparse-components) that are enums or have ids within other
    /// types, such as a map. Replace them by [`Merged::get`]. Ids carry no world: an id of this
    /// world in a component of the other world is taken for an id of the other world. Write such
    /// references after the merge. O(rows) for each component with ids.
    ///
    /// # Contents of the merge
    ///
    /// * All entities, including [hidden](crate::component#hidden-components) ones and ones that
    ///   are [`Gone`](crate::Gone), which stay so here: they are not alive, and have new ids for
    ///   their cleanup. [Reserved](World::reserve_entity) ids are spawned first.
    /// * Components, enable bits, [shared values](crate::shared::Shared) and sparse components. No
    ///   value is dropped, except a shared value that equals a value of this world.
    /// * Values of chunks, with whole chunks. Rows that are copied get the values of their new
    ///   chunks.
    /// * Not resources, events, and unread records of cursors and systems of the other world. They
    ///   are dropped; take resources out before. A command buffer of the other world cannot be
    ///   applied to this one, nor can a [`Snapshot`](crate::snapshot::Snapshot) of it be restored.
    ///
    /// The new ids are the ids that the same number of [`spawn`](World::spawn)s would return. They
    /// are given to archetype after archetype, in the order of their creation, and row after row.
    /// Chunks that change owner are placed before a partly filled last chunk, and copied rows after
    /// it.
    ///
    /// Everything counts as new in this world: each new column has one version, the version of this
    /// call. [`Arrived`](crate::Arrived) and [`Inserted`](crate::logs::Inserted) report it.
    ///
    /// # Errors
    ///
    /// If the worlds have chunks of different sizes, different types with one name, or together
    /// more than a world can have; or if shared values have ids that neither world can replace.
    /// Neither world has changed, except that reserved ids are spawned and cleanup that is over
    /// ends, and the error contains the other world.
    ///
    /// # Panics
    ///
    /// If a hand-written [`MapEntities`](crate::MapEntities), or the destructor of a resource or an
    /// event panics. All entities are in this world at that point. In the column or sparse
    /// component at which `map_entities` panicked, some references may have their old ids.
    ///
    /// If `Eq` or `Hash` of a shared value panics, or the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities). This world has not changed,
    /// and the other world is dropped.
    pub fn merge(&mut self, other: Self) -> Result<Merged, MergeError> {
        let mut world = Box::new(other);
        self.flush();
        world.flush();
        world.store.end_kept();
        match self.store.plan_merge(&world.store) {
            Ok(plan) => {
                let Self { store, .. } = *world;
                Ok(Merged { ids: self.store.merge(store, plan) })
            }
            Err(kind) => Err(MergeError { world, kind }),
        }
    }
}

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
    /// An [`Entity`](crate::Entity) in a moved component, value of a pair, [value of a
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
    /// The same as in a [`merge`](World::merge): components, enable bits, shared values and sparse
    /// components. No value is dropped or cloned, except that shared values with ids are made
    /// again; if entities of both worlds have a [shared](crate::shared::Shared) value, both worlds
    /// own it. Values of chunks move with whole chunks; other rows get the values of new chunks.
    /// Cleanup components move, and none stays.
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
    /// copied once more. O(bytes), O(entities), some 80 bytes each for ids, O(chunks × columns)
    /// for versions, and O(sparse components) for each entity if there are any.
    ///
    /// # Errors
    ///
    /// The errors of [`merge`](World::merge). Only moved entities count: the types of other
    /// entities may have names that are taken. Neither world has changed, except that reserved ids
    /// are spawned and cleanup that is over ends.
    ///
    /// # Panics
    ///
    /// If a hand-written [`MapEntities`](crate::MapEntities) panics. All entities are in this world
    /// at that point. In the column or sparse component at which it panicked, some references may
    /// have their old ids.
    ///
    /// If `Eq` or `Hash` of a shared value panics, or the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities). Neither world has changed.
    pub fn move_from<Q: Terms, F: Filter>(
        &mut self,
        entities: Matching<'_, Q, F>,
    ) -> Result<Merged, MergeErrorKind> {
        self.flush();
        let (other, filter) = entities.into_parts();
        other.end_kept();
        let leaving = matches_in::<Q, F>(other, &filter);
        let plan = self.store.plan_move(other, &leaving)?;
        Ok(Merged { ids: self.store.move_from(other, &leaving, plan) })
    }
}

/// The new ids of entities from another world: the result of [`World::merge`] and
/// [`World::move_from`].
///
/// It takes twelve bytes for each index of the other world, or, if it has only a small part of that
/// world, some thirty bytes for each entity.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// let (mut world, mut other) = (World::new(), World::new());
/// let old = other.spawn(Health(1.0));
/// let merged = world.merge(other)?;
/// assert_eq!(world.get::<Health>(merged.get(old).unwrap()).unwrap().0, 1.0);
/// assert_eq!(merged.iter().count(), 1);
/// # Ok::<(), phalanx::error::MergeError>(())
/// ```
pub struct Merged {
    pub(super) ids: IdMap,
}

impl Merged {
    /// The id in this world of an entity of the other world. `None` if the entity has ended or
    /// stayed there.
    ///
    /// An entity that is [`Gone`](crate::Gone) has an id as well, which is not alive in either
    /// world: a table outside of both worlds finds its cleanup components by this id.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(cleanup)] struct Sound { channel: u32 }
    /// let (mut world, mut other) = (World::new(), World::new());
    /// let [gone, ended] = [other.spawn(Sound { channel: 7 }), other.spawn(())];
    /// other.despawn(gone)?;
    /// other.despawn(ended)?;
    /// let merged = world.merge(other)?;
    /// assert_eq!((merged.get(ended), merged.len()), (None, 1));
    /// let gone = merged.get(gone).unwrap();
    /// assert!(!world.contains(gone) && world.has::<Gone>(gone));
    /// assert_eq!(world.remove::<Sound>(gone)?.channel, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get(&self, old: Entity) -> Option<Entity> {
        self.ids.get(old)
    }

    /// The number of entities, including entities that are [`Gone`](crate::Gone).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let (mut world, mut other) = (World::new(), World::new());
    /// world.spawn(());
    /// let old = other.spawn(());
    /// let merged = world.merge(other)?;
    /// assert_eq!((merged.len(), world.len()), (1, 2));
    /// # Ok::<(), phalanx::error::MergeError>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns `true` if there are none.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// assert!(world.merge(World::new())?.is_empty());
    /// # Ok::<(), phalanx::error::MergeError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.len() == 0
    }

    /// The old and the new id of each entity, in the order of the old indices. O(indices), or, for
    /// a small part of a world, O(entities × log(entities)).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let (mut world, mut other) = (World::new(), World::new());
    /// world.spawn(());
    /// let old = other.spawn(());
    /// let merged = world.merge(other)?;
    /// let (from, to) = merged.iter().next().unwrap();
    /// assert!(from == old && world.contains(to));
    /// # Ok::<(), phalanx::error::MergeError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.ids.iter()
    }
}

impl fmt::Debug for Merged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.ids, f)
    }
}

/// The error of a merge that was refused. It contains the unchanged world.
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::error::MergeErrorKind;
/// let mut other = World::builder().chunk_size(ChunkSize::KIB_4).build();
/// let entity = other.spawn(());
/// let error = World::new().merge(other).unwrap_err();
/// assert!(matches!(error.kind(), MergeErrorKind::ChunkSize { .. }));
/// assert!(error.into_world().contains(entity));
/// ```
pub struct MergeError {
    world: Box<World>,
    kind: MergeErrorKind,
}

impl MergeError {
    /// The reason.
    #[must_use]
    pub const fn kind(&self) -> MergeErrorKind {
        self.kind
    }

    /// The world that was to be merged.
    #[must_use]
    pub fn into_world(self) -> World {
        *self.world
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)
    }
}

impl Error for MergeError {}
