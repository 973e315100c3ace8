//! The readers of a log or a queue, and the rule by which their items are forgotten.
//!
//! An item of a queue has a number, which grows by one from item to item. A reader has a position:
//! the number of the item that it reads next. An item stays until every reader has read it. The
//! bound on memory is for a reader that never comes; it is far above the use of a reader that comes
//! rarely, so the number of runs between two of its reads does not matter.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The position of a reader. Its queue knows it while the reader exists.
pub(crate) type ReaderPosition = Arc<AtomicU64>;

/// The positions of a queue's readers, and the bound on unread items.
#[derive(Debug)]
pub(super) struct Readers {
    positions: Vec<Weak<AtomicU64>>,
    /// The number of the first item that was added after the last run had begun.
    last_run: u64,
    /// The most bytes of items that are kept for readers that have not read them.
    bytes_max: usize,
}

impl Default for Readers {
    fn default() -> Self {
        Self { positions: Vec::new(), last_run: 0, bytes_max: Self::BYTES_MAX }
    }
}

impl Readers {
    /// The default of [`Readers::keep`].
    const BYTES_MAX: usize = 64 << 20;

    /// Sets the most bytes of items that are kept for readers that have not read them.
    pub(super) const fn keep(&mut self, bytes: usize) {
        self.bytes_max = bytes;
    }

    /// Adds a reader, which reads from item `first` on.
    pub(super) fn add(&mut self, first: u64) -> ReaderPosition {
        if self.positions.len() == self.positions.capacity() {
            // A program may make readers again and again, and begin no run.
            self.forget_dropped();
        }
        let position = Arc::new(AtomicU64::new(first));
        self.positions.push(Arc::downgrade(&position));
        position
    }

    fn forget_dropped(&mut self) {
        self.positions.retain(|reader| reader.strong_count() > 0);
    }

    /// The number of the first item that a reader has not read. `None` without readers.
    pub(super) fn read_until(&mut self) -> Option<u64> {
        self.forget_dropped();
        let positions = self.positions.iter().filter_map(Weak::upgrade);
        positions.map(|position| position.load(Ordering::Relaxed)).min()
    }

    /// Begins a run. Returns the number before which items may be dropped: all readers have read
    /// them, or they exceed the bound. Without readers, items stay for one whole run, so that a
    /// reader of the next run sees them. O(readers).
    pub(super) fn begin_run(&mut self, items: &Range<u64>, item_bytes: usize) -> u64 {
        let read = self.read_until().unwrap_or(self.last_run);
        self.last_run = items.end;
        read.max(self.bound(items.end, item_bytes))
    }

    /// The number before which items may be dropped between two runs. Without readers only the
    /// bound counts. O(readers).
    pub(super) fn between_runs(&mut self, end: u64, item_bytes: usize) -> u64 {
        self.read_until().unwrap_or(0).max(self.bound(end, item_bytes))
    }

    /// The number before which items exceed the bound on memory. An item without a size counts as a
    /// byte, so that its number is bounded too.
    fn bound(&self, end: u64, item_bytes: usize) -> u64 {
        end.saturating_sub((self.bytes_max / item_bytes.max(1)) as u64)
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.forget_dropped();
        self.positions.shrink_to_fit();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        self.positions.capacity() * size_of::<Weak<AtomicU64>>()
    }

    /// The number of readers, with those that were dropped since the last run.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }
}

/// The entries that a log keeps. They are numbered in ascending order.
pub trait Kept {
    /// The number of the first entry.
    fn first(&self) -> u64;

    /// The number of the next entry.
    fn end(&self) -> u64;

    /// The number of entries before `position`, which its reader has read, among the kept ones.
    fn read_len(&self, position: u64) -> usize {
        let read = position.clamp(self.first(), self.end()) - self.first();
        usize::try_from(read).expect("the entries are in memory")
    }

    /// The number of entries from `position` on.
    fn unread_len(&self, position: u64) -> usize {
        let unread = self.end() - position.clamp(self.first(), self.end());
        usize::try_from(unread).expect("the entries are in memory")
    }

    /// The number of entries from `position` on that were dropped before its reader read them.
    fn missed(&self, position: u64) -> u64 {
        self.first().saturating_sub(position)
    }
}
