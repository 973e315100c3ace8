//! The tags of a type of shared values: used by values, or free.

use std::collections::BTreeMap;

use super::component_id::ComponentId;

/// The tags of a type.
#[derive(Clone, Debug)]
pub(super) struct TagTable {
    /// Tags by the hashes of their values, some of which may no longer exist. A tree, because
    /// hashes are read from bytes, and hostile ones would make each search in a hash table linear.
    pub(super) by_hash: BTreeMap<u64, Vec<ComponentId>>,
    /// The number of these tags.
    pub(super) len: usize,
    /// The number of these tags at which the next search for free tags starts.
    pub(super) full: usize,
    /// Tags that had no value in the last search. The next one is at the end.
    pub(super) free: Vec<ComponentId>,
}

/// The search starts when the tags exceed twice the last number of used tags by this many.
pub(super) const SPARE: usize = 16;

/// The hash by which a tag is found, and its place among the tags of one hash. `None` if it is
/// free.
pub(crate) type TagPlace = Option<(u64, usize)>;

impl Default for TagTable {
    /// The table of a type without tags.
    fn default() -> Self {
        Self { by_hash: BTreeMap::new(), len: 0, full: SPARE, free: Vec::new() }
    }
}

impl TagTable {
    /// The table with these tags. No two may have the same place.
    pub(super) fn new(full: usize, tags: impl Iterator<Item = (ComponentId, TagPlace)>) -> Self {
        let mut table = Self { full, ..Self::default() };
        let mut placed = Vec::new();
        for (tag, place) in tags {
            match place {
                None => table.free.push(tag),
                Some((hash, place)) => placed.push((hash, place, tag)),
            }
        }
        table.sort_free();
        placed.sort_unstable();
        table.len = placed.len();
        for (hash, _, tag) in placed {
            table.by_hash.entry(hash).or_default().push(tag);
        }
        table
    }

    /// Whether a number of tags can start the next search for free tags.
    pub(super) fn is_full(full: usize) -> bool {
        (SPARE..=2 * ComponentId::COUNT_MAX as usize + SPARE).contains(&full)
    }

    /// Whether the type has no tags.
    pub(super) fn is_empty(&self) -> bool {
        self.by_hash.is_empty() && self.free.is_empty()
    }

    /// All tags, in the order of their ids. O(tags).
    pub(super) fn tags(&self) -> Vec<(ComponentId, TagPlace)> {
        let placed = self.by_hash.iter().flat_map(|(&hash, same)| {
            same.iter().enumerate().map(move |(place, &tag)| (tag, Some((hash, place))))
        });
        let mut tags: Vec<_> = placed.chain(self.free.iter().map(|&tag| (tag, None))).collect();
        tags.sort_unstable_by_key(|&(tag, _)| tag);
        tags
    }

    /// Frees the tags of values that no longer exist. O(tags): O(1) for each that was given since
    /// the last time, unless the world is full.
    pub(super) fn free_tags(&mut self, is_free: impl Fn(ComponentId) -> bool) {
        let free = &mut self.free;
        self.by_hash.retain(|_, same| {
            same.retain(|&tag| {
                let is_free = is_free(tag);
                free.extend(is_free.then_some(tag));
                !is_free
            });
            !same.is_empty()
        });
        self.sort_free();
        self.len -= self.free.len();
        self.full = 2 * self.len + SPARE;
    }

    /// The choice of a value's tag has no effect, but the same calls must give the same tag.
    fn sort_free(&mut self) {
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }
}
