//! Snapshots and deltas as bytes: on a disk, or over a wire.

use std::io::{self, Write};
use std::path::Path;

use crate::component::ComponentId;
use crate::world::World;

use super::compression::decompressed;
use super::error::SnapshotError;
use super::format::{AGE_MAX, IDS_LEFT};
use super::read::{Header, Rules};
use super::read_error::ReadError;
use super::read_shared::NewTags;
use super::replace_file::replace_file;
use super::shared_table::SharedTables;
use super::snapshot::Snapshot;
use super::write::Source;

impl Snapshot {
    /// The state as bytes, from which [`World::read_snapshot`] makes it again: in this program, in
    /// another one, or in a later run.
    ///
    /// They have all that is in a snapshot but side values: ids, rows, columns as they are, enable
    /// bits, values of chunks, versions, and [shared values](crate::Shared) of the types of which
    /// the world knows how they are written ([`World::encode_shared`]). Side values are saved by
    /// the caller, under [`Entity::to_bits`](crate::Entity::to_bits), and inserted again after the
    /// restore. The bytes end with a checksum, and are in the byte order of the machine. With the
    /// feature `lz4` they can be compressed (`Snapshot::write_compressed`); for another library
    /// they are columns, one after the other.
    ///
    /// Components are known by their [names](crate::Component::NAME), shared types by theirs. Give
    /// each component that is saved a name of its own, `struct Health as "health" { … }`: without
    /// one it has the path of its type, which changes when the type moves to another module or
    /// crate. Another version of phalanx may have another format, and says so when it reads.
    ///
    /// States with equal hashes have equal bytes, but for one number of the header, by which a
    /// delta finds its base, and for shared values that their `Hash` does not tell apart.
    ///
    /// O(bytes of all rows + ids), and a call of the user's function for each shared value.
    ///
    /// # Errors
    ///
    /// If entities have shared values of another type, or an archetype is left of those that had,
    /// if components and shared values are more than a world takes from a state, or nothing was
    /// taken yet.
    ///
    /// # Panics
    ///
    /// If a function of [`World::encode_shared`] panics. The snapshot is what it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// component! { struct Health(f32); }
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

    /// Writes [`Snapshot::to_bytes`] to a file or a socket, without a copy of them. The writer gets
    /// small pieces as well: it should be buffered.
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
    /// The bytes are written beside it, under a name of their own such as
    /// `game.state.1c9d02be.new`, with the permissions of the old file, and brought to the disk.
    /// That file takes the path, and its folder is brought to the disk as well. A symbolic link is
    /// replaced, not followed. So:
    ///
    /// * If the program or the machine stops on the way, or the disk is full, the path has the old
    ///   state or the new one. After `Ok` it has the new one, also if the machine loses power.
    ///   Elsewhere than on Unix, folders cannot be brought to the disk; there the system may still
    ///   lose the change of the path for some seconds, and the old state is under it.
    /// * Saves to one path may happen at once, in threads and in programs. Each succeeds, and the
    ///   last one stays.
    /// * A program that is killed may leave the file beside. It hinders no later save and nothing
    ///   reads it. It may be deleted while no save runs; phalanx deletes no file that it finds.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or as [`Snapshot::write_to`]. The path has the old state, and
    /// no file is left beside it. If only the folder cannot be brought to the disk, the path has
    /// the new state, and the text of the error says so.
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
        ensure_writable(Source::of_image(&self.image, &self.components, self.chunk_bytes))
    }
}

/// A state that cannot be written.
fn unsupported(error: SnapshotError) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, error)
}

/// Checks that the state can be read again, and all shared values be written.
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

impl World {
    /// Makes a snapshot of this world of bytes that [`Snapshot::to_bytes`] has written, in whatever
    /// world. [`World::restore`] gives the world this state; until then its own state is unchanged.
    /// Shared values of the state that the world has no numbers for get some of its 65,535, and
    /// these stay in use if the snapshot is dropped. A state that would leave less than a quarter
    /// of them is refused.
    ///
    /// The world must know the components, each defined as it was: by their names, sizes, fields
    /// and attributes ([`World::register`] tells it). It must have the same
    /// [`ChunkSize`](crate::ChunkSize); its own limits of ids and memory stay. It must know how
    /// shared values are read, by [`World::encode_shared`]. A state with other components or chunks
    /// is read by [`World::snapshot_reader`].
    ///
    /// The bytes must be those of one state, and may be anything: whatever is damaged, cut off,
    /// contradicts itself or is no value of its type gives an error that says what and where.
    /// Memory is taken for what the bytes have, for the chunks that it lies in, and for archetypes:
    /// as much as a world with these entities and archetypes takes, and 16 bytes for each index up
    /// to the highest. If they are an LZ4 frame (with
    /// the feature `lz4`) the state has at most 255 times as many bytes, and no more than
    /// [`request_bytes_max`](crate::WorldBuilder::request_bytes_max). The mark at the end of a
    /// frame, its last four bytes, may be missing.
    ///
    /// When it is restored, all is new to all who hold a version, and all side values are dropped:
    /// the entities are others than before, even where their ids are the same.
    ///
    /// O(bytes), and a call of the user's function for each shared value. Values that their `Hash`
    /// does not tell apart are compared with each other.
    ///
    /// # Errors
    ///
    /// See [`ReadError`].
    ///
    /// # Panics
    ///
    /// If a function of [`World::encode_shared`] panics, or the `Hash` or `Eq` of a shared value.
    /// The world is what it was.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::error::ReadError;
    /// # component! { struct Health(f32); }
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
        let mut header = Header::read(&bytes, &self.store, false, &rules)?;
        let mut snapshot = Snapshot::new();
        let tags = NewTags::of(&mut self.store);
        header.read_shared(&mut tags.store.registry, &SharedTables::default(), &rules)?;
        let patch = header.patch(tags.store, &snapshot.image)?;
        snapshot.image.apply(patch);
        tags.keep();
        snapshot.belong_to(self);
        Ok(snapshot)
    }

    /// The difference between a snapshot of this world and its present state, as bytes:
    /// [`World::read_delta`] makes the one of the other. Reserved ids are spawned first.
    ///
    /// It has the lines of sixteen rows, of the columns of chunks that were written since then,
    /// whose bytes are others, what differs beside the chunks (versions, enable bits, values), the
    /// [shared values](crate::Shared) that entities did not have, and the ids if any came or went.
    /// So it costs what has changed, and a look at the versions of all chunks, at each 256th free
    /// id and at all shared values; O(indices) if more than one in 16 ids changed, or the snapshot
    /// was read.
    ///
    /// # Errors
    ///
    /// If the snapshot is of another world or was never taken, a command buffer holds ids, or
    /// entities have shared values of a type that has no name by [`World::encode_shared`].
    ///
    /// # Panics
    ///
    /// If a function of [`World::encode_shared`] panics. Nothing has changed then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let all = world.spawn_batch([Health(9.0); 100_000]).to_vec();
    /// let before = world.snapshot()?;
    ///
    /// let mut mirror = World::new();
    /// mirror.register::<Health>();
    /// let mut state = mirror.read_snapshot(&before.to_bytes()?)?;
    ///
    /// world.get_mut::<Health>(all[77])?.0 = 1.0;
    /// let delta = world.delta_since(&before)?;
    /// assert!(delta.len() < 500);
    ///
    /// mirror.read_delta(&mut state, &delta)?;
    /// mirror.restore(&state)?;
    /// assert_eq!(mirror.hash(), world.hash());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delta_since(&mut self, snapshot: &Snapshot) -> Result<Vec<u8>, SnapshotError> {
        let (source, base) = self.delta_sources(snapshot)?;
        Ok(source.write(Some(&base), Vec::new()).expect("a vector takes all bytes"))
    }

    /// Writes [`World::delta_since`] to a socket, a file, or a vector that is kept, which saves the
    /// time to get memory for it. Other writers get small pieces as well: they should be buffered.
    ///
    /// # Errors
    ///
    /// If the writer fails, or as [`World::delta_since`], with the kind
    /// [`Unsupported`](io::ErrorKind::Unsupported).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # component! { struct Health(f32); }
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(9.0));
    /// let (before, mut message) = (world.snapshot()?, Vec::new());
    /// for frame in 0..3 {
    ///     world.get_mut::<Health>(entity)?.0 = frame as f32;
    ///     message.clear();
    ///     world.write_delta_since(&before, &mut message)?;
    ///     assert_eq!(message, world.delta_since(&before)?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_delta_since(&mut self, snapshot: &Snapshot, to: impl Write) -> io::Result<()> {
        let sources = self.delta_sources(snapshot);
        let (source, base) = sources.map_err(unsupported)?;
        source.write(Some(&base), to)?.flush()
    }

    /// The present state, and that of a snapshot of this world.
    fn delta_sources<'a>(
        &'a mut self,
        snapshot: &'a Snapshot,
    ) -> Result<(Source<'a>, Source<'a>), SnapshotError> {
        match snapshot.world {
            None => return Err(SnapshotError::NeverTaken),
            Some(world) if world != self.id() => return Err(SnapshotError::OtherWorld),
            Some(_) => {}
        }
        self.ensure_no_loans()?;
        self.store.entities.settle();
        let source = ensure_writable(Source::of_store(&self.store))?;
        let base = Source::of_image(&snapshot.image, &snapshot.components, snapshot.chunk_bytes);
        Ok((source, base))
    }

    /// Makes a snapshot, which is the one from which a delta is the difference, the later state. A
    /// receiver has read it from the bytes of the sender; the sender itself may have taken it.
    /// [`World::restore`] gives the world that state.
    ///
    /// The bytes may be anything, as for [`World::read_snapshot`]. If deltas get lost or overtake
    /// each other, those that are the difference from another state of the sender are refused. Let
    /// the sender make them from the last state that the receiver has confirmed. Until the sender
    /// knows that a later state is confirmed, the receiver needs the older one again: let it read
    /// into a clone. A delta of another sender with the same history is not told apart: compare
    /// hashes, which are as good as the `Hash` of shared types. And a sender that was put back to
    /// an older state and reaches one that it had before has not the same history.
    ///
    /// The snapshot counts as one that was read from now on, also if it was taken: when it is
    /// restored, all is new, and all side values are dropped. If the delta is refused, nothing of
    /// it has changed. What a receiver keeps for itself, such as sprites, belongs outside of its
    /// world, by the id of the entity.
    ///
    /// O(bytes + chunks × columns + shared values), and O(indices) if entities came or went.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. The snapshot has the state that it had.
    ///
    /// # Panics
    ///
    /// As [`World::read_snapshot`]: the snapshot has the state that it had. If the destructor of a
    /// side value panics, which the snapshot has kept: it has the later state.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::error::ReadError;
    /// let mut world = World::new();
    /// let [mut state, before] = [world.snapshot()?, world.snapshot()?];
    /// world.spawn(());
    /// let delta = world.delta_since(&before)?;
    /// world.read_delta(&mut state, &delta)?;
    /// assert_eq!((before.len(), state.len()), (0, 1));
    ///
    /// // The next one is from the same state: the sender has not heard that this one arrived.
    /// world.spawn(());
    /// let next = world.delta_since(&before)?;
    /// let mut later = before.clone();
    /// world.read_delta(&mut later, &next)?;
    /// assert_eq!(later.len(), 2);
    /// assert_eq!(world.read_delta(&mut state, &delta), Err(ReadError::OtherBase));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_delta(&mut self, snapshot: &mut Snapshot, bytes: &[u8]) -> Result<(), ReadError> {
        if snapshot.world != Some(self.id()) {
            return Err(ReadError::NoBase);
        }
        let (bytes, rules) = (decompressed(bytes, &self.store)?, Rules::default());
        let mut header = Header::read(&bytes, &self.store, true, &rules)?;
        let Snapshot { image, components, chunk_bytes, .. } = &mut *snapshot;
        let base = Source::of_image(image, components, *chunk_bytes);
        if header.base != base.identity() {
            return Err(ReadError::OtherBase);
        }
        let (base, tags) = (base.into_shared(), NewTags::of(&mut self.store));
        header.read_shared(&mut tags.store.registry, &base, &rules)?;
        let patch = header.patch(tags.store, image)?;
        let sides = image.apply(patch);
        tags.keep();
        snapshot.belong_to(self);
        drop(sides);
        Ok(())
    }
}
