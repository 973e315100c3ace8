//! All archetypes, for writing only values: rows stay in place.

use core::ops::Deref;

use crate::entity::ArchetypeId;

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

    /// The archetypes in the order of their numbers.
    #[inline]
    pub(crate) fn into_columns(self) -> ColumnsMut<'w> {
        self.0.columns_mut()
    }

    /// One archetype.
    #[inline]
    pub(crate) fn into_archetype(self, id: ArchetypeId) -> ArchetypeColumnsMut<'w> {
        self.0.get_columns_mut(id)
    }
}
