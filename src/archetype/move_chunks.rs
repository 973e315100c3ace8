//! Whole chunks that move along an edge, or end: what a change by query does to archetypes.
//!
//! ```text
//!  source  │ a: full │ b: full │ c: 40 rows │        target  │ x: full │ y: 100 rows │
//!
//!  same columns with bytes: the blocks go over, and only the two tails meet
//!  target  │ x: full │ a: full │ b: full │ y: 140 rows │
//!
//!  other columns: rows are copied by the run, behind the last one
//!  target  │ x: full │ y, a … │ … a, b … │ … b, c │
//! ```
//!
//! The order of rows is part of what a world answers, so it depends on their numbers alone, never
//! on the memory they lie in: a small block, which cannot go over to rows of another one, is copied
//! to where a chunk of as many rows would have come.
//!
//! Either way each entity's place is written anew: 12 bytes of the directory and 8 of the
//! archetype's own list are what a move costs that copies nothing.

use core::ops::Range;

use crate::entity::{Directory, Location};
use crate::storage::{
    ChunkMove, ChunkRow, ChunkSet, DetachedChunks, FreeRun, Pool, StampKind, Tally, Writer,
};
use crate::version::Version;

use super::archetype::{Archetype, ArchetypeId};
use super::graph::Edge;

/// What a change of whole chunks needs beside their archetypes.
#[derive(Debug)]
pub(crate) struct MoveContext<'w> {
    pub(crate) entities: &'w mut Directory,
    pub(crate) pool: &'w mut Pool,
    pub(crate) now: Version,
}

/// ChangeLog chunks from `source` along an edge. Of rows that are copied, `fill` writes the added columns.
/// Chunks that change owner are returned, by their numbers in the target: their added columns have
/// the values that they had, and are the caller's to overwrite. All added columns are stamped.
///
/// Kept columns keep their stamps: a chunk that changes owner brings its own, rows that are copied
/// raise those of the chunk they come to. Order and arrival of what came are new, and so is the
/// order of what moved up in the source.
///
/// O(entities + chunks × columns) where only tags differ; else the bytes of the kept columns too.
pub(crate) fn move_chunks(
    (source_id, source): (ArchetypeId, &mut Archetype),
    target: &mut Archetype,
    which: &ChunkSet,
    edge: &Edge,
    moving: &mut MoveContext<'_>,
    fill: &dyn for<'a> Fn(Writer<'a>) -> Tally<'a>,
) -> Range<u32> {
    let rows = source.rows_of(which);
    target.list.assert_room_for(rows);
    target.entities.reserve(rows);
    let (before, loose) = Before::take(source, which);
    // A small block goes over only where it stays alone; else it is copied, in the order of a
    // chunk.
    let fits = !loose.is_small() || target.is_empty();
    let mut landing = Landing { source, target, which, edge, loose, before, fill };
    let mut adopted = 0..0;
    if !edge.keeps_bytes {
        landing.copy(moving);
    } else if fits {
        adopted = landing.adopt(moving);
    } else {
        landing.copy_small(moving);
    }
    let Landing { source, before, .. } = landing;
    source.close_ranks(source_id, &before, moving);
    adopted
}

impl Archetype {
    /// Rows of some chunks.
    pub(crate) fn rows_of(&self, which: &ChunkSet) -> usize {
        let count = self.list.chunk_count();
        let full = which.len(count) as usize * self.list.capacity() as usize;
        let missing =
            if which.has_last(count) { self.list.capacity() - self.list.tail() } else { 0 };
        full - missing as usize
    }

    /// Ends the life of all entities of some chunks. O(entities).
    pub(crate) fn end_chunks(
        &mut self,
        id: ArchetypeId,
        which: &ChunkSet,
        moving: &mut MoveContext<'_>,
    ) {
        for chunk in which.iter(self.list.chunk_count()) {
            let rows = self.indices(chunk, 0..self.list.rows(chunk));
            moving.entities.free_batch(&self.entities[rows]);
        }
        self.drop_chunks(id, which, moving);
    }

    /// Gives the blocks of some chunks back, whose rows are nobody's any more.
    fn drop_chunks(&mut self, id: ArchetypeId, which: &ChunkSet, moving: &mut MoveContext<'_>) {
        let (before, mut loose) = Before::take(self, which);
        while loose.count() > 0 {
            self.list.discard_first(&mut loose, moving.pool);
        }
        self.close_ranks(id, &before, moving);
    }

    /// Lets entities and stamps follow the chunks that have filled the holes.
    fn close_ranks(&mut self, id: ArchetypeId, before: &Before, moving: &mut MoveContext<'_>) {
        for &ChunkMove { from, to } in &before.relocations {
            let rows =
                if from + 1 == before.chunks { before.tail } else { before.capacity } as usize;
            let [source, target] = [from, to].map(|chunk| before.first_index(chunk));
            self.entities.copy_within(source..source + rows, target);
            self.stamps.relocate(from as usize, to as usize);
            self.stamps.touch(StampKind::ORDER, to as usize, moving.now);
            let first = self.place(id, ChunkRow { chunk: to, row: 0 });
            moving.entities.set_locations(&self.entities[target..target + rows], first);
        }
        self.entities.truncate(self.list.len());
        self.stamps.truncate(self.list.chunk_count() as usize);
    }

    /// The numbers of rows of a chunk, counted over all chunks.
    fn indices(&self, chunk: u32, rows: Range<u32>) -> Range<usize> {
        let index = |row| self.list.index_of(ChunkRow { chunk, row });
        index(rows.start)..index(rows.end)
    }

    fn place(&self, id: ArchetypeId, at: ChunkRow) -> Location {
        Location { archetype: id.0, position: self.list.position(at).0 }
    }
}

/// A list as it was before chunks left it.
struct Before {
    chunks: u32,
    capacity: u32,
    tail: u32,
    relocations: Vec<ChunkMove>,
}

impl Before {
    /// Takes chunks out of an archetype's list.
    fn take(archetype: &mut Archetype, which: &ChunkSet) -> (Self, DetachedChunks) {
        let list = &mut archetype.list;
        let (chunks, capacity, tail) = (list.chunk_count(), list.capacity(), list.tail());
        let (loose, relocations) = list.take_chunks(which);
        (Self { chunks, capacity, tail, relocations }, loose)
    }

    /// The number of a chunk's first row, counted over all chunks.
    const fn first_index(&self, chunk: u32) -> usize {
        chunk as usize * self.capacity as usize
    }
}

/// Chunks on their way from one archetype to another. The source has its entities and stamps as they
/// were `before`, and no blocks of these chunks any more.
struct Landing<'w> {
    source: &'w mut Archetype,
    target: &'w mut Archetype,
    which: &'w ChunkSet,
    edge: &'w Edge,
    loose: DetachedChunks,
    before: Before,
    /// Writes the added columns of new rows.
    fill: &'w dyn for<'a> Fn(Writer<'a>) -> Tally<'a>,
}

impl Landing<'_> {
    /// Copies the chunks' rows behind the last one of the target. Each block goes back to the pool
    /// when its rows are copied, so that the target takes it while it is in the cache.
    fn copy(&mut self, moving: &mut MoveContext<'_>) {
        let mut expected = 0;
        for chunk in 0..self.loose.count() {
            expected += self.loose.rows(chunk) as usize;
        }
        for chunk in self.which.iter(self.before.chunks) {
            let rows = 0..self.loose.rows(0);
            let copied = rows.len();
            self.copy_rows(chunk, rows, expected, moving);
            expected -= copied;
            self.source.list.discard_first(&mut self.loose, moving.pool);
        }
    }

    /// Copies the rows of a small block to where they would be if they had come as a chunk: which
    /// of the two they lay in depends on [`reserve`](crate::World::reserve) and
    /// [`compact`](crate::World::compact), and their order must not.
    fn copy_small(&mut self, moving: &mut MoveContext<'_>) {
        let (tail, merged) = (self.before.tail, self.merging());
        for rows in [tail - merged..tail, 0..tail - merged] {
            self.copy_rows(0, rows, tail as usize, moving);
        }
        self.source.list.discard_first(&mut self.loose, moving.pool);
    }

    /// Copies rows of the first loose chunk, whose number in the source was `chunk`, behind the
    /// last one of the target, where `expected` rows are to come.
    fn copy_rows(
        &mut self,
        chunk: u32,
        mut rows: Range<u32>,
        mut expected: usize,
        moving: &mut MoveContext<'_>,
    ) {
        while !rows.is_empty() {
            let room = self.target.list.room_behind(0, expected, moving.pool);
            let run = room.at_most(rows.len());
            let from = ChunkRow { chunk: 0, row: rows.start };
            rows.start += run.rows.end - run.rows.start;
            expected -= run.rows.len();
            self.append((chunk, from), &run, moving);
        }
    }

    /// Copies rows of a chunk, whose number in the source was `chunk`, to a run of free rows behind
    /// the target's last one, and makes them live.
    fn append(
        &mut self,
        (chunk, from): (u32, ChunkRow),
        run: &FreeRun,
        moving: &mut MoveContext<'_>,
    ) {
        let (source, target) = (&*self.source, &mut *self.target);
        let to = (&mut target.list, run);
        let written = self.edge.cells.append((&self.loose, from), to, self.fill);
        let start = self.before.first_index(chunk) + from.row as usize;
        target.entities.extend_from_slice(&source.entities[start..start + run.rows.len()]);
        target.list.commit(&written);
        if run.chunk as usize == target.stamps.chunks() {
            target.stamps.push_chunk();
        }
        for &(kept, to) in self.edge.cells.columns() {
            let stamp = source.stamps.get(StampKind::column(kept), chunk as usize);
            target.stamps.raise(StampKind::column(to), run.chunk as usize, stamp);
        }
        self.land(run.chunk, run.rows.clone(), moving);
    }

    /// Stamps what has come, and files its entities there.
    fn land(&mut self, chunk: u32, rows: Range<u32>, moving: &mut MoveContext<'_>) {
        let target = &mut *self.target;
        let added = self.edge.added().iter().map(|&column| StampKind::column(column));
        for run in added.chain([StampKind::ORDER, StampKind::ARRIVAL]) {
            target.stamps.touch(run, chunk as usize, moving.now);
        }
        let first = target.place(self.edge.target, ChunkRow { chunk, row: rows.start });
        // Of more chunks than one, each but the last is full; a small block is the first.
        let first_index = chunk as usize * target.list.chunk_capacity() as usize;
        let start = first_index + rows.start as usize;
        moving.entities.set_locations(&target.entities[start..start + rows.len()], first);
    }

    /// Makes the chunks the target's own, and returns their numbers there. Rows are copied only where
    /// both lists' last chunks are partly filled: from the end of the one to the end of the other.
    fn adopt(&mut self, moving: &mut MoveContext<'_>) -> Range<u32> {
        self.target.list.widen(moving.pool);
        let merged = self.merge_tails(moving);
        if merged > 0 {
            self.source.list.shorten(&mut self.loose, merged, moving.pool);
        }
        let mut adopted = 0..0;
        if self.loose.count() > 0 {
            adopted = self.follow(merged, moving);
        }
        self.target.list.adopt(&mut self.loose, &self.source.list);
        adopted
    }

    /// How many rows from the end of the source's last chunk fill the target's last one up: as many
    /// as fit, where both have room.
    fn merging(&self) -> u32 {
        let (list, tail) = (&self.target.list, self.before.tail);
        // As if a small block were a chunk, so that it makes no difference whether it is one.
        let is_open = tail < list.chunk_capacity() && self.which.has_last(self.before.chunks);
        if is_open { tail.min(list.room_in_last()) } else { 0 }
    }

    /// Fills the target's last chunk up from the end of the source's, where both have room. Returns
    /// the rows copied.
    fn merge_tails(&mut self, moving: &mut MoveContext<'_>) -> u32 {
        let (list, before, merged) = (&self.target.list, &self.before, self.merging());
        if merged == 0 {
            return 0;
        }
        let at = list.split(list.position_of(list.len()));
        let from = ChunkRow { chunk: self.loose.count() - 1, row: before.tail - merged };
        let run = FreeRun { chunk: at.chunk, rows: at.row..at.row + merged };
        self.append((before.chunks - 1, from), &run, moving);
        merged
    }

    /// Lets entities and stamps follow the chunks, the last of which has `merged` rows fewer now.
    /// Returns their numbers in the target.
    fn follow(&mut self, merged: u32, moving: &mut MoveContext<'_>) -> Range<u32> {
        let (before, count) = (&self.before, self.loose.count());
        let target = &mut *self.target;
        let chunks = target.list.chunk_count();
        let is_open = target.list.room_in_last() > 0;
        let first = if is_open { chunks - 1 } else { chunks };
        for _ in 0..count {
            target.stamps.push_chunk();
        }
        // A chunk that is partly filled steps back behind those that come.
        let mut behind = Vec::new();
        if is_open {
            behind = target.entities.split_off(before.first_index(first));
            target.stamps.relocate(first as usize, (first + count) as usize);
            target.stamps.touch(StampKind::ORDER, (first + count) as usize, moving.now);
        }
        let all = *self.which == ChunkSet::All && merged == 0;
        let is_swapped = all && target.entities.is_empty();
        if is_swapped {
            core::mem::swap(&mut self.source.entities, &mut target.entities);
        }
        for (i, chunk) in (0..count).zip(self.which.iter(before.chunks)) {
            let (to, rows) = (first + i, self.loose.rows(i));
            if !is_swapped {
                let start = self.before.first_index(chunk);
                let entities = &self.source.entities[start..start + rows as usize];
                self.target.entities.extend_from_slice(entities);
            }
            for &(kept, column) in self.edge.cells.columns() {
                let stamp = self.source.stamps.get(StampKind::column(kept), chunk as usize);
                self.target.stamps.put(StampKind::column(column), to as usize, stamp);
            }
            self.land(to, 0..rows, moving);
        }
        let place = self.target.place(self.edge.target, ChunkRow { chunk: first + count, row: 0 });
        moving.entities.set_locations(&behind, place);
        self.target.entities.extend(behind);
        first..first + count
    }
}
