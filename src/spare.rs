//! Memory that is kept for later: counted, and given back when it was idle for long.

use std::collections::HashMap;

/// The allocated memory of a vector. The capacity of one of values without a size has no limit.
pub(crate) const fn vec_bytes<T>(values: &Vec<T>) -> usize {
    if size_of::<T>() == 0 { 0 } else { values.capacity() * size_of::<T>() }
}

/// The allocated memory of a map, but for its fixed part: entries, and a byte of control for each.
pub(crate) fn map_bytes<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    map.capacity() * (size_of::<(K, V)>() + 1)
}

/// The most that recent runs have used, to be compared with what is held.
///
/// A buffer that is filled in every run should allocate in none of them, and one that a burst has
/// filled should not hold the memory of the burst for ever. So what is held is compared once in
/// [`IdleRuns::RUNS`] runs with the most that one of them has used.
#[derive(Debug, Default)]
pub(crate) struct IdleRuns {
    runs: u32,
    peak: usize,
}

impl IdleRuns {
    /// The runs from one comparison to the next. A burst is given back after twice as many at most.
    pub(crate) const RUNS: u32 = 64;

    /// Bytes that are always kept.
    const KEPT: usize = 64 * 1024;

    /// How many times as much as the peak is kept: lists double, and playback needs tables as well.
    const FACTOR: usize = 16;

    /// Ends a run that has used some bytes. Returns whether those that are held are too many.
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

    /// After how many runs the memory of a burst is too much, if each run uses `used` bytes.
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
