//! The world, and its parameters.

use core::fmt;

use crate::archetype::{Archetype, Archetypes};
use crate::entity::{Directory, Entity, Location, RequestLimit};
use crate::storage::{ChunkSize, EXTENT_CHUNKS_MAX};
use crate::store::{EntityError, Store};
use crate::unique::unique_number;
use crate::version::Version;

use super::resources::Resources;

/// Entities and their components.
///
/// A world owns everything in it. It is `Send` and `Sync`: `&World` reads from many threads, and
/// `&mut World` is the right to change it, so it needs no locks and no borrow checks at run time.
/// An id is valid only in its own world.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Position { x: f32, y: f32 }
/// # #[component] struct Frozen;
/// let mut world = World::new();
/// let entity = world.spawn((Position { x: 1.0, y: 2.0 }, Frozen));
/// world.remove::<Frozen>(entity)?;
/// assert_eq!(world.get::<Position>(entity)?.y, 2.0);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct World {
    pub(crate) store: Store,
    pub(super) resources: Resources,
    id: WorldId,
}

/// The identity of a world, unique in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorldId(u64);

impl WorldId {
    fn next() -> Self {
        Self(unique_number())
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("entities", &self.len())
            .field("archetypes", &self.store.archetypes().len())
            .field("chunk_size", &self.chunk_size())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// # A world and its size
impl World {
    /// An empty world with chunks of 16 KiB. Allocates no memory.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert!(World::new().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A world with other chunks or another limit.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let world = World::builder().chunk_size(ChunkSize::KIB_256).entities_max(1_000).build();
    /// assert_eq!(world.chunk_size().bytes(), 262_144);
    /// ```
    pub const fn builder() -> WorldBuilder {
        WorldBuilder {
            chunk_size: ChunkSize::KIB_16,
            entities_max: u32::MAX,
            request_bytes_max: RequestLimit::BYTES_MAX,
            extent_chunks_max: EXTENT_CHUNKS_MAX,
        }
    }

    /// The size of this world's chunks.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert_eq!(World::new().chunk_size(), ChunkSize::KIB_16);
    /// ```
    #[must_use]
    pub const fn chunk_size(&self) -> ChunkSize {
        self.store.archetypes().chunk_size()
    }

    /// The number of entities, including [hidden](crate::component#hidden-components) entities, and
    /// entities that are [`Gone`](crate::Gone) until their cleanup ends. Reserved ids count from
    /// the world's next change on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(), (), ()]);
    /// assert_eq!(world.len(), 3);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.entities().len()
    }

    /// Returns `true` if the world has no entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert!(World::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The current version: every later change has a newer one. See [`Version`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let before = world.version();
    /// world.spawn(());
    /// assert!(world.version() > before);
    /// ```
    #[must_use]
    pub const fn version(&self) -> Version {
        self.store.clock()
    }

    /// Returns `true` if the entity is alive or reserved. `entity` may be any id, even an invented
    /// one. A despawned entity is not alive, also while it is [`Gone`](crate::Gone).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.despawn(entity)?;
    /// assert!(!world.contains(entity));
    /// assert!(!world.contains(Entity::NULL));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.store.contains(entity)
    }

    /// The error of a call that names an entity without the row or the component that it needs.
    #[cold]
    pub(super) fn lacking(&self, entity: Entity, component: &'static str) -> EntityError {
        self.store.lacking(entity, component)
    }

    /// The identity of this world.
    #[inline]
    pub(crate) const fn id(&self) -> WorldId {
        self.id
    }

    #[inline]
    pub(super) fn archetype(&self, location: Location) -> &Archetype {
        self.store.archetypes().get(location.archetype())
    }

    /// Spawns reserved ids and takes back the ids of dropped buffers. Every change of the world
    /// begins with it.
    #[inline]
    pub(crate) fn flush(&mut self) {
        self.store.flush();
    }
}

/// The parameters of a world; see [`World::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct WorldBuilder {
    chunk_size: ChunkSize,
    entities_max: u32,
    request_bytes_max: u64,
    extent_chunks_max: u32,
}

impl WorldBuilder {
    /// The size of chunks. The default is 16 KiB.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    /// ```
    pub const fn chunk_size(mut self, size: ChunkSize) -> Self {
        self.chunk_size = size;
        self
    }

    /// The largest number of entities. The default is 4,294,967,295.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::builder().entities_max(1).build();
    /// world.spawn(());
    /// assert!(world.try_spawn(()).is_err());
    /// ```
    pub const fn entities_max(mut self, limit: u32) -> Self {
        self.entities_max = limit;
        self
    }

    /// The most memory that one call may allocate, in bytes. The default is 16 GiB.
    ///
    /// A call with a number of rows, ids or writers computes the memory that they need. If the
    /// result is above this limit, or the system refuses it, the call returns
    /// [`TooMuchMemory`](crate::error::TooMuchMemory) and changes nothing. The limit guards against
    /// wrong numbers, not against a world that grows call by call. It is needed because a system
    /// may grant memory that it does not have, and end the process when the memory is used.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::builder().request_bytes_max(1 << 20).build();
    /// assert!(world.reserve::<Health>(10_000).is_ok());
    /// let error = world.reserve::<Health>(1_000_000).unwrap_err();
    /// assert!(error.to_string().contains("one call may take 1048576"));
    /// ```
    pub const fn request_bytes_max(mut self, bytes: u64) -> Self {
        self.request_bytes_max = bytes;
        self
    }

    /// The largest number of chunks in an extent: 64 (the default), 16, 4 or 1. Other numbers are
    /// rounded down to one of these; 0 counts as 1. Chunks of 64 and 128 KiB have extents of at
    /// most 16 chunks, chunks of 256 KiB of at most 4.
    ///
    /// An *extent* is memory for several chunks of one archetype, column by column: the rows of a
    /// column in one chunk are followed by its rows in the next chunk, so that a pass over a long
    /// archetype runs at the speed of flat arrays. With extents of one chunk, every chunk has
    /// memory of its own. Only memory depends on it: chunks, slices, versions, the order of rows
    /// and [`World::hash`] are the same.
    ///
    /// * An archetype has extents if each of its columns fills whole cache lines. A component of
    ///   one byte needs chunks of a multiple of 64 rows for that; if that would cost more than an
    ///   eighth of the rows, all chunks have memory of their own.
    /// * Rows that are added bit by bit lie in 4 single chunks, and after them in extents that grow
    ///   with the archetype: at most three chunks or an eighth of its memory are unused. A batch of
    ///   known length lies in extents of its size, up to 1 MiB if the archetype has few rows.
    ///   [`World::reserve`] allocates the largest extents at once.
    /// * Slabs for extents have up to 2 MiB and are taken whole.
    /// * A change by query that moves some chunks to another archetype leaves both with shorter
    ///   runs. Free chunks of an extent are used again by archetypes with chunks in it, and
    ///   [`MemoryMut::compact`](crate::memory::MemoryMut::compact) frees them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let count = |mut world: World| {
    ///     world.reserve::<Health>(100_000).unwrap();
    ///     world.spawn_batch((0..100_000).map(|_| Health(1.0)));
    ///     let chunks = world.query::<&Health>().iter().count();
    ///     (chunks, world.query::<&Health>().contiguous_chunks().count())
    /// };
    /// // 25 chunks of 4,096 rows: 16 in one extent, 4 in each of two, and one of its own.
    /// assert_eq!(count(World::new()), (25, 4));
    /// assert_eq!(count(World::builder().extent_chunks_max(1).build()), (25, 25));
    /// ```
    pub const fn extent_chunks_max(mut self, chunks: u32) -> Self {
        self.extent_chunks_max = chunks;
        self
    }

    /// Builds the world. Allocates no memory.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let world = World::builder().build();
    /// ```
    #[must_use]
    pub fn build(self) -> World {
        let archetypes = Archetypes::new(self.chunk_size);
        let mut entities = Directory::new(self.entities_max);
        entities.requests = RequestLimit::new(self.request_bytes_max);
        let store = Store::new(archetypes, entities, self.extent_chunks_max);
        World { store, resources: Resources::default(), id: WorldId::next() }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Score(u32);

    #[test]
    fn one_value_of_each_type_goes_in_and_out() {
        let mut world = World::new();
        assert_eq!(world.insert_resource(Score(1)), None);
        assert_eq!(world.insert_resource(7u32), None);
        assert_eq!(world.insert_resource(Score(2)), Some(Score(1)));
        world.resource_mut::<Score>().unwrap().0 += 1;
        assert_eq!(*world.resource::<Score>().unwrap(), Score(3));
        assert_eq!(world.remove_resource::<Score>(), Some(Score(3)));
        assert_eq!(world.remove_resource::<Score>(), None);
        assert_eq!(world.remove_resource::<u32>(), Some(7));
    }

    #[test]
    fn a_missing_resource_is_an_error_with_its_name() {
        let mut world = World::new();
        let error = world.resource::<Score>().unwrap_err();
        assert!(error.resource.ends_with("Score"), "{error}");
        assert_eq!(world.resource_mut::<Score>().unwrap_err(), error);
        assert!(error.to_string().ends_with("insert it with `World::insert_resource`"), "{error}");
    }

    #[test]
    fn a_panic_while_a_resource_is_written_leaves_it_usable() {
        let mut world = World::new();
        world.insert_resource(Score(1));
        let torn = catch_unwind(AssertUnwindSafe(|| {
            let mut score = world.resources.grant_mut::<Score>().unwrap();
            score.0 = 2;
            panic!("halfway");
        }));
        assert!(torn.is_err(), "the panic went on");
        assert_eq!(*world.resource::<Score>().unwrap(), Score(2));
        assert_eq!(world.resources.grant_mut::<Score>().unwrap().0, 2);
        assert_eq!(*world.resource_mut::<Score>().unwrap(), Score(2));
        assert_eq!(world.remove_resource::<Score>(), Some(Score(2)));
    }

    #[test]
    fn a_resource_that_is_read_can_be_read_again_but_not_written() {
        let mut world = World::new();
        world.insert_resource(Score(1));
        let first = world.resource::<Score>().unwrap();
        let second = world.resource::<Score>().unwrap();
        assert_eq!(*first, *second);
        let write = catch_unwind(AssertUnwindSafe(|| drop(world.resources.grant_mut::<Score>())));
        assert!(write.is_err(), "a fault of a schedule does not pass in silence");
    }
}
