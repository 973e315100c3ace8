//! The traits of an archetype: facts about its components that structural changes and queries ask
//! for.

use crate::component::{ComponentId, ComponentSet, Registry};

/// The traits of an archetype.
#[derive(Debug)]
pub(super) struct ArchetypeTraits {
    /// The components that hide the entities.
    pub(super) hidden: ComponentSet,
    /// Whether copies of an entity have all its components.
    pub(super) copied: bool,
    pub(super) despawn: DespawnAction,
}

/// The effect of a despawn on an entity of an archetype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DespawnAction {
    /// It removes the row.
    Free,
    /// It keeps the cleanup components.
    KeepCleanup,
    /// It has no effect, because the entity is [`Gone`](crate::component::Gone).
    AlreadyGone,
}

impl Default for ArchetypeTraits {
    /// The traits of an archetype whose components have no special ones.
    fn default() -> Self {
        let hidden = ComponentSet::default();
        Self { hidden, copied: true, despawn: DespawnAction::Free }
    }
}

impl ArchetypeTraits {
    /// The traits of an archetype of these components.
    pub(super) fn new(components: &[ComponentId], registry: &Registry) -> Self {
        let infos = || components.iter().map(|&id| (id, registry.info(id)));
        let has_cleanup = infos().any(|(_, info)| info.is_cleanup());
        let is_gone = registry.gone().is_some_and(|gone| components.contains(&gone));
        Self {
            hidden: infos().filter(|(_, info)| info.is_hidden()).map(|(id, _)| id).collect(),
            copied: infos().all(|(_, info)| info.is_copied()),
            despawn: match (is_gone, has_cleanup) {
                (true, _) => DespawnAction::AlreadyGone,
                (false, true) => DespawnAction::KeepCleanup,
                (false, false) => DespawnAction::Free,
            },
        }
    }
}
