//! Moves whole chunks along an edge, or frees them, when all rows of a query change.
//!
//! ```text
//!  source  │ a: full │ b: full │ c: 40 rows │      target  │ x: full │ y: 100 rows │
//!
//!  same columns with bytes: the blocks change owner, rows of the last chunks are joined
//!  target  │ x: full │ a: full │ b: full │ y: 140 rows │
//!
//!  other columns: rows are copied in runs, after the last one
//!  target  │ x: full │ y, a … │ … a, b … │ … b, c │
//! ```
//!
//! The order of rows is visible to users, so it must depend only on their number and not on their
//! memory. The rows of a small first block, which cannot be attached to a list with other rows, are
//! copied to the same places as the rows of a full-size chunk.
//!
//! In both cases the location of each entity is rewritten. So a move that copies no cells costs 12
//! bytes of the directory and 8 bytes of the archetype's own list per entity.

use core::iter;
use core::ops::Range;

use crate::entity::{Directory, Entity, Location};
use crate::storage::{
    ChunkMove, ChunkRow, ChunkSet, DetachedChunks, FreeRun, Pool, RowSpan, Tally, Writer,
};
use crate::version::Version;

use super::archetype::Archetype;
use super::graph::Edge;
use crate::entity::ArchetypeId;

/// The data that a move of chunks needs besides the archetypes.
#[derive(Debug)]
pub(crate) struct MoveContext<'w> {
    pub(crate) entities: &'w mut Directory,
    pub(crate) pool: &'w mut Pool,
    pub(crate) now: Version,
}

/// Moves chunks from `source` along an edge. In rows that are copied, `fill` writes the added
/// columns. Returns the numbers of chunks that change owner, in the target: the caller must
/// overwrite their added columns, which have their old values. All added columns are stamped.
///
/// Kept columns keep their stamps: a chunk that changes owner keeps its own, and a chunk to which
/// rows are copied gets the newer stamp of both. Order and arrival of the moved rows are stamped,
/// and so is the order of rows that filled gaps in the source.
///
/// O(entities + chunks × columns) if only tags differ; otherwise also the bytes of the kept
/// columns.
pub(crate) fn move_chunks(
    (source_id, source): (ArchetypeId, &mut Archetype),
    target: &mut Archetype,
    which: &ChunkSet,
    edge: &Edge,
    context: &mut MoveContext<'_>,
    fill: &dyn for<'a> Fn(Writer<'a>) -> Tally<'a>,
) -> Range<u32> {
    let rows = source.rows_of(which);
    target.list.assert_room_for(rows);
    target.entities.reserve(rows);
    let (before, detached) = FormerList::take(source, which);
    // A small first block can be attached only if it stays the only block. Otherwise its rows are
    // copied, in the order of a full-size chunk.
    let fits = !detached.in_first_block() || target.is_empty();
    let mut transfer = ChunkTransfer { source, target, which, edge, detached, before, fill };
    let mut attached = 0..0;
    if !edge.keeps_bytes {
        transfer.copy(context);
    } else if fits {
        attached = transfer.attach(context);
    } else {
        transfer.copy_first_block(context);
    }
    let ChunkTransfer { source, before, .. } = transfer;
    source.apply_chunk_moves(source_id, &before, context);
    attached
}

impl Archetype {
    /// Number of rows of some chunks.
    pub(crate) fn rows_of(&self, which: &ChunkSet) -> usize {
        let chunk_len = self.list.chunk_len();
        let full = which.len(chunk_len) as usize * self.list.capacity() as usize;
        let missing =
            if which.has_last(chunk_len) { self.list.capacity() - self.list.tail() } else { 0 };
        full - missing as usize
    }

    /// The entities of a chunk's rows.
    pub(crate) fn entities_of_chunk(&self, chunk: u32) -> &[Entity] {
        &self.entities[self.indices(chunk, 0..self.list.rows(chunk))]
    }

    /// Despawns all entities of some chunks. O(entities). The caller must drop their sparse
    /// components.
    pub(crate) fn despawn_chunks(
        &mut self,
        id: ArchetypeId,
        which: &ChunkSet,
        context: &mut MoveContext<'_>,
    ) {
        for chunk in which.iter(self.list.chunk_len()) {
            context.entities.free_batch(self.entities_of_chunk(chunk));
        }
        self.free_chunks(id, which, context);
    }

    /// Frees the blocks of some chunks, after their rows were moved or despawned.
    fn free_chunks(&mut self, id: ArchetypeId, which: &ChunkSet, context: &mut MoveContext<'_>) {
        let (before, mut detached) = FormerList::take(self, which);
        while detached.chunk_len() > 0 {
            self.list.free_first_chunk(&mut detached, context.pool);
        }
        self.apply_chunk_moves(id, &before, context);
    }

    /// Moves entities and stamps of the chunks that filled gaps in the list.
    fn apply_chunk_moves(
        &mut self,
        id: ArchetypeId,
        before: &FormerList,
        context: &mut MoveContext<'_>,
    ) {
        for &ChunkMove { from, to } in &before.chunk_moves {
            let rows =
                if from + 1 == before.chunk_len { before.tail } else { before.capacity } as usize;
            let [source, target] = [from, to].map(|chunk| before.first_index(chunk));
            self.entities.copy_within(source..source + rows, target);
            self.chunk_moved(from, to, context.now);
            let first = self.location(id, ChunkRow { chunk: to, row: 0 });
            context.entities.set_locations(&self.entities[target..target + rows], first);
        }
        self.entities.truncate(self.list.len());
        self.drop_chunks(self.list.chunk_len() as usize);
    }

    /// The indices of a chunk's rows, counted over all chunks.
    fn indices(&self, chunk: u32, rows: Range<u32>) -> Range<usize> {
        let index = |row| self.list.index_of(ChunkRow { chunk, row });
        index(rows.start)..index(rows.end)
    }

    fn location(&self, id: ArchetypeId, at: ChunkRow) -> Location {
        Location::new(id, self.list.position(at))
    }
}

/// The state of a list before chunks were detached.
struct FormerList {
    chunk_len: u32,
    capacity: u32,
    tail: u32,
    chunk_moves: Vec<ChunkMove>,
}

impl FormerList {
    /// Detaches chunks from an archetype's list.
    fn take(archetype: &mut Archetype, which: &ChunkSet) -> (Self, DetachedChunks) {
        let list = &mut archetype.list;
        let (chunk_len, capacity, tail) = (list.chunk_len(), list.capacity(), list.tail());
        let (detached, chunk_moves) = list.detach(which);
        (Self { chunk_len, capacity, tail, chunk_moves }, detached)
    }

    /// The number of rows before a chunk's first one, in all chunks.
    const fn first_index(&self, chunk: u32) -> usize {
        chunk as usize * self.capacity as usize
    }
}

/// Chunks during their move from one archetype to another. The source still has the entities and
/// stamps from `before`, but not the blocks of these chunks.
struct ChunkTransfer<'w> {
    source: &'w mut Archetype,
    target: &'w mut Archetype,
    which: &'w ChunkSet,
    edge: &'w Edge,
    detached: DetachedChunks,
    before: FormerList,
    /// Writes the added columns of new rows.
    fill: &'w dyn for<'a> Fn(Writer<'a>) -> Tally<'a>,
}

impl ChunkTransfer<'_> {
    /// Copies the rows of all chunks after the last row of the target. Each block is freed as soon
    /// as its rows are copied, so that the target allocates it while it is in the cache.
    fn copy(&mut self, context: &mut MoveContext<'_>) {
        let mut expected = 0;
        for chunk in 0..self.detached.chunk_len() {
            expected += self.detached.rows(chunk) as usize;
        }
        for chunk in self.which.iter(self.before.chunk_len) {
            let rows = 0..self.detached.rows(0);
            let copied = rows.len();
            self.copy_rows(chunk, rows, expected, context);
            expected -= copied;
            self.source.list.free_first_chunk(&mut self.detached, context.pool);
        }
    }

    /// Copies the rows of a small first block to the places that they would have after a move as a
    /// full-size chunk. The kind of the block depends on [`reserve`](crate::World::reserve) and
    /// [`compact`](crate::memory::MemoryMut::compact); the order of rows must not.
    fn copy_first_block(&mut self, context: &mut MoveContext<'_>) {
        let (tail, joined) = (self.before.tail, self.join_len());
        for rows in [tail - joined..tail, 0..tail - joined] {
            self.copy_rows(0, rows, tail as usize, context);
        }
        if joined < tail {
            // The other rows are a separate chunk, as in a move of a full-size chunk.
            let last = self.target.list.chunk_len() - 1;
            let to = (last, tail - joined);
            self.target.chunk_arrived((self.source, 0), to, self.edge, context.now);
        }
        self.source.list.free_first_chunk(&mut self.detached, context.pool);
    }

    /// Copies rows of the first detached chunk after the last row of the target. `chunk` is the
    /// number of the chunk in the source; `expected` rows are about to be copied in all.
    fn copy_rows(
        &mut self,
        chunk: u32,
        mut rows: Range<u32>,
        mut expected: usize,
        context: &mut MoveContext<'_>,
    ) {
        while !rows.is_empty() {
            let room = self.target.list.open_run(0, expected, context.pool);
            let run = room.at_most(rows.len());
            let from = ChunkRow { chunk: 0, row: rows.start };
            rows.start += run.rows.end - run.rows.start;
            expected -= run.rows.len();
            self.append((chunk, from), &run, context);
        }
    }

    /// Copies rows of a chunk to a run of free rows after the target's last one, and makes them
    /// live. `chunk` is the number of the chunk in the source.
    fn append(
        &mut self,
        (chunk, from): (u32, ChunkRow),
        run: &FreeRun,
        context: &mut MoveContext<'_>,
    ) {
        let (source, target) = (&*self.source, &mut *self.target);
        let to = (&mut target.list, run);
        let written = self.edge.cells.append((&self.detached, from), to, self.fill);
        let start = self.before.first_index(chunk) + from.row as usize;
        target.entities.extend_from_slice(&source.entities[start..start + run.rows.len()]);
        target.list.commit(&written);
        target.grow_to(run.chunk, context.now);
        let len = run.rows.end - run.rows.start;
        let span = iter::once(RowSpan { from: from.row, to: run.rows.start, len });
        target.rows_arrived((source, chunk), run.chunk, span, self.edge, context.now);
        self.locate(run.chunk, run.rows.clone(), context);
    }

    /// Sets the locations of the entities of rows that were moved to the target.
    fn locate(&self, chunk: u32, rows: Range<u32>, context: &mut MoveContext<'_>) {
        let target = &*self.target;
        let first = target.location(self.edge.target, ChunkRow { chunk, row: rows.start });
        // All chunks but the last are full. A small first block is chunk 0.
        let first_index = chunk as usize * target.list.chunk_capacity() as usize;
        let start = first_index + rows.start as usize;
        context.entities.set_locations(&target.entities[start..start + rows.len()], first);
    }

    /// Attaches the chunks to the target and returns their numbers in it. Rows are copied only if
    /// the last chunks of both lists are partly filled: from the end of one to the end of the
    /// other.
    fn attach(&mut self, context: &mut MoveContext<'_>) -> Range<u32> {
        self.target.list.leave_first_block(context.pool);
        let joined = self.join_tails(context);
        if joined > 0 {
            self.source.list.shorten(&mut self.detached, joined, context.pool);
        }
        let mut attached = 0..0;
        if self.detached.chunk_len() > 0 {
            attached = self.move_entities_and_stamps(joined, context);
        }
        self.target.list.attach(&mut self.detached, &self.source.list);
        attached
    }

    /// The number of rows to copy from the end of the source's last chunk to the target's last
    /// chunk: the rows that fit, if both are partly filled.
    fn join_len(&self) -> u32 {
        let (list, tail) = (&self.target.list, self.before.tail);
        // A small first block counts as a full-size chunk, so that the result does not depend on
        // it.
        let is_open = tail < list.chunk_capacity() && self.which.has_last(self.before.chunk_len);
        if is_open { tail.min(list.room_in_last()) } else { 0 }
    }

    /// Copies rows from the end of the source's last chunk to the target's last chunk, if both are
    /// partly filled. Returns the number of rows.
    fn join_tails(&mut self, context: &mut MoveContext<'_>) -> u32 {
        let (list, before, joined) = (&self.target.list, &self.before, self.join_len());
        if joined == 0 {
            return 0;
        }
        let at = list.split(list.position_of(list.len()));
        let from = ChunkRow { chunk: self.detached.chunk_len() - 1, row: before.tail - joined };
        let run = FreeRun { chunk: at.chunk, rows: at.row..at.row + joined };
        self.append((before.chunk_len - 1, from), &run, context);
        joined
    }

    /// Moves entities and stamps to the target for the chunks, the last of which has lost `joined`
    /// rows. Returns the chunks' numbers in the target.
    fn move_entities_and_stamps(
        &mut self,
        joined: u32,
        context: &mut MoveContext<'_>,
    ) -> Range<u32> {
        let (before, chunk_len) = (&self.before, self.detached.chunk_len());
        let target = &mut *self.target;
        let chunks = target.list.chunk_len();
        let is_open = target.list.room_in_last() > 0;
        let first = if is_open { chunks - 1 } else { chunks };
        (chunks..chunks + chunk_len).for_each(|chunk| target.grow_to(chunk, context.now));
        // A partly filled last chunk moves to the end, after the attached chunks.
        let mut last_rows = Vec::new();
        if is_open {
            last_rows = target.entities.split_off(before.first_index(first));
            target.chunk_moved(first, first + chunk_len, context.now);
        }
        let all = *self.which == ChunkSet::All && joined == 0;
        let is_swapped = all && target.entities.is_empty();
        if is_swapped {
            core::mem::swap(&mut self.source.entities, &mut target.entities);
        }
        for (i, chunk) in (0..chunk_len).zip(self.which.iter(before.chunk_len)) {
            let (to, rows) = (first + i, self.detached.rows(i));
            if !is_swapped {
                let start = self.before.first_index(chunk);
                let entities = &self.source.entities[start..start + rows as usize];
                self.target.entities.extend_from_slice(entities);
            }
            self.target.chunk_arrived((self.source, chunk), (to, rows), self.edge, context.now);
            self.locate(to, 0..rows, context);
        }
        let location =
            self.target.location(self.edge.target, ChunkRow { chunk: first + chunk_len, row: 0 });
        context.entities.set_locations(&last_rows, location);
        self.target.entities.extend(last_rows);
        first..first + chunk_len
    }
}
