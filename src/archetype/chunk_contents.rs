//! The versions by which the values of a chunk are known again: the rule of
//! [`unchanged_chunks`](super::unchanged_chunks) for some columns at once, in a form that caches
//! keep.

use crate::storage::StampKind;
use crate::version::Version;

use super::archetype::Archetype;

/// The versions of a chunk: while they and the number of rows are the same, so are the values of
/// some columns, for the same [key](crate::storage::ChunkList::key) of the list.
///
/// Of the columns it has the latest version. No version comes twice, so a chunk that has this
/// version again is in the history in which it was written last, and all other columns are older: a
/// later write of any of them has a later version.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ChunkContents {
    order: Version,
    columns: Version,
    pub(crate) rows: u32,
}

impl ChunkContents {
    pub(crate) fn of(
        archetype: &Archetype,
        columns: impl IntoIterator<Item = u16>,
        chunk: u32,
    ) -> Self {
        let stamp = |kind| archetype.stamps().get(kind, chunk as usize);
        let versions = columns.into_iter().map(|column| stamp(StampKind::column(column)));
        let latest = versions.max();
        Self {
            order: stamp(StampKind::ORDER),
            columns: latest.unwrap_or_default(),
            rows: archetype.list().rows(chunk),
        }
    }

    /// Contents that are not known, of the greater number of rows.
    pub(crate) fn unknown(self, other: Self) -> Self {
        Self { rows: self.rows.max(other.rows), ..Self::default() }
    }
}
