//! The changes that a row log records.

use crate::archetype::Archetype;
use crate::component::ComponentId;

/// The subject of a row log: the changes of rows that it records, and the column that it copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSubject {
    /// The entity itself: it begins or ends. An entity that keeps cleanup components ends when it
    /// becomes gone.
    Entity,
    /// A component.
    Component(ComponentId),
    /// A sparse component, of which the set notes the changes.
    Sparse,
}

impl LogSubject {
    /// Whether rows of chunks are recorded.
    pub(super) const fn is_of_rows(self) -> bool {
        !matches!(self, Self::Sparse)
    }

    /// The column that is copied for rows of `archetype`, which come from the archetype `other` or
    /// go to it. `None` if these rows do not count; an entity has no column, so it counts with any.
    pub(super) fn records(self, archetype: &Archetype, other: Option<&Archetype>) -> Option<u16> {
        match self {
            Self::Entity => {
                let is_end = !archetype.is_gone() && other.is_none_or(Archetype::is_gone);
                is_end.then_some(0)
            }
            Self::Component(id) => {
                let column = archetype.column(id)?;
                other.is_none_or(|other| !other.set().contains(id)).then_some(column)
            }
            Self::Sparse => None,
        }
    }
}
