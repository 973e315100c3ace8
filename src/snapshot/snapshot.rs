//! A snapshot of a world.

use core::fmt;

use crate::component::{ComponentInfo, SharedCodec};
use crate::store::StoreImage;
use crate::version::Version;
use crate::world::{World, WorldId};

use super::snapshot_error::SnapshotError;

/// The state of a world at one moment, from which it can be put back, bit for bit.
///
/// | in it | not in it |
/// | --- | --- |
/// | entities: ids, generations, the ids that come next, also in each system | [resources](World::insert_resource) |
/// | the order of archetypes, chunks and rows | sparse components that are neither plain nor kept |
/// | the bytes of all components | [events](World::events), [`Inserted`], [`Removed`], [`Despawned`] |
/// | [enable bits](World::set_enabled), [values of chunks](crate::chunks::PerChunk) | recorded commands |
/// | [shared values](crate::shared::Shared), which it keeps alive | the state of a schedule |
/// | [sparse components](crate::component#sparse-components) of [`Plain`](crate::Plain) types, [relations](crate::sparse::relation) | memory: spare chunks, addresses |
/// | clones of the sparse components that [`SparseMut`](crate::sparse::SparseMut) keeps | |
/// | versions of columns, chunks and lines | |
///
/// So [`World::hash`] is the same after [`World::restore`], unless entities have gained or lost a
/// sparse component that is not in the snapshot. If a simulation depends on other data, the program
/// must keep it with the snapshot: for example the seed of a random generator in a component, or
/// cloned beside the snapshot.
///
/// A snapshot takes the bytes of the rows, 8 bytes for each row and for each free id, and no gaps;
/// and 12 bytes and the value for each sparse component, 20 for each relation.
/// It can be sent to another thread. A clone copies all of it: O(bytes).
///
/// ```
/// use phalanx::snapshot::Snapshot;
/// use phalanx::prelude::*;
///
/// #[component]
/// struct Health(f32);
///
/// let mut world = World::new();
/// let hero = world.spawn(Health(10.0));
/// let before: Snapshot = world.snapshot()?;
///
/// world.despawn(hero)?;
/// world.spawn_batch([Health(1.0); 1000]);
/// world.restore(&before)?;
/// assert_eq!((world.len(), world.get::<Health>(hero)?.0), (1, 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Inserted`]: crate::logs::Inserted
/// [`Removed`]: crate::logs::Removed
/// [`Despawned`]: crate::logs::Despawned
#[derive(Clone, Default)]
pub struct Snapshot {
    pub(super) image: StoreImage,
    /// The world of the state; `None` before there is one.
    pub(super) world: Option<WorldId>,
    /// The components of the world, by their ids.
    pub(super) components: Vec<ComponentInfo>,
    /// The conversions of shared values to bytes, by the numbers of their types in the world.
    pub(super) codecs: Vec<Option<SharedCodec>>,
    /// Bytes of a chunk of the world.
    pub(super) chunk_bytes: usize,
}

impl Snapshot {
    /// A snapshot of no world, to be filled by [`World::snapshot_into`]. Allocates nothing.
    ///
    /// ```
    /// # use phalanx::snapshot::Snapshot;
    /// assert!(Snapshot::new().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 100]);
    /// assert_eq!(world.snapshot()?.len(), 100);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.image.rows()
    }

    /// Returns `true` if there are no entities.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// assert!(World::new().snapshot()?.is_empty());
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the snapshot's rows, versions and ids, without shared values and sparse
    /// components. O(archetypes × columns).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 100_000]);
    /// let bytes = world.snapshot()?.bytes();
    /// assert!((1_200_000..1_400_000).contains(&bytes), "4 + 8 an entity, and versions");
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.image.bytes()
    }

    /// The names of the sparse components with values that [`Snapshot::to_bytes`] leaves out: their
    /// types are not [`Plain`](crate::Plain) data. A program that saves its state can check that
    /// the list is the expected one.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component(sparse, name = "name")]
    /// struct Name(String);
    ///
    /// let mut world = World::new();
    /// world.spawn(Name("Ada".to_owned()));
    /// assert_eq!(world.snapshot()?.left_out(), ["name"]);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn left_out(&self) -> &[&'static str] {
        self.image.left_out()
    }

    /// The [version](World::version) of the world when the snapshot was taken.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn(());
    /// assert_eq!(world.snapshot()?.version(), world.version());
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub const fn version(&self) -> Version {
        self.image.version()
    }

    /// Makes it a snapshot of a world, of the state that the image has.
    pub(super) fn belong_to(&mut self, world: &World) {
        // A world gains components and loses none.
        let components = world.store.registry().infos();
        if self.components.len() != components.len() || self.world != Some(world.id()) {
            self.components = components.to_vec();
        }
        self.codecs = world.store.registry().shared_codecs();
        self.chunk_bytes = world.chunk_size().bytes();
        self.world = Some(world.id());
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("entities", &self.len())
            .field("version", &self.version())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// # States
impl World {
    /// Takes a snapshot: the state of the world as a value. Reserved ids are spawned first. The
    /// table at [`Snapshot`] lists its contents.
    ///
    /// O(bytes of all rows + indices), at the speed of `memcpy`, and a copy or a clone of each
    /// sparse component that is a part of it. Repeated snapshots cost less with
    /// [`World::snapshot_into`].
    ///
    /// # Errors
    ///
    /// If a command buffer holds ids: until it is dropped, unless it was made for 0.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Health(1.0); 100]);
    /// let (before, hash) = (world.snapshot()?, world.hash());
    /// world.clear();
    /// world.restore(&before)?;
    /// assert_eq!(world.hash(), hash);
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    pub fn snapshot(&mut self) -> Result<Snapshot, SnapshotError> {
        let mut snapshot = Snapshot::new();
        self.snapshot_into(&mut snapshot)?;
        Ok(snapshot)
    }

    /// Takes a snapshot into the memory of another one.
    ///
    /// If that snapshot is of this world, only differences are copied: the columns of chunks that
    /// were written since, the entities of chunks where rows came or went, the free ids that
    /// changed, and all enable bits, values of chunks and versions. Of a sparse component or a
    /// relation with a change, all values are copied. Versions identify the written
    /// chunks, so a body that writes and returns [`Modified::No`](crate::Modified::No) is not seen.
    /// O(chunks × columns + bytes that differ), and a look at each 256th free id: with 1,000,000
    /// entities, after one despawn and one spawn, the call costs 11 µs (Zen 4, two components).
    ///
    /// # Errors
    ///
    /// If a command buffer holds ids. The snapshot keeps its state; reserved ids are spawned.
    ///
    /// # Panics
    ///
    /// If the `Clone` of a sparse component panics, or the destructor of one that the snapshot had.
    /// The snapshot has no state after it and must be taken again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let all = world.spawn_batch([Health(1.0); 100_000]).to_vec();
    /// let mut saved = world.snapshot()?;
    /// world.get_mut::<Health>(all[7])?.0 = 0.5;
    /// world.snapshot_into(&mut saved)?; // copies one chunk of 25
    /// world.get_mut::<Health>(all[7])?.0 = 0.0;
    /// world.restore(&saved)?;           // and so does this
    /// assert_eq!(world.get::<Health>(all[7])?.0, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot_into(&mut self, snapshot: &mut Snapshot) -> Result<(), SnapshotError> {
        self.ensure_no_loans()?;
        self.store.end_kept();
        if snapshot.world != Some(self.id()) {
            *snapshot = Snapshot::new();
        }
        // The snapshot is of no world if memory runs out below, or a clone panics.
        snapshot.world = None;
        snapshot.image.follow(&mut self.store);
        snapshot.belong_to(self);
        Ok(())
    }

    /// Puts the world back to the state of a snapshot of it. A snapshot can be restored any number
    /// of times, and in any order with others.
    ///
    /// * The world is equal to the snapshot, bit for bit, and later calls have the same effects.
    ///   [`World::hash`] is the same, unless an entity gained or lost one of the sparse components
    ///   that stay (below). Archetypes have their former order; archetypes created since are freed.
    /// * **Versions** of columns and chunks are restored. The clock goes on, so that no version is
    ///   used twice. [`changed_since`](crate::Query::changed_since) and the filters of systems stay
    ///   correct. A version read before the snapshot was taken, or after this call, reports the
    ///   changes since then. A version read in between reports everything as changed, once.
    /// * **Copies of chunks**, for example in a renderer: a game that restores in every frame would
    ///   copy everything in every frame. Compare versions of chunks for *difference* instead. A
    ///   copy is valid while [`Chunk::version`](crate::chunks::Chunk::version) and
    ///   [`order_version`](crate::chunks::Chunk::order_version) equal the versions of the chunk of
    ///   the same archetype and index when it was copied, even if they are older than others.
    /// * Events are dropped, and so are the entries that [`Inserted`](crate::logs::Inserted),
    ///   [`Removed`](crate::logs::Removed) and [`Despawned`](crate::logs::Despawned) have not read;
    ///   readers count them as missed. The restore itself is not a gain or loss for them, so a
    ///   table that a hook keeps must be made again. A simulation that goes back should read events
    ///   in the run that sends them, or keep them in components.
    /// * Sparse components are restored if they are [`Plain`](crate::Plain) data or
    ///   [relations](crate::sparse::relation), or if
    ///   [`SparseMut::keep_in_snapshots`](crate::sparse::SparseMut::keep_in_snapshots) had named
    ///   them when the snapshot was taken. Others are not touched: an id that is alive before
    ///   and after the call keeps its value, even if the id belonged to another entity meanwhile.
    ///   Entities that come back have none. Resources, [`Local`](crate::schedule::Local)s and the
    ///   state of a schedule stay as they are.
    /// * Ids from the discarded time may belong to other entities later.
    ///
    /// Only differences are copied, as by [`World::snapshot_into`], with the same cost, and
    /// O(sparse values): their entities are entered in the archetypes again.
    ///
    /// # Errors
    ///
    /// If the snapshot is of another world or was never taken, its clock is used up, or a command
    /// buffer holds ids. The world is unchanged, except that reserved ids are spawned in the last
    /// case.
    ///
    /// # Panics
    ///
    /// If the `Clone` of a sparse component panics, the world is unchanged. If the destructor of an
    /// event or of a sparse component panics, the world is restored.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// let hero = world.spawn(Health(10.0));
    /// let seen = world.version();
    /// let before = world.snapshot()?;
    /// world.get_mut::<Health>(hero)?.0 = 1.0;
    /// let wrong = world.version();
    /// world.restore(&before)?;
    /// let health = || world.query::<&Health>();
    /// assert_eq!(health().changed_since(seen).count_rows(), 0);
    /// assert_eq!(health().changed_since(wrong).count_rows(), 1, "it was 1.0 for the holder");
    /// assert_eq!(health().changed_since(world.version()).count_rows(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        match snapshot.world {
            None => return Err(SnapshotError::NeverTaken),
            Some(world) if world != self.id() => return Err(SnapshotError::OtherWorld),
            Some(_) => {}
        }
        if !snapshot.image.leaves_time(self.store.clock()) {
            return Err(SnapshotError::ClockUsedUp);
        }
        self.ensure_no_loans()?;
        self.store.restore(&snapshot.image);
        Ok(())
    }

    pub(super) fn ensure_no_loans(&mut self) -> Result<(), SnapshotError> {
        self.flush();
        match self.store.entities().loaned() {
            0 => Ok(()),
            ids => Err(SnapshotError::IdsOnLoan { ids }),
        }
    }
}
