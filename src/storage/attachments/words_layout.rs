//! The places of saved words.

use core::ops::Range;

use super::attachment::AttachmentKind;
use super::attachments::Attachments;

/// The places of the words that [`Attachments::save`] writes: words of a chunk, by column and kind.
#[derive(Clone, Debug)]
pub(crate) struct WordsLayout(Box<[[usize; AttachmentKind::COUNT]]>);

impl WordsLayout {
    /// The layout of the words of an archetype with this number of columns.
    pub(crate) fn new(attachments: Option<&Attachments>, columns: usize) -> Self {
        let mut words = vec![[0; AttachmentKind::COUNT]; columns];
        for array in attachments.into_iter().flat_map(|all| &all.0) {
            words[usize::from(array.column)][array.kind.index()] = array.stride();
        }
        Self(words.into())
    }

    /// Words of a chunk in a column.
    pub(crate) fn stride(&self, kind: AttachmentKind, column: usize) -> usize {
        self.0[column][kind.index()]
    }

    /// The words of a column among the words of some chunks.
    pub(crate) fn range(
        &self,
        chunk_len: usize,
        kind: AttachmentKind,
        column: usize,
    ) -> Range<usize> {
        let of = |kind: usize, columns: &[[usize; _]]| -> usize {
            columns.iter().map(|words| words[kind]).sum()
        };
        let before: usize = (0..kind.index()).map(|kind| of(kind, &self.0)).sum();
        let start = chunk_len * (before + of(kind.index(), &self.0[..column]));
        start..start + chunk_len * self.stride(kind, column)
    }
}
