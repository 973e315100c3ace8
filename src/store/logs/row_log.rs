//! The log of rows that have lost or gained one component, with their entities and values.

use crate::entity::Entity;
use crate::spare::vec_bytes;

use super::readers::{Kept, ReaderPosition, Readers};

/// Entities that have lost or gained a component, and its values at that time, in order. It is
/// filled while it has readers.
///
/// Rows change only while the world is borrowed exclusively. So the log needs no lock, and readers
/// get slices of it.
///
/// The log of the rows themselves has values of type `()`.
#[derive(Debug)]
pub struct RowLog<C> {
    /// The number of the first row that is kept.
    first: u64,
    entities: Vec<Entity>,
    /// One for each entity.
    values: Vec<C>,
    readers: Readers,
    /// Whether there was a reader when the last run began, or one was added since.
    is_read: bool,
}

impl<C> Default for RowLog<C> {
    fn default() -> Self {
        let (entities, values, readers) = (Vec::new(), Vec::new(), Readers::default());
        Self { first: 0, entities, values, readers, is_read: false }
    }
}

impl<C: Copy> RowLog<C> {
    /// Whether rows are recorded.
    pub(in crate::store) const fn is_read(&self) -> bool {
        self.is_read
    }

    /// Adds a reader of all rows that are recorded from now on.
    pub(super) fn add_reader(&mut self) -> ReaderPosition {
        self.is_read = true;
        self.readers.add(self.end())
    }

    /// The bytes of a row.
    const ROW_BYTES: usize = size_of::<Entity>() + size_of::<C>();

    /// Sets the most bytes of rows that are kept for readers that have not read them.
    pub(crate) const fn keep(&mut self, bytes: usize) {
        self.readers.keep(bytes);
    }

    /// The entities of the rows from a reader's position on, and their values.
    pub(crate) fn unread(&self, position: u64) -> (&[Entity], &[C]) {
        let read = self.read_len(position);
        (&self.entities[read..], &self.values[read..])
    }

    /// Records rows. Amortised O(rows), and O(readers) where the log would grow.
    pub(in crate::store) fn record(
        &mut self,
        entities: &[Entity],
        values: impl ExactSizeIterator<Item = C>,
    ) {
        assert!(entities.len() == values.len(), "a row has no entity or no value");
        if self.entities.len() + entities.len() > self.entities.capacity() {
            self.drop_read();
        }
        self.entities.extend_from_slice(entities);
        self.values.extend(values);
    }

    /// Drops the rows that all readers have read, and those over the bound, if they are at least
    /// half: so a world that runs no schedule keeps no more than twice the unread rows.
    fn drop_read(&mut self) {
        let until = match self.readers.read_until() {
            Some(_) => self.readers.between_runs(self.end(), Self::ROW_BYTES),
            None => self.end(),
        };
        if until.saturating_sub(self.first) >= self.entities.len() as u64 / 2 {
            self.drop_until(until);
        }
    }

    /// Begins a run: drops the rows before the number that [`Readers::begin_run`] returns, or all
    /// rows without readers. O(readers + rows that are kept).
    pub(super) fn age(&mut self) {
        let until = self.readers.begin_run(&(self.first..self.end()), Self::ROW_BYTES);
        self.is_read = self.readers.read_until().is_some();
        self.drop_until(if self.is_read { until } else { self.end() });
    }

    /// Drops all rows. Readers count unread ones as missed.
    pub(super) fn clear(&mut self) {
        self.drop_until(self.end());
    }

    /// Drops the rows before a number.
    fn drop_until(&mut self, until: u64) {
        let len = until.min(self.end()).saturating_sub(self.first);
        self.first += len;
        let len = usize::try_from(len).expect("there are not that many rows");
        self.entities.drain(..len);
        self.values.drain(..len);
    }

    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.entities.shrink_to_fit();
        self.values.shrink_to_fit();
        self.readers.shrink();
    }

    /// The allocated memory, in use or not.
    pub(super) fn bytes(&self) -> usize {
        vec_bytes(&self.entities) + vec_bytes(&self.values) + self.readers.bytes()
    }
}

impl<C> Kept for RowLog<C> {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> u64 {
        self.first + self.entities.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use core::ops::Range;
    use core::sync::atomic::Ordering;

    use super::*;

    fn record(log: &mut RowLog<u32>, values: Range<u32>) {
        let entities = vec![Entity::NULL; values.len()];
        log.record(&entities, values);
    }

    /// Reads the unread rows, and returns their values with the number of missed rows.
    fn read(log: &RowLog<u32>, position: &ReaderPosition) -> (Vec<u32>, u64) {
        let since = position.load(Ordering::Relaxed);
        let (entities, values) = log.unread(since);
        assert_eq!((entities.len(), values.len()), (log.unread_len(since), log.unread_len(since)));
        position.store(log.end(), Ordering::Relaxed);
        (values.to_vec(), log.missed(since))
    }

    #[test]
    fn each_reader_reads_each_row_once_from_its_beginning_on() {
        let mut log = RowLog::default();
        let early = log.add_reader();
        record(&mut log, 0..3);
        let late = log.add_reader();
        assert_eq!(read(&log, &late), (vec![], 0));
        record(&mut log, 3..5);
        assert_eq!(read(&log, &early), (vec![0, 1, 2, 3, 4], 0));
        assert_eq!(read(&log, &early), (vec![], 0));
        log.age();
        assert_eq!((log.first, log.entities.len()), (3, 2), "one has not read these");
        assert_eq!(read(&log, &late), (vec![3, 4], 0));
        log.age();
        assert_eq!((log.first, log.entities.len()), (5, 0));
    }

    #[test]
    fn a_reader_that_stays_away_misses_the_oldest_rows() {
        let mut log = RowLog::default();
        log.keep(3 * RowLog::<u32>::ROW_BYTES);
        let reader = log.add_reader();
        for run in 0..10 {
            log.age();
            record(&mut log, run..run + 1);
        }
        assert_eq!(read(&log, &reader), (vec![6, 7, 8, 9], 6));
    }

    #[test]
    fn without_runs_what_was_read_is_dropped_as_the_log_grows() {
        let mut log = RowLog::default();
        let [fast, slow] = [log.add_reader(), log.add_reader()];
        for turn in 0..10_000 {
            record(&mut log, turn..turn + 10);
            assert_eq!(read(&log, &fast).0.len(), 10);
            if turn % 10 == 9 {
                assert_eq!(read(&log, &slow).0.len(), 100);
            }
        }
        assert!(log.entities.capacity() <= 512, "{} entities", log.entities.capacity());
    }

    #[test]
    fn the_last_reader_takes_the_rows_along() {
        let mut log = RowLog::default();
        drop(log.add_reader());
        record(&mut log, 0..1000);
        assert!(log.is_read(), "a run notices");
        log.age();
        assert_eq!((log.is_read(), log.entities.len()), (false, 0));
        log.shrink();
        assert_eq!(log.bytes(), 0);
        let late = log.add_reader();
        record(&mut log, 0..1);
        assert_eq!(read(&log, &late), (vec![0], 0));
    }
}
