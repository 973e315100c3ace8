//! A stopwatch that also works on targets without a clock.

use core::time::Duration;

/// Measures the time since its start. Always zero on targets without a clock (on
/// `wasm32-unknown-unknown` the standard library panics when the time is read).
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
