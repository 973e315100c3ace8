//! The places of saved words.

use core::iter;
use core::ops::Range;

use crate::storage::stamps::StampKind;

use super::attachment::AttachmentKind;
use super::attachments::Attachments;

/// A part of the data beside the chunks: words of each chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordsPart {
    Stamps(StampKind),
    /// The words of a column.
    Attached(AttachmentKind, u16),
}

impl WordsPart {
    /// The parts that belong to no column.
    pub(crate) const OF_ROWS: [Self; 2] =
        [Self::Stamps(StampKind::ORDER), Self::Stamps(StampKind::ARRIVAL)];

    /// The parts of a column.
    pub(crate) fn of_column(column: u16) -> impl Iterator<Item = Self> {
        let attached = AttachmentKind::of_columns().map(move |kind| Self::Attached(kind, column));
        iter::once(Self::Stamps(StampKind::column(column))).chain(attached)
    }

    /// The name of the part, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stamps(StampKind::ORDER | StampKind::ARRIVAL) => "versions",
            Self::Stamps(_) => "versions of a column",
            Self::Attached(kind, _) => kind.name(),
        }
    }
}

/// The places of saved words: of all stamps, kind after kind, and of all attachments, in the order
/// in which [`Attachments::save`] writes them.
#[derive(Clone, Debug)]
pub(crate) struct WordsLayout {
    /// The number of kinds of stamps.
    kinds: usize,
    /// The attachments of columns, with the words of a chunk.
    attached: Box<[(AttachmentKind, u16, usize)]>,
}

impl WordsLayout {
    /// The layout of the words of an archetype with this number of kinds of stamps.
    pub(crate) fn new(kinds: usize, attachments: Option<&Attachments>) -> Self {
        let arrays = attachments.into_iter().flat_map(Attachments::columns);
        let attached = arrays.map(|array| (array.kind, array.column, array.stride())).collect();
        Self { kinds, attached }
    }

    /// The number of words of some chunks.
    pub(crate) fn len(&self, chunk_len: usize) -> usize {
        let attached: usize = self.attached.iter().map(|(_, _, stride)| stride).sum();
        chunk_len * (self.kinds + attached)
    }

    /// The place of a part among the words of some chunks. Empty if the column has no such part.
    pub(crate) fn range(&self, chunk_len: usize, part: WordsPart) -> Range<usize> {
        let (kind, column) = match part {
            WordsPart::Stamps(kind) => {
                return kind.index() * chunk_len..(kind.index() + 1) * chunk_len;
            }
            WordsPart::Attached(kind, column) => (kind, column),
        };
        let mut start = self.kinds;
        for &(own, own_column, stride) in &self.attached {
            if (own, own_column) == (kind, column) {
                return start * chunk_len..(start + stride) * chunk_len;
            }
            start += stride;
        }
        0..0
    }

    /// The place of all stamps.
    pub(crate) const fn stamps(&self, chunk_len: usize) -> Range<usize> {
        0..self.kinds * chunk_len
    }

    /// The places of all words with versions.
    pub(crate) fn versions(&self, chunk_len: usize) -> impl Iterator<Item = Range<usize>> {
        let attached = self.attached.iter().flat_map(move |&(kind, column, stride)| {
            let all = self.range(chunk_len, WordsPart::Attached(kind, column));
            let stamps_len = kind.stamps_len(stride);
            let chunks = if stamps_len > 0 { chunk_len } else { 0 };
            (all.start..).step_by(stride).take(chunks).map(move |start| start..start + stamps_len)
        });
        iter::once(self.stamps(chunk_len)).chain(attached)
    }
}
