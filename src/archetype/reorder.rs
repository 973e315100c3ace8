//! Puts the rows of an archetype in another order.
//!
//! ```text
//!  old list  │ a b c d │ e f g h │ i j │      order: j f b a, e d c g, h i
//!              ╲ ╲     ╱ ╱                     all columns gathered, one after the other
//!  new list  │ j f b a │ e d c g │ h i │
//! ```
//!
//! It is a move of all rows out of the archetype and back into it. So what follows a row on its way
//! to another archetype (its stamps, enable bits, versions of lines) follows it here, and a new
//! kind of attachment needs no code for it. Values of chunks stay with the number of their chunk.
//!
//! Rows that follow each other in both orders are copied by one `memcpy` a column. While the rows
//! move, the archetype has twice its memory.

use crate::entity::{ArchetypeId, Entity, Location, RowIndex};
use crate::storage::{
    Attachments, ChunkList, ChunkRow, DistinctColumns, RowMove, RowRun, RowSpan, Stamps,
};

use super::archetype::Archetype;
use super::move_chunks::MoveContext;

/// The chunks from which the rows of one chunk came.
pub(super) struct RowSources<'o> {
    /// The stamps that all chunks had.
    pub(super) stamps: &'o Stamps,
    /// The attachments that all chunks had.
    pub(super) attachments: Option<&'o Attachments>,
    /// The chunks from which rows came, each once.
    pub(super) chunks: &'o [u32],
    /// The rows and the chunk from which they came, sorted by these. Empty without attachments.
    pub(super) spans: &'o [(u32, RowSpan)],
    /// Whether all rows have the places that they had before.
    pub(super) is_same: bool,
}

/// The rows of an archetype before they get their new places.
struct OldRows {
    list: ChunkList,
    stamps: Stamps,
    attachments: Option<Attachments>,
    entities: Vec<Entity>,
}

impl Archetype {
    /// Puts the rows in the order of `order`, which has the old position of each row, and sets the
    /// locations of their entities. `id` is the number of this archetype.
    ///
    /// Chunks with other rows than before have a new version of the order; no value counts as
    /// changed. O(bytes), and O(columns) for each pair of chunks between which a row moves.
    ///
    /// # Panics
    ///
    /// If a position is not that of a live row, or their number is not that of all rows. The order
    /// must not have a position twice.
    pub(crate) fn reorder(
        &mut self,
        id: ArchetypeId,
        order: &[RowIndex],
        context: &mut MoveContext<'_>,
    ) {
        assert!(order.len() == self.len(), "the order has another number of rows");
        // The list has no row for a moment, so its reserved blocks go as well.
        let reserved = self.list.spare_rows();
        let mut old = self.take_old_rows();
        self.gather_cells(&old.list, order, context);
        let entity = |&row| old.entities[old.list.index_of(old.list.split(row))];
        self.entities.extend(order.iter().map(entity));
        self.follow_rows(&old, order, context);
        for chunk in 0..self.list.chunk_len() {
            let first = Location::new(id, self.list.position(ChunkRow { chunk, row: 0 }));
            context.entities.set_locations(self.entities_of_chunk(chunk), first);
        }
        old.list.clear(context.pool);
        self.reserve(reserved, context.pool);
    }

    fn take_old_rows(&mut self) -> OldRows {
        let Self { list, stamps, entities, extras, .. } = self;
        let capacity = entities.capacity();
        OldRows {
            list: list.take_rows(),
            stamps: stamps.take(),
            attachments: extras.as_mut().map(|extras| extras.attachments.take_rows()),
            entities: core::mem::replace(entities, Vec::with_capacity(capacity)),
        }
    }

    /// Copies the cells of the rows to the list, which has none.
    fn gather_cells(&mut self, old: &ChunkList, order: &[RowIndex], context: &mut MoveContext<'_>) {
        let none = || DistinctColumns::new(Vec::new());
        let kept = (0..).take(old.columns().len()).map(|column| (column, column)).collect();
        let cells = RowMove::new((old, &self.list), kept, (none(), none()));
        let (mut written, mut from) = (self.begin_rows(), Vec::new());
        while written.len() < order.len() {
            let left = &order[written.len()..];
            let run = self.room(&written, left.len(), context.pool).at_most(left.len());
            from.clear();
            left[..run.rows.len()].iter().for_each(|&row| RowRun::add(&mut from, old.split(row)));
            cells.write_rows((old, &from), (&mut self.list, &run), &mut written, |_, _| &[]);
        }
        self.list.commit(&written);
    }

    /// Stamps each chunk for its new rows, and tells the attachments about them.
    fn follow_rows(&mut self, old: &OldRows, order: &[RowIndex], context: &MoveContext<'_>) {
        let (mut chunks, mut spans) = (Vec::new(), Vec::new());
        // The chunk that last got a row from each chunk.
        let mut last_to = vec![u32::MAX; old.stamps.chunk_len()];
        let mut rest = order;
        for to in 0..self.list.chunk_len() {
            let rows;
            (rows, rest) = rest.split_at(self.list.rows(to) as usize);
            chunks.clear();
            spans.clear();
            let mut is_same = true;
            for (row, from) in (0u32..).zip(rows.iter().map(|&row| old.list.split(row))) {
                is_same &= from == ChunkRow { chunk: to, row };
                if core::mem::replace(&mut last_to[from.chunk as usize], to) != to {
                    chunks.push(from.chunk);
                }
                if old.attachments.is_some() {
                    add_row(&mut spans, from, row);
                }
            }
            spans.sort_by_key(|&(chunk, _)| chunk);
            let (stamps, attachments) = (&old.stamps, old.attachments.as_ref());
            let (chunks, spans) = (&chunks[..], &spans[..]);
            let from = RowSources { stamps, attachments, chunks, spans, is_same };
            self.rows_reordered(to, &from, context.now);
        }
    }
}

/// Adds a row: to the last span if it follows it, otherwise as a new span.
fn add_row(spans: &mut Vec<(u32, RowSpan)>, from: ChunkRow, to: u32) {
    match spans.last_mut() {
        Some((chunk, last)) if *chunk == from.chunk && last.from + last.len == from.row => {
            last.len += 1;
        }
        _ => spans.push((from.chunk, RowSpan { from: from.row, to, len: 1 })),
    }
}
