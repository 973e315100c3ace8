//! All archetypes, for writing only values: rows stay in place.

#![expect(unsafe_code, reason = "rows by kept addresses, while the archetypes are read as well")]

use core::ops::Deref;

use crate::entity::{ArchetypeId, DirectoryView};
use crate::storage::{ColumnMap, RowCellsMut};

use super::archetypes::Archetypes;
use super::columns_mut::{ArchetypeColumnsMut, ColumnsMut};

/// Archetypes in which only the values of cells and stamps may be written.
#[derive(Debug)]
pub(crate) struct ArchetypesInPlace<'w>(&'w mut Archetypes);

impl Deref for ArchetypesInPlace<'_> {
    type Target = Archetypes;

    #[inline]
    fn deref(&self) -> &Archetypes {
        self.0
    }
}

impl<'w> ArchetypesInPlace<'w> {
    #[inline]
    pub(crate) const fn new(archetypes: &'w mut Archetypes) -> Self {
        Self(archetypes)
    }

    /// The same archetypes for a shorter time.
    #[inline]
    pub(crate) const fn reborrow(&mut self) -> ArchetypesInPlace<'_> {
        ArchetypesInPlace(self.0)
    }

    /// The archetypes, in which nothing is written any more.
    #[inline]
    pub(crate) const fn into_shared(self) -> &'w Archetypes {
        self.0
    }

    /// The archetypes in the order of their numbers.
    #[inline]
    pub(crate) fn into_columns(self) -> ColumnsMut<'w> {
        self.0.columns_mut()
    }

    /// The cells of a map's columns, which alone write from now on, and the archetypes for all
    /// else: the caller reads no cells by them. O(archetypes + chunks).
    ///
    /// # Panics
    ///
    /// If an entry of the map is of another list, or takes data beside a column.
    pub(crate) fn into_cells(
        self,
        directory: DirectoryView<'w>,
        map: &ColumnMap,
    ) -> (RowCellsMut<'w>, &'w Archetypes) {
        let archetypes: &'w Archetypes = self.0;
        let list = |number| archetypes.as_slice()[number as usize].list();
        // SAFETY: the archetypes were borrowed exclusively for `'w`, and this call has consumed the
        // borrow. What is left is shared, and the only caller, `LookupSource`, reads no cells.
        (unsafe { RowCellsMut::new(directory, map, list) }, archetypes)
    }

    /// One archetype.
    #[inline]
    pub(crate) fn into_archetype(self, id: ArchetypeId) -> ArchetypeColumnsMut<'w> {
        self.0.get_columns_mut(id)
    }
}
