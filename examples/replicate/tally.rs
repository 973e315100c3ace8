//! Sizes and times of sent packets.

use std::time::{Duration, Instant};

/// The sizes of each form, and of the packets that the mirror has answered.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) dump: Size,
    pub(crate) delta: Size,
    /// A delta without its zeros.
    pub(crate) packed: Size,
    pub(crate) xor: Size,
    /// To the other process and back.
    pub(crate) sent: Size,
}

/// Number, sizes and total time.
#[derive(Debug, Default)]
pub(crate) struct Size {
    count: u32,
    bytes: u64,
    largest: usize,
    time: Duration,
}

impl Size {
    pub(crate) fn add(&mut self, bytes: &[u8], start: Instant) {
        self.time += start.elapsed();
        self.count += 1;
        self.bytes += bytes.len() as u64;
        self.largest = self.largest.max(bytes.len());
    }

    /// Bytes of one, on average.
    pub(crate) fn mean(&self) -> u64 {
        self.bytes / u64::from(self.count.max(1))
    }

    /// Bytes of the largest.
    pub(crate) const fn largest(&self) -> usize {
        self.largest
    }

    /// Milliseconds for one, on average.
    pub(crate) fn milliseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1e3 / f64::from(self.count.max(1))
    }
}
