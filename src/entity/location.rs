//! The place of an entity's row, by number.

/// An archetype's number in its world, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ArchetypeId(pub(crate) u32);

impl ArchetypeId {
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The position of a row in its archetype: the chunk's number in the high bits, the row's number in
/// the chunk in the low bits.
///
/// The archetype's list of chunks knows the number of low bits, so that a position takes four bytes
/// in the directory and is split by a shift instead of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowIndex(pub(crate) u32);

/// The location of an entity's row.
///
/// The archetype `u32::MAX` marks slots without an entity: their position has another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Location {
    pub(super) archetype: u32,
    pub(super) position: u32,
}

impl Location {
    const NOWHERE: u32 = u32::MAX;

    #[inline]
    pub(crate) const fn new(archetype: ArchetypeId, row: RowIndex) -> Self {
        Self { archetype: archetype.0, position: row.0 }
    }

    #[inline]
    pub(crate) const fn archetype(self) -> ArchetypeId {
        ArchetypeId(self.archetype)
    }

    #[inline]
    pub(crate) const fn row(self) -> RowIndex {
        RowIndex(self.position)
    }

    /// The location of a slot that is at `position` of the free stack.
    pub(super) const fn free(position: u32) -> Self {
        Self { archetype: Self::NOWHERE, position }
    }

    /// The location of a slot without generations left.
    pub(super) const RETIRED: Self = Self::free(u32::MAX);

    /// The location of a slot on loan: a position beyond any free stack. Retired slots have it too,
    /// with generation 0.
    pub(super) const ON_LOAN: Self = Self::free(u32::MAX);

    #[inline]
    pub(crate) const fn is_somewhere(self) -> bool {
        self.archetype != Self::NOWHERE
    }
}
