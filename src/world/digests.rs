//! Digests of the columns of chunks, computed anew or known from before.

use rustc_hash::FxHashMap;

use crate::version::Version;

/// The digest of a column of a chunk, or of its entities.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    made_of: Contents,
    digest: u64,
}

/// What tells that a column of a chunk has the bytes that it had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Contents {
    pub(super) order: Version,
    pub(super) column: Version,
    pub(super) rows: u32,
}

/// Where the digests of columns come from.
pub(super) trait Digests {
    /// The digest of entry `index` of a list with this key.
    fn digest(
        &mut self,
        list: u64,
        index: usize,
        contents: Contents,
        compute: impl FnOnce() -> u64,
    ) -> u64;
}

/// Each is computed.
pub(super) struct Anew;

impl Digests for Anew {
    fn digest(&mut self, _: u64, _: usize, _: Contents, compute: impl FnOnce() -> u64) -> u64 {
        compute()
    }
}

/// Those are computed that are not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The digests of each list of chunks, by its key, which no other list has in any world.
    lists: FxHashMap<u64, Vec<Entry>>,
    /// Those of the lists that this pass visited.
    visited: FxHashMap<u64, Vec<Entry>>,
    /// How many this pass computed.
    pub(super) computed: usize,
}

impl Known {
    /// Begins a pass.
    pub(super) fn begin(&mut self) {
        self.computed = 0;
        self.visited.clear();
    }

    /// Ends a pass. Lists that it did not visit are forgotten.
    pub(super) fn end(&mut self) {
        core::mem::swap(&mut self.lists, &mut self.visited);
        self.visited.clear();
    }
}

impl Digests for Known {
    fn digest(
        &mut self,
        list: u64,
        index: usize,
        contents: Contents,
        compute: impl FnOnce() -> u64,
    ) -> u64 {
        let Self { lists, visited, computed } = self;
        let entries = visited.entry(list);
        let entries = entries.or_insert_with(|| lists.remove(&list).unwrap_or_default());
        if index >= entries.len() {
            entries.resize(index + 1, Entry::default());
        }
        let entry = &mut entries[index];
        if entry.made_of != contents {
            *computed += 1;
            *entry = Entry { made_of: contents, digest: compute() };
        }
        entry.digest
    }
}
