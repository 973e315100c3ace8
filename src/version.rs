//! Change versions: values of a world's clock.

use core::fmt;

/// A point in the history of a world: a value of its 64-bit clock.
///
/// The clock advances at every mutable query and at every call that changes an entity. A column
/// that is borrowed mutably is stamped, per chunk, with the current version, so a chunk changed
/// *after* a version was read exactly if its stamp is greater, as long as the world was not
/// restored. Versions are plain values that the caller keeps. They do not wrap: at one step a
/// nanosecond the clock lasts 292 years. The clock never goes back, not even if
/// [`World::restore`](crate::World::restore) restores the world: so a version from a discarded
/// timeline is never equal to any other version.
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
    /// The version before all others: every stamp is newer.
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

    /// The number of this version: the number of advances of the clock.
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

    /// Advances a clock, and returns its new version.
    #[inline]
    pub(crate) const fn advance(&mut self) -> Self {
        *self = self.next();
        *self
    }

    /// The next version.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The version as far after `first` as this one is after [`Version::NEVER`].
    pub(crate) const fn after(self, first: Self) -> Self {
        Self(first.0 + self.0)
    }

    /// The version before this one, to undo [`Version::next`].
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
