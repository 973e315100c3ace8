//! The lists with rows sorted by a key, for sorts that look only at rows that changed since.

use core::any::TypeId;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::archetype::{Archetype, Archetypes, ChunkContents};

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
        columns: impl IntoIterator<Item = u16> + Copy,
    ) -> impl Fn(u32) -> bool {
        let key = (TypeId::of::<S>(), archetype.list().key());
        let known = self.lists.get(&key).map_or(&[][..], Vec::as_slice);
        move |chunk| {
            let known = known.get(chunk as usize);
            known.is_some_and(|&known| known == ChunkContents::of(archetype, columns, chunk))
        }
    }

    /// Forgets the lists that are no more or without chunks, if one of `archetypes` is not known
    /// for the key `S`: a list that got a new key does not come back. O(all archetypes + lists).
    pub(crate) fn forget_old<'a, S: 'static>(
        &mut self,
        all: &Archetypes,
        mut archetypes: impl Iterator<Item = &'a Archetype>,
    ) {
        let id = TypeId::of::<S>();
        if !archetypes.all(|one| self.lists.contains_key(&(id, one.list().key()))) {
            self.retain_lists(all);
        }
    }

    /// Forgets the lists that are no more, or without chunks.
    pub(crate) fn retain_lists(&mut self, all: &Archetypes) {
        let lists = all.as_slice().iter().map(Archetype::list);
        let keys: FxHashSet<_> =
            lists.filter(|list| list.chunk_len() > 0).map(|list| list.key()).collect();
        self.lists.retain(|(_, list), _| keys.contains(list));
        self.lists.shrink_to_fit();
    }

    /// Bytes of all kept versions.
    pub(crate) fn bytes(&self) -> usize {
        let entry = size_of::<((TypeId, u64), Vec<ChunkContents>)>();
        let chunks = self.lists.values().map(|chunks| chunks.capacity());
        self.lists.capacity() * entry + chunks.sum::<usize>() * size_of::<ChunkContents>()
    }

    /// Notes that all rows of an archetype are sorted by the key `S`, of values of `columns`.
    pub(crate) fn note<S: 'static>(
        &mut self,
        archetype: &Archetype,
        columns: impl IntoIterator<Item = u16> + Copy,
    ) {
        let key = (TypeId::of::<S>(), archetype.list().key());
        let chunks = self.lists.entry(key).or_default();
        chunks.clear();
        let all = 0..archetype.list().chunk_len();
        chunks.extend(all.map(|chunk| ChunkContents::of(archetype, columns, chunk)));
    }
}
