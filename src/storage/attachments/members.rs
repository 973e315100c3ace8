//! Members: a bit a row for each sparse component that an entity of the archetype has.
//!
//! The values of a sparse component lie outside of the chunks, in a set of their own. The bits tell
//! the rows that have one, so that a query chooses them as it chooses rows by enable bits: whole
//! slices where all rows or none are members, runs and masks between.
//!
//! An array belongs to the number of a sparse component in its world, and not to a column: entities
//! of one archetype differ in their sparse components. An archetype gets the array with its first
//! member. A bit follows its row to an archetype of the world that has the array; the edge to an
//! archetype adds it there first. Rows that leave for another world are no members any more: the
//! numbers differ there, and the values, which follow, set the bits again.
//!
//! An array stays when its last member leaves, because a count of members would cost each move of a
//! row; a compaction drops the arrays without members.
//!
//! A bit is set where the row is a member. So new rows, which are none, are zeros. Bits are derived
//! from the sets, and are not saved.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::ComponentInfo;
use crate::version::Version;

use super::attachment::{Attached, Attachment, AttachmentKind};
use super::attachments::{AttachmentArray, Attachments};
use super::chunk_members::ChunkMembers;
use super::enable_bits::{ChunkBits, EnableBits, WORD, split};

/// The kind of the bits of members.
#[derive(Debug)]
pub(super) struct Members;

impl AttachmentKind {
    /// Members of sparse components.
    pub(crate) const MEMBERS: Self = Self::new(3);
}

impl Attachment for Members {
    fn kind(&self) -> AttachmentKind {
        AttachmentKind::MEMBERS
    }

    fn name(&self) -> &'static str {
        "members"
    }

    fn applies(&self, _: &ComponentInfo) -> bool {
        false
    }

    fn fresh(&self, _: &ComponentInfo, _: u32) -> Box<[u64]> {
        unreachable!("no column has members")
    }

    // The bits follow rows as enable bits do.
    fn rows_arrived(
        &self,
        own: Attached<'_>,
        rows: Range<u32>,
        from: Option<(Attached<'_>, u32)>,
        now: Version,
    ) {
        EnableBits.rows_arrived(own, rows, from, now);
    }

    fn chunk_arrived(&self, own: Attached<'_>, from: Attached<'_>, rows: u32) {
        EnableBits.chunk_arrived(own, from, rows);
    }

    fn row_removed(&self, own: Attached<'_>, row: u32, last: (Attached<'_>, u32)) {
        EnableBits.row_removed(own, row, last);
    }
}

impl Attachments {
    /// Adds an array for the members of a sparse component, none of which is known yet.
    ///
    /// # Panics
    ///
    /// If there is one.
    pub(crate) fn add_members(&mut self, number: u16, capacity: u32, chunk_len: usize) {
        assert!(!self.tracks_members(number), "the array of these members exists");
        let fresh = vec![0; capacity.div_ceil(WORD) as usize].into();
        let mut array = AttachmentArray::new(&Members, number, fresh);
        let words = chunk_len * array.stride();
        array.words.resize_with(words, AtomicU64::default);
        self.arrays.push(array);
    }

    /// Whether there is an array for the members of a sparse component.
    pub(crate) fn tracks_members(&self, number: u16) -> bool {
        self.members_number(number).is_some()
    }

    /// The number of the array of a sparse component for [`Attachments::bits_of`].
    pub(crate) fn members_number(&self, number: u16) -> Option<usize> {
        self.number(AttachmentKind::MEMBERS, number)
    }

    /// The sparse components with arrays.
    pub(crate) fn member_numbers(&self) -> impl ExactSizeIterator<Item = u16> {
        self.members().iter().map(|array| array.column)
    }

    /// The array of a sparse component, to make rows members, or not: of a chunk, a row each.
    #[inline]
    pub(crate) fn member_bits(&self, number: u16) -> Option<impl Fn(u32, u32, bool) + Copy> {
        let array = self.members().iter().find(|array| array.column == number)?;
        let (words, stride) = (&array.words[..], array.stride());
        Some(move |chunk: u32, row, is_member| {
            let (word, bit) = split(row);
            // One index instead of a slice of the chunk and an index in it.
            let word = &words[chunk as usize * stride + word];
            let (old, bit) = (word.load(Ordering::Relaxed), 1 << bit);
            word.store(if is_member { old | bit } else { old & !bit }, Ordering::Relaxed);
        })
    }

    /// Makes rows of a chunk members. Their array must exist.
    pub(crate) fn add_member_rows(&self, number: u16, chunk: u32, rows: Range<u32>) {
        let array = self.find(AttachmentKind::MEMBERS, number).expect("no array for members");
        ChunkBits { words: array.chunk(chunk) }.fill(rows, false);
    }

    /// Whether a row is a member.
    pub(crate) fn is_member(&self, number: u16, chunk: u32, row: u32) -> bool {
        let array = self.find(AttachmentKind::MEMBERS, number);
        array.is_some_and(|array| !ChunkBits { words: array.chunk(chunk) }.is_enabled(row))
    }

    /// The members of a sparse component in a chunk, if there is an array for them.
    #[inline]
    pub(crate) fn members_in(&self, number: u16, chunk: u32) -> Option<ChunkMembers<'_>> {
        let array = self.find(AttachmentKind::MEMBERS, number)?;
        Some(ChunkMembers::new(ChunkBits { words: array.chunk(chunk) }))
    }

    /// Makes all rows no members.
    pub(crate) fn clear_members(&mut self) {
        let words = self.members_mut().iter_mut().flat_map(|array| &mut array.words);
        words.for_each(|word| *word.get_mut() = 0);
    }

    /// Drops the arrays without members. Returns whether there were any. O(words).
    pub(crate) fn drop_empty_members(&mut self) -> bool {
        let before = self.arrays.len();
        self.arrays.retain_mut(|array| {
            let mut words = array.words.iter_mut();
            array.kind != AttachmentKind::MEMBERS || words.any(|word| *word.get_mut() != 0)
        });
        self.arrays.len() < before
    }

    /// The number of members of a sparse component. O(words).
    pub(crate) fn members_len(&self, number: u16) -> usize {
        let array = self.find(AttachmentKind::MEMBERS, number).into_iter();
        let words = array.flat_map(|array| &array.words);
        words.map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }
}
