//! One stored version.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::TransparentWrapper;

use crate::line::LINE_BYTES;
use crate::version::Version;

/// Stamps in a cache line.
pub(super) const LINE_STAMPS: usize = LINE_BYTES / size_of::<Stamp>();

/// A version that is read and written through shared references, and a bit that tells whether the
/// whole chunk has it, or only some lines (see `attachments/line_versions.rs`).
///
/// The bit is the lowest, and set for the whole: so two stamps of wholes are compared directly.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
pub(in crate::storage) struct Stamp(AtomicU64);

const WHOLE: u64 = 1;

/// A stamp that a thread replaces at this moment.
const LOCKED: u64 = u64::MAX;

/// The stamp of a version that some lines have.
const fn by_lines(version: Version) -> u64 {
    version.to_bits() << 1
}

impl Stamp {
    pub(super) const fn new(version: Version) -> Self {
        Self(AtomicU64::new(by_lines(version) | WHOLE))
    }

    #[inline]
    pub(in crate::storage) fn get(&self) -> Version {
        Version::from_bits(self.0.load(Ordering::Relaxed) >> 1)
    }

    /// Sets the version of the whole.
    #[inline]
    pub(in crate::storage) fn set(&self, version: Version) {
        self.0.store(by_lines(version) | WHOLE, Ordering::Relaxed);
    }

    /// Raises the stamp to another stamp of a whole, unless it is newer. Returns whether it was
    /// raised. The test and the write are two steps, because each stamp has one writer at a time.
    #[inline]
    pub(super) fn raise_to(&self, other: &Self) -> bool {
        let other = other.0.load(Ordering::Relaxed) | WHOLE;
        let raised = self.0.load(Ordering::Relaxed) < other;
        if raised {
            self.0.store(other, Ordering::Relaxed);
        }
        raised
    }

    /// The version and the bit, for [`Stamp::put_bits`].
    #[inline]
    pub(in crate::storage) fn bits(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the bit, and the version that is as long after `first` as the saved one after
    /// [`Version::NEVER`].
    #[inline]
    pub(super) fn put_bits(&self, bits: u64, first: Version) {
        self.0.store(bits + (first.to_bits() << 1), Ordering::Relaxed);
    }

    /// Copies the version and the bit.
    #[inline]
    pub(super) fn copy(&self, from: &Self) {
        self.0.store(from.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether only some lines have this version.
    #[inline]
    pub(in crate::storage) fn is_by_lines(&self) -> bool {
        self.0.load(Ordering::Relaxed) & WHOLE == 0
    }

    /// The version, if the whole has it.
    #[inline]
    pub(in crate::storage) fn whole(&self) -> Option<Version> {
        let bits = self.0.load(Ordering::Relaxed);
        (bits & WHOLE != 0).then(|| Version::from_bits(bits >> 1))
    }

    /// Records that only some lines have this version, unless another thread has done so.
    #[inline]
    pub(in crate::storage) fn leave_whole(&self, whole: Version) {
        let (old, new) = (by_lines(whole) | WHOLE, by_lines(whole));
        // A failure means that the other thread has succeeded.
        let _ = self.0.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Records that only some lines have this version.
    #[inline]
    pub(in crate::storage) fn mark_by_lines(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) & !WHOLE, Ordering::Relaxed);
    }

    /// Raises the version, unless it is newer, and records that only some lines have it.
    #[inline]
    pub(super) fn raise_by_lines(&self, version: Version) {
        self.set_by_lines(self.get().max(version));
    }

    /// Sets the version of some lines.
    #[inline]
    pub(super) fn set_by_lines(&self, version: Version) {
        self.0.store(by_lines(version), Ordering::Relaxed);
    }

    /// Locks an older stamp, which threads raise to one version, and returns its version. `None` if
    /// it is as new, after another thread has unlocked the stamp.
    #[inline]
    pub(in crate::storage) fn lock(&self, now: Version) -> Option<Version> {
        loop {
            let bits = self.0.load(Ordering::Acquire);
            if bits == LOCKED {
                core::hint::spin_loop();
                continue;
            }
            let version = Version::from_bits(bits >> 1);
            if version >= now {
                return None;
            }
            let locked =
                self.0.compare_exchange(bits, LOCKED, Ordering::Acquire, Ordering::Relaxed);
            if locked.is_ok() {
                return Some(version);
            }
        }
    }

    /// Unlocks a stamp that this thread has locked. Other threads see all that it wrote before.
    #[inline]
    pub(in crate::storage) fn unlock(&self, version: Version) {
        self.0.store(by_lines(version) | WHOLE, Ordering::Release);
    }

    /// Raises the stamp to a version unless it is newer. Returns whether it was raised. The test
    /// and the write are two steps, because each stamp has one writer at a time.
    #[inline]
    pub(in crate::storage) fn raise(&self, version: Version) -> bool {
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

/// The stamps of one kind of chunks that follow each other, to be touched in order.
#[derive(Clone, Debug, Default)]
pub struct StampRun<'s>(pub(super) core::slice::Iter<'s, Stamp>);

impl StampRun<'_> {
    /// Stamps the next chunk with the current version, if the run has one.
    #[inline(always)]
    pub(crate) fn touch_next(&mut self, now: Version) {
        if let Some(stamp) = self.0.next() {
            stamp.set(now);
        }
    }
}
