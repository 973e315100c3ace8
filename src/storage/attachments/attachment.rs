//! One kind of attachment: how its words follow rows.
//!
//! An archetype calls the operations in a fixed order (`archetype/row_changes.rs`): it begins a
//! change of some rows, sets the stamps of their chunk, and tells the attachments about the rows
//! last.

use core::fmt::Debug;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::component::ComponentInfo;
use crate::storage::stamps::{StampKind, StampPair, Stamps};
use crate::version::Version;

/// A kind of attachment: its number in the list of all kinds (`kinds.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttachmentKind(u8);

impl AttachmentKind {
    pub(super) const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The number of the kind.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The words of one column in one chunk, and the stamps of the column there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attached<'w> {
    pub(super) words: &'w [AtomicU64],
    pub(super) stamps: &'w Stamps,
    pub(super) column: u16,
    pub(super) chunk: u32,
}

impl<'w> Attached<'w> {
    /// The stamps of the column in the chunk.
    #[inline]
    pub(super) fn pair(self) -> StampPair<'w> {
        self.stamps.pair(StampKind::column(self.column), self.chunk as usize)
    }
}

/// Adjacent rows of a chunk that came from adjacent rows of another chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) len: u32,
}

/// A part of the state of an attachment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Word(u64),
    Version(Version),
}

/// A figure about a column's words in all chunks, as a part of a sentence: `is disabled in` 3
/// `row`s.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component(enableable)] struct Lamp(f32);
/// # let mut world = World::new();
/// let lamp = world.spawn(Lamp(1.0));
/// world.set_enabled::<Lamp>(lamp, false).unwrap();
/// let column = world.explain().archetypes.remove(0).columns.remove(0);
/// assert_eq!((column.attachments[0].amount, column.attachments[0].unit), (1, "row"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentFigure {
    /// The amount.
    pub amount: usize,
    /// The unit of the amount, in the singular.
    pub unit: &'static str,
    /// The text before and after the amount.
    pub text: [&'static str; 2],
}

/// One kind of attachment. The default of each operation is for words that rows do not change.
pub(super) trait Attachment: Debug + Sync {
    /// The kind that the list of all kinds has at its number.
    fn kind(&self) -> AttachmentKind;

    /// The name of the kind, for messages.
    fn name(&self) -> &'static str;

    /// Whether the columns of a component have words of this kind.
    fn applies(&self, info: &ComponentInfo) -> bool;

    /// The words of a new chunk with room for `capacity` rows: at least one.
    fn fresh(&self, info: &ComponentInfo, capacity: u32) -> Box<[u64]>;

    /// Whether the words belong to a chunk and not to its rows. If so, they follow a chunk that
    /// moves as a whole also if their component is inserted again, and a new chunk counts as a
    /// change of the column.
    fn is_of_chunk(&self) -> bool {
        false
    }

    /// The number of stamps, which come first among the `words` of a chunk. Their versions change
    /// when a state is restored or merged.
    fn stamps_len(&self, _words: usize) -> usize {
        0
    }

    /// Whether the words are a bit for each row, which a row keeps if the rows of a state are put
    /// into other chunks. All other words become those of new chunks.
    fn has_row_bits(&self) -> bool {
        false
    }

    /// Prepares words with versions for a change of some rows that stamps the column as a whole.
    fn begin_change(&self, _own: Attached<'_>) {}

    /// Rows came to `rows`, whose words are those of a new chunk. `from` is the first row in the
    /// archetype from which they came. `None` if their values are new.
    fn rows_arrived(
        &self,
        _own: Attached<'_>,
        _rows: Range<u32>,
        _from: Option<(Attached<'_>, u32)>,
        _now: Version,
    ) {
    }

    /// A chunk of `rows` rows came from another archetype as a whole. The words are those of a new
    /// chunk.
    fn chunk_arrived(&self, own: Attached<'_>, from: Attached<'_>, _rows: u32) {
        copy_words(own, from);
    }

    /// The last row took the place of a row, which may be the last one itself.
    fn row_removed(&self, _own: Attached<'_>, _row: u32, _last: (Attached<'_>, u32)) {}

    /// Values of rows were overwritten by a bundle.
    fn rows_written(&self, _own: Attached<'_>, _rows: Range<u32>) {}

    /// New rows are copies of one row, which may be in another archetype.
    fn rows_copied(&self, _own: Attached<'_>, _rows: Range<u32>, _from: (Attached<'_>, u32)) {}

    /// A figure about the words of a column in all chunks, for an explanation.
    fn figure(&self, _words: &[AtomicU64], _info: &ComponentInfo) -> Option<AttachmentFigure> {
        None
    }

    /// The state of a row in words, if two equal worlds have the same one in it.
    fn row_state(&self, _own: Attached<'_>, _row: u32) -> Option<&'static str> {
        None
    }

    /// Calls `each` with the state of a chunk, without data that has no effect.
    fn contents(&self, own: Attached<'_>, each: &mut dyn FnMut(Content)) {
        let words = own.words.iter().map(|word| word.load(Ordering::Relaxed));
        words.for_each(|word| each(Content::Word(word)));
    }

    /// The reason why the words cannot be those of a chunk with `rows` live rows in a world with
    /// this clock.
    fn find_defect(
        &self,
        _own: Attached<'_>,
        _rows: u32,
        _info: &ComponentInfo,
        _clock: Version,
    ) -> Option<&'static str> {
        None
    }
}

/// Copies all words.
///
/// # Panics
///
/// If the chunks have different numbers of words: chunks of two archetypes that exchange blocks
/// have the same capacity.
pub(super) fn copy_words(own: Attached<'_>, from: Attached<'_>) {
    assert!(own.words.len() == from.words.len(), "the chunks have different words");
    for (own, from) in own.words.iter().zip(from.words) {
        own.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
