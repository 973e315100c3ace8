//! The world, and its parameters.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::archetype::{Archetype, Archetypes};
use crate::component::ComponentSet;
use crate::entity::ArchetypeId;
use crate::entity::{Directory, Entity, Location, RequestLimit};
use crate::storage::{BundleCells, ChunkSize};
use crate::store::Store;
use crate::version::Version;

use super::resources::Resources;

/// Entities and their components.
///
/// A world owns everything in it. It is `Send` and `Sync`: `&World` reads from many threads, and
/// `&mut World` is the right to change it, so nothing is locked and nothing is checked at run time
/// for being borrowed. An id of one world means nothing in another.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Default, Pod, Zeroable)] #[repr(C)] struct Position { x: f32, y: f32 }
/// # #[derive(Clone, Copy, Default, Pod, Zeroable)] #[repr(C)] struct Frozen;
/// # component!(Position, Frozen);
/// let mut world = World::new();
/// let entity = world.spawn((Position { x: 1.0, y: 2.0 }, Frozen));
/// world.remove::<Frozen>(entity)?;
/// assert_eq!(world.get::<Position>(entity)?.y, 2.0);
/// # Ok::<(), phalanx::EntityError>(())
/// ```
pub struct World {
    pub(crate) store: Store,
    pub(super) resources: Resources,
    id: WorldId,
}

/// The identity of a world. No two worlds of a process have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorldId(u64);

impl WorldId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // 2⁶⁴ worlds of a nanosecond each take 584 years.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("entities", &self.len())
            .field("archetypes", &self.store.archetypes.len())
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

impl World {
    /// An empty world with chunks of 16 KiB. Allocates nothing.
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
        self.store.archetypes.chunk_size()
    }

    /// The number of entities. Reserved ids count from the next change of the world on.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(), (), ()]);
    /// assert_eq!(world.len(), 3);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.entities.len()
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
        self.store.clock
    }

    /// Returns `true` if the entity is alive or reserved. Any id may be asked for, also a made-up
    /// one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let entity = world.spawn(());
    /// world.despawn(entity)?;
    /// assert!(!world.contains(entity));
    /// assert!(!world.contains(Entity::NULL));
    /// # Ok::<(), phalanx::error::NoSuchEntity>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn contains(&self, entity: Entity) -> bool {
        self.store.entities.contains(entity)
    }

    /// The identity of this world.
    #[inline]
    pub(crate) const fn id(&self) -> WorldId {
        self.id
    }

    #[inline]
    pub(super) fn archetype(&self, location: Location) -> &Archetype {
        self.store.archetypes.get(location.archetype())
    }

    /// The archetype without components, in which reserved ids are spawned.
    pub(super) fn empty_archetype(&mut self) -> ArchetypeId {
        self.store.find_or_add(&ComponentSet::default()).expect("a row of no bytes fits any chunk")
    }

    /// Spawns reserved ids and takes back those of dropped buffers. Every change of the world
    /// begins with it.
    #[inline]
    pub(crate) fn flush(&mut self) {
        if self.store.entities.needs_flush() {
            self.flush_ids();
        }
    }

    #[cold]
    fn flush_ids(&mut self) {
        if !self.store.entities.has_reserved() {
            return self.store.entities.flush(|_| unreachable!("no id is reserved"));
        }
        let id = self.empty_archetype();
        let now = self.store.advance_clock();
        let archetype = self.store.archetypes.get_mut(id);
        let pool = &mut self.store.pool;
        let cells = BundleCells::none(archetype.list());
        self.store.entities.flush(|entity| {
            let row = archetype.next_row(pool);
            let place = Location::new(id, row.position());
            row.push(&cells, entity, now, |_| ());
            place
        });
    }
}

/// The parameters of a world; see [`World::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct WorldBuilder {
    chunk_size: ChunkSize,
    entities_max: u32,
    request_bytes_max: u64,
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
    /// A call with a number of rows, ids or writers computes the memory that they need. If that is
    /// more than this limit, or the system refuses it, the call returns
    /// [`TooMuchMemory`](crate::error::TooMuchMemory) and changes nothing. The limit guards against
    /// wrong numbers, not against a world that grows call by call. It is needed because a system
    /// may grant memory that it does not have, and end the process when the memory is used.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut world = World::builder().request_bytes_max(1 << 20).build();
    /// assert!(world.reserve::<Health>(10_000).is_ok());
    /// let error = world.reserve::<Health>(1_000_000).unwrap_err();
    /// assert!(error.to_string().contains("one call may take 1048576"));
    /// ```
    pub const fn request_bytes_max(mut self, bytes: u64) -> Self {
        self.request_bytes_max = bytes;
        self
    }

    /// Builds the world. Allocates nothing.
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
        let store = Store::new(archetypes, entities);
        World { store, resources: Resources::default(), id: WorldId::next() }
    }
}
