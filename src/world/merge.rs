//! Merges two worlds.

use core::error::Error;
use core::fmt;

use crate::entity::{Entity, IdMap};
use crate::store::MergeErrorKind;

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
    /// An [`Entity`] in a component is replaced by the new id, also if its entity is
    /// [`Gone`](crate::Gone): see [`MapEntities`](crate::MapEntities). If its entity has ended in
    /// the other world, it becomes [`Entity::NULL`]. Ids in [values of
    /// chunks](crate::chunks::PerChunk) are replaced too. Ids in [shared
    /// values](crate::shared::Shared) are replaced by the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities); without one, a value with
    /// ids is refused. Two kinds of ids are not replaced: ids in [side values](World::insert_side),
    /// and ids in types that `impl_component!(Type)` only names and that do not implement
    /// `MapEntities`. Replace them by [`Merged::get`]. Ids carry no world: an id of this world in a
    /// component of the other world is taken for an id of the other world. Write such references
    /// after the merge. O(rows) for each component with ids.
    ///
    /// # Contents of the merge
    ///
    /// * All entities, including [hidden](crate::component#hidden-components) ones and ones that
    ///   are [`Gone`](crate::Gone), which stay so here: they are not alive, and have new ids for
    ///   their cleanup. [Reserved](World::reserve_entity) ids are spawned first.
    /// * Components, enable bits, values of chunks, [shared values](crate::shared::Shared) and side
    ///   values. No value is dropped, except a shared value that equals a value of this world.
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
    /// Neither world has changed, except that reserved ids are spawned, and the error contains the
    /// other world.
    ///
    /// # Panics
    ///
    /// If a hand-written [`MapEntities`](crate::MapEntities), or the destructor of a resource or an
    /// event panics. All entities are in this world at that point. In the column at which
    /// `map_entities` panicked, some references may have their old ids.
    ///
    /// If `Eq` or `Hash` of a shared value panics, or the function of
    /// [`map_entities`](crate::shared::SharedValuesMut::map_entities). This world has not changed,
    /// and the other world is dropped.
    pub fn merge(&mut self, other: Self) -> Result<Merged, MergeError> {
        let mut world = Box::new(other);
        self.flush();
        world.flush();
        match self.store.plan_merge(&world.store) {
            Ok(plan) => {
                let Self { store, .. } = *world;
                Ok(Merged { ids: self.store.merge(store, plan) })
            }
            Err(kind) => Err(MergeError { world, kind }),
        }
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
