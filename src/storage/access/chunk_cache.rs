//! The addresses of single chunks, kept for passes over thousands of small archetypes.
//!
//! In a world of thousands of archetypes most have one chunk. Entering each of them (its entry in
//! the plan, its list, its stamps) took 200 instructions and six cache lines. The cache has the
//! same addresses side by side, in the order of the pass. They are valid as long as the lists do
//! not change, which the owner of the cache must know: see [`ChunkCache::chunks`].
//!
//! Taking a chunk reads a length and two addresses per column, and compares one word per column.
//! The common facts of all entries (types, write access, whether another entry follows) are
//! computed before the pass, so that taking a chunk costs about twenty instructions.

#![expect(
    unsafe_code,
    reason = "addresses kept from one pass to the next; entering each list took 200 instructions"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::{Component, Values};
use crate::entity::Entity;
use crate::version::Version;

use super::access_kind::AccessKind;
use super::borrow::Borrow;
use super::chunk_iter::Columns;
use super::column_map::{ArchetypeColumns, ColumnRef};
use super::column_type::{COLUMNS_MAX, ColumnType, ColumnTypes};
use crate::storage::block::Place;
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::padded_rows;
use crate::storage::slice_rows::SliceRows;
use crate::storage::stamps::{Stamp, StampKind, Stamps};

/// The entries of a [`ColumnMap`](super::ColumnMap), resolved to addresses where a list has one
/// chunk. In the order of C: the start of a pass reads the vectors and the types at the end.
#[derive(Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct ChunkCache {
    /// The entities of each entry. Stored separately, because few queries read them.
    entities: Vec<CachedEntities>,
    types: ColumnTypes,
    /// For each entry as many columns as the map is wide.
    columns: Vec<CachedColumn>,
    lens: Vec<CachedLen>,
}

/// Live rows of a list's single chunk: zero if it has no chunk, [`CachedLen::MANY`] if it has
/// several.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct CachedLen {
    live: u32,
    /// The live rows, rounded up to whole vectors.
    padded: u32,
}

impl CachedLen {
    const MANY: u32 = u32::MAX;
}

/// One column of a list's single chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CachedColumn {
    /// The address of the first row. `None` if the archetype lacks the column.
    start: Option<NonNull<u8>>,
    stamp: NonNull<Stamp>,
}

/// The first entity of a list's single chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CachedEntities(NonNull<Entity>);

const _: () = assert!(size_of::<CachedLen>() <= 8, "the lengths of eight entries exceed a line");
const _: () = assert!(size_of::<CachedColumn>() <= 16, "four columns exceed a line");

// SAFETY: the addresses point to memory that archetypes own, or share with others, and that moves
// between threads with them. They are only used through a `CachedChunks`, which has a contract
// about all accesses. They point to components and stamps, which are `Send`.
unsafe impl Send for CachedColumn {}
// SAFETY: a shared `CachedColumn` gives no access: the addresses are only used through a
// `CachedChunks`, which has a contract about all accesses.
unsafe impl Sync for CachedColumn {}
// SAFETY: as for `CachedColumn`; an entity is a plain number.
unsafe impl Send for CachedEntities {}
// SAFETY: as for `CachedColumn`; an entity is a plain number.
unsafe impl Sync for CachedEntities {}

/// The next step of a pass when no cached chunk can be taken directly.
#[derive(Debug)]
pub(crate) enum CacheNext {
    /// A cached chunk.
    Chunk,
    /// The list of this entry, which has several chunks. They are taken from the list itself.
    List(usize),
    /// The pass is complete.
    End,
}

impl ChunkCache {
    /// The number of entries.
    pub(crate) const fn len(&self) -> usize {
        self.lens.len()
    }

    /// Bytes of the cache.
    pub(crate) fn bytes(&self) -> usize {
        self.lens.capacity() * size_of::<CachedLen>()
            + self.columns.capacity() * size_of::<CachedColumn>()
            + self.entities.capacity() * size_of::<CachedEntities>()
    }

    /// Makes room for `entries` of `width` columns, more than there are, up to a power of two.
    pub(crate) fn reserve(&mut self, entries: usize, width: usize) {
        let more = entries.next_power_of_two() - self.lens.len();
        self.lens.reserve(more);
        self.entities.reserve(more);
        self.columns.reserve(more * width);
    }

    /// Resolves entry `index`, either an existing one or the next one, to the addresses of `list`,
    /// `stamps` and `entities`.
    ///
    /// # Panics
    ///
    /// If the entry belongs to another list, the numbers of entities and rows or of stamps and
    /// chunks differ, the entry differs from the others in the number of its columns or in their
    /// types, or it has more than [`COLUMNS_MAX`] columns.
    pub(crate) fn set(
        &mut self,
        index: usize,
        entry: ArchetypeColumns<'_>,
        list: &ChunkList,
        stamps: &Stamps,
        entities: &[Entity],
    ) {
        assert!(entry.key == list.key(), "the entry belongs to another list");
        assert!(
            entities.len() == list.len(),
            "there are {} entities for {} rows",
            entities.len(),
            list.len()
        );
        let chunks = list.chunk_len();
        assert!(stamps.chunk_len() == chunks as usize, "not a stamp for each of {chunks} chunks");
        let (live, padded) = match chunks {
            0 => (0, 0),
            1 => (list.tail(), padded_rows(list.tail(), list.capacity())),
            _ => (CachedLen::MANY, CachedLen::MANY),
        };
        let width = entry.columns().len();
        self.types.record_width(width, self.lens.is_empty());
        let (len, entities) = (CachedLen { live, padded }, NonNull::from(entities).cast());
        let entities = CachedEntities(entities);
        if index == self.lens.len() {
            let absent = CachedColumn { start: None, stamp: NonNull::dangling() };
            self.columns.resize((index + 1) * width, absent);
            self.entities.push(entities);
            self.lens.push(len);
        }
        (self.lens[index], self.entities[index]) = (len, entities);
        let place = list.blocks().first().map(|block| block.place(list.capacity()));
        let all = self.columns[index * width..].iter_mut();
        for (i, (cached, column)) in all.zip(entry.columns()).enumerate() {
            if let Some(column_type) = column.type_of_slice() {
                let values = entry.values[i].expect("a column has no values");
                self.types.record(i, column_type, values);
            }
            *cached = cached_column(column, place, stamps);
        }
    }

    /// A pass over the entries.
    ///
    /// # Safety
    ///
    /// Since the last [`ChunkCache::set`] of each entry, its list, stamps and entities have not
    /// been changed, except for the values of cells and stamps. They are borrowed for `'w`. For as
    /// long, no code but this pass writes the cells of the entries' columns. The pass does so only
    /// with [`Borrow::Exclusive`], and in this case no other code reads the columns that it writes.
    #[inline]
    pub(crate) unsafe fn chunks(&self, borrow: Borrow, slice_rows: SliceRows) -> CachedChunks<'_> {
        // Not derived from one entry: the address must be valid for the field in all of them.
        let lens =
            self.lens.as_ptr().cast::<u32>().wrapping_add(usize::from(slice_rows.is_padded()));
        CachedChunks {
            next: 0,
            end: self.lens.len(),
            lens,
            columns: self.columns.as_ptr(),
            width: self.types.width(),
            types: self.types.of(borrow),
            cache: self,
        }
    }
}

/// A column of a list whose first block has this place.
fn cached_column(column: &ColumnRef, place: Option<Place>, stamps: &Stamps) -> CachedColumn {
    let start = match (column.column(), place) {
        (None, _) => None,
        (Some(_), _) if column.is_beside() => None,
        // A list of tags has no block, and neither has a list without rows.
        (Some(_), None) => Some(NonNull::dangling()),
        (Some(_), Some(place)) => {
            let (first, chunk) = column.in_blocks();
            // SAFETY: `set` has compared the keys: the column is of this list's layouts, for which
            // the block was allocated (`Blocks`).
            Some(unsafe { place.column(first, chunk) })
        }
    };
    let written = column.written().filter(|_| stamps.chunk_len() == 1).map(StampKind::column);
    let stamp = written.map_or(NonNull::dangling(), |kind| stamps.single_stamp(kind));
    CachedColumn { start, stamp }
}

/// Takes the chunk of each entry of a [`ChunkCache`] at most once, in order.
///
/// The entries from `next` on are still to be taken. The pass stops at `end`, which is at most
/// `next` while it is halted. Both are at most the number of entries. Each entry has `width`
/// columns.
#[derive(Debug)]
pub(crate) struct CachedChunks<'w> {
    next: usize,
    end: usize,
    /// The length of entry 0, live or padded. The length of the next entry is two words further.
    lens: *const u32,
    /// The columns of entry 0.
    columns: *const CachedColumn,
    width: usize,
    types: &'w [ColumnType; COLUMNS_MAX],
    /// Rarely needed parts, and the owner of the memory that the addresses above point into.
    cache: &'w ChunkCache,
}

// SAFETY: the addresses come from a shared borrow of the cache's vectors, and their elements are
// `Sync`. An exclusive pass is also the right to write components, which are `Send`; a shared one
// reads them, and they are `Sync`.
unsafe impl Send for CachedChunks<'_> {}
// SAFETY: a shared `CachedChunks` only reads the cache's vectors, and their elements are `Sync`.
unsafe impl Sync for CachedChunks<'_> {}

impl<'w> CachedChunks<'w> {
    /// Entries that were taken or skipped.
    #[inline]
    pub(crate) const fn index(&self) -> usize {
        self.next
    }

    /// Whether all entries were taken or skipped.
    #[inline(always)]
    pub(crate) const fn is_over(&self) -> bool {
        self.next >= self.cache.lens.len()
    }

    /// Moves the pass out and leaves one that is over.
    #[inline]
    pub(crate) const fn take(&mut self) -> Self {
        let over = self.cache.lens.len();
        let next = core::mem::replace(&mut self.next, over);
        let end = core::mem::replace(&mut self.end, over);
        Self { next, end, ..*self }
    }

    /// Skips the entries before entry `index` and halts there until the pass is resumed.
    #[inline]
    pub(crate) fn halt_at(&mut self, index: usize) {
        self.next = index.clamp(self.next, self.cache.lens.len());
        self.end = self.next;
    }

    /// Resumes a halted pass at its next entry with rows, without taking its chunk.
    pub(crate) fn resume(&mut self) -> CacheNext {
        loop {
            match self.cache.lens.get(self.next) {
                None => return CacheNext::End,
                Some(len) if len.live == CachedLen::MANY => return CacheNext::List(self.next),
                Some(len) if len.live == 0 => self.next += 1,
                Some(_) => {
                    self.end = self.cache.lens.len();
                    return CacheNext::Chunk;
                }
            }
        }
    }

    /// Takes the next chunk. `None` if the list has no or several chunks, at the end, or while
    /// halted.
    #[inline(always)]
    pub(crate) fn next(&mut self, now: Version) -> Option<CachedChunk<'w>> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        // SAFETY: `index` is less than `end` and so less than the number of entries, and the length
        // of an entry is two words.
        let len = unsafe { *self.lens.wrapping_add(2 * index) };
        // Neither zero nor `MANY`.
        if len.wrapping_sub(1) >= CachedLen::MANY - 1 {
            return None;
        }
        self.next = index + 1;
        let at = CacheEntry { index, cache: self.cache };
        let columns = self.columns.wrapping_add(index * self.width);
        let len = len as usize;
        Some(CachedChunk { columns, next: 0, types: self.types, len, at, now, borrow: PhantomData })
    }
}

/// An entry of a cache, which most queries never read.
#[derive(Clone, Copy, Debug)]
struct CacheEntry<'w> {
    index: usize,
    cache: &'w ChunkCache,
}

/// A list's single chunk. Each column is taken from it once. Columns taken for writing are stamped.
#[derive(Debug)]
pub(crate) struct CachedChunk<'w> {
    /// The columns of the entry, `width` of the cache in number.
    columns: *const CachedColumn,
    /// The index of the next column.
    next: usize,
    types: &'w [ColumnType; COLUMNS_MAX],
    len: usize,
    at: CacheEntry<'w>,
    now: Version,
    borrow: PhantomData<&'w mut [u8]>,
}

impl<'w> CachedChunk<'w> {
    /// The entities of the live rows.
    #[inline]
    pub(crate) fn entities(&self) -> &'w [Entity] {
        let CacheEntry { index, cache } = self.at;
        // SAFETY: `index` is an entry of the cache. (A bounds check would cost something for each
        // chunk, although most queries do not use entities.)
        let live = unsafe { *cache.lens.as_ptr().wrapping_add(index) }.live;
        // SAFETY: `index` is an entry of the cache, which has an element of `entities` for each.
        let first = unsafe { *cache.entities.as_ptr().wrapping_add(index) }.0;
        // SAFETY: `set` asserted that there is an entity for each live row. By the contract of
        // `ChunkCache::chunks` neither has changed since, and no code writes entities while the
        // list is borrowed.
        unsafe { slice::from_raw_parts(first.as_ptr(), live as usize) }
    }

    /// The next column, if the entry has it.
    #[inline(always)]
    fn next<C: Component>(&mut self, access: AccessKind) -> Option<(CachedColumn, NonNull<C>)> {
        let wanted = ColumnType::of::<C>(access);
        let (index, column_type) = (self.next, self.types[self.next]);
        self.next += 1;
        if column_type != wanted {
            column_type.assert_unknown();
            return None;
        }
        if !Values::are_any::<C>() {
            let values = self.at.cache.types.values(index);
            assert!(values.are_of::<C>(), "the column has other values than the type");
        }
        // SAFETY: a column with the type of `C` has an index less than `width`, and each entry has
        // `width` columns.
        let column = unsafe { *self.columns.wrapping_add(index) };
        let start = column.start?;
        Some((column, if size_of::<C>() == 0 { NonNull::dangling() } else { start.cast() }))
    }
}

impl<'w> Columns<'w> for CachedChunk<'w> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let (_, start) = self.next::<C>(AccessKind::Read)?;
        // SAFETY: `start` is the address that `set` found: the first row of a column of this size,
        // alignment and values, with `len` initialised rows. No code writes them for `'w`: the
        // entry names no written column twice (`ColumnMap::push`), and the contract of
        // `ChunkCache::chunks` covers all other code.
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline(always)]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let (column, start) = self.next::<C>(AccessKind::Write)?;
        // SAFETY: the chunk is its list's only one, and `set` found its stamp. By the contract of
        // `ChunkCache::chunks` the stamps are borrowed for `'w` and have not moved.
        unsafe { column.stamp.as_ref() }.set(self.now);
        // SAFETY: aligned and initialised as in `column`. The slice is exclusive: only an exclusive
        // pass has types that may be written, and by the contract of `ChunkCache::chunks` no other
        // code accesses the columns it writes; a pass takes each entry once; no two entries are of
        // one list, and the entry names the column once (`ColumnMap::push`).
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }

    fn beside(&mut self) -> u16 {
        unreachable!("a query of what lies beside columns takes no cached chunk")
    }
}

#[cfg(test)]
mod tests {
    use super::super::column_map::{ColumnMap, ColumnUse};
    use super::super::{BundleCells, DistinctColumns};
    use super::AccessKind::{Read, Write};
    use super::Borrow::{Exclusive, Shared};
    use super::*;
    use crate::storage::chunk_size::ChunkSize;
    use crate::storage::layout::{ColumnShape, ListLayout};
    use crate::storage::pool::Pool;
    use crate::storage::stamps::SharedLines;

    #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(transparent)]
    struct Cells<const N: usize>([u32; N]);
    type Number = Cells<1>;
    type Pair = Cells<2>;
    crate::impl_component!(Cells<1>, Cells<2>);

    const NOW: Version = Version::from_bits(7);

    /// Calls `look` with a pass over one list of one row, and the list's stamps.
    fn with_chunks(
        access: AccessKind,
        borrow: Borrow,
        look: impl FnOnce(&Stamps, CachedChunks<'_>),
    ) {
        let shape = ColumnShape::plain("number", 4, 4);
        let layout =
            ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("the layout does not fit");
        let (mut list, mut stamps, mut pool) =
            (ChunkList::new(layout), Stamps::new(1, &mut SharedLines::default()), Pool::default());
        let cells = BundleCells::new(&list, DistinctColumns::new(vec![0]));
        cells.write(list.next_row(&mut pool), |row| row.put(&[0; 4]));
        stamps.push_chunk();
        let entities = [Entity::from_bits(1 << 32)];
        let mut map = ColumnMap::new(1);
        let write = access.is_write();
        map.push(0, &list, [ColumnUse { column: Some(0), write, beside: false }]);
        let mut cache = ChunkCache::default();
        let (_, entry) = map.get(0).expect("the map has no entry");
        cache.set(0, entry, &list, &stamps, &entities);
        // SAFETY: the list, stamps and entities stay unchanged, and no other code accesses the
        // list.
        let mut chunks = unsafe { cache.chunks(borrow, SliceRows::Live) };
        assert!(matches!(chunks.resume(), CacheNext::Chunk));
        look(&stamps, chunks);
    }

    #[test]
    fn a_chunk_is_taken_once_and_not_while_the_pass_is_halted() {
        with_chunks(Write, Exclusive, |stamps, mut chunks| {
            let mut columns = chunks.next(NOW).expect("the pass has no chunk");
            assert_eq!(columns.column_mut::<Number>().map(|run| run.len()), Some(1));
            assert_eq!(stamps.get(StampKind::column(0), 0), NOW);
            assert!(chunks.next(NOW).is_none());
            chunks.halt_at(0);
            assert!(
                matches!(chunks.resume(), CacheNext::End),
                "a pass went back to a chunk that was taken"
            );
        });
        with_chunks(Write, Exclusive, |_, mut chunks| {
            chunks.halt_at(0);
            assert!(chunks.next(NOW).is_none());
            chunks.halt_at(1);
            assert!(matches!(chunks.resume(), CacheNext::End));
        });
    }

    #[test]
    #[should_panic(expected = "the column has another size")]
    fn a_column_is_of_one_type() {
        with_chunks(Read, Shared, |_, mut chunks| {
            chunks.next(NOW).expect("the pass has no chunk").column::<Pair>();
        });
    }

    #[test]
    #[should_panic(expected = "for reading only")]
    fn a_pass_that_reads_writes_nothing() {
        with_chunks(Write, Shared, |_, mut chunks| {
            chunks.next(NOW).expect("the pass has no chunk").column_mut::<Number>();
        });
    }

    #[test]
    #[should_panic(expected = "no column left")]
    fn an_entry_has_no_more_columns_than_its_cache() {
        with_chunks(Read, Shared, |_, mut chunks| {
            let mut columns = chunks.next(NOW).expect("the pass has no chunk");
            assert_eq!(columns.column::<Number>().map(<[_]>::len), Some(1));
            columns.column::<Number>();
        });
    }
}
