//! The proof that attachments are a mechanism: a kind that counts for each row how often a bundle
//! has overwritten it. It exists in tests only.

use core::ops::Range;
use core::sync::atomic::Ordering;

use crate::component::ComponentInfo;
use crate::storage::row::ChunkRow;
use crate::version::Version;

use super::attachment::{Attached, Attachment, AttachmentKind};
use super::attachments::Attachments;

/// The kind of the counts: a word a row, zero past the last live row.
#[derive(Debug)]
pub(super) struct WriteCounts;

impl WriteCounts {
    /// The components with counts are those of this name.
    const NAME: &str = "write counted";
}

impl AttachmentKind {
    const WRITE_COUNTS: Self = Self::new(4);
}

/// Copies the counts of adjacent rows.
fn copy(to: Attached<'_>, rows: Range<u32>, from: Attached<'_>, first: u32) {
    let from = &from.words[first as usize..];
    for (to, from) in to.words[rows.start as usize..rows.end as usize].iter().zip(from) {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Attachment for WriteCounts {
    fn kind(&self) -> AttachmentKind {
        AttachmentKind::WRITE_COUNTS
    }

    fn name(&self) -> &'static str {
        "counts of writes"
    }

    fn applies(&self, info: &ComponentInfo) -> bool {
        info.name() == Self::NAME
    }

    fn fresh(&self, _: &ComponentInfo, capacity: u32) -> Box<[u64]> {
        vec![0; capacity as usize].into()
    }

    fn rows_arrived(
        &self,
        own: Attached<'_>,
        rows: Range<u32>,
        from: Option<(Attached<'_>, u32)>,
        _: Version,
    ) {
        if let Some((from, first)) = from {
            copy(own, rows, from, first);
        }
    }

    fn chunk_arrived(&self, own: Attached<'_>, from: Attached<'_>, rows: u32) {
        copy(own, 0..rows, from, 0);
    }

    fn row_removed(&self, own: Attached<'_>, row: u32, (from, last): (Attached<'_>, u32)) {
        copy(own, row..row + 1, from, last);
        from.words[last as usize].store(0, Ordering::Relaxed);
    }

    fn rows_written(&self, own: Attached<'_>, rows: Range<u32>) {
        for word in &own.words[rows.start as usize..rows.end as usize] {
            word.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn rows_copied(&self, own: Attached<'_>, rows: Range<u32>, (from, row): (Attached<'_>, u32)) {
        rows.for_each(|to| copy(own, to..to + 1, from, row));
    }

    fn find_defect(
        &self,
        own: Attached<'_>,
        rows: u32,
        _: &ComponentInfo,
        _: Version,
    ) -> Option<&'static str> {
        let mut rest = own.words[rows as usize..].iter();
        let is_counted = rest.any(|word| word.load(Ordering::Relaxed) > 0);
        is_counted.then_some("a count of a row that there is not")
    }
}

impl Attachments {
    /// The number of times that a row was overwritten in a column. `None` if it is not counted.
    pub(crate) fn write_count(&self, column: u16, at: ChunkRow) -> Option<u64> {
        let words = self.find(AttachmentKind::WRITE_COUNTS, column)?.chunk(at.chunk);
        Some(words[at.row as usize].load(Ordering::Relaxed))
    }
}
