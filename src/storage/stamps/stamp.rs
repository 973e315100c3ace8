//! One stored version.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::line::LINE_BYTES;
use crate::version::Version;

/// Stamps in a cache line.
pub(super) const LINE_STAMPS: usize = LINE_BYTES / size_of::<Stamp>();

/// A version that is read and written through shared references, and a bit that says whether some
/// lines of the chunk got it, or the whole (see [`line_stamps`](super::line_stamps)).
///
/// The bit is the highest: a stamp of a whole is its version.
#[derive(Debug)]
#[repr(transparent)]
pub(in crate::storage) struct Stamp(AtomicU64);

const BY_LINES: u64 = 1 << (u64::BITS - 1);

impl Stamp {
    pub(super) const fn new(version: Version) -> Self {
        Self(AtomicU64::new(version.to_bits()))
    }

    #[inline]
    pub(super) fn get(&self) -> Version {
        Version::from_bits(self.0.load(Ordering::Relaxed) & !BY_LINES)
    }

    /// Sets the version of the whole.
    #[inline]
    pub(in crate::storage) fn set(&self, version: Version) {
        self.0.store(version.to_bits(), Ordering::Relaxed);
    }

    /// Copies the version and the bit.
    #[inline]
    pub(super) fn copy(&self, from: &Self) {
        self.0.store(from.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether only some lines have this version.
    #[inline]
    pub(super) fn is_by_lines(&self) -> bool {
        self.0.load(Ordering::Relaxed) & BY_LINES != 0
    }

    /// The version, if the whole has it.
    #[inline]
    pub(super) fn whole(&self) -> Option<Version> {
        let bits = self.0.load(Ordering::Relaxed);
        (bits & BY_LINES == 0).then(|| Version::from_bits(bits))
    }

    /// Says that only some lines have this version, unless another thread has said so.
    #[inline]
    pub(super) fn leave_whole(&self, whole: Version) {
        let (old, new) = (whole.to_bits(), whole.to_bits() | BY_LINES);
        // A failure is that of the other thread's success.
        let _ = self.0.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Says that only some lines have this version.
    #[inline]
    pub(super) fn mark_by_lines(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) | BY_LINES, Ordering::Relaxed);
    }

    /// Raises the version, unless it is newer, and says that only some lines have it.
    #[inline]
    pub(super) fn raise_by_lines(&self, version: Version) {
        self.0.store(self.get().max(version).to_bits() | BY_LINES, Ordering::Relaxed);
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
