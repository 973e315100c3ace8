//! All kinds of attachments.

use crate::component::ComponentInfo;

use super::attachment::{Attachment, AttachmentKind};
use super::attachments::{AttachmentArray, Attachments};
use super::chunk_values::ChunkValues;
use super::enable_bits::EnableBits;
use super::line_versions::LineVersions;
use super::members::Members;

/// All kinds, in the order in which their words are saved. A kind has its place as its number.
const KINDS: &[&dyn Attachment] = &[
    &EnableBits,
    &LineVersions,
    &ChunkValues,
    &Members,
    #[cfg(test)]
    &super::write_counts::WriteCounts,
];

impl AttachmentKind {
    /// The kinds that columns have, in the order in which their words are saved. Members are not
    /// saved: the sets of their sparse components tell them.
    pub(crate) fn of_columns() -> impl Iterator<Item = Self> {
        let kinds = KINDS.iter().map(|operations| operations.kind());
        kinds.filter(|&kind| kind != Self::MEMBERS)
    }

    /// The name of the kind.
    pub(crate) fn name(self) -> &'static str {
        KINDS[self.index()].name()
    }

    /// The number of stamps, which come first among the `words` of a chunk.
    pub(super) fn stamps_len(self, words: usize) -> usize {
        KINDS[self.index()].stamps_len(words)
    }

    /// Whether the words are a bit for each row.
    pub(crate) fn has_row_bits(self) -> bool {
        KINDS[self.index()].has_row_bits()
    }

    /// Whether any kind has words for the columns of a component.
    #[inline]
    pub(crate) fn any_applies(info: &ComponentInfo) -> bool {
        KINDS.iter().any(|operations| operations.applies(info))
    }
}

impl Attachments {
    /// The attachments of an archetype without chunks, with columns of these components.
    pub(crate) fn new<'i>(
        infos: impl Iterator<Item = &'i ComponentInfo> + Clone,
        capacity: u32,
    ) -> Self {
        let arrays = KINDS.iter().flat_map(|&operations| {
            let infos = (0..).zip(infos.clone());
            let infos = infos.filter(move |(_, info)| operations.applies(info));
            infos.map(move |(column, info)| {
                AttachmentArray::new(operations, column, operations.fresh(info, capacity))
            })
        });
        Self::of_columns(arrays.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_place_as_its_number() {
        let numbers: Vec<_> = KINDS.iter().map(|operations| operations.kind().index()).collect();
        assert_eq!(numbers, (0..KINDS.len()).collect::<Vec<_>>());
        assert!(AttachmentKind::of_columns().all(|kind| kind != AttachmentKind::MEMBERS));
    }
}
