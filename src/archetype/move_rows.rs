//! Moves many rows, which lie anywhere in one archetype, along an edge.
//!
//! One version, one look at the edge, and columns instead of rows: neighbours are copied by one
//! `memcpy` a column. The rows are removed from the source from the last one back, so that nothing
//! is copied there if they are its last rows, or all.

use crate::entity::{ArchetypeId, Directory, Entity, Location, RowIndex};
use crate::storage::{ChunkRow, FreeRun, RowRun, WrittenRows};

use super::archetype::Archetype;
use super::graph::Edge;
use super::move_chunks::MoveContext;

/// Moves the rows of some entities of `source` along an edge to the end of `target`, in their
/// order. `value(i, n)` begins with the bytes of added column `i` for entity `n`.
///
/// Stamps are those that as many calls of [`move_row`](super::move_row) with one version leave. The
/// last row of the source takes the place of each that leaves, from the last entity to the first.
/// O(bytes), and O(1) for each entity.
///
/// # Panics
///
/// If an entity is named twice, or its row is not one of `source`.
pub(crate) fn move_rows<'v>(
    (source_id, source): (ArchetypeId, &mut Archetype),
    target: &mut Archetype,
    entities: &[Entity],
    edge: &Edge,
    context: &mut MoveContext<'_>,
    value: impl Fn(usize, usize) -> &'v [u8],
) {
    target.list.assert_room_for(entities.len());
    target.entities.reserve(entities.len());
    let mut arrivals = Arrivals::new(target);
    let mut from = Vec::new();
    while arrivals.written.len() < entities.len() {
        let (done, left) = (arrivals.written.len(), entities.len() - arrivals.written.len());
        let run = target.room(&arrivals.written, left, context.pool).at_most(left);
        from.clear();
        for &entity in &entities[done..done + run.rows.len()] {
            RowRun::add(&mut from, row_of(entity, (source_id, source), context.entities));
        }
        let (from, to) = ((&source.list, &from[..]), (&mut target.list, &run));
        let value = |i, row| value(i, done + row);
        edge.cells.write_rows(from, to, &mut arrivals.written, value);
        let first = target.list.position(ChunkRow { chunk: run.chunk, row: run.rows.start });
        arrivals.add(from.1, &run, first);
    }
    arrivals.commit((source, target), entities, edge, context);
    arrivals.remove_from((source_id, source), entities, edge.target, context);
}

/// The row of an entity of an archetype.
#[inline]
fn row_of(
    entity: Entity,
    (id, archetype): (ArchetypeId, &Archetype),
    entities: &Directory,
) -> ChunkRow {
    let place = entities.locate(entity).expect("an entity that moves is not alive");
    assert!(place.archetype() == id, "an entity that moves is in another archetype");
    archetype.list.split(place.row())
}

/// The rows that were written in a target.
struct Arrivals {
    written: WrittenRows,
    /// Neighbours: the position of the first, and their number.
    runs: Vec<(RowIndex, u32)>,
    /// The chunks from which rows came, and those to which they went.
    chunks: Vec<(u32, u32)>,
}

impl Arrivals {
    fn new(target: &Archetype) -> Self {
        Self { written: target.begin_rows(), runs: Vec::new(), chunks: Vec::new() }
    }

    /// Notes a run that was written with these rows.
    fn add(&mut self, from: &[RowRun], run: &FreeRun, first: RowIndex) {
        for rows in from {
            let pair = (rows.at.chunk, run.chunk);
            if self.chunks.last() != Some(&pair) {
                self.chunks.push(pair);
            }
        }
        self.runs.push((first, run.rows.end - run.rows.start));
    }

    /// Makes the rows live for their entities, and stamps them.
    fn commit(
        &self,
        (source, target): (&Archetype, &mut Archetype),
        entities: &[Entity],
        edge: &Edge,
        context: &MoveContext<'_>,
    ) {
        target.list.commit(&self.written);
        target.entities.extend_from_slice(entities);
        while target.stamps.chunk_len() < target.list.chunk_len() as usize {
            target.stamps.push_chunk();
        }
        let columns = (edge.cells.columns(), edge.added());
        for &(from, to) in &self.chunks {
            let from = (&source.stamps, from as usize);
            target.stamps.record_arrival(to as usize, from, columns, context.now);
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
        let mut entities = entities.iter().rev();
        for &(RowIndex(first), len) in self.runs.iter().rev() {
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
