//! The memory that one call may ask for.

use core::hint::black_box;
use std::collections::TryReserveError;

use super::directory::Slot;
use super::{Entity, TooMuchMemory};

/// The most memory that one call may take, so that a wrong number is an error and not the end of
/// the process.
///
/// Two authorities decide. The world's limit refuses what is surely a mistake: Linux grants address
/// space that the machine does not have, and ends the process when the pages are written. The
/// system refuses what it cannot grant, which it is asked once for a large request as a whole: the
/// vectors and slabs that follow are many small requests, and none of them could be undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLimit {
    bytes_max: u64,
}

impl Default for RequestLimit {
    fn default() -> Self {
        Self { bytes_max: Self::BYTES_MAX }
    }
}

impl RequestLimit {
    /// A quarter of a directory of 2³² slots. A world that means to hold more in one call says so.
    pub(crate) const BYTES_MAX: u64 = 16 << 30;
    /// Below this the system is not asked: every program asks for as much without a look.
    const LARGE_BYTES: u64 = 256 << 20;
    /// Bytes of an id beside its components: its slot, and its place in a list of ids.
    pub(crate) const ID_BYTES: u64 = (size_of::<Slot>() + size_of::<Entity>()) as u64;

    pub(crate) const fn new(bytes_max: u64) -> Self {
        Self { bytes_max }
    }

    pub(crate) const fn bytes_max(self) -> u64 {
        self.bytes_max
    }

    /// Whether a call may take so many bytes, and the system grants them.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    #[inline]
    pub(crate) fn ensure(self, bytes: u64) -> Result<(), TooMuchMemory> {
        self.ensure_within(bytes)?;
        if bytes >= Self::LARGE_BYTES { self.probe(bytes) } else { Ok(()) }
    }

    /// Whether a call may take so many bytes, whatever the system says.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    #[inline]
    pub(crate) const fn ensure_within(self, bytes: u64) -> Result<(), TooMuchMemory> {
        let Self { bytes_max } = self;
        if bytes > bytes_max { Err(TooMuchMemory { bytes, bytes_max }) } else { Ok(()) }
    }

    /// SystemAccess the system for so many bytes, and gives them back untouched.
    #[cold]
    fn probe(self, bytes: u64) -> Result<(), TooMuchMemory> {
        let refused = TooMuchMemory { bytes, bytes_max: self.bytes_max };
        let whole = usize::try_from(bytes).map_err(|_| refused)?;
        let mut probe: Vec<u8> = Vec::new();
        self.granted(bytes, probe.try_reserve_exact(whole))?;
        // Without a use the allocation could be left out.
        black_box(probe.as_mut_ptr());
        Ok(())
    }

    /// Whether a call may make so many ids, whose components have no bytes.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    pub(crate) fn ensure_ids(self, ids: u64) -> Result<(), TooMuchMemory> {
        self.ensure(ids.saturating_mul(Self::ID_BYTES))
    }

    /// The system's answer, as an error of this crate.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if it refused.
    pub(crate) fn granted(
        self,
        bytes: u64,
        answer: Result<(), TryReserveError>,
    ) -> Result<(), TooMuchMemory> {
        answer.map_err(|_| TooMuchMemory { bytes, bytes_max: self.bytes_max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed_and_one_byte_more_is_not() {
        let requests = RequestLimit::new(1000);
        assert_eq!(requests.ensure(1000), Ok(()));
        assert_eq!(requests.ensure(1001), Err(TooMuchMemory { bytes: 1001, bytes_max: 1000 }));
        let refused = TooMuchMemory { bytes: u64::MAX, bytes_max: 1000 };
        assert_eq!(requests.ensure_ids(u64::MAX), Err(refused));
    }

    #[test]
    fn what_the_system_refuses_is_an_error() {
        let bytes = u64::MAX / 2;
        let refused = TooMuchMemory { bytes, bytes_max: u64::MAX };
        assert_eq!(RequestLimit::new(u64::MAX).ensure(bytes), Err(refused));
    }
}
