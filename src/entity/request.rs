//! The limit of memory for one call.

use core::hint::black_box;
use std::collections::TryReserveError;

use super::slot::Slot;
use super::{Entity, TooMuchMemory};

/// The greatest amount of memory that one call may allocate, so that a wrong number is an error and
/// does not abort the process.
///
/// Two checks are made. The world's limit refuses requests that are surely mistakes: Linux grants
/// address space that the machine does not have, and kills the process when the pages are written.
/// The operating system refuses requests that it cannot grant. It is asked once for a large request
/// as a whole, because the vectors and slabs of the call are many small allocations, and none of
/// them could be undone.
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
    /// A quarter of a directory of 2³² slots, unless the world is built with another limit.
    pub(crate) const BYTES_MAX: u64 = 16 << 30;
    /// Smaller requests are not checked with the system; any program makes them unchecked.
    const LARGE_BYTES: u64 = 256 << 20;
    /// The bytes of an id without its components: its slot, and its entry in a list of ids.
    pub(crate) const ID_BYTES: u64 = (size_of::<Slot>() + size_of::<Entity>()) as u64;

    pub(crate) const fn new(bytes_max: u64) -> Self {
        Self { bytes_max }
    }

    pub(crate) const fn bytes_max(self) -> u64 {
        self.bytes_max
    }

    /// Checks that a call may allocate `bytes`, and that the system grants them.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    #[inline]
    pub(crate) fn ensure(self, bytes: u64) -> Result<(), TooMuchMemory> {
        self.ensure_within(bytes)?;
        if bytes >= Self::LARGE_BYTES { self.probe(bytes) } else { Ok(()) }
    }

    /// Checks that a call may allocate `bytes`, without asking the system.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    #[inline]
    pub(crate) const fn ensure_within(self, bytes: u64) -> Result<(), TooMuchMemory> {
        let Self { bytes_max } = self;
        if bytes > bytes_max { Err(TooMuchMemory { bytes, bytes_max }) } else { Ok(()) }
    }

    /// Requests `bytes` from the system and frees them untouched.
    #[cold]
    fn probe(self, bytes: u64) -> Result<(), TooMuchMemory> {
        let refused = TooMuchMemory { bytes, bytes_max: self.bytes_max };
        let whole = usize::try_from(bytes).map_err(|_| refused)?;
        let mut probe: Vec<u8> = Vec::new();
        self.granted(bytes, probe.try_reserve_exact(whole))?;
        // An unused allocation could be optimised away.
        black_box(probe.as_mut_ptr());
        Ok(())
    }

    /// Checks that a call may allocate `ids` ids for entities with components of no bytes.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if not.
    pub(crate) fn ensure_ids(self, ids: u64) -> Result<(), TooMuchMemory> {
        self.ensure(ids.saturating_mul(Self::ID_BYTES))
    }

    /// Converts the system's answer to an error of this crate.
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
    #[cfg_attr(miri, ignore = "an allocation that fails ends Miri")]
    fn a_request_that_the_system_refuses_is_an_error() {
        let bytes = u64::MAX / 2;
        let refused = TooMuchMemory { bytes, bytes_max: u64::MAX };
        assert_eq!(RequestLimit::new(u64::MAX).ensure(bytes), Err(refused));
    }
}
