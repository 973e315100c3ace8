//! Memory that is kept for reuse: counted, and freed after a long idle time.

use std::collections::HashMap;

/// The allocated memory of a vector. If values have no size, its capacity has no limit.
pub(crate) const fn vec_bytes<T>(values: &Vec<T>) -> usize {
    if size_of::<T>() == 0 { 0 } else { values.capacity() * size_of::<T>() }
}

/// Frees most of the unused memory of a vector, if it is more than a quarter of what is used. What
/// remains keeps the next pushes from a copy of the whole vector, also if this is called again
/// after each of them.
pub(crate) fn shrink_unused<T>(values: &mut Vec<T>) {
    let len = values.len();
    if values.capacity() - len > len / 4 {
        values.shrink_to(len + len / 8);
    }
}

/// The allocated memory of a map, without its fixed part: entries, and a byte of control for each.
pub(crate) fn map_bytes<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    map.capacity() * (size_of::<(K, V)>() + 1)
}

/// The peak use of recent runs, to be compared with the held memory.
///
/// A buffer that is filled in every run should not allocate in every run, and a buffer that a burst
/// has filled should not hold the memory of the burst for ever. So every [`IdleRuns::RUNS`] runs,
/// the held memory is compared with the highest use of one of them.
#[derive(Debug, Default)]
pub(crate) struct IdleRuns {
    runs: u32,
    peak: usize,
}

impl IdleRuns {
    /// The runs between two comparisons. The memory of a burst is freed after at most twice this
    /// number.
    pub(crate) const RUNS: u32 = 64;

    /// Bytes that are always kept.
    const KEPT: usize = 64 * 1024;

    /// Up to this multiple of the peak is kept: lists double, and playback needs tables as well.
    const FACTOR: usize = 16;

    /// Ends a run that has used some bytes. Returns whether too many bytes are held.
    pub(crate) fn end_run(&mut self, used: usize, held: impl FnOnce() -> usize) -> bool {
        self.peak = self.peak.max(used);
        self.runs += 1;
        if self.runs < Self::RUNS {
            return false;
        }
        let Self { peak, .. } = core::mem::take(self);
        held() > Self::KEPT.max(peak.saturating_mul(Self::FACTOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of runs after which the memory of a burst is too much, if each run uses `used`
    /// bytes.
    fn runs_until_spare(used: usize, held: usize) -> Option<u32> {
        let mut idle = IdleRuns::default();
        assert!(!idle.end_run(held, || held), "the burst itself");
        (1..1000).find(|_| idle.end_run(used, || held))
    }

    #[test]
    fn a_burst_is_given_back_after_the_next_idle_window() {
        assert_eq!(runs_until_spare(0, 1 << 20), Some(2 * IdleRuns::RUNS - 1));
        assert_eq!(runs_until_spare(1 << 10, 1 << 20), Some(2 * IdleRuns::RUNS - 1));
        assert_eq!(runs_until_spare(1 << 16, 1 << 20), None, "it is in use");
        assert_eq!(runs_until_spare(0, 1 << 16), None, "little is kept");
    }

    #[test]
    fn values_without_a_size_take_no_memory() {
        assert_eq!(vec_bytes(&vec![(); 9]), 0);
        assert_eq!(vec_bytes(&Vec::<u32>::with_capacity(3)), 12);
    }
}
