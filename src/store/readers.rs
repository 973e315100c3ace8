//! The readers of a queue: their positions, and the time for which unread items are kept.
//!
//! Items of a queue are numbered in ascending order. A reader has a position: the number of the
//! item that it reads next. The queue may drop items that all readers have read, and items that are
//! older than a number of runs.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The position of a reader. Its queue knows it while the reader exists.
pub(crate) type ReaderPosition = Arc<AtomicU64>;

/// The positions of a queue's readers, and the ages of its items.
#[derive(Debug)]
pub(super) struct Readers {
    positions: Vec<Weak<AtomicU64>>,
    /// For some of the last runs: the number of the run, and the number of the first item added
    /// after it had begun. Both grow.
    ages: VecDeque<(u64, u64)>,
    /// The number of runs that have begun.
    runs: u64,
    /// The number of whole runs for which an item is kept for readers that do not read it.
    runs_max: u32,
}

impl Default for Readers {
    fn default() -> Self {
        let (positions, ages) = (Vec::new(), VecDeque::new());
        Self { positions, ages, runs: 0, runs_max: Self::RUNS_MAX }
    }
}

impl Readers {
    /// The default of [`Readers::keep`].
    const RUNS_MAX: u32 = 64;

    /// Sets the number of whole runs for which items are kept for readers that do not read them.
    pub(super) const fn keep(&mut self, runs: u32) {
        self.runs_max = runs;
    }

    /// Adds a reader, which reads from item `first` on.
    pub(super) fn add(&mut self, first: u64) -> ReaderPosition {
        if self.positions.len() == self.positions.capacity() {
            // A program may add readers again and again without beginning a run.
            self.positions.retain(|reader| reader.strong_count() > 0);
        }
        let position = Arc::new(AtomicU64::new(first));
        self.positions.push(Arc::downgrade(&position));
        position
    }

    /// The number of the first item that some reader has not read. `None` without readers.
    pub(super) fn read_until(&mut self) -> Option<u64> {
        self.positions.retain(|reader| reader.strong_count() > 0);
        let positions = self.positions.iter().filter_map(Weak::upgrade);
        positions.map(|position| position.load(Ordering::Relaxed)).min()
    }

    /// Begins a run: returns the number before which items may be dropped, because all readers have
    /// read them, or they existed at the beginning of the run `runs_max` runs ago. Without readers,
    /// items may be dropped if they existed at the beginning of the last run. O(readers).
    pub(super) fn begin_run(&mut self) -> u64 {
        self.runs += 1;
        let read = self.read_until();
        let runs_max = read.map_or(1, |_| u64::from(self.runs_max));
        let mut until = read.unwrap_or(0);
        while let Some(&(run, end)) = self.ages.front()
            && self.runs - run >= runs_max
        {
            until = until.max(end);
            self.ages.pop_front();
        }
        until
    }

    /// Records the number of the first item and the number after the last one, after old items were
    /// dropped at the beginning of a run.
    pub(super) fn record_age(&mut self, first: u64, end: u64) {
        while self.ages.front().is_some_and(|&(_, end)| end <= first) {
            self.ages.pop_front();
        }
        if end > self.ages.back().map_or(first, |&(_, end)| end) {
            self.ages.push_back((self.runs, end));
        }
    }

    /// Forgets the age of all items, which were dropped.
    pub(super) fn forget_ages(&mut self) {
        self.ages.clear();
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.ages.shrink_to_fit();
        self.positions.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        self.positions.capacity() * size_of::<Weak<AtomicU64>>()
            + self.ages.capacity() * size_of::<(u64, u64)>()
    }

    /// The number of readers, and the number of recorded ages.
    #[cfg(test)]
    pub(super) fn lens(&self) -> (usize, usize) {
        (self.positions.len(), self.ages.len())
    }
}
