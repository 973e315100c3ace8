//! Members of an archetype: the rows whose entities have a sparse component.

use crate::entity::RowIndex;
use crate::storage::Attachments;

use super::archetype::Archetype;
use super::extras::Extras;

impl Archetype {
    /// The numbers of the sparse components that have an array of member bits here.
    #[inline]
    pub(crate) fn tracked_components(&self) -> impl ExactSizeIterator<Item = u16> {
        static NONE: Attachments = Attachments::NONE;
        self.attachments().unwrap_or(&NONE).member_numbers()
    }

    /// Whether the archetype has an array of member bits for a sparse component.
    pub(crate) fn tracks_members(&self, number: u16) -> bool {
        self.tracked_components().any(|one| one == number)
    }

    /// Adds the array of member bits of a sparse component. O(chunks).
    #[cold]
    pub(super) fn add_members(&mut self, number: u16) {
        let (capacity, chunk_len) = (self.list.chunk_capacity(), self.stamps.chunk_len());
        let extras = self.extras.get_or_insert_with(Extras::plain);
        extras.attachments.add_members(number, capacity, chunk_len);
    }

    /// Drops the arrays of member bits without members. Returns whether there were any. O(words).
    pub(super) fn drop_empty_members(&mut self) -> bool {
        self.extras.as_mut().is_some_and(|extras| extras.attachments.drop_empty_members())
    }

    /// Makes the entity of a row a member, or not. Returns `false` if the archetype has no array of
    /// member bits for this sparse component.
    #[inline]
    pub(crate) fn set_member(&self, number: u16, row: RowIndex, is_member: bool) -> bool {
        self.member_bits(number).map(|set| set(row, is_member)).is_some()
    }

    /// Makes entities of rows members of a sparse component, or not: one call for each row. `None`
    /// if the archetype has no array of member bits for it.
    #[inline]
    pub(crate) fn member_bits(&self, number: u16) -> Option<impl Fn(RowIndex, bool) + Copy> {
        let set = self.attachments()?.member_bits(number)?;
        Some(move |row, is_member| {
            let at = self.list.split(row);
            set(at.chunk, at.row, is_member);
        })
    }

    /// Makes the entities of the last `rows` rows members of a sparse component. Its array of
    /// member bits must exist. O(rows / 64 + chunks).
    pub(crate) fn add_last_members(&self, number: u16, rows: usize) {
        let attachments = self.attachments().expect("an array of member bits is an attachment");
        for (chunk, rows) in self.chunks_of(self.len() - rows..self.len()) {
            attachments.add_member_rows(number, chunk, rows);
        }
    }

    /// Whether the entity of a row is a member of a sparse component.
    pub(crate) fn is_member(&self, number: u16, row: RowIndex) -> bool {
        let at = self.list.split(row);
        let attachments = self.attachments();
        attachments.is_some_and(|all| all.is_member(number, at.chunk, at.row))
    }

    /// The number of members of a sparse component. O(words).
    pub(crate) fn members_len(&self, number: u16) -> usize {
        self.attachments().map_or(0, |all| all.members_len(number))
    }

    /// Makes all entities no members.
    pub(crate) fn clear_members(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.attachments.clear_members();
        }
    }
}
