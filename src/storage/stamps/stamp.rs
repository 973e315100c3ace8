//! One stored version.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::line::LINE_BYTES;
use crate::version::Version;

/// Stamps in a cache line.
pub(super) const LINE_STAMPS: usize = LINE_BYTES / size_of::<Stamp>();

/// A version that is read and written through shared references.
#[derive(Debug)]
#[repr(transparent)]
pub(in crate::storage) struct Stamp(AtomicU64);

impl Stamp {
    pub(super) const fn new(version: Version) -> Self {
        Self(AtomicU64::new(version.to_bits()))
    }

    #[inline]
    pub(super) fn get(&self) -> Version {
        Version::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    pub(in crate::storage) fn set(&self, version: Version) {
        self.0.store(version.to_bits(), Ordering::Relaxed);
    }

    /// Raises the stamp to a version unless it is newer. Returns whether it was raised. The test
    /// and the write are two steps, because each stamp has one writer at a time.
    #[inline]
    pub(super) fn raise(&self, version: Version) -> bool {
        let raised = self.get() < version;
        if raised {
            self.set(version);
        }
        raised
    }
}

impl Default for Stamp {
    fn default() -> Self {
        Self::new(Version::NEVER)
    }
}
