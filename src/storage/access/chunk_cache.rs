//! Chunks cut ahead of time: what a walk over thousands of small archetypes reads.
//!
//! Most archetypes of such a world have one chunk. Entering each of them (its row of the plan, its
//! list, its stamps) took 200 instructions and six cache lines; here the same is addresses side by
//! side, in the order of the walk. They hold as long as the lists do not change, which their owner
//! must know: see [`ChunkCache::walk`].
//!
//! A turn reads a length and a pair of addresses a column, and compares one word a column: what all
//! rows have in common (types, what may be written, whether there is another row) is worked out
//! before the walk, so that the turn is some twenty instructions.

#![expect(
    unsafe_code,
    reason = "addresses kept from one walk to the next; entering each list took 200 instructions"
)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

use crate::component::Component;
use crate::entity::Entity;
use crate::version::Version;

use super::chunk_iter::Columns;
use super::column_map::{ArchetypeColumns, ColumnRef};
use super::column_type::{COLUMNS_MAX, ColumnType, ColumnTypes};
use crate::storage::chunk_list::ChunkList;
use crate::storage::layout::padded_rows;
use crate::storage::stamps::{Stamp, StampKind, Stamps};

/// The rows of a [`ColumnMap`](super::ColumnMap), resolved to addresses where a list has one chunk.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ChunkCache {
    rows: Vec<CachedRow>,
    /// As many a row as the table is wide.
    columns: Vec<CachedColumn>,
    /// The entities of each row: what few queries ask for stands apart.
    entities: Vec<CachedEntities>,
    shapes: ColumnTypes,
}

/// Live rows of one list's only chunk: zero if it has none, [`CachedRow::MANY`] if it has several.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct CachedRow {
    live: u32,
    /// Rounded up to whole vectors.
    padded: u32,
}

impl CachedRow {
    const MANY: u32 = u32::MAX;
}

/// One column of a list's only chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CachedColumn {
    /// Its first row; `None` if the archetype lacks it.
    start: Option<NonNull<u8>>,
    /// The stamp of the only chunk.
    stamp: NonNull<Stamp>,
}

/// The first entity of a list's only chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CachedEntities(NonNull<Entity>);

const _: () = assert!(size_of::<CachedRow>() <= 8, "eight rows a line");
const _: () = assert!(size_of::<CachedColumn>() <= 16, "four columns a line");

// SAFETY: the addresses are of memory that archetypes own, or share with others, and that moves
// between threads with them;
// what they are for is decided by who has a `CachedChunks`; what is there is components and stamps,
// which are `Send`.
unsafe impl Send for CachedColumn {}
// SAFETY: as above.
unsafe impl Sync for CachedColumn {}
// SAFETY: as above; an entity is a plain number.
unsafe impl Send for CachedEntities {}
// SAFETY: as above.
unsafe impl Sync for CachedEntities {}

/// What comes next where it is no chunk that is cut ahead of time.
#[derive(Debug)]
pub(crate) enum CacheNext {
    /// A chunk that is.
    Ready,
    /// The list of this row, which has several chunks: they are cut from the list itself.
    Many(usize),
    /// Nothing.
    End,
}

impl ChunkCache {
    /// No rows.
    const EMPTY: &'static Self = &Self {
        rows: Vec::new(),
        columns: Vec::new(),
        entities: Vec::new(),
        shapes: ColumnTypes::NONE,
    };

    /// Rows that are resolved.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<CachedRow>()
            + self.columns.capacity() * size_of::<CachedColumn>()
            + self.entities.capacity() * size_of::<CachedEntities>()
    }

    /// Room for `rows` rows of `width` columns in all.
    pub(crate) fn reserve(&mut self, rows: usize, width: usize) {
        self.rows.reserve(rows.saturating_sub(self.rows.len()));
        self.entities.reserve(rows.saturating_sub(self.entities.len()));
        self.columns.reserve((rows * width).saturating_sub(self.columns.len()));
    }

    /// Resolves row `index`, which is `row` of the table, of a list with these stamps and entities:
    /// one of those that are there, or the next one.
    ///
    /// # Panics
    ///
    /// If the row was made for another list, there is not an entity for each row or a stamp for
    /// each chunk, or the row differs from the others in the number of its columns or in their
    /// types, or has more than twelve.
    pub(crate) fn set(
        &mut self,
        index: usize,
        row: ArchetypeColumns<'_>,
        list: &ChunkList,
        stamps: &Stamps,
        entities: &[Entity],
    ) {
        assert!(row.key == list.key(), "the row was made for another list");
        assert!(entities.len() == list.len(), "{} entities of {} rows", entities.len(), list.len());
        let chunks = list.chunk_count();
        assert!(
            stamps.chunks() == chunks as usize,
            "stamps of another list than of {chunks} chunks"
        );
        let (live, padded) = match chunks {
            0 => (0, 0),
            1 => (list.tail(), padded_rows(list.tail(), list.capacity())),
            _ => (CachedRow::MANY, CachedRow::MANY),
        };
        let width = row.columns().len();
        self.shapes.learn_width(width, self.rows.is_empty());
        let head = CachedRow { live, padded };
        let entities = CachedEntities(NonNull::from(entities).cast());
        if index == self.rows.len() {
            let absent = CachedColumn { start: None, stamp: NonNull::dangling() };
            self.columns.resize(self.columns.len() + width, absent);
            self.entities.push(entities);
            self.rows.push(head);
        }
        self.rows[index] = head;
        self.entities[index] = entities;
        for (place, column) in row.columns().iter().enumerate() {
            self.shapes.learn(place, column, list);
            self.columns[index * width + place] = ready_column(column, list, stamps);
        }
    }

    /// A walk over the rows.
    ///
    /// # Safety
    ///
    /// Since the last [`ChunkCache::set`] of each row, its list, stamps and entities have not been
    /// changed but for the values of cells and stamps; for `'w` they are borrowed; and for as long
    /// nobody writes the cells of the rows' columns but this walk, which does so only if `exclusive`
    /// is true, and then nobody else reads what it writes.
    #[inline]
    pub(crate) unsafe fn walk(&self, exclusive: bool) -> CachedChunks<'_> {
        CachedChunks {
            end: self.rows.len(),
            ..CachedChunks::start(self, self.shapes.of(exclusive))
        }
    }
}

fn ready_column(column: &ColumnRef, list: &ChunkList, stamps: &Stamps) -> CachedColumn {
    let start = match (column.column(), list.blocks().first()) {
        (None, _) => None,
        // Rows of tags only have no block, and a list without rows none either.
        (Some(_), None) => Some(NonNull::dangling()),
        (Some(_), Some(block)) => {
            let offset = column.offsets[usize::from(list.is_small())] as usize;
            // SAFETY: `ChunkLayout` proves that the column starts inside the block, and the key
            // that the offset is of this list's layout.
            Some(unsafe { block.base().add(offset) })
        }
    };
    let written = column.written().filter(|_| list.chunk_count() == 1);
    let stamp =
        written.map_or(NonNull::dangling(), |number| stamps.only(StampKind::column(number)));
    CachedColumn { start, stamp }
}

/// Cuts each row of a [`ChunkCache`] at most once, in order.
///
/// Rows are those of the table from `next` on; it stops at `end`, which is the same as `next` while it is halted.
/// Both are at most the number of rows, for which there are `width` columns each.
#[derive(Debug)]
pub(crate) struct CachedChunks<'w> {
    next: usize,
    end: usize,
    /// The length of row 0, live or padded. That of the next row is two words on.
    lens: *const u32,
    /// The columns of row 0.
    columns: *const CachedColumn,
    width: usize,
    shapes: &'w [ColumnType; COLUMNS_MAX],
    /// What turns ask for seldom, and what the addresses above point into.
    table: &'w ChunkCache,
}

// SAFETY: the addresses are those of a shared borrow of the table's vectors, whose elements are
// `Sync`.
unsafe impl Send for CachedChunks<'_> {}
// SAFETY: as above.
unsafe impl Sync for CachedChunks<'_> {}

impl<'w> CachedChunks<'w> {
    /// No rows.
    #[inline]
    pub(crate) const fn empty() -> Self {
        Self::start(ChunkCache::EMPTY, ChunkCache::EMPTY.shapes.of(false))
    }

    /// Halted at the first row.
    #[inline]
    const fn start(table: &'w ChunkCache, shapes: &'w [ColumnType; COLUMNS_MAX]) -> Self {
        let (lens, columns) = (table.rows.as_ptr().cast(), table.columns.as_ptr());
        Self { next: 0, end: 0, lens, columns, width: table.shapes.width(), shapes, table }
    }

    /// Rounds the slices of the rows ahead up to whole vectors, or does not.
    #[inline]
    pub(crate) const fn set_padded(&mut self, padded: bool) {
        // Not through a row: the address is that of a field of all of them.
        self.lens = self.table.rows.as_ptr().cast::<u32>().wrapping_add(padded as usize);
    }

    /// Rows that are behind.
    #[inline]
    pub(crate) const fn index(&self) -> usize {
        self.next
    }

    /// Takes the walk out, and leaves one behind that has no rows.
    #[inline]
    pub(crate) const fn take(&mut self) -> Self {
        core::mem::replace(self, Self::empty())
    }

    /// Passes over the rows before row `index`, and halts there until it is resumed.
    #[inline]
    pub(crate) fn halt_at(&mut self, index: usize) {
        self.next = index.clamp(self.next, self.table.rows.len());
        self.end = self.next;
    }

    /// Goes on from where it was halted, as far as the next chunk, which is not cut yet.
    pub(crate) fn resume(&mut self) -> CacheNext {
        loop {
            match self.table.rows.get(self.next) {
                None => return CacheNext::End,
                Some(row) if row.live == CachedRow::MANY => return CacheNext::Many(self.next),
                Some(row) if row.live == 0 => self.next += 1,
                Some(_) => {
                    self.end = self.table.rows.len();
                    return CacheNext::Ready;
                }
            }
        }
    }

    /// The next row, if it is a chunk; `None` if it is not, at the end, or while halted.
    #[inline(always)]
    pub(crate) fn next(&mut self, now: Version) -> Option<CachedChunk<'w>> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        // SAFETY: `index` is less than the number of rows, and a row is two words.
        let len = unsafe { *self.lens.wrapping_add(2 * index) };
        // Neither zero nor `MANY`.
        if len.wrapping_sub(1) >= CachedRow::MANY - 1 {
            return None;
        }
        self.next = index + 1;
        let at = CachePosition { index, table: self.table };
        let columns = self.columns.wrapping_add(index * self.width);
        let len = len as usize;
        Some(CachedChunk {
            columns,
            place: 0,
            shapes: self.shapes,
            len,
            at,
            now,
            borrow: PhantomData,
        })
    }
}

/// A row of a table, of which most queries look at nothing.
#[derive(Clone, Copy, Debug)]
struct CachePosition<'w> {
    index: usize,
    table: &'w ChunkCache,
}

/// A list's only chunk, from which each column is taken once. Those taken for writing are stamped.
#[derive(Debug)]
pub(crate) struct CachedChunk<'w> {
    /// As many as there are places in the table.
    columns: *const CachedColumn,
    /// The place of the column that is taken next.
    place: usize,
    shapes: &'w [ColumnType; COLUMNS_MAX],
    len: usize,
    at: CachePosition<'w>,
    now: Version,
    borrow: PhantomData<&'w mut [u8]>,
}

impl<'w> CachedChunk<'w> {
    /// The entities of the live rows.
    #[inline]
    pub(crate) fn entities(&self) -> &'w [Entity] {
        let CachePosition { index, table } = self.at;
        // SAFETY: `index` is a row of the table. (A check would be made for each chunk, although most
        // queries have no use for its entities.)
        let live = unsafe { *table.rows.as_ptr().wrapping_add(index) }.live;
        // SAFETY: as above; there are as many of both.
        let first = unsafe { *table.entities.as_ptr().wrapping_add(index) }.0;
        // SAFETY: `set` saw an entity for each live row, and by `ChunkCache::walk` neither has
        // changed since; nobody writes entities while rows are borrowed.
        unsafe { slice::from_raw_parts(first.as_ptr(), live as usize) }
    }

    /// The next column, if the row has it.
    #[inline(always)]
    fn next<C: Component>(&mut self, write: bool) -> Option<(CachedColumn, NonNull<C>)> {
        let want =
            const { [ColumnType::of::<C>(false), ColumnType::of::<C>(true)] }[usize::from(write)];
        let (place, shape) = (self.place, self.shapes[self.place]);
        self.place += 1;
        if shape != want {
            shape.assert_unknown();
            return None;
        }
        // SAFETY: what has a shape is a place of the table, of which there are `width`, and so many
        // columns for each of the rows.
        let column = unsafe { *self.columns.wrapping_add(place) };
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
        let (_, start) = self.next::<C>(false)?;
        // SAFETY: `start` is the first row of a column of this size and alignment with `len`
        // initialised rows, as it was when `set` took it; nobody writes them for `'w`: the plan's
        // row names no written column twice, and by `ChunkCache::walk` the list is borrowed.
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline(always)]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let (column, start) = self.next::<C>(true)?;
        // SAFETY: a row that is cut is of one chunk, whose stamp `set` found here; by
        // `ChunkCache::walk` it is borrowed for `'w`.
        unsafe { column.stamp.as_ref() }.set(self.now);
        // SAFETY: as in `column`; and exclusive, because only the shapes of an exclusive walk may be
        // written, by `ChunkCache::walk` its list is borrowed so, a walk cuts each row once, and
        // this is the only mention of the column in the row.
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::column_map::{ColumnMap, ColumnUse};
    use super::super::{BundleCells, DistinctColumns};
    use super::*;
    use crate::storage::layout::{ChunkSize, ColumnShape, ListLayout};
    use crate::storage::slab::Pool;
    use crate::storage::stamps::SharedLines;

    #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Number(u32);
    #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct Pair([u32; 2]);
    crate::component!(Number, Pair);

    const NOW: Version = Version::from_bits(7);

    /// A walk over one list of one row, and its stamps.
    fn with_walk(write: bool, exclusive: bool, look: impl FnOnce(&Stamps, CachedChunks<'_>)) {
        let shape = ColumnShape { name: "number", size: 4, align: 4 };
        let layout = ListLayout::new(ChunkSize::KIB_4, vec![shape]).expect("fits");
        let (mut list, mut stamps, mut pool) =
            (ChunkList::new(layout), Stamps::new(1, &mut SharedLines::default()), Pool::default());
        let cells = BundleCells::new(&list, DistinctColumns::new(vec![0]));
        cells.write(list.next_row(&mut pool), |row| row.put(&[0; 4]));
        stamps.push_chunk();
        let entities = [Entity::from_bits(1 << 32)];
        let mut table = ColumnMap::new(1);
        table.push(0, &list, [ColumnUse { column: Some(0), write }]);
        let mut ready = ChunkCache::default();
        let (_, row) = table.row(0).expect("a row");
        ready.set(0, row, &list, &stamps, &entities);
        // SAFETY: all of it stays as it is, and nobody else looks at the list.
        let mut walk = unsafe { ready.walk(exclusive) };
        assert!(matches!(walk.resume(), CacheNext::Ready));
        look(&stamps, walk);
    }

    #[test]
    fn a_row_is_cut_once_and_not_while_the_walk_is_halted() {
        with_walk(true, true, |stamps, mut walk| {
            let mut cutter = walk.next(NOW).expect("a row");
            assert_eq!(cutter.column_mut::<Number>().map(|run| run.len()), Some(1));
            assert_eq!(stamps.get(StampKind::column(0), 0), NOW);
            assert!(walk.next(NOW).is_none());
            walk.halt_at(0);
            assert!(matches!(walk.resume(), CacheNext::End), "halts are never behind");
        });
        with_walk(true, true, |_, mut walk| {
            walk.halt_at(0);
            assert!(walk.next(NOW).is_none());
            walk.halt_at(1);
            assert!(matches!(walk.resume(), CacheNext::End));
        });
    }

    #[test]
    #[should_panic(expected = "a column of this size")]
    fn a_column_is_of_one_type() {
        with_walk(false, false, |_, mut walk| {
            walk.next(NOW).expect("a row").column::<Pair>();
        });
    }

    #[test]
    #[should_panic(expected = "to be written")]
    fn a_walk_that_reads_writes_nothing() {
        with_walk(true, false, |_, mut walk| {
            walk.next(NOW).expect("a row").column_mut::<Number>();
        });
    }

    #[test]
    #[should_panic(expected = "a column for every term")]
    fn a_row_has_no_more_columns_than_its_table() {
        with_walk(false, false, |_, mut walk| {
            let mut cutter = walk.next(NOW).expect("a row");
            assert_eq!(cutter.column::<Number>().map(<[_]>::len), Some(1));
            cutter.column::<Number>();
        });
    }
}
