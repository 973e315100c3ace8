//! Finds the cells of one component in many lists, by entity.
//!
//! The limit of a random read is the number of reads that the processor has in flight, and the work
//! that waits for the slot of the directory limits this number: each load and each step of
//! arithmetic that depends on the slot occupies a queue entry until the slot arrives. Neither huge
//! pages nor the size of chunks changed the time of a read; each load less after the slot did. ns
//! per read, 100,000 entities of 12-byte components in random order (Zen 5), and the loads that
//! wait for the slot:
//!
//! | a read | loads | ns |
//! | --- | --- | --- |
//! | one flat array per archetype, without checks | 2 | 2.1 |
//! | one archetype has the component | 3 | 2.4 |
//! | several have it, each word of a list and a chunk loaded separately | 6 | 3.4 |
//! | list, chunk and row looked up and checked one by one | 6 | 3.8 |
//!
//! Therefore a list is one word here, and the cells of a chunk are one entry of sixteen bytes. With
//! one word for the span of a chunk and another for its address, a read took 2.96 ns if several
//! archetypes had the component and 2.75 ns if one had it, in a run in which six loads took
//! 3.45 ns. One entry instead of two, one test instead of two, and everything that is rare out of
//! line took 76 instructions of a read to 44, in a release build without LTO.

#![expect(unsafe_code, reason = "addresses of columns, computed once for many random reads")]

use core::ptr;

use crate::component::Component;
use crate::entity::{DirectoryView, Entity, Location};
use crate::storage::chunk_list::ChunkList;

/// The columns of `C` in the chunks of several lists. A list is identified by its archetype's
/// number in the directory.
///
/// The lookups of [`ChunkList::cell`] are done once, in advance. Invariant, established by
/// [`CellFinder::push`]: the cells of each chunk are live.
#[derive(Debug)]
pub(super) struct CellFinder<'w, C> {
    directory: DirectoryView<'w>,
    /// The number of lists with rows of `C`. If only one has rows, other lists need not be looked
    /// up.
    with_rows: ListsWithRows,
    lists: Vec<ListView>,
    /// The cells of each chunk, list after list.
    chunks: Vec<ChunkCells<C>>,
    /// The cells of the chunks that are marked, and none for the others. Not longer than `chunks`,
    /// and empty in a finder that marks none.
    marked: Vec<ChunkCells<C>>,
}

/// The lists with rows. If several have rows, a list is found by its number.
#[derive(Clone, Copy, Debug)]
enum ListsWithRows {
    None,
    One { number: u32, shift: u32 },
    Several,
}

/// The number of a list's first chunk, and the shift of its positions: one load.
#[derive(Clone, Copy, Debug)]
struct ListView(u64);

impl ListView {
    /// A list without rows of the component: no finder reaches this number of chunks.
    const NONE: Self = Self::new(CHUNKS_MAX, 31);
    /// The same, for entities that are gone.
    const GONE: Self = Self::new(CHUNKS_MAX, 30);

    const fn new(first: u32, shift: u32) -> Self {
        Self(first as u64 | (shift as u64) << u32::BITS)
    }

    const fn is_gone(self) -> bool {
        self.0 == Self::GONE.0
    }

    /// The number of the chunk that has a position, if the list has it. Otherwise the sum may wrap
    /// if addresses have 32 bits, and the number is arbitrary.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower and the upper half")]
    const fn chunk(self, position: u32) -> usize {
        let number = position.wrapping_shr((self.0 >> u32::BITS) as u32);
        (self.0 as u32 as usize).wrapping_add(number as usize)
    }
}

/// The largest number of chunks in a finder.
const CHUNKS_MAX: u32 = u32::MAX / 2;

/// The cells of one chunk, whose rows have the positions from `begin` on.
#[derive(Debug)]
struct ChunkCells<C> {
    first: *const C,
    begin: u32,
    len: u32,
}

impl<C> Clone for ChunkCells<C> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for ChunkCells<C> {}

impl<C> ChunkCells<C> {
    const NONE: Self = Self { first: ptr::dangling(), begin: 0, len: 0 };
}

/// The reason why a view has no cell of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The entity is not alive.
    Entity,
    /// The entity lacks the component.
    Component,
}

/// A live cell.
pub(super) struct Found<C> {
    pub(super) chunk: usize,
    pub(super) cell: *const C,
    /// The row of the cell in its chunk.
    pub(super) row: u32,
}

impl<'w, C: Component> CellFinder<'w, C> {
    pub(super) fn new(directory: DirectoryView<'w>, lists: usize) -> Self {
        let (lists, with_rows) = (Vec::with_capacity(lists), ListsWithRows::None);
        Self { directory, with_rows, lists, chunks: Vec::new(), marked: Vec::new() }
    }

    /// Adds the next list, with its column of `C` if it has one, and whether its entities are gone.
    /// The addresses are valid as long as the list's rows do not move.
    ///
    /// # Panics
    ///
    /// If the column has another size than `C`.
    pub(super) fn push(&mut self, list: &ChunkList, column: Option<u16>, is_gone: bool) {
        let column = column.map(usize::from).filter(|_| list.chunk_len() > 0);
        let Some(column) = column else {
            self.lists.push(if is_gone { ListView::GONE } else { ListView::NONE });
            return;
        };
        list.columns()[column].assert_holds::<C>();
        let narrow = |n| u32::try_from(n).expect("the lists have 2^32 chunks or more");
        let (number, shift) = (narrow(self.lists.len()), u32::from(list.shift()));
        self.with_rows = match self.with_rows {
            ListsWithRows::None => ListsWithRows::One { number, shift },
            _ => ListsWithRows::Several,
        };
        let first = narrow(self.chunks.len());
        let fits = u64::from(first) + u64::from(list.chunk_len()) < u64::from(CHUNKS_MAX);
        assert!(fits, "the lists have two billion chunks or more");
        let column = list.layout().columns()[column];
        self.chunks.extend((0..list.chunk_len()).map(|chunk| {
            let first = if size_of::<C>() == 0 {
                ptr::dangling()
            } else {
                let place = list.blocks()[chunk as usize].place(list.capacity());
                // SAFETY: the block was allocated for the list's layout, which has this column.
                let start = unsafe { place.cell(column, 0) };
                start.as_ptr().cast_const().cast::<C>()
            };
            ChunkCells { first, begin: chunk.wrapping_shl(shift), len: list.rows(chunk) }
        }));
        self.lists.push(ListView::new(first, shift));
    }

    /// Number of chunks.
    pub(super) const fn chunk_len(&self) -> usize {
        self.chunks.len()
    }

    /// Makes room for the marks of all chunks so far.
    pub(super) fn reserve_marks(&mut self) {
        self.marked.resize(self.chunks.len(), ChunkCells::NONE);
    }

    /// Marks the chunk of a cell.
    #[inline]
    pub(super) fn mark(&mut self, found: &Found<C>) {
        self.marked[found.chunk] = self.chunks[found.chunk];
    }

    /// The cell of an entity.
    ///
    /// # Errors
    ///
    /// If the entity does not exist or lacks the component.
    #[inline]
    pub(super) fn find(&self, entity: Entity) -> Result<Found<C>, Absent> {
        match self.find_near(&self.chunks, entity) {
            Some(found) => Ok(found),
            None => self.find_far(entity),
        }
    }

    /// The cell of an entity in a marked chunk. `None` as well if its chunk is not marked, or its
    /// slot is far.
    #[inline]
    pub(super) fn find_marked(&self, entity: Entity) -> Option<Found<C>> {
        self.find_near(&self.marked, entity)
    }

    /// The cell of an entity among `chunks`, unless its slot is far.
    #[inline]
    fn find_near(&self, chunks: &[ChunkCells<C>], entity: Entity) -> Option<Found<C>> {
        let (chunk, at) = match self.with_rows {
            ListsWithRows::None => return None,
            ListsWithRows::One { number, shift } => {
                let at = self.directory.position_in(entity, number)?;
                (at.wrapping_shr(shift) as usize, at)
            }
            ListsWithRows::Several => self.place(self.directory.get_near(entity)?)?,
        };
        Self::cell_at(chunks, chunk, at)
    }

    /// The chunk and the position of a row. The location of a free slot is in no list.
    #[inline]
    fn place(&self, location: Location) -> Option<(usize, u32)> {
        let at = location.row().0;
        Some((self.lists.get(location.archetype().index())?.chunk(at), at))
    }

    /// The cell at a position, if it is one of the chunk. A position past the end of its list may
    /// be one of the next list.
    #[inline]
    fn cell_at(chunks: &[ChunkCells<C>], chunk: usize, at: u32) -> Option<Found<C>> {
        let ChunkCells { first, begin, len } = *chunks.get(chunk)?;
        let row = at.wrapping_sub(begin);
        (row < len).then(|| Found { chunk, cell: first.wrapping_add(row as usize), row })
    }

    /// [`CellFinder::find`] for an entity that was not found near, and the reason if it has no
    /// cell.
    #[cold]
    #[inline(never)]
    fn find_far(&self, entity: Entity) -> Result<Found<C>, Absent> {
        let place = match self.directory.resolve(entity) {
            Ok(Some(place)) => place,
            Ok(None) => return Err(Absent::Component),
            Err(_) => return Err(Absent::Entity),
        };
        let list = self.lists[place.archetype().index()];
        if list.is_gone() {
            return Err(Absent::Entity);
        }
        let at = place.row().0;
        Self::cell_at(&self.chunks, list.chunk(at), at).ok_or(Absent::Component)
    }
}
