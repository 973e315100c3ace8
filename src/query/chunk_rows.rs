//! The data of a chunk besides its columns: entities, attachments, and shared values.

use crate::archetype::{ChunkMeta, SharedTags};
use crate::component::SharedValue;
use crate::entity::Entity;
use crate::storage::{
    Attachments, ChunkBits, ChunkLines, ChunkMembers, ChunkRow, EnabledRows, Stamps, ValueCell,
};
use crate::version::Version;

/// The data of a chunk's live rows besides the columns. Each part is read only if a term asks for
/// it.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRows<'w> {
    all: &'w [Entity],
    start: usize,
    len: usize,
    /// The attachments, and the stamps of chunks.
    attachments: Option<(&'w Attachments, &'w Stamps)>,
    shared: Option<&'w SharedTags>,
    /// The place of the first row.
    at: ChunkRow,
    /// The version of written data.
    now: Version,
    /// Whether the query ignores enable bits.
    ignores_enabled: bool,
}

impl<'w> ChunkRows<'w> {
    /// The `len` rows of a chunk from `at` on, which is row `start` of its archetype.
    #[inline]
    pub(super) const fn new(
        beside: ChunkMeta<'w>,
        (start, len): (usize, usize),
        at: ChunkRow,
        now: Version,
        ignores_enabled: bool,
    ) -> Self {
        let ChunkMeta { entities, attachments, shared, stamps, .. } = beside;
        let attachments = match attachments {
            Some(attachments) => Some((attachments, stamps)),
            None => None,
        };
        Self { all: entities, start, len, attachments, shared, at, now, ignores_enabled }
    }

    /// The rows of an archetype's only chunk, for terms that ask for entities only.
    #[inline]
    pub(super) const fn of_entities(all: &'w [Entity]) -> Self {
        let (len, now) = (all.len(), Version::NEVER);
        let (attachments, shared, at) = (None, None, ChunkRow { chunk: 0, row: 0 });
        Self { all, start: 0, len, attachments, shared, at, now, ignores_enabled: false }
    }

    /// The number of the first row in its chunk.
    #[inline]
    pub(super) const fn first(self) -> u32 {
        self.at.row
    }

    /// The version of written data.
    #[inline]
    pub(super) const fn now(self) -> Version {
        self.now
    }

    /// The line stamps of a column.
    ///
    /// # Panics
    ///
    /// If the column has none.
    #[inline]
    pub(super) fn lines(self, column: u16) -> ChunkLines<'w> {
        let lines =
            self.attachments.and_then(|(all, stamps)| all.lines(stamps, column, self.at.chunk));
        lines.expect("the component does not track lines")
    }

    #[inline]
    pub(super) fn entities(self) -> &'w [Entity] {
        &self.all[self.start..self.start + self.len]
    }

    /// Whether the component of a column is enabled in each row.
    ///
    /// # Panics
    ///
    /// If the column has no bits.
    pub(super) fn enabled(self, column: u16) -> EnabledRows<'w> {
        let len = u32::try_from(self.len).expect("a chunk has 2^32 rows or more");
        EnabledRows::from_row(self.enable_bits(column), self.at.row, len)
    }

    /// The enable bits of a column, if the query looks at them.
    ///
    /// # Panics
    ///
    /// If the column has no bits.
    #[inline]
    pub(super) fn switched(self, column: u16) -> Option<ChunkBits<'w>> {
        if self.ignores_enabled { None } else { Some(self.enable_bits(column)) }
    }

    /// The rows that have a sparse component, if the archetype has bits for it.
    #[inline]
    pub(super) fn members(self, number: u16) -> Option<ChunkMembers<'w>> {
        self.attachments?.0.members_in(number, self.at.chunk)
    }

    fn enable_bits(self, column: u16) -> ChunkBits<'w> {
        let bits = self.attachments.and_then(|(all, _)| all.bits(column));
        bits.expect("the component is not enableable").chunk(self.at.chunk)
    }

    /// The value of the chunk in a column.
    ///
    /// # Panics
    ///
    /// If the column has no values.
    #[inline]
    pub(super) fn value(self, column: u16) -> ValueCell<'w> {
        let (attachments, _) = self.attachments.expect("no column has a value per chunk");
        attachments.value(column, self.at.chunk)
    }

    /// The shared value of type `T`, if the entities have one.
    #[inline]
    pub(super) fn shared<T: SharedValue>(self) -> Option<&'w T> {
        self.shared?.get()
    }
}
