//! A component, as the requirements of a query name it.

use crate::archetype::Archetype;
use crate::component::{ComponentId, interned};

/// A component that a query names. If the world does not know the component, it has no id, and no
/// archetype has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentRef {
    pub(crate) id: ComponentId,
    pub(crate) name: &'static str,
    /// Whether queries that do not name it pass over the archetypes that have it.
    pub(crate) is_hidden: bool,
    /// Whether it is sparse: an archetype has it if one of its entities may have it.
    pub(crate) is_sparse: bool,
    /// Whether rows of an archetype that has it may be without it: it is sparse, or enableable.
    pub(crate) is_by_row: bool,
}

impl ComponentRef {
    /// A component that a registry does not know, by its name: one without properties that could
    /// make two queries disjoint.
    pub(super) fn unresolved(name: &str) -> Self {
        let (name, number) = interned(name);
        let id = ComponentId::of_name(number);
        Self { id, name, is_hidden: false, is_sparse: true, is_by_row: true }
    }

    /// Whether the world does not know the component.
    pub(crate) fn is_unknown(&self) -> bool {
        self.id == ComponentId::UNKNOWN
    }

    /// The number of the members of a sparse component. `None` if the world does not know it.
    pub(super) fn member(&self) -> Option<u16> {
        self.id.sparse_number()
    }

    /// Whether an archetype has the component, or place for its members.
    pub(super) fn is_had_by(&self, archetype: &Archetype) -> bool {
        match self.is_sparse {
            true => self.member().is_some_and(|number| archetype.tracks_members(number)),
            false => archetype.set().contains(self.id),
        }
    }
}
