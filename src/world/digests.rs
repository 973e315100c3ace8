//! Digests of the columns of chunks, computed or taken from a cache.

use rustc_hash::FxHashMap;

/// The digest of a column of a chunk, or of its entities.
#[derive(Clone, Copy, Debug, Default)]
struct CachedDigest {
    /// The identity of the contents: see [`ChunkVersions`](crate::archetype::ChunkVersions).
    made_of: [u64; 2],
    digest: u64,
}

/// A source of the digests of columns.
pub(super) trait Digests {
    /// The digest of entry `index` of a list with this key, for contents with this identity.
    fn digest(
        &mut self,
        list: u64,
        index: usize,
        identity: [u64; 2],
        compute: impl FnOnce() -> u64,
    ) -> u64;
}

/// Computes every digest.
pub(super) struct Uncached;

impl Digests for Uncached {
    fn digest(&mut self, _: u64, _: usize, _: [u64; 2], compute: impl FnOnce() -> u64) -> u64 {
        compute()
    }
}

/// Computes only unknown digests.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    /// The digests of each chunk list by its key, which is unique among all worlds.
    lists: FxHashMap<u64, Vec<CachedDigest>>,
    /// The digests of the lists that this pass visited.
    visited: FxHashMap<u64, Vec<CachedDigest>>,
    /// The number of digests that this pass computed.
    pub(super) computed: usize,
}

impl Cached {
    /// Begins a pass.
    pub(super) fn begin(&mut self) {
        self.computed = 0;
        self.visited.clear();
    }

    /// Ends a pass. Forgets lists that it did not visit.
    pub(super) fn end(&mut self) {
        core::mem::swap(&mut self.lists, &mut self.visited);
        self.visited.clear();
    }
}

impl Digests for Cached {
    fn digest(
        &mut self,
        list: u64,
        index: usize,
        identity: [u64; 2],
        compute: impl FnOnce() -> u64,
    ) -> u64 {
        let Self { lists, visited, computed } = self;
        let entries = visited.entry(list);
        let entries = entries.or_insert_with(|| lists.remove(&list).unwrap_or_default());
        if index >= entries.len() {
            entries.resize(index + 1, CachedDigest::default());
        }
        let entry = &mut entries[index];
        if entry.made_of != identity {
            *computed += 1;
            *entry = CachedDigest { made_of: identity, digest: compute() };
        }
        entry.digest
    }
}
