//! The versions by which the values of a chunk are known again.

use crate::archetype::Archetype;
use crate::storage::StampKind;
use crate::version::Version;

/// The versions of a chunk: while they and the number of rows are the same, so are the values of a
/// column, for the same [key](crate::storage::ChunkList::key) of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ChunkContents {
    order: Version,
    column: Version,
    pub(crate) rows: u32,
}

impl ChunkContents {
    pub(crate) fn of(archetype: &Archetype, column: u16, chunk: u32) -> Self {
        let stamp = |kind| archetype.stamps().get(kind, chunk as usize);
        Self {
            order: stamp(StampKind::ORDER),
            column: stamp(StampKind::column(column)),
            rows: archetype.list().rows(chunk),
        }
    }

    /// Contents that are not known, of the greater number of rows.
    pub(crate) fn unknown(self, other: Self) -> Self {
        Self { rows: self.rows.max(other.rows), ..Self::default() }
    }
}
