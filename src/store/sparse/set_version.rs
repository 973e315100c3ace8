//! The version of a sparse set, which is no version of the world.

use crate::unique::unique_number;

/// The version of a set: each change gives it one that it never had. So a copy with the same
/// version equals the set.
#[derive(Debug, Default)]
pub(super) struct SetVersion {
    now: u64,
    /// The latest version that the set had. It had others in between if it was restored.
    latest: u64,
}

impl SetVersion {
    /// A version that no set has had, in any world, for a set that was read.
    pub(super) fn foreign() -> Self {
        // A set counts its own changes from one on, and never reaches 2⁶³.
        Self { now: 1 << 63 | unique_number(), latest: 0 }
    }

    /// The version as a number.
    pub(super) const fn get(&self) -> u64 {
        self.now
    }

    /// Becomes a version that the set never had.
    #[inline]
    pub(super) const fn change(&mut self) {
        self.latest += 1;
        self.now = self.latest;
    }

    /// The version of a copy of the set with another version.
    pub(super) const fn follow(&mut self, original: &Self) {
        self.now = original.now;
    }

    /// The version of a set that was exchanged for a copy: its next version comes after those that
    /// the set had.
    pub(super) const fn go_on_after(&mut self, exchanged: &Self) {
        self.latest = exchanged.latest;
    }
}
