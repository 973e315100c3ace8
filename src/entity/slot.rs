//! The slot of an index: its generation, and the location of its entity.

use super::location::Location;

/// The generation of an index that was never used.
pub(super) const GENERATION_FIRST: u32 = 1;

/// The entry of one index. The states are drawn in the module's essay.
///
/// The archetype follows the generation, for
/// [`DirectoryView::position_in`](super::DirectoryView::position_in).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) location: Location,
}

const _: () = assert!(size_of::<Slot>() == 12, "a slot is 12 bytes");

impl Slot {
    #[inline]
    pub(super) const fn is_alive(&self) -> bool {
        self.location.is_somewhere()
    }

    #[inline]
    pub(super) fn is_on_loan(&self) -> bool {
        self.generation != 0 && self.location == Location::ON_LOAN
    }
}

/// Converts a number of slots or ids, which the directory's limit bounds.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the limit is a u32, and no length exceeds it")]
pub(super) fn index_u32(len: usize) -> u32 {
    debug_assert!(u32::try_from(len).is_ok(), "length {len} exceeds a u32");
    len as u32
}
