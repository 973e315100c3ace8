//! Chunks cut ahead of time: what a walk over thousands of small archetypes reads.
//!
//! Most archetypes of such a world have one chunk. Entering each of them (its row of the plan, its
//! list, its stamps) took 200 instructions and six cache lines; here the same is addresses side by
//! side, in the order of the walk. They hold as long as the lists do not change, which their owner
//! must know: see [`ReadyTable::walk`].

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

use super::super::chunk::ChunkList;
use super::super::layout::{is_aligned_for, padded_rows};
use super::super::stamps::{Run, Stamp, Stamps};
use super::cut::TakeColumns;
use super::table::{CutColumn, CutRow};

/// The rows of a [`CutTable`](super::CutTable), resolved to addresses where a list has one chunk.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReadyTable {
    rows: Vec<ReadyRow>,
    /// As many a row as the table is wide.
    columns: Vec<ReadyColumn>,
    /// What every row's column of this place has in common; known from the first row on.
    shapes: Vec<Shape>,
}

/// One list.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReadyRow {
    /// Live rows of its only chunk; zero if it has none, [`ReadyRow::MANY`] if it has several.
    live: u32,
    /// Live rows, rounded up to whole vectors.
    padded: u32,
    entities: NonNull<Entity>,
}

impl ReadyRow {
    const MANY: u32 = u32::MAX;
}

/// One column of a list's only chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReadyColumn {
    /// Its first row; `None` if the archetype lacks it.
    start: Option<NonNull<u8>>,
    /// The head of its run of stamps: the summary, then the chunk's.
    stamps: NonNull<Stamp>,
}

const _: () = assert!(size_of::<ReadyRow>() <= 16, "four rows a line");
const _: () = assert!(size_of::<ReadyColumn>() <= 16, "four columns a line");

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    size: u32,
    align: u32,
    write: bool,
}

// SAFETY: the addresses are of memory that the lists own and that moves between threads with them;
// what may be done with it is decided by how the lists are borrowed (see `ReadyTable::walk`).
unsafe impl Send for ReadyRow {}
// SAFETY: as above: an address that is only looked at does nothing.
unsafe impl Sync for ReadyRow {}
// SAFETY: as of `ReadyRow`; what is there is components and stamps, which are `Send`.
unsafe impl Send for ReadyColumn {}
// SAFETY: as above.
unsafe impl Sync for ReadyColumn {}

/// What a walk does with a row.
#[derive(Debug)]
pub(crate) enum Ready<'w> {
    /// The list of this row has several chunks: they are cut from the list itself.
    Many(usize),
    /// Its only chunk.
    Chunk(ReadyCutter<'w>),
}

impl ReadyTable {
    /// Rows that are resolved.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<ReadyRow>()
            + self.columns.capacity() * size_of::<ReadyColumn>()
            + self.shapes.capacity() * size_of::<Shape>()
    }

    /// Room for `rows` rows of `width` columns in all; exactly so many the first time.
    pub(crate) fn reserve(&mut self, rows: usize, width: usize) {
        self.rows.reserve(rows.saturating_sub(self.rows.len()));
        self.columns.reserve((rows * width).saturating_sub(self.columns.len()));
        self.shapes.reserve_exact(width.saturating_sub(self.shapes.len()));
    }

    /// Resolves row `index`, which is `row` of the table, of a list with these stamps and entities:
    /// one of those that are there, or the next one.
    ///
    /// # Panics
    ///
    /// If the row was made for another list, or differs from the others in the types of its columns.
    pub(crate) fn set(
        &mut self,
        index: usize,
        row: CutRow<'_>,
        list: &ChunkList,
        stamps: &Stamps,
        entities: &[Entity],
    ) {
        assert!(row.key == list.key(), "the row was made for this list");
        let (live, padded) = match list.chunk_count() {
            0 => (0, 0),
            1 => (list.tail(), padded_rows(list.tail(), list.capacity())),
            _ => (ReadyRow::MANY, 0),
        };
        let entities = NonNull::from(entities).cast();
        let head = ReadyRow { live, padded, entities };
        let width = row.columns().len();
        if index == self.rows.len() {
            self.rows.push(head);
            let absent = ReadyColumn { start: None, stamps: NonNull::dangling() };
            self.columns.resize(self.columns.len() + width, absent);
        }
        self.rows[index] = head;
        for (place, column) in row.columns().iter().enumerate() {
            self.learn_shape(place, list, column);
            self.columns[index * width + place] = ready_column(column, list, stamps);
        }
    }

    /// The size of a column that this row lacks is not known from it: the first that has it tells.
    fn learn_shape(&mut self, place: usize, list: &ChunkList, column: &CutColumn) {
        let Some(number) = column.column() else {
            if place == self.shapes.len() {
                self.shapes.push(Shape { size: 0, align: 0, write: false });
            }
            return;
        };
        let shape = list.columns()[usize::from(number)];
        let narrow = |n| u32::try_from(n).expect("inside a chunk");
        let shape = Shape {
            size: narrow(shape.size),
            align: narrow(shape.align),
            write: column.written().is_some(),
        };
        match self.shapes.get_mut(place) {
            None => self.shapes.push(shape),
            Some(known) if known.align == 0 => *known = shape,
            Some(known) => {
                let same = (known.size, known.align, known.write);
                assert!(same == (shape.size, shape.align, shape.write), "columns of one type");
            }
        }
    }

    /// A walk over the rows.
    ///
    /// # Safety
    ///
    /// Since the last [`ReadyTable::set`] of each row, its list, stamps and entities have not been
    /// changed but for the values of cells and stamps; for `'w` they are borrowed; and for as long
    /// nobody writes the cells of the rows' columns but this walk, which does so only if `exclusive`
    /// is true, and then nobody else reads what it writes.
    #[inline]
    pub(crate) unsafe fn walk(&self, exclusive: bool) -> ReadyWalk<'_> {
        ReadyWalk {
            rows: self.rows.iter(),
            columns: &self.columns,
            shapes: &self.shapes,
            len: self.rows.len(),
            exclusive,
        }
    }
}

fn ready_column(column: &CutColumn, list: &ChunkList, stamps: &Stamps) -> ReadyColumn {
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
    let written = column.written().filter(|_| list.chunk_count() > 0);
    let stamps = written.map_or(NonNull::dangling(), |number| stamps.start(Run::column(number)));
    ReadyColumn { start, stamps }
}

/// Cuts each row of a [`ReadyTable`] at most once, in order.
#[derive(Debug)]
pub(crate) struct ReadyWalk<'w> {
    rows: slice::Iter<'w, ReadyRow>,
    /// The columns of those rows.
    columns: &'w [ReadyColumn],
    shapes: &'w [Shape],
    /// All rows of the table.
    len: usize,
    exclusive: bool,
}

impl<'w> ReadyWalk<'w> {
    /// Rows that are behind.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.len - self.rows.len()
    }

    /// Passes over the rows before row `index`.
    #[inline]
    pub(crate) fn skip_to(&mut self, index: usize) {
        let rows = index.saturating_sub(self.index()).min(self.rows.len());
        self.rows = self.rows.as_slice()[rows..].iter();
        self.columns = &self.columns[rows * self.shapes.len()..];
    }

    /// The next row whose list is not empty.
    #[inline(always)]
    pub(crate) fn next(&mut self, padded: bool, now: Version) -> Option<Ready<'w>> {
        loop {
            let head = self.rows.next()?;
            let (columns, rest) = self.columns.split_at(self.shapes.len());
            self.columns = rest;
            if head.live == ReadyRow::MANY {
                return Some(Ready::Many(self.index() - 1));
            }
            if head.live > 0 {
                return Some(Ready::Chunk(ReadyCutter {
                    columns: columns.iter(),
                    shapes: self.shapes.iter(),
                    len: if padded { head.padded } else { head.live } as usize,
                    live: head.live as usize,
                    entities: head.entities,
                    exclusive: self.exclusive,
                    now,
                    borrow: PhantomData,
                }));
            }
        }
    }
}

/// A list's only chunk, from which each column is taken once. Those taken for writing are stamped.
#[derive(Debug)]
pub(crate) struct ReadyCutter<'w> {
    columns: slice::Iter<'w, ReadyColumn>,
    shapes: slice::Iter<'w, Shape>,
    len: usize,
    live: usize,
    entities: NonNull<Entity>,
    exclusive: bool,
    now: Version,
    borrow: PhantomData<&'w mut [u8]>,
}

impl<'w> ReadyCutter<'w> {
    /// The entities of the live rows.
    #[inline]
    pub(crate) fn entities(&self) -> &'w [Entity] {
        // SAFETY: an archetype has an entity a live row, and by `ReadyTable::walk` neither has
        // changed since the address was taken; nobody writes entities while rows are borrowed.
        unsafe { slice::from_raw_parts(self.entities.as_ptr(), self.live) }
    }

    #[inline]
    fn next<C: Component>(&mut self) -> Option<(Shape, ReadyColumn, NonNull<C>)> {
        const WIDTH: &str = "a table row has a column for every term";
        let shape = *self.shapes.next().expect(WIDTH);
        let column = *self.columns.next().expect(WIDTH);
        let start = column.start?;
        assert!(shape.size as usize == size_of::<C>(), "a column of this size");
        assert!(is_aligned_for::<C>(shape.align as usize), "a column of this alignment");
        Some((shape, column, if size_of::<C>() == 0 { NonNull::dangling() } else { start.cast() }))
    }
}

impl<'w> TakeColumns<'w> for ReadyCutter<'w> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn column<C: Component>(&mut self) -> Option<&'w [C]> {
        let (_, _, start) = self.next::<C>()?;
        // SAFETY: `start` is the first row of a column of this size and alignment with `len`
        // initialised rows, as it was when `set` took it; nobody writes them for `'w`: the plan's
        // row names no written column twice, and by `ReadyTable::walk` the list is borrowed.
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), self.len) })
    }

    #[inline]
    fn column_mut<C: Component>(&mut self) -> Option<&'w mut [C]> {
        let (shape, column, start) = self.next::<C>()?;
        assert!(shape.write && self.exclusive, "the column may be written");
        // SAFETY: a run of stamps is its summary and one stamp a chunk, of which there is one, where
        // `set` found it; by `ReadyTable::walk` they are borrowed for `'w`.
        let stamps = unsafe { column.stamps.cast::<[Stamp; 2]>().as_ref() };
        stamps.iter().for_each(|stamp| stamp.set(self.now));
        // SAFETY: as in `column`; and exclusive, because by `ReadyTable::walk` the list is, a walk
        // cuts each row once, and this is the only mention of the column in the row.
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), self.len) })
    }
}
