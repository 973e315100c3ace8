//! The place of a row, valid until rows of its world move.
//!
//! Each world numbers the rows of all its chunks anew after a change of rows, with numbers that no
//! world of the process had before. So the number of a row tells by itself whether it is valid, and
//! the comparison that finds its chunk is the test:
//!
//! ```text
//!  numbers   │ ... world a, before │ world b ... │ world a, now                 │
//!                                                 chunk 0  │ chunk 1  │ chunk 2
//!                                                └ first
//!  place - first   =   chunk << row_bits | row        past the last chunk: not of this world, now
//! ```

use core::fmt;
use core::num::NonZero;
use core::sync::atomic::{AtomicU64, Ordering};

/// The place of a row: it finds the row's components without the row's id, until rows move.
///
/// A place takes 8 bytes, `Option<RowPlace>` as well. [`PlaceLookup::place`] finds the place of an
/// entity, and [`PlaceLookup::places_of`] those of the rows of a chunk. Places of one world compare
/// as their rows lie: by archetype, chunk and row.
///
/// A place is valid for all components of its world until the next structural change: a spawn, a
/// despawn, an insertion or a removal of a component, a sort, a merge, a restored state. Of a
/// [sparse component](crate::component#sparse-components) or a relation, the first value that comes
/// to an archetype ends places, and no other one does: rows stay where they are. A view
/// that is made after it refuses the place, and so does every view of another world:
/// [`PlaceError::Moved`], and [`RowError::Moved`] by a query. Values that are written through a
/// query or a look-up move no rows. A call that might have moved rows may end places as well,
/// though it moved none: a batch without rows, an insertion of a component that is there, a flip, a
/// compaction, a [reservation of memory](crate::World::reserve), a
/// [retirement of archetypes](crate::memory::MemoryMut::retire_archetypes), and the first call that
/// has the world for itself after an id was reserved.
///
/// [`PlaceLookup::place`]: crate::rows::PlaceLookup::place
/// [`PlaceLookup::places_of`]: crate::rows::PlaceLookup::places_of
/// [`RowError::Moved`]: crate::rows::RowError::Moved
/// [`PlaceError::Moved`]: crate::rows::PlaceError::Moved
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowPlace(NonZero<u64>);

impl RowPlace {
    /// The first of `len` places that no world has had.
    ///
    /// # Panics
    ///
    /// If fewer are left of the 2⁶⁴ of a process.
    pub(crate) fn first_of(len: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let add = |next: u64| next.checked_add(len);
        let first = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        let first = first.ok().and_then(NonZero::new);
        Self(first.expect("the process has numbered 2^64 places of rows"))
    }

    /// The place `distance` after this one.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub(crate) fn after(self, distance: u64) -> Self {
        Self(self.0.checked_add(distance).expect("a row is past all places"))
    }

    /// The distance from `first`, or a larger number than any distance between two places of one
    /// numbering.
    #[inline(always)]
    pub(crate) const fn distance(self, first: Self) -> u64 {
        self.0.get().wrapping_sub(first.0.get())
    }
}

impl fmt::Debug for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowPlace({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_two_numberings_differ() {
        let [a, b] = [100, 1].map(RowPlace::first_of);
        assert!(a.after(99) < b);
        assert_eq!(a.after(7).distance(a), 7);
        assert!(a.after(99).distance(b) > u64::MAX / 2, "it is before the first place");
        assert!(b.distance(a) >= 100);
        assert_eq!(size_of::<Option<RowPlace>>(), 8);
    }
}
