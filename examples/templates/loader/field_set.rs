//! A set of fields.

/// A set of fields of components, by their [numbers](super::schema::Component::number): plain bits,
/// so that an entity has one in a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(u64);

impl FieldSet {
    /// The most fields of all components together.
    pub(crate) const FIELDS_MAX: usize = 64;

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[must_use]
    pub(crate) const fn with(self, field: usize) -> Self {
        Self(self.0 | 1 << field)
    }

    #[must_use]
    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) const fn contains(self, field: usize) -> bool {
        self.0 >> field & 1 == 1
    }
}
