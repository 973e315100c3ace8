//! Optional data of an archetype, which most archetypes do not have.

use std::sync::Arc;

use crate::component::{ComponentId, ComponentInfo, Registry};
use crate::storage::{AttachmentKind, Attachments, ListLayout};

use super::shared_tags::SharedTags;
use super::traits::ArchetypeTraits;

/// The optional data of an archetype. The entities of an archetype without it are visible, copied
/// whole, and freed when they are despawned, and their columns have no attachments.
#[derive(Debug)]
pub(super) struct Extras {
    pub(super) traits: ArchetypeTraits,
    pub(super) shared: SharedTags,
    pub(super) attachments: Attachments,
}

impl Extras {
    /// The data of an archetype of these components. `None` if it needs none.
    #[inline]
    pub(super) fn of(
        components: &[ComponentId],
        registry: &Registry,
        layout: &ListLayout,
    ) -> Option<Box<Self>> {
        let needs_them = |&id: &ComponentId| {
            let info = registry.info(id);
            // Cleanup components are not copied, and `Gone` is hidden.
            info.is_hidden()
                || !info.is_copied()
                || info.is_shared()
                || AttachmentKind::any_applies(info)
        };
        components.iter().any(needs_them).then(|| Self::new(components, registry, layout))
    }

    /// The data of an archetype that needs none until an entity gets a sparse component.
    #[cold]
    pub(super) fn plain() -> Box<Self> {
        let none = || core::iter::empty::<&ComponentInfo>();
        Box::new(Self {
            traits: ArchetypeTraits::default(),
            shared: SharedTags::new(core::iter::empty()),
            attachments: Attachments::new(none(), 1),
        })
    }

    #[cold]
    fn new(components: &[ComponentId], registry: &Registry, layout: &ListLayout) -> Box<Self> {
        let infos = components.iter().map(|&id| registry.info(id));
        let tag = |&id| Some((id, Arc::clone(registry.shared_slot(id)?)));
        Box::new(Self {
            traits: ArchetypeTraits::new(components, registry),
            shared: SharedTags::new(components.iter().filter_map(tag)),
            attachments: Attachments::new(infos, layout.chunk().capacity()),
        })
    }

    /// Adds a chunk.
    pub(super) fn push_chunk(&mut self) {
        self.attachments.push_chunk();
        self.shared.own();
    }

    /// Removes all chunks from number `chunk_len` on. The shared values go with the last chunk.
    pub(super) fn truncate(&mut self, chunk_len: usize) {
        if chunk_len == 0 {
            self.shared.release();
        }
        self.attachments.truncate(chunk_len);
    }
}
