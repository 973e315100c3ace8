//! The lists whose rows were sorted by a key, for sorts that look only at rows that changed since.

use core::any::TypeId;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::archetype::{Archetype, Archetypes};

use super::chunk_contents::ChunkContents;

/// For a type of key, and for the key of a chunk list: its chunks when all rows were sorted.
///
/// A chunk with the same contents still ascends, and so do all chunks with the same contents among
/// each other. Rows that changed, came, went or were moved by another sort are in chunks with other
/// versions; a restored list has the versions of its state.
#[derive(Debug, Default)]
pub(crate) struct SortedLists {
    lists: FxHashMap<(TypeId, u64), Vec<ChunkContents>>,
}

impl SortedLists {
    /// Whether the rows of each chunk ascend since they were sorted by the key `S`.
    pub(crate) fn ascending<S: 'static>(
        &self,
        archetype: &Archetype,
        column: u16,
    ) -> impl Fn(u32) -> bool {
        let key = (TypeId::of::<S>(), archetype.list().key());
        let known = self.lists.get(&key).map_or(&[][..], Vec::as_slice);
        move |chunk| {
            let known = known.get(chunk as usize);
            known.is_some_and(|&known| known == ChunkContents::of(archetype, column, chunk))
        }
    }

    /// Notes that all rows of an archetype are sorted by the key `S`, of values of `column`.
    pub(crate) fn note<S: 'static>(
        &mut self,
        archetypes: &Archetypes,
        archetype: &Archetype,
        column: u16,
    ) {
        let key = (TypeId::of::<S>(), archetype.list().key());
        if !self.lists.contains_key(&key) {
            // A list that got a new key, or is no more, does not come back.
            let keys: FxHashSet<_> =
                archetypes.as_slice().iter().map(|one| one.list().key()).collect();
            self.lists.retain(|(_, list), _| keys.contains(list));
        }
        let chunks = self.lists.entry(key).or_default();
        chunks.clear();
        let all = 0..archetype.list().chunk_len();
        chunks.extend(all.map(|chunk| ChunkContents::of(archetype, column, chunk)));
    }
}
