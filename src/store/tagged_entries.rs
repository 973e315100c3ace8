//! The entries of a plan by the tags of shared values, for finding the entries of one value
//! quickly.

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, SharedTags};
use crate::component::ComponentId;

/// The entries of the archetypes with each tag, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TaggedEntries {
    by_tag: FxHashMap<ComponentId, Vec<u32>>,
}

impl TaggedEntries {
    /// Adds the entry of an archetype, which follows all others.
    pub(super) fn push(&mut self, entry: usize, archetype: &Archetype) {
        let entry = u32::try_from(entry).expect("a plan has 2^32 entries or more");
        for tag in archetype.shared().into_iter().flat_map(SharedTags::tags) {
            self.by_tag.entry(tag).or_default().push(entry);
        }
    }

    /// Removes the entries from one on. O(tags + entries that are removed).
    pub(super) fn truncate(&mut self, entry: usize) {
        self.by_tag.retain(|_, entries| {
            while entries.last().is_some_and(|&last| last as usize >= entry) {
                entries.pop();
            }
            !entries.is_empty()
        });
    }

    /// The entries of a tag. O(1).
    #[inline]
    pub(super) fn of(&self, tag: ComponentId) -> &[u32] {
        self.by_tag.get(&tag).map_or(&[], Vec::as_slice)
    }

    /// Bytes of all lists.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.by_tag.values().map(|list| list.capacity() * size_of::<u32>());
        lists.sum::<usize>() + self.by_tag.capacity() * size_of::<(ComponentId, Vec<u32>)>()
    }
}
