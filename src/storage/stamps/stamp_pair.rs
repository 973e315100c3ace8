//! The stamps of one kind in one chunk.

use crate::version::Version;

use super::stamp::Stamp;

/// The two stamps that a change of one kind in one chunk sets: the chunk's own and the summary.
#[derive(Clone, Copy, Debug)]
pub(in crate::storage) struct StampPair<'s> {
    pub(in crate::storage) chunk: &'s Stamp,
    pub(super) newest: &'s Stamp,
}

impl StampPair<'_> {
    /// Raises both to a version that some lines of the chunk get.
    #[inline]
    pub(in crate::storage) fn raise_by_lines(self, version: Version) {
        self.chunk.raise_by_lines(version);
        // It may be the same stamp, which is already as new.
        self.newest.raise(version);
    }

    /// Sets both to the current version, which some lines of the chunk get.
    #[inline]
    pub(in crate::storage) fn set_by_lines(self, now: Version) {
        self.newest.set(now);
        // It may be the same stamp.
        self.chunk.set_by_lines(now);
    }

    /// Sets both to the current version, as [`Stamps::touch`] does.
    #[inline]
    pub(in crate::storage) fn set(self, now: Version) {
        self.chunk.set(now);
        self.newest.set(now);
    }
}
