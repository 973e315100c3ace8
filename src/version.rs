//! The clock that change versions are read from.

use core::fmt;

/// A moment of a world's life: the value of its 64-bit clock.
///
/// The clock advances at every mutable query and at every call that changes an entity. Handing
/// out `&mut` to a column stamps that column of that chunk with the current version, so a chunk
/// changed *after* a moment exactly if its stamp is greater than the [`Version`] read then.
/// Versions are plain values that the caller keeps; they do not wrap (at one tick a nanosecond
/// the clock lasts 584 years).
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// let before = world.version();
/// world.spawn(());
/// assert!(world.version() > before);
/// assert!(before > Version::NEVER || before == Version::NEVER);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version(u64);

impl Version {
    /// Before everything: whatever has ever been stamped is newer.
    pub const NEVER: Self = Self(0);

    /// The version with this number, for a caller that stored one with [`Version::to_bits`].
    ///
    /// ```
    /// # use phalanx::Version;
    /// assert_eq!(Version::from_bits(7).to_bits(), 7);
    /// ```
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The number of this version: how often the clock has advanced.
    ///
    /// ```
    /// # use phalanx::Version;
    /// assert_eq!(Version::NEVER.to_bits(), 0);
    /// ```
    #[inline]
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// The next moment.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The version before this one, for a change that did not happen.
    pub(crate) const fn before(self) -> Self {
        Self(self.0 - 1)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
