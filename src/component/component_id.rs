//! The id of a component type.

use core::fmt;

/// The id of a component type in its world: dense, from zero, in order of first use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub(crate) u32);

impl ComponentId {
    /// The id of a type that this world has not registered. No set contains it.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
    /// The maximum number of component types in a world. Column indices are 16 bits wide and
    /// `u16::MAX` means "absent".
    pub(crate) const COUNT_MAX: u32 = u16::MAX as u32;

    /// The first id of sparse components, after those of columns.
    const FIRST_SPARSE: u32 = 1 << 16;

    /// The id of a sparse component in the requirements of queries. No set contains it.
    pub(crate) const fn of_sparse(number: u16) -> Self {
        Self(Self::FIRST_SPARSE + number as u32)
    }

    /// The id of a name that no component has in a registry of a schedule: `number` is that of the
    /// name in the process. No set contains it.
    pub(crate) const fn of_name(number: u32) -> Self {
        Self(Self::FIRST_SPARSE.saturating_mul(2).saturating_add(number))
    }

    /// The number of a sparse component.
    pub(crate) fn sparse_number(self) -> Option<u16> {
        u16::try_from(self.0.checked_sub(Self::FIRST_SPARSE)?).ok()
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}
