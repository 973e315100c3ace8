//! Archetypes whose values may be written while their rows do not move.

use core::ops::{Deref, Range};

use crate::component::{Component, ComponentId};
use crate::entity::{Entity, RowIndex};
use crate::storage::{
    ArchetypeColumns, CellsMut, ChunkIter, ChunkList, ChunkRow, ColumnBytes, ColumnViewsMut,
    DistinctColumns,
};
use crate::version::Version;

use super::archetype::Archetype;
use super::chunk_meta::ChunkMeta;

/// Archetypes in the order of their numbers. Each is handed out once, for writing its values.
#[derive(Debug)]
pub(crate) struct ColumnsMut<'w>(&'w mut [Archetype]);

impl<'w> ColumnsMut<'w> {
    #[inline]
    pub(super) const fn new(archetypes: &'w mut [Archetype]) -> Self {
        Self(archetypes)
    }

    /// The archetypes that are left.
    pub(crate) const fn as_slice(&self) -> &[Archetype] {
        self.0
    }

    /// Takes the archetype after the next `index` ones, and drops these.
    ///
    /// # Panics
    ///
    /// If at most `index` archetypes are left.
    #[inline(always)]
    pub(crate) fn take(&mut self, index: usize) -> ArchetypeColumnsMut<'w> {
        let (taken, rest) = core::mem::take(&mut self.0).split_at_mut(index + 1);
        self.0 = rest;
        ArchetypeColumnsMut(taken.last_mut().expect("there is no such archetype"))
    }
}

/// An archetype in which only the values of cells and stamps may be written.
///
/// Cached addresses rely on this type: no method moves a row, a block or an array of stamps, or
/// hands out the archetype, or a part that could do so, as `&mut`.
#[derive(Debug)]
pub(crate) struct ArchetypeColumnsMut<'w>(&'w mut Archetype);

impl Deref for ArchetypeColumnsMut<'_> {
    type Target = Archetype;

    #[inline]
    fn deref(&self) -> &Archetype {
        self.0
    }
}

impl<'w> ArchetypeColumnsMut<'w> {
    #[inline]
    pub(super) const fn new(archetype: &'w mut Archetype) -> Self {
        Self(archetype)
    }

    /// The archetype's chunks for writing, and the data beside them.
    ///
    /// # Panics
    ///
    /// If `columns` belongs to another list.
    #[inline(always)]
    pub(crate) fn chunks(self, columns: ArchetypeColumns<'w>) -> (ChunkIter<'w>, ChunkMeta<'w>) {
        let (list, beside) = self.into_parts();
        (ChunkIter::exclusive(list, columns), beside)
    }

    #[inline(always)]
    fn into_parts(self) -> (&'w mut ChunkList, ChunkMeta<'w>) {
        let Archetype { list, stamps, entities, extras, .. } = self.0;
        let (attachments, shared) = match extras {
            Some(extras) => (Some(&extras.attachments), Some(&extras.shared)),
            None => (None, None),
        };
        (list, ChunkMeta { stamps, entities, attachments, ignores_enabled: false, shared })
    }

    /// Adds the column of component `id`, if it exists, to a view for writing.
    pub(crate) fn add_to_view<C: Component>(
        self,
        id: ComponentId,
        columns: &mut ColumnViewsMut<'w, C>,
    ) {
        let (column, is_gone) = (self.column(id), self.is_gone());
        let (list, beside) = self.into_parts();
        columns.push(list, (beside.stamps, beside.attachments, is_gone), column);
    }

    /// The cells of one column, for writing from several places at the same time, and the data
    /// beside the chunks.
    #[inline]
    pub(crate) fn cells<C: Component>(self, column: u16) -> (CellsMut<'w, C>, ChunkMeta<'w>) {
        let (list, beside) = self.into_parts();
        (CellsMut::new(list, column), beside)
    }

    /// The bytes of some columns in live rows of a chunk, for writing, with the entities of the
    /// rows and the data beside the chunks.
    ///
    /// # Panics
    ///
    /// If the chunk or a column does not exist, or a row is not live.
    pub(crate) fn bytes(
        self,
        (chunk, rows): (u32, Range<u32>),
        columns: &DistinctColumns,
    ) -> (Vec<ColumnBytes<'w>>, &'w [Entity], ChunkMeta<'w>) {
        let (list, beside) = self.into_parts();
        let first = list.index_of(ChunkRow { chunk, row: rows.start });
        let entities = &beside.entities[first..first + rows.len()];
        (list.bytes_mut((chunk, rows), columns), entities, beside)
    }

    /// One cell for writing. Stamps its chunk.
    ///
    /// # Panics
    ///
    /// If the position is not a live row or the column has another size than `C`.
    #[inline(always)]
    pub(crate) fn cell<C: Component>(self, column: u16, at: RowIndex, now: Version) -> &'w mut C {
        let (list, beside) = self.into_parts();
        let ChunkRow { chunk, row } = list.split(at);
        let cell = list.cell_mut(usize::from(column), at);
        beside.touch_rows(column, chunk, row..row + 1, now);
        cell
    }
}
