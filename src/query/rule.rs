//! What a query asks of an archetype's components, rule by rule.
//!
//! One list of rules answers both questions: whether an archetype matches, and which rules keep
//! the others out.

use crate::component::{ComponentId, ComponentSet};

/// A component that a rule names. One that the world has not seen has no number, and no archetype
/// has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(super) id: ComponentId,
    pub(crate) name: &'static str,
}

/// A condition on the components of an archetype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It has this one.
    Has(Named),
    /// It lacks this one.
    Lacks(Named),
    /// It has at least one of these.
    HasAny(Vec<Named>),
}

impl Rule {
    pub(super) fn admits(&self, set: &ComponentSet) -> bool {
        match self {
            Self::Has(one) => set.contains(one.id),
            Self::Lacks(one) => !set.contains(one.id),
            Self::HasAny(some) => some.iter().any(|one| set.contains(one.id)),
        }
    }
}
