//! A stopwatch that also works on targets without a clock.

use core::time::Duration;

/// Measures the time since it was started. On targets without a clock (`wasm32-unknown-unknown`,
/// whose standard library panics when the time is read) it is always zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    start: std::time::Instant,
}

impl Stopwatch {
    #[inline]
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            start: std::time::Instant::now(),
        }
    }

    #[inline]
    pub(crate) fn elapsed(self) -> Duration {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return self.start.elapsed();
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        return Duration::ZERO;
    }
}
