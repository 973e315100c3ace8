//! Moves many rows from any places in one archetype along an edge.
//!
//! The move has one version, looks at the edge once, and works by columns: adjacent rows are copied
//! by one `memcpy` per column. The rows are removed from the source in reverse order, so that
//! removing its last rows, or all, copies no row in it. If these are in order as well, as in a
//! system that changes every row, they are removed chunk by chunk.

use core::ops::Range;

use crate::entity::{ArchetypeId, Entity, Location, RowIndex};
use crate::spare::vec_bytes;
use crate::storage::{ChunkRow, FreeRun, RowRun, RowSpan, WrittenRows};

use super::archetype::Archetype;
use super::graph::Edge;
use super::move_chunks::MoveContext;

/// The memory for moves of many rows, which is kept from one move to the next.
#[derive(Debug, Default)]
pub(crate) struct MoveScratch {
    /// The rows of the entities that move.
    pub(crate) rows: Vec<RowIndex>,
    /// The rows that go to one run of the target.
    from: Vec<RowRun>,
    /// Adjacent rows in the target: the position of the first, and their number.
    runs: Vec<(RowIndex, u32)>,
    /// The chunks of the source, the chunks of the target to which their rows went, and the
    /// numbers of these rows.
    chunks: Vec<(u32, u32, usize)>,
}

impl MoveScratch {
    /// The allocated memory.
    pub(crate) const fn bytes(&self) -> usize {
        vec_bytes(&self.rows)
            + vec_bytes(&self.from)
            + vec_bytes(&self.runs)
            + vec_bytes(&self.chunks)
    }
}

/// Moves the rows of some entities of `source` along an edge to the end of `target`, in their
/// order. `scratch.rows` are the rows. `value(i, n)` begins with the bytes of added column `i` for
/// entity `n`.
///
/// The resulting stamps equal the stamps after a call of [`move_row`](super::move_row) for each
/// row, all with one version. The last row of the source takes the place of each row that leaves,
/// from the last entity to the first. O(bytes), and O(1) for each entity.
///
/// # Panics
///
/// If an entity is named twice, or the rows are not live in `source`, one for each entity.
pub(crate) fn move_rows<'v>(
    (source_id, source): (ArchetypeId, &mut Archetype),
    target: &mut Archetype,
    (entities, scratch): (&[Entity], &mut MoveScratch),
    edge: &Edge,
    context: &mut MoveContext<'_>,
    value: impl Fn(usize, usize) -> &'v [u8],
) {
    target.list.assert_room_for(entities.len());
    target.entities.reserve(entities.len());
    let mut arrivals = Arrivals::new(target, scratch);
    while arrivals.written.len() < entities.len() {
        let (done, left) = (arrivals.written.len(), entities.len() - arrivals.written.len());
        let run = target.room(&arrivals.written, left, context.pool).at_most(left);
        arrivals.begin_run(source, done..done + run.rows.len());
        let from = (&source.list, &arrivals.scratch.from[..]);
        let value = |i, row| value(i, done + row);
        edge.cells.write_rows(from, (&mut target.list, &run), &mut arrivals.written, value);
        let first = target.list.position(ChunkRow { chunk: run.chunk, row: run.rows.start });
        arrivals.end_run(&run, first);
    }
    arrivals.commit((source, target), entities, edge, context);
    arrivals.remove_from((source_id, source), entities, edge.target, context);
}

/// The rows that were written to a target.
struct Arrivals<'s> {
    written: WrittenRows,
    scratch: &'s mut MoveScratch,
}

impl<'s> Arrivals<'s> {
    fn new(target: &Archetype, scratch: &'s mut MoveScratch) -> Self {
        scratch.runs.clear();
        scratch.chunks.clear();
        Self { written: target.begin_rows(), scratch }
    }

    /// Collects the rows of the entities that go to the next run.
    fn begin_run(&mut self, source: &Archetype, entities: Range<usize>) {
        let MoveScratch { rows, from, .. } = &mut *self.scratch;
        from.clear();
        let list = &source.list;
        // Neighbours of one chunk. A full chunk may end where the next one begins.
        let follows =
            |a: &RowIndex, b: &RowIndex| b.0.wrapping_sub(a.0) == 1 && list.split(*b).row > 0;
        let run = |rows: &[RowIndex]| RowRun {
            at: list.split(rows[0]),
            len: u32::try_from(rows.len()).expect("a chunk has 2^32 rows or more"),
        };
        from.extend(rows[entities].chunk_by(follows).map(run));
    }

    /// Records a run that was written with these rows and begins at `first`.
    fn end_run(&mut self, run: &FreeRun, first: RowIndex) {
        let MoveScratch { from, runs, chunks, .. } = &mut *self.scratch;
        for rows in from {
            let len = rows.len as usize;
            match chunks.last_mut() {
                Some((from, to, moved)) if (*from, *to) == (rows.at.chunk, run.chunk) => {
                    *moved += len;
                }
                _ => chunks.push((rows.at.chunk, run.chunk, len)),
            }
        }
        runs.push((first, run.rows.end - run.rows.start));
    }

    /// Makes the rows live for their entities, and stamps them.
    fn commit(
        &self,
        (source, target): (&Archetype, &mut Archetype),
        entities: &[Entity],
        edge: &Edge,
        context: &MoveContext<'_>,
    ) {
        let start = target.len();
        target.list.commit(&self.written);
        target.entities.extend_from_slice(entities);
        target.grow_to_all(context.now);
        let mut first = 0;
        for &(from, to, len) in &self.scratch.chunks {
            let rows = &self.scratch.rows[first..first + len];
            let to_row = start + first - to as usize * target.list.capacity() as usize;
            let to_row = u32::try_from(to_row).expect("a chunk has 2^32 rows or more");
            let spans = (to_row..).zip(rows).map(|(to, &row)| {
                let from = source.list.split(row).row;
                RowSpan { from, to, len: 1 }
            });
            target.rows_arrived((source, from), to, spans, edge, context.now);
            first += len;
        }
    }

    /// Removes the rows from the source and sets the locations of their entities, from the last one
    /// to the first.
    fn remove_from(
        &self,
        (source_id, source): (ArchetypeId, &mut Archetype),
        entities: &[Entity],
        target: ArchetypeId,
        context: &mut MoveContext<'_>,
    ) {
        let MoveScratch { rows, runs, .. } = &*self.scratch;
        // Rows in ascending order from this place on are all that follow it.
        let are_last = rows.first().is_some_and(|&first| {
            source.list.index_of(source.list.split(first)) + rows.len() == source.len()
        });
        if are_last
            && rows.is_sorted_by(|a, b| a < b)
            && source.remove_last(rows.len(), context.pool, context.now)
        {
            let mut entities = entities;
            for &(first, len) in runs {
                let (arrived, left) = entities.split_at(len as usize);
                context.entities.set_locations(arrived, Location::new(target, first));
                entities = left;
            }
            return;
        }
        let mut entities = entities.iter().rev();
        for &(RowIndex(first), len) in runs.iter().rev() {
            for (position, entity) in (first..first + len).rev().zip(&mut entities) {
                let there = Location::new(target, RowIndex(position));
                let here = context.entities.replace_location(entity.index(), there);
                assert!(here.archetype() == source_id, "an entity is moved twice");
                let at = source.list.split(here.row());
                if let Some(moved) = source.remove(at, context.pool, context.now) {
                    context.entities.set_location(moved.index(), here);
                }
            }
        }
    }
}
