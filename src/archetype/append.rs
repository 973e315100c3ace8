//! Appends many rows to an archetype: writes them in its list, gives them entities, and makes them
//! live.

use core::ops::Range;

use crate::entity::RowIndex;
use crate::entity::{Directory, Entity, Location, OutOfIds};
use crate::storage::{BundleCells, ChunkRow, FreeRun, Pool, RowRun, Writer, WrittenRows};
use crate::version::Version;

use super::archetype::Archetype;
use super::graph::Edge;
use crate::entity::ArchetypeId;

impl Archetype {
    /// No written rows yet. The first one follows the last live row.
    pub(crate) const fn begin_rows(&self) -> WrittenRows {
        self.list.no_written_rows()
    }

    /// A run of free rows after the written ones. `expected` more rows are about to be written.
    #[inline]
    pub(crate) fn room(
        &mut self,
        written: &WrittenRows,
        expected: usize,
        pool: &mut Pool,
    ) -> FreeRun {
        self.list.open_run(written.len(), expected, pool)
    }

    /// A writer of a bundle's cells in a run of free rows.
    #[inline]
    pub(crate) fn writer<'a>(&'a mut self, cells: &'a BundleCells, run: &'a FreeRun) -> Writer<'a> {
        Writer::new(&mut self.list, cells, run)
    }

    /// Writes a run as bytes: `value(i, row)` begins with component `i` of the run's row `row`.
    pub(crate) fn write_bytes<'v>(
        &mut self,
        written: &mut WrittenRows,
        cells: &BundleCells,
        run: &FreeRun,
        value: impl Fn(usize, usize) -> &'v [u8],
    ) {
        written.write_bytes(&mut self.list, cells, run, value);
    }

    /// Writes a run as copies of a live row.
    pub(crate) fn replicate(&mut self, written: &mut WrittenRows, from: RowIndex, run: &FreeRun) {
        let from = self.list.split(from);
        written.replicate(&mut self.list, from, run);
    }

    /// Writes a run as copies of a live row of another archetype, along an edge without added
    /// components.
    pub(crate) fn write_copy(
        &mut self,
        written: &mut WrittenRows,
        (source, from): (&Self, RowIndex),
        edge: &Edge,
        run: &FreeRun,
    ) {
        let from = vec![RowRun { at: source.list.split(from), len: 1 }; run.rows.len()];
        let target = (&mut self.list, run);
        edge.cells.write_rows((&source.list, &from), target, written, |_, _| {
            unreachable!("the edge of a copy adds a component")
        });
    }

    /// Creates an entity for every written row and makes the rows live. Returns the entities.
    ///
    /// # Errors
    ///
    /// If too few ids are left. The archetype is unchanged.
    pub(crate) fn push_rows(
        &mut self,
        id: ArchetypeId,
        written: &WrittenRows,
        entities: &mut Directory,
        now: Version,
    ) -> Result<&[Entity], OutOfIds> {
        let (first, rows) = (self.len(), written.len());
        entities.ensure_room(rows)?;
        entities.reserve_capacity(rows);
        self.entities.reserve(rows);
        let (mut index, end) = (first, first + rows);
        while index < end {
            // Positions of one chunk are consecutive.
            let RowIndex(begin) = self.list.position_of(index);
            let capacity = self.list.capacity() as usize;
            let run = (capacity - index % capacity).min(end - index);
            let place = |i| Location::new(id, RowIndex(begin + i));
            entities.alloc_batch(run, place, &mut self.entities)?;
            index += run;
        }
        self.commit(written, now);
        Ok(&self.entities[first..])
    }

    /// Gives every written row the entity of an id on loan and makes the rows live.
    ///
    /// # Panics
    ///
    /// If the number of ids differs from the number of rows, or an id is not on loan.
    pub(crate) fn push_with_ids(
        &mut self,
        id: ArchetypeId,
        written: &WrittenRows,
        ids: impl ExactSizeIterator<Item = Entity>,
        entities: &mut Directory,
        now: Version,
    ) {
        assert!(
            ids.len() == written.len(),
            "there are {} ids for {} rows",
            ids.len(),
            written.len()
        );
        let mut at = Positions::new(self, self.len());
        self.entities.reserve(written.len());
        for entity in ids {
            let place = Location::new(id, at.next());
            entities.alloc_loaned(entity, place).expect("the id of a new row is not on loan");
            self.entities.push(entity);
        }
        self.commit(written, now);
    }

    /// Makes written rows with entities live, and stamps all their columns.
    fn commit(&mut self, written: &WrittenRows, now: Version) {
        let start = self.list.len();
        let first = start / self.list.capacity() as usize;
        self.list.commit(written);
        assert!(self.entities.len() == self.list.len(), "a written row has no entity");
        self.grow_to_all(now);
        if written.len() > 0 {
            for chunk in first..self.stamps.chunk_len() {
                self.stamp_rows_of(chunk, start, now);
            }
        }
    }

    /// Stamps the new rows of a chunk: the rows from number `start` of the archetype on.
    fn stamp_rows_of(&mut self, chunk: usize, start: usize, now: Version) {
        let number = u32::try_from(chunk).expect("an archetype has 2^32 chunks or more");
        let old = start.saturating_sub(chunk * self.list.capacity() as usize);
        let old = u32::try_from(old).expect("a chunk has 2^32 rows or more");
        let at = ChunkRow { chunk: number, row: old };
        self.rows_added(at, self.list.rows(number) - old, now);
    }

    /// Gives some live rows the attachments of the row of `source` that they copy.
    pub(crate) fn follow_copied(
        &self,
        rows: Range<usize>,
        (source, from): (&Self, RowIndex),
        edge: &Edge,
    ) {
        let kept = |column| edge.cells.columns().iter().find(|&&(_, ours)| ours == column);
        let from = source.list.split(from);
        for rows in self.chunks_of(rows) {
            self.rows_copied(rows, (source, from), |column| Some(kept(column)?.0));
        }
    }

    /// Gives some live rows the attachments of another row, which they copy.
    pub(crate) fn follow_replicated(&self, rows: Range<usize>, from: RowIndex) {
        let from = self.list.split(from);
        for rows in self.chunks_of(rows) {
            self.rows_copied(rows, (self, from), Some);
        }
    }

    /// Some live rows, numbered through all chunks, as rows of chunks.
    pub(super) fn chunks_of(&self, rows: Range<usize>) -> impl Iterator<Item = (u32, Range<u32>)> {
        let (list, capacity) = (&self.list, self.list.capacity() as usize);
        let mut next = rows.start;
        core::iter::from_fn(move || {
            let left = rows.end.checked_sub(next).filter(|&left| left > 0)?;
            let at = list.split(list.position_of(next));
            let len = (capacity - next % capacity).min(left);
            next += len;
            Some((at.chunk, at.row..at.row + u32::try_from(len).expect("a chunk has 2^32 rows")))
        })
    }

    /// Frees blocks without live rows, and drops written rows in them.
    pub(crate) fn abandon(&mut self, pool: &mut Pool) {
        self.list.abandon(pool);
    }
}

/// Counts positions up, chunk after chunk.
struct Positions {
    at: ChunkRow,
    capacity: u32,
    shift: u8,
}

impl Positions {
    /// Starts at the row that has `index` rows before it.
    fn new(archetype: &Archetype, index: usize) -> Self {
        let list = &archetype.list;
        let at = list.split(list.position_of(index));
        Self { at, capacity: list.capacity(), shift: list.shift() }
    }

    #[inline]
    const fn next(&mut self) -> RowIndex {
        let at = RowIndex(self.at.chunk << self.shift | self.at.row);
        self.at.row += 1;
        if self.at.row == self.capacity {
            self.at.row = 0;
            self.at.chunk += 1;
        }
        at
    }
}
