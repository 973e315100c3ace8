//! Archetypes whose values may be written while their rows stay where they are.

use core::ops::Deref;

use crate::component::{Component, ComponentId};
use crate::entity::Entity;
use crate::storage::{
    ArchetypeColumns, CellsMut, ChunkIter, ColumnViewsMut, RowIndex, StampKind, Stamps,
};
use crate::version::Version;

use super::archetype::Archetype;

/// Archetypes in the order of their numbers, each lent once, for its values.
#[derive(Debug)]
pub(crate) struct ColumnsMut<'w>(&'w mut [Archetype]);

impl<'w> ColumnsMut<'w> {
    #[inline]
    pub(super) const fn new(archetypes: &'w mut [Archetype]) -> Self {
        Self(archetypes)
    }

    /// The `index`th of those that are left. It and those before it are gone then.
    ///
    /// # Panics
    ///
    /// If there are not as many.
    #[inline(always)]
    pub(crate) fn take(&mut self, index: usize) -> ArchetypeColumnsMut<'w> {
        let (taken, rest) = core::mem::take(&mut self.0).split_at_mut(index + 1);
        self.0 = rest;
        ArchetypeColumnsMut(taken.last_mut().expect("the archetype itself"))
    }
}

/// An archetype of which values of cells and stamps may be written, and nothing else.
///
/// Addresses that somebody keeps rely on it: nothing here moves a row, a block or a table of stamps,
/// and nothing hands the archetype out as `&mut`, or a part of it that could do so.
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

    /// Its chunks, to be cut for writing, the stamps of what is cut, and the entities of the rows.
    ///
    /// # Panics
    ///
    /// If `row` was made for another list.
    #[inline(always)]
    pub(crate) fn cut(
        self,
        row: ArchetypeColumns<'w>,
    ) -> (ChunkIter<'w>, &'w Stamps, &'w [Entity]) {
        let Archetype { list, stamps, entities, .. } = self.0;
        (ChunkIter::exclusive(list, row), stamps, entities)
    }

    /// Adds the column of component `id`, if there is one, to a view for writing.
    pub(crate) fn view<C: Component>(self, id: ComponentId, columns: &mut ColumnViewsMut<'w, C>) {
        let column = self.column(id);
        let Archetype { list, stamps, .. } = self.0;
        columns.push(list, stamps, column);
    }

    /// Cells of one column, for writing together, and the stamps of their chunks.
    #[inline]
    pub(crate) fn cells<C: Component>(self, column: u16) -> (CellsMut<'w, C>, &'w Stamps) {
        let Archetype { list, stamps, .. } = self.0;
        (CellsMut::new(list, column), stamps)
    }

    /// One cell, whose chunk is stamped.
    ///
    /// # Panics
    ///
    /// If the position is not a live row or the column has another size than `C`.
    #[inline]
    pub(crate) fn cell<C: Component>(self, column: u16, at: RowIndex, now: Version) -> &'w mut C {
        let Archetype { list, stamps, .. } = self.0;
        let chunk = list.split(at).chunk as usize;
        stamps.touch(StampKind::column(column), chunk, now);
        list.cell_mut(usize::from(column), at)
    }
}
