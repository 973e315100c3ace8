//! Memory: reserved, counted and returned.

use super::world::World;
use crate::archetype::{ColumnBundle, assert_distinct};
use crate::entity::ReserveError;
use crate::store::SpawnError;

/// The bytes that a world holds, by use; see [`World::memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Components of entities: rows times the size of a row.
    pub row_bytes: usize,
    /// Blocks that hold columns, with their unused rows and padding. An archetype that has become
    /// empty keeps its small first block until [`MemoryMut::compact`].
    pub block_bytes: usize,
    /// Slabs that blocks and extents are cut from, whether allocated or free, and whether or not
    /// the system has committed them.
    pub slab_bytes: usize,
    /// The directory, with 12 to 16 bytes for each index of an id so far, entities of rows, change
    /// versions, sorts by a key, and the plans of queries: 32 bytes and 36 a component term for
    /// each archetype that a plan matches, kept until [`MemoryMut::retire_archetypes`].
    pub bookkeeping_bytes: usize,
    /// Sets of [sparse components](crate::component#sparse-components): the values, their entities
    /// and the pages that find them, and of a relation to many the lists of pairs. Kept until
    /// [`MemoryMut::compact`]. Memory that other values own elsewhere is not counted.
    pub sparse_bytes: usize,
    /// Queues of [events](crate::logs::EventWriter), with their unused room. Memory that the events
    /// own elsewhere is not counted, nor are the buffers of systems: see
    /// [`Schedule::memory_bytes`](crate::Schedule::memory_bytes).
    pub event_bytes: usize,
    /// Records that [`Inserted`](crate::logs::Inserted), [`Removed`](crate::logs::Removed) and
    /// [`Despawned`](crate::logs::Despawned) may still read.
    pub log_bytes: usize,
}

/// The result of a call of [`MemoryMut::compact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Rows that were copied.
    pub rows_moved: usize,
    /// Bytes of slabs and tables that were returned to the system.
    pub bytes_freed: usize,
    /// Whether this call found no row to move within its budget. If so, another call would find
    /// none either.
    pub finished: bool,
}

/// # Memory
impl World {
    /// Reserves memory for `rows` more entities of bundle `B`, so that spawning them allocates no
    /// memory. Sparse components have no rows, and cannot be named. The reservation ends with
    /// [`World::clear`], [`World::restore`], [`MemoryMut::compact`], a [`move_from`] that leaves no
    /// entity in this world, or, while the archetype has no entity,
    /// [`MemoryMut::retire_archetypes`].
    ///
    /// [`move_from`]: World::move_from
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if the world has too few ids, the rows need more memory than one call may
    /// allocate, or a row does not fit a chunk.
    ///
    /// # Panics
    ///
    /// If a new type is [refused](crate::error::NameTaken#new-types).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.reserve::<Health>(10_000)?;
    /// # Ok::<(), phalanx::error::SpawnError>(())
    /// ```
    pub fn reserve<B: ColumnBundle>(&mut self, rows: usize) -> Result<(), SpawnError> {
        const { assert_distinct(B::NAMES) };
        self.flush();
        self.store.reserve::<B>(rows)
    }

    /// The bytes that the world holds, by use. O(archetypes).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..1000).map(|_| Health(1.0)));
    /// assert_eq!(world.memory().row_bytes, 4000);
    /// ```
    #[must_use]
    pub fn memory(&self) -> Memory {
        let archetypes = self.store.archetypes().as_slice();
        Memory {
            row_bytes: archetypes.iter().map(|a| a.len() * a.list().layouts().row_bytes()).sum(),
            block_bytes: archetypes.iter().map(|a| a.list().block_bytes()).sum(),
            slab_bytes: self.store.pool().slab_bytes(),
            bookkeeping_bytes: self.store.entities().capacity_bytes()
                + archetypes.iter().map(|a| a.bookkeeping_bytes()).sum::<usize>()
                + self.store.archetypes().spare_bytes()
                + self.store.plan_bytes()
                + self.store.sorted_lists().bytes(),
            sparse_bytes: self.store.sparse().infos().map(|table| table.bytes).sum(),
            event_bytes: self.store.logs().events.infos().map(|queue| queue.bytes).sum(),
            log_bytes: self.store.logs().row_bytes(),
        }
    }

    /// The calls that return memory, and that change how much the world may keep.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// world.spawn_batch([(); 1000]);
    /// world.clear();
    /// assert!(world.memory_mut().compact(1000).finished);
    /// ```
    pub const fn memory_mut(&mut self) -> MemoryMut<'_> {
        MemoryMut { world: self }
    }
}

/// The memory of a world, to be returned or limited; made by [`World::memory_mut`].
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0); 1000]);
/// world.clear();
/// let mut memory = world.memory_mut();
/// assert_eq!(memory.retire_archetypes(), 1);
/// while !memory.compact(10_000).finished {}
/// assert_eq!(world.memory().slab_bytes, 0);
/// ```
#[derive(Debug)]
#[must_use = "its methods do the work"]
pub struct MemoryMut<'w> {
    pub(crate) world: &'w mut World,
}

impl MemoryMut<'_> {
    /// Returns memory to the system. It moves at most `rows_max` rows, so that the work can be
    /// spread over frames: call it until it is [`finished`](Compacted::finished). Chunks move
    /// whole. Some moves take a whole extent of up to 64 chunks, or a whole archetype with
    /// scattered chunks, so a smaller budget returns less memory.
    ///
    /// Small archetypes move to small blocks, chunks move from sparse slabs and extents to dense
    /// ones, empty slabs are freed, and tables and sets of sparse components shrink, but the
    /// directory keeps all indices. An archetype drops the bits of [sparse
    /// components](crate::component#sparse-components) that none of its entities has. If changes
    /// by query have left an archetype with few adjacent chunks, and the budget allows all its
    /// rows, it moves to new extents; their slabs may be larger than the freed slabs. Entities keep
    /// their ids and their order, and versions do not change: only addresses do, so that each query
    /// looks up all its archetypes again, and [places of rows](crate::rows::RowPlace) end.
    ///
    /// O(chunks × slabs with free blocks) beside the rows moved and the words of these bits, and
    /// O(rows) where tables of entities shrink: a table with less than a quarter of unused memory
    /// stays as it is, so that a call in every frame does not copy it in every frame.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// world.spawn_batch((0..100_000).map(|_| Health(1.0)));
    /// world.clear();
    /// while !world.memory_mut().compact(10_000).finished {}
    /// assert_eq!(world.memory().slab_bytes, 0);
    /// ```
    pub fn compact(&mut self, rows_max: usize) -> Compacted {
        self.world.flush();
        let before = self.held_bytes();
        let moved = self.world.store.compact(rows_max);
        let bytes_freed = before.saturating_sub(self.held_bytes());
        Compacted { rows_moved: moved, bytes_freed, finished: moved == 0 }
    }

    /// Removes the archetypes without entities, with their entries in the plans of queries, and
    /// returns their number. For a world that has gone through many sets of components: an
    /// archetype stays when its last entity leaves, and costs memory and a step of every query that
    /// matches it.
    ///
    /// Rows that were reserved for them are freed, too; slabs stay with the world until
    /// [`compact`](MemoryMut::compact). Reserved ids are spawned first, so their archetype stays.
    ///
    /// An archetype's number is its index in
    /// [`Reflect::archetypes`](crate::reflect::Reflect::archetypes). Archetypes created later get
    /// smaller numbers, so stored numbers, for example from explanations, become wrong. Queries
    /// visit archetypes in the order of their creation, and a set of components that comes back is
    /// the last in that order. So this changes the [`hash`](World::hash), though no version, and
    /// worlds that must stay equal have to call it at the same points; `compact` does not call it
    /// for this reason. O(archetypes × plans + entities in archetypes created after the first that
    /// is removed).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// let mut world = World::new();
    /// let entity = world.spawn(Health(1.0));
    /// world.insert(entity, Frozen)?;
    /// assert_eq!(world.reflect().archetypes().len(), 2);
    /// assert_eq!(world.memory_mut().retire_archetypes(), 1);
    /// assert_eq!(world.get::<Health>(entity).unwrap().0, 1.0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn retire_archetypes(&mut self) -> usize {
        self.world.flush();
        self.world.store.retire_archetypes()
    }

    /// Lets [`World::spawn_at`] skip any number of indices below `indices`, and allocates the
    /// memory for it: 16 bytes an index.
    ///
    /// Without it, `spawn_at` skips indices only while at most 1,048,576 free ids were never used,
    /// 16 MiB, so that stray ids do not allocate gigabytes. Ids that were on loan, or free between
    /// those of several systems, count as well. Call it to restore a sparse set of ids on purpose.
    /// It does not change which ids the world allocates by itself.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if `indices` is above the world's limit of ids, or would need too much
    /// memory. The world is unchanged.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let far = Entity::from_bits(3_000_000 << 32 | 1);
    /// let mut world = World::new();
    /// assert!(world.spawn_at(far, ()).is_err());
    /// world.memory_mut().grow_indices(far.index())?;
    /// assert!(world.spawn_at(far, ()).is_ok());
    /// # Ok::<(), phalanx::error::ReserveError>(())
    /// ```
    pub fn grow_indices(&mut self, indices: u32) -> Result<(), ReserveError> {
        self.world.flush();
        self.world.store.grow_indices(indices)
    }

    fn held_bytes(&self) -> usize {
        let memory = self.world.memory();
        memory.slab_bytes
            + memory.bookkeeping_bytes
            + memory.sparse_bytes
            + memory.event_bytes
            + memory.log_bytes
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::impl_component;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(u32);
    impl_component!(A as "A", B as "B");

    #[test]
    fn reserved_rows_are_counted_once_in_the_directory() {
        let mut world = World::new();
        let bytes = |world: &World| world.store.entities().capacity_bytes();
        world.reserve::<A>(100_000).expect("room");
        let of_one = bytes(&world);
        assert!((1_200_000..1_300_000).contains(&of_one), "{of_one}");
        world.reserve::<A>(100_000).expect("room");
        assert_eq!(bytes(&world), of_one, "the same rows");
        world.reserve::<B>(100_000).expect("room");
        let of_both = bytes(&world);
        assert!((2_400_000..2_600_000).contains(&of_both), "{of_both}");
    }
}
