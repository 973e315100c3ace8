//! A component, as the requirements of a query name it.

use crate::component::ComponentId;

/// A component that a query names. If the world does not know the component, it has no id, and no
/// archetype has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentRef {
    pub(crate) id: ComponentId,
    pub(crate) name: &'static str,
    /// Whether queries that do not name it pass over the archetypes that have it.
    pub(crate) is_hidden: bool,
}

impl ComponentRef {
    /// Whether the world does not know the component.
    pub(crate) fn is_unknown(&self) -> bool {
        self.id == ComponentId::UNKNOWN
    }
}
