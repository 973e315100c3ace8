//! Which archetypes were lent for a change of their rows: what cached addresses follow.

use core::sync::atomic::{AtomicU64, Ordering};

/// The number of a world's history: no other world in this process has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogId(u64);

/// A point in the history of a world's archetypes.
pub(crate) type LogPosition = u64;

/// The archetypes whose rows, blocks or stamps may have moved, in order.
///
/// Whoever keeps addresses remembers the [`LogPosition`] at which they were right, and looks again at the
/// archetypes that were noted since. An archetype is noted once between two such looks, however
/// often it changes, so that a million spawns are one entry.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    id: LogId,
    /// Entries that were forgotten.
    forgotten: u64,
    log: Vec<u32>,
    /// Counts the looks, which also a shared world allows.
    round: AtomicU64,
}

/// The round in which an archetype was noted last; zero, which is none, if it never was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastLogged(u64);

impl Default for ChangeLog {
    fn default() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LogId(IDS.fetch_add(1, Ordering::Relaxed)),
            forgotten: 0,
            log: Vec::new(),
            round: AtomicU64::new(1),
        }
    }
}

impl ChangeLog {
    /// A moment that no world has reached.
    pub(crate) const NEVER: LogPosition = LogPosition::MAX;
    /// Entries that are kept at least.
    const KEPT_MIN: usize = 64;

    /// Whose moments these are.
    #[inline]
    pub(crate) const fn id(&self) -> LogId {
        self.id
    }

    /// The present.
    #[inline]
    pub(crate) const fn now(&self) -> LogPosition {
        self.forgotten + self.log.len() as u64
    }

    /// Notes one of `archetypes` archetypes, which is about to be lent.
    #[inline]
    pub(super) fn note(&mut self, number: u32, noted: &mut LastLogged, archetypes: usize) {
        let round = *self.round.get_mut();
        if noted.0 != round {
            noted.0 = round;
            self.add(number, archetypes);
        }
    }

    #[inline(never)]
    fn add(&mut self, number: u32, archetypes: usize) {
        let kept = Self::KEPT_MIN.max(archetypes);
        if self.log.len() >= kept {
            // Going through all of it would be dearer than going through the archetypes. The newer
            // half stays: plans that follow the world from frame to frame never go through all.
            self.forget(self.log.len() / 2);
        }
        // All at once: a world in its steady state allocates nothing.
        self.log.reserve(kept - self.log.len());
        self.log.push(number);
    }

    /// Notes all archetypes at once.
    pub(super) fn note_all(&mut self) {
        self.forget(self.log.len());
        // A moment that nobody has seen.
        self.forgotten += 1;
        *self.round.get_mut() += 1;
    }

    /// Forgets the oldest entries.
    fn forget(&mut self, entries: usize) {
        self.forgotten += entries as u64;
        self.log.drain(..entries);
    }

    /// The archetypes noted since then; `None` if that is too long ago, which means all. From now
    /// on archetypes are noted anew.
    pub(crate) fn since(&self, then: LogPosition) -> Option<&[u32]> {
        // Whoever looks at the same time sees the same log, and archetypes are noted by nobody.
        self.round.fetch_add(1, Ordering::Relaxed);
        let first = usize::try_from(then.checked_sub(self.forgotten)?).ok()?;
        self.log.get(first..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archetype_is_noted_once_between_two_looks() {
        let mut moves = ChangeLog::default();
        let start = moves.now();
        let mut noted = [LastLogged::default(); 2];
        for _ in 0..10 {
            moves.note(0, &mut noted[0], 2);
            moves.note(1, &mut noted[1], 2);
        }
        assert_eq!(moves.since(start), Some(&[0, 1][..]));
        let then = moves.now();
        assert_eq!(moves.since(then), Some(&[][..]));
        moves.note(1, &mut noted[1], 2);
        assert_eq!(moves.since(then), Some(&[1][..]));
        assert_eq!(moves.since(start), Some(&[0, 1, 1][..]), "who looks late sees all of it");
        assert_eq!(moves.since(ChangeLog::NEVER), None);
    }

    #[test]
    fn what_was_forgotten_means_all() {
        let mut moves = ChangeLog::default();
        let (start, mut noted) = (moves.now(), LastLogged::default());
        moves.note(0, &mut noted, 1);
        moves.note_all();
        assert_eq!(moves.since(start), None);
        let then = moves.now();
        moves.note(0, &mut noted, 1);
        assert_eq!(moves.since(then), Some(&[0][..]), "noted again although it was before");
        moves.note_all();
        assert_ne!(moves.now(), then + 1, "all is more than the one that was noted");
    }

    #[test]
    fn the_log_stays_short() {
        let mut moves = ChangeLog::default();
        let (start, mut noted) = (moves.now(), LastLogged::default());
        for _ in 0..1000 {
            let then = moves.now();
            moves.note(0, &mut noted, 1);
            assert_eq!(moves.since(then), Some(&[0][..]), "what is new is never forgotten at once");
            assert!(moves.log.len() <= ChangeLog::KEPT_MIN, "the log grows");
        }
        assert_eq!(moves.since(start), None);
    }
}
