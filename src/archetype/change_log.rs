//! A log of the archetypes whose rows may have moved, from which cached addresses are refreshed.

use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::OnceLock;

use crate::storage::{ChunkNumbers, ChunkRow, RowPlace};
use crate::unique::unique_number;

/// Identifies a world's log among all logs of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogId(u64);

/// A position in a world's log.
pub(crate) type LogPosition = u64;

/// The archetypes whose rows, blocks or stamps may have moved, in order.
///
/// A cache of addresses stores the [`LogPosition`] at which it was valid, and later refreshes the
/// archetypes that were recorded since. Between two calls of [`ChangeLog::since`] an archetype is
/// recorded only once, for any number of changes, so a million spawns are one entry.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    id: LogId,
    /// Number of entries that were dropped.
    dropped: u64,
    entries: Vec<u32>,
    /// Counts the calls of [`ChangeLog::since`], which takes the log by shared reference.
    round: AtomicU64,
    /// The numbering of places, if one was made since the last entry.
    places: OnceLock<RowPlaces>,
}

/// The numbering of all places of rows.
#[derive(Debug)]
pub(crate) struct RowPlaces {
    first: RowPlace,
    numbers: ChunkNumbers,
}

impl RowPlaces {
    /// The first place.
    pub(crate) const fn first(&self) -> RowPlace {
        self.first
    }

    /// The numbers of the chunks of all archetypes.
    pub(crate) const fn numbers(&self) -> &ChunkNumbers {
        &self.numbers
    }

    /// The number of the archetype that has a place, and the row in it. `None` if the place is of
    /// another numbering. O(log archetypes).
    #[inline]
    pub(crate) fn row(&self, place: RowPlace) -> Option<(u32, ChunkRow)> {
        self.numbers.row(place.distance(self.first))
    }
}

/// The round in which an archetype was last recorded. Zero, which is not a round, if it never was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastLogged(u64);

impl Default for ChangeLog {
    fn default() -> Self {
        Self {
            id: LogId(unique_number()),
            dropped: 0,
            entries: Vec::new(),
            round: AtomicU64::new(1),
            places: OnceLock::new(),
        }
    }
}

impl ChangeLog {
    /// A position that no log reaches.
    pub(crate) const NEVER: LogPosition = LogPosition::MAX;
    /// The least number of entries that are kept.
    const KEPT_MIN: usize = 64;

    /// Identifies the log to which positions belong.
    #[inline]
    pub(crate) const fn id(&self) -> LogId {
        self.id
    }

    /// The end of the log.
    #[inline]
    pub(crate) const fn now(&self) -> LogPosition {
        self.dropped + self.entries.len() as u64
    }

    /// Records an archetype that is about to change. `archetypes` is their number.
    #[inline]
    pub(super) fn record(&mut self, number: u32, last_logged: &mut LastLogged, archetypes: usize) {
        let round = *self.round.get_mut();
        if last_logged.0 != round {
            last_logged.0 = round;
            self.add(number, archetypes);
        }
    }

    #[inline(never)]
    fn add(&mut self, number: u32, archetypes: usize) {
        self.places = OnceLock::new();
        let kept = Self::KEPT_MIN.max(archetypes);
        if self.entries.len() >= kept {
            // A full rescan is cheaper than replaying a log longer than the list of archetypes. The
            // newer half is kept: a plan that is used in every frame never rescans all.
            self.drop_oldest(self.entries.len() / 2);
        }
        // The full size is reserved at once, so that a world in its steady state does not allocate.
        self.entries.reserve(kept - self.entries.len());
        self.entries.push(number);
    }

    /// Records all archetypes at once.
    pub(super) fn record_all(&mut self) {
        self.places = OnceLock::new();
        self.drop_oldest(self.entries.len());
        // Skips a position, so that all earlier positions become invalid.
        self.dropped += 1;
        *self.round.get_mut() += 1;
    }

    /// Drops the oldest entries.
    fn drop_oldest(&mut self, entries: usize) {
        self.dropped += entries as u64;
        self.entries.drain(..entries);
    }

    /// The numbering of all places. It is made at the first call after a change, and its numbers
    /// differ from every earlier numbering of any world. `numbers` numbers all chunks; its result
    /// must depend on the archetypes alone.
    #[inline]
    pub(crate) fn places(&self, numbers: impl FnOnce() -> ChunkNumbers) -> &RowPlaces {
        self.places.get_or_init(|| {
            // From now on every change is recorded again, as after `ChangeLog::since`.
            self.round.fetch_add(1, Ordering::Relaxed);
            let numbers = numbers();
            RowPlaces { first: RowPlace::first_of(numbers.places()), numbers }
        })
    }

    /// The archetypes recorded since `then`. `None` if those entries were dropped; it stands for
    /// all archetypes. Later changes are recorded again, even of archetypes in the result.
    pub(crate) fn since(&self, then: LogPosition) -> Option<&[u32]> {
        // Concurrent callers see the same log, because it records no change while it is shared.
        self.round.fetch_add(1, Ordering::Relaxed);
        let first = usize::try_from(then.checked_sub(self.dropped)?).ok()?;
        self.entries.get(first..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archetype_is_recorded_once_between_two_calls_of_since() {
        let mut log = ChangeLog::default();
        let start = log.now();
        let mut last_logged = [LastLogged::default(); 2];
        for _ in 0..10 {
            log.record(0, &mut last_logged[0], 2);
            log.record(1, &mut last_logged[1], 2);
        }
        assert_eq!(log.since(start), Some(&[0, 1][..]));
        let then = log.now();
        assert_eq!(log.since(then), Some(&[][..]));
        log.record(1, &mut last_logged[1], 2);
        assert_eq!(log.since(then), Some(&[1][..]));
        assert_eq!(log.since(start), Some(&[0, 1, 1][..]), "an older position sees fewer entries");
        assert_eq!(log.since(ChangeLog::NEVER), None);
    }

    #[test]
    fn dropped_entries_mean_all_archetypes() {
        let mut log = ChangeLog::default();
        let (start, mut last_logged) = (log.now(), LastLogged::default());
        log.record(0, &mut last_logged, 1);
        log.record_all();
        assert_eq!(log.since(start), None);
        let then = log.now();
        log.record(0, &mut last_logged, 1);
        assert_eq!(log.since(then), Some(&[0][..]), "an archetype was not recorded again");
        log.record_all();
        assert_ne!(log.now(), then + 1, "recording all counts as one entry");
    }

    #[test]
    fn places_are_numbered_again_after_each_change() {
        let first_of = |log: &ChangeLog| log.places(|| ChunkNumbers::of_chunk(10)).first();
        let (mut log, mut last_logged) = (ChangeLog::default(), LastLogged::default());
        let mut firsts = Vec::new();
        for i in 0..100 {
            log.record(0, &mut last_logged, 1);
            let first = first_of(&log);
            assert_eq!(first_of(&log), first, "no archetype was recorded");
            if i % 2 == 0 {
                // A plan is refreshed.
                log.since(log.now());
                assert_eq!(first_of(&log), first, "no archetype was recorded");
            }
            firsts.push(first);
        }
        log.record_all();
        firsts.push(first_of(&log));
        firsts.push(first_of(&ChangeLog::default()));
        let ends = firsts.iter().map(|first| first.after(9));
        assert!(firsts[1..].iter().zip(ends).all(|(next, end)| end < *next), "{firsts:?}");
    }

    #[test]
    fn the_log_stays_short() {
        let mut log = ChangeLog::default();
        let (start, mut last_logged) = (log.now(), LastLogged::default());
        for _ in 0..1000 {
            let then = log.now();
            log.record(0, &mut last_logged, 1);
            assert_eq!(log.since(then), Some(&[0][..]), "a new entry was dropped");
            assert!(log.entries.len() <= ChangeLog::KEPT_MIN, "the log grows");
        }
        assert_eq!(log.since(start), None);
    }
}
