//! Snapshots and deltas as bytes: on a disk, or over a wire.

use std::io::{self, Write};
use std::path::Path;

use crate::component::ComponentId;
use crate::world::World;

use super::compression::decompressed;
use super::format::{AGE_MAX, DELTA, IDS_LEFT, SNAPSHOT};
use super::read::{Header, Rules, checked};
use super::read_error::ReadError;
use super::read_shared::NewTags;
use super::replace_file::replace_file;
use super::shared_table::SharedTables;
use super::snapshot::Snapshot;
use super::snapshot_error::SnapshotError;
use super::write::Source;

impl Snapshot {
    /// Returns the state as bytes. [`World::read_snapshot`] reads them in this program, in another
    /// one, or in a later run.
    ///
    /// The bytes contain the whole snapshot except the sparse components that are not plain data:
    /// ids, rows, columns as they are, enable bits, values of chunks, versions,
    /// [sparse components](crate::component#sparse-components) of [`Plain`](crate::Plain) types,
    /// [relations](crate::sparse::relation), and [shared values](crate::shared::Shared) of the
    /// types for which the world has functions
    /// ([`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode)).
    /// [`Snapshot::left_out`] names the other sparse components: the caller saves them, under
    /// [`Entity::to_bits`](crate::Entity::to_bits), and inserts them again after the restore. The
    /// bytes end with a checksum, and are in the byte order of the machine.
    /// With the feature `lz4` they can be compressed (`Snapshot::write_compressed`). Another
    /// compressor sees one column after the other.
    ///
    /// Components are identified by their [names](crate::Component::NAME), shared types by theirs.
    /// Give each component that is saved an explicit name, `#[component(name = "health")]`: the
    /// default is the path of its type, which changes when the type moves to another module or
    /// crate. The format may differ in another version of phalanx, which reports this when it reads
    /// the bytes.
    ///
    /// States with equal hashes have equal bytes, except for one number of the header, by which a
    /// delta finds its base; shared values that their `Hash` does not distinguish; and memory: the
    /// place of few rows in a small block,
    /// [`grow_indices`](crate::memory::MemoryMut::grow_indices), and versions of lines that no
    /// query sees any more.
    ///
    /// O(bytes of all rows and sparse components + ids), and a call of the user's function for each
    /// shared value.
    ///
    /// # Errors
    ///
    /// If entities have shared values of another type, or an archetype with such values is left, if
    /// the state has more components and shared values than a world can read, if the clock of the
    /// world has advanced too often, or if the snapshot was never taken.
    ///
    /// # Panics
    ///
    /// If a function of [`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode) panics,
    /// or a relation to many has more than 2³² - 1 pairs; [`Snapshot::write_to`] returns an error
    /// for these. The snapshot is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[component]
    /// struct Health(f32);
    ///
    /// let mut world = World::new();
    /// let hero = world.spawn(Health(9.0));
    /// let bytes = world.snapshot()?.to_bytes()?;
    ///
    /// let mut other = World::new();
    /// other.register::<Health>();
    /// let saved = other.read_snapshot(&bytes)?;
    /// other.restore(&saved)?;
    /// assert_eq!(other.get::<Health>(hero)?.0, 9.0);
    /// assert_eq!(other.hash(), world.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, SnapshotError> {
        let source = self.source()?;
        let bytes = Vec::with_capacity(self.bytes() + self.bytes() / 64 + 4096);
        Ok(source.write(None, bytes).expect("a vector takes all bytes"))
    }

    /// Writes [`Snapshot::to_bytes`] to a file or a socket, without a copy of the bytes. Some
    /// writes are small, so the writer should be buffered.
    ///
    /// # Errors
    ///
    /// If the writer fails, or as [`Snapshot::to_bytes`], with the kind
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 10]);
    /// let (snapshot, mut file) = (world.snapshot()?, Vec::new());
    /// snapshot.write_to(&mut file)?;
    /// assert_eq!(file, snapshot.to_bytes()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_to(&self, to: impl Write) -> io::Result<()> {
        let source = self.source().map_err(unsupported)?;
        source.write(None, to)?.flush()
    }

    /// Writes [`Snapshot::to_bytes`] to a file, which is replaced as a whole or not at all.
    ///
    /// The bytes are written to a new file in the same folder, for example
    /// `game.state.1c9d02be.new`, with the permissions of the old file, and synced to the disk. The
    /// new file is renamed to the path, and the folder is synced as well. A symbolic link is
    /// replaced, not followed. So:
    ///
    /// * If the program or the machine stops during a save, or the disk is full, the path has the
    ///   old state or the new one. After `Ok` it has the new one, even if the machine loses power.
    ///   On systems other than Unix, folders cannot be synced; for some seconds after the save, a
    ///   loss of power may bring back the old state.
    /// * Threads and programs may save to one path at the same time. Each save succeeds, and the
    ///   last one stays.
    /// * A program that is killed may leave the new file. The file does not affect later saves and
    ///   is never read. It may be deleted while no save runs; phalanx deletes only files of the
    ///   running save.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or as [`Snapshot::write_to`]. The path has the old state, and
    /// the new file is deleted. If only the folder cannot be synced, the path has the new state,
    /// and the text of the error says so.
    ///
    /// ```no_run
    /// # use phalanx::prelude::*;
    /// # let mut world = World::new();
    /// world.snapshot()?.save("game.state")?;
    /// let saved = world.read_snapshot(&std::fs::read("game.state")?)?;
    /// world.restore(&saved)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        replace_file(path.as_ref(), |file| self.write_to(file))
    }

    fn source(&self) -> Result<Source<'_>, SnapshotError> {
        self.world.ok_or(SnapshotError::NeverTaken)?;
        ensure_writable(Source::of_snapshot(self))
    }
}

/// # Differences of two states
impl Snapshot {
    /// Returns the difference between this state and the present state of its world, as bytes.
    /// [`Snapshot::read_delta`] applies it to the older state. Reserved ids are spawned first.
    ///
    /// The delta contains lines of sixteen rows, in columns of chunks that were written since the
    /// snapshot, if their bytes differ; the differences of versions, enable bits and values of
    /// chunks; the [shared values](crate::shared::Shared) that are new; the values of sparse
    /// components that differ, in sets that changed; and the ids if entities came or went. So its
    /// cost follows the changes. In addition it looks at the versions of all
    /// chunks, at each 256th free id and at all shared values; if more than one in 16 ids changed,
    /// or the snapshot was read, it is O(indices).
    ///
    /// # Errors
    ///
    /// If the snapshot is of another world or was never taken, a command buffer holds ids, or
    /// [`Snapshot::to_bytes`] would fail for the present state.
    ///
    /// # Panics
    ///
    /// If a function of [`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode) panics,
    /// or a relation to many has more than 2³² - 1 pairs; [`Snapshot::write_delta`] returns an
    /// error for these. The world is unchanged, except that reserved ids are spawned.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let all = world.spawn_batch([Health(9.0); 100_000]).to_vec();
    /// let before = world.snapshot()?;
    ///
    /// let mut mirror = World::new();
    /// mirror.register::<Health>();
    /// let mut state = mirror.read_snapshot(&before.to_bytes()?)?;
    ///
    /// world.get_mut::<Health>(all[77])?.0 = 1.0;
    /// let delta = before.delta(&mut world)?;
    /// assert!(delta.len() < 500);
    ///
    /// state.read_delta(&mut mirror, &delta)?;
    /// mirror.restore(&state)?;
    /// assert_eq!(mirror.hash(), world.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delta(&self, world: &mut World) -> Result<Vec<u8>, SnapshotError> {
        let (source, base) = self.delta_sources(world)?;
        Ok(source.write(Some(&base), Vec::new()).expect("a vector takes all bytes"))
    }

    /// Writes [`Snapshot::delta`] to a socket, a file, or a vector that is used again, which
    /// saves the time to allocate it. Some writes to other writers are small, so they should be
    /// buffered.
    ///
    /// # Errors
    ///
    /// If the writer fails, or as [`Snapshot::delta`], with the kind
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(9.0));
    /// let (before, mut message) = (world.snapshot()?, Vec::new());
    /// for frame in 0..3 {
    ///     world.get_mut::<Health>(entity)?.0 = frame as f32;
    ///     message.clear();
    ///     before.write_delta(&mut world, &mut message)?;
    ///     assert_eq!(message, before.delta(&mut world)?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_delta(&self, world: &mut World, to: impl Write) -> io::Result<()> {
        let sources = self.delta_sources(world);
        let (source, base) = sources.map_err(unsupported)?;
        source.write(Some(&base), to)?.flush()
    }

    /// The present state of the world, and the state of the snapshot.
    fn delta_sources<'a>(
        &'a self,
        world: &'a mut World,
    ) -> Result<(Source<'a>, Source<'a>), SnapshotError> {
        match self.world {
            None => return Err(SnapshotError::NeverTaken),
            Some(id) if id != world.id() => return Err(SnapshotError::OtherWorld),
            Some(_) => {}
        }
        world.ensure_no_loans()?;
        world.store.end_kept();
        world.store.settle_ids();
        let source = ensure_writable(Source::of_store(&world.store))?;
        let base = Source::of_snapshot(self);
        Ok((source, base))
    }

    /// Applies a delta to the snapshot, which must have the state from which the delta was
    /// made. A receiver has read that state from the bytes of the sender; the sender itself may
    /// have taken it. [`World::restore`] gives the world the later state.
    ///
    /// The bytes may be anything, as for [`World::read_snapshot`]. If deltas get lost or overtake
    /// each other, a delta that was made from another state of the sender is refused. The sender
    /// should make deltas from the last state that the receiver has confirmed. Until the sender
    /// knows of a newer confirmation, the receiver needs the older state again, so it should read
    /// into a clone. A delta of another sender with the same history is not detected: compare
    /// hashes, which are as good as the `Hash` of shared types. A sender that was restored to an
    /// older state and reaches an earlier state again does not have the same history.
    ///
    /// From now on the snapshot counts as one that was read, even if it was taken: restoring it
    /// makes everything new and drops all sparse components that are not in it. A refused delta
    /// leaves the snapshot unchanged. Data of the receiver itself, for example sprites, belongs
    /// outside its world, under the id of the entity.
    ///
    /// O(bytes + chunks × columns + shared values + all values of sparse components with a
    /// change), and O(indices + values of all sparse components) if entities came or went.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. The snapshot keeps its state.
    ///
    /// # Panics
    ///
    /// As [`World::read_snapshot`]: the snapshot keeps its state. If the destructor of a sparse
    /// component that the snapshot has kept panics, the snapshot has the later state.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::snapshot::ReadError;
    /// let mut world = World::new();
    /// let [mut state, before] = [world.snapshot()?, world.snapshot()?];
    /// world.spawn(());
    /// let delta = before.delta(&mut world)?;
    /// state.read_delta(&mut world, &delta)?;
    /// assert_eq!((before.len(), state.len()), (0, 1));
    ///
    /// // The next one is from the same state: the sender has not heard that this one arrived.
    /// world.spawn(());
    /// let next = before.delta(&mut world)?;
    /// let mut later = before.clone();
    /// later.read_delta(&mut world, &next)?;
    /// assert_eq!(later.len(), 2);
    /// assert_eq!(state.read_delta(&mut world, &delta), Err(ReadError::OtherBase));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_delta(&mut self, world: &mut World, bytes: &[u8]) -> Result<(), ReadError> {
        if self.world != Some(world.id()) {
            return Err(ReadError::NoBase);
        }
        let (bytes, rules) = (decompressed(bytes, &world.store)?, Rules::default());
        let mut header = Header::read(checked(&bytes)?, &world.store, DELTA, &rules)?;
        let base = Source::of_snapshot(self);
        if header.base != base.identity() {
            return Err(ReadError::OtherBase);
        }
        let (base, tags) = (base.into_shared(), NewTags::of(&mut world.store));
        header.read_shared(tags.store.registry_mut(), &base, &rules)?;
        let patch = header.patch(tags.store, &self.image, &rules)?;
        let sparse = self.image.apply(patch);
        tags.keep();
        self.belong_to(world);
        drop(sparse);
        Ok(())
    }
}

/// A state that cannot be written.
fn unsupported(error: SnapshotError) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error)
}

/// Checks that the state can be read again, and that all its shared values can be written.
fn ensure_writable(source: Source<'_>) -> Result<Source<'_>, SnapshotError> {
    if source.age() > AGE_MAX {
        return Err(SnapshotError::ClockUsedUp);
    }
    let (ids, ids_max) = (source.ids_len(), ComponentId::COUNT_MAX as usize - IDS_LEFT);
    if ids > ids_max {
        return Err(SnapshotError::TooManyValues { ids, ids_max });
    }
    match source.nameless_type() {
        Some(type_name) => Err(SnapshotError::SharedValues { type_name }),
        None => Ok(source),
    }
}

/// # States as bytes
impl World {
    /// Makes a snapshot of this world from bytes that [`Snapshot::to_bytes`] has written, in this
    /// or another world. The state of this world is unchanged until [`World::restore`]. Shared
    /// values of the state that have no numbers in the world get some of its 65,535 numbers, which
    /// stay in use if the snapshot is dropped. A state that would leave less than a quarter of them
    /// is refused.
    ///
    /// The world must know the components, sparse ones as well, each defined as it was: the same
    /// name, size, fields and attributes ([`World::register`] makes a component known). It must
    /// have the same
    /// [`ChunkSize`](crate::ChunkSize), the same order of registration among components that are
    /// aligned to more than a cache line, and a function for each shared type
    /// ([`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode)). Its own limits of ids
    /// and memory apply; within them,
    /// [`grow_indices`](crate::memory::MemoryMut::grow_indices) of the world that wrote counts here
    /// as well. [`SnapshotReader::new`](crate::snapshot::SnapshotReader::new) reads a state with
    /// other components or chunks.
    ///
    /// Of a field the type counts by its name and size only. A component whose field has another
    /// component as its type, for example an enum, is read even if that type has changed, with
    /// other values: give the outer component a new name along with such a change, and convert it
    /// by [`SnapshotReader::migrate`](crate::snapshot::SnapshotReader::migrate).
    ///
    /// The bytes may be anything. If they are damaged, cut off or contradict themselves, or if a
    /// value is not valid for its type, the error says so and where. The call allocates memory for
    /// the contents of the bytes, for their chunks, and for archetypes: the same amount as a world
    /// with these entities and archetypes, and 16 bytes for each index up to the highest. The state
    /// in an LZ4 frame (feature `lz4`) has at most 255 times the bytes of the frame, and at most
    /// [`request_bytes_max`](crate::WorldBuilder::request_bytes_max). The end mark of a frame, its
    /// last four bytes, may be missing.
    ///
    /// Restoring the snapshot makes everything new for each version that the program holds, and
    /// drops all sparse components that are not in the bytes: the entities are different ones, even
    /// if their ids are the same.
    ///
    /// O(bytes), and a call of the user's function for each shared value. Values that their `Hash`
    /// does not distinguish are compared with each other.
    ///
    /// # Errors
    ///
    /// See [`ReadError`].
    ///
    /// # Panics
    ///
    /// If a function of [`SharedValuesMut::encode`](crate::shared::SharedValuesMut::encode) panics,
    /// or the `Hash` or `Eq` of a shared value. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::snapshot::ReadError;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn(Health(9.0));
    /// let bytes = world.snapshot()?.to_bytes()?;
    ///
    /// let mut damaged = bytes.clone();
    /// damaged[100] ^= 1;
    /// assert_eq!(world.read_snapshot(&damaged).unwrap_err(), ReadError::Checksum);
    /// let unknown = World::new().read_snapshot(&bytes).unwrap_err();
    /// assert!(unknown.to_string().contains("`World::register`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_snapshot(&mut self, bytes: &[u8]) -> Result<Snapshot, ReadError> {
        let (bytes, rules) = (decompressed(bytes, &self.store)?, Rules::default());
        let mut header = Header::read(checked(&bytes)?, &self.store, SNAPSHOT, &rules)?;
        let mut snapshot = Snapshot::new();
        let tags = NewTags::of(&mut self.store);
        header.read_shared(tags.store.registry_mut(), &SharedTables::default(), &rules)?;
        let patch = header.patch(tags.store, &snapshot.image, &rules)?;
        snapshot.image.apply(patch);
        tags.keep();
        snapshot.belong_to(self);
        Ok(snapshot)
    }
}
