//! Valid and discarded versions of a world's past.
//!
//! Restoring a snapshot discards the versions since it was taken. The clock does not go back with
//! the state, so that no version is used twice:
//!
//! ```text
//!  versions        1 ──────────── 110 ──────────── 140
//!                                  │ snapshot        │ restore
//!                                  ╰─────────────── 141 ──────────►
//!
//!  ages            1 ──────────── 110
//!                                 110 ─────────────►
//! ```
//!
//! The versions between the snapshot and the restore are *discarded*: 111 to 140. Column versions
//! are restored, so none of them is discarded, and two questions have an answer:
//!
//! * *Which data has changed since version v?* If v is not discarded, the present state came from
//!   the holder's state, and the versions of columns tell. If v is discarded, the holder saw a
//!   state that no longer exists. The versions do not tell which of its columns are still valid:
//!   everything may have changed.
//! * *How often did the clock advance on the way to this state?* The answer is a version minus the
//!   discarded versions before it: its *age*. If one of two equal worlds is restored and runs
//!   again, their versions differ and their ages are the same; so a hash covers ages.

use std::sync::Arc;

use crate::version::Version;

/// Discarded versions: the versions after `after` and before `until`.
#[derive(Clone, Copy, Debug)]
struct DiscardedRange {
    after: Version,
    /// The version of the world when it was restored: its age is the age of `after`.
    until: Version,
    /// The difference between clock and age from here on.
    ahead: u64,
}

/// The discarded versions of a world, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// `None` in most worlds. (Clones of an empty slice share one counter in the process, which
    /// costs each new world two atomic additions.)
    ranges: Option<Arc<[DiscardedRange]>>,
}

impl History {
    /// The number of discarded ranges after which [`History::forget`] merges some.
    const LOOK_EVERY: usize = 1024;

    fn ranges(&self) -> &[DiscardedRange] {
        self.ranges.as_deref().unwrap_or_default()
    }

    /// The version from which a holder of version `since` has missed changes. O(log restores).
    #[inline]
    pub(crate) fn seen(&self, since: Version) -> Version {
        if self.is_empty() { since } else { self.seen_after_restores(since) }
    }

    #[cold]
    fn seen_after_restores(&self, since: Version) -> Version {
        let next = self.ranges().partition_point(|range| range.until <= since);
        let is_discarded = self.ranges().get(next).is_some_and(|range| range.after < since);
        if is_discarded { Version::NEVER } else { since }
    }

    /// Whether no version is discarded, so that versions are ages.
    pub(crate) const fn is_empty(&self) -> bool {
        self.ranges.is_none()
    }

    /// The number of advances of the clock on the way to a version, which must not be discarded.
    /// O(log restores).
    #[inline]
    pub(crate) fn age(&self, version: Version) -> u64 {
        let ranges = self.ranges();
        let before = ranges.partition_point(|range| range.until <= version);
        let ahead = before.checked_sub(1).map_or(0, |last| ranges[last].ahead);
        version.to_bits() - ahead
    }

    /// Makes this the history of a world that is restored, at version `now`, to a state of version
    /// `after` with the history `state`. Returns the new version of the world.
    pub(super) fn put_back(&mut self, state: &Self, after: Version, now: Version) -> Version {
        let until = now.next();
        let ahead = until.to_bits() - state.age(after);
        let last = DiscardedRange { after, until, ahead };
        self.ranges = Some(state.ranges().iter().copied().chain([last]).collect());
        until
    }

    /// Makes this the history of a world that gets, at version `now`, a state of another world,
    /// with ages in place of versions. Returns the version that stands for age 0: greater than all
    /// versions of this world so far, which are discarded, so that the versions of the state are
    /// new as well.
    pub(super) fn put_foreign(&mut self, now: Version) -> Version {
        let until = now.next();
        let range = DiscardedRange { after: Version::NEVER, until, ahead: until.to_bits() };
        self.ranges = Some([range].into());
        until
    }

    /// Whether it is time for [`History::forget`].
    pub(super) fn is_long(&self) -> bool {
        self.ranges().len().is_multiple_of(Self::LOOK_EVERY)
    }

    /// Merges adjacent discarded ranges if no column has a version between them. A version held
    /// from such a gap over-reports changes from now on. O(versions × log restores).
    pub(super) fn forget(&mut self, versions: impl Iterator<Item = Version>) {
        let mut is_used = vec![false; self.ranges().len() + 1];
        for version in versions {
            is_used[self.ranges().partition_point(|range| range.until <= version)] = true;
        }
        let mut ranges = self.ranges().to_vec();
        let mut number = 0;
        ranges.dedup_by(|range, before| {
            number += 1;
            let joins = !is_used[number];
            if joins {
                *before = DiscardedRange { after: before.after, ..*range };
            }
            joins
        });
        self.ranges = (!ranges.is_empty()).then(|| ranges.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(bits: u64) -> Version {
        Version::from_bits(bits)
    }

    /// A history with the discarded versions 111 to 140, and the version after it.
    fn put_back() -> (History, Version) {
        let mut history = History::default();
        let now = history.put_back(&History::default(), version(110), version(140));
        (history, now)
    }

    #[test]
    fn discarded_versions_have_seen_nothing() {
        let (history, now) = put_back();
        assert_eq!(now, version(141));
        for seen in [0, 1, 110, 141, 150] {
            assert_eq!(history.seen(version(seen)), version(seen));
        }
        for discarded in 111..=140 {
            assert_eq!(history.seen(version(discarded)), Version::NEVER);
        }
    }

    #[test]
    fn a_world_that_was_put_back_is_as_old_as_it_was() {
        let (history, now) = put_back();
        assert_eq!(history.age(now), 110);
        assert_eq!(history.age(version(151)), 120);
        assert_eq!(history.age(version(70)), 70);
    }

    #[test]
    fn a_state_of_another_world_discards_all_versions() {
        for now in [0, 50, 140] {
            let (mut history, _) = put_back();
            let first = history.put_foreign(version(now)).to_bits();
            assert_eq!(first, now + 1);
            for seen in 1..first {
                assert_eq!(history.seen(version(seen)), Version::NEVER);
            }
            for age in [0, 1, 50, 500] {
                assert_eq!(history.age(version(first + age)), age, "of a column, or of the world");
                assert_eq!(history.seen(version(first + age)), version(first + age));
            }
        }
    }

    #[test]
    fn the_same_state_again_leaves_one_range() {
        let (mut history, mut now) = put_back();
        for _ in 0..5_000 {
            now = history.put_back(&History::default(), version(110), now.next());
        }
        assert_eq!((history.ranges().len(), history.age(now)), (1, 110));
        assert_eq!(history.seen(now.before()), Version::NEVER);
    }

    #[test]
    fn a_state_of_a_past_that_was_discarded_is_true_again() {
        let (mut history, now) = put_back();
        // The state at 130, from before the first restore.
        let now = history.put_back(&History::default(), version(130), now.next());
        assert_eq!(history.age(now), 130);
        assert_eq!(history.seen(version(120)), version(120));
        assert_eq!(history.seen(version(135)), Version::NEVER, "of the first past");
        assert_eq!(history.seen(version(142)), Version::NEVER, "of the second");
    }

    #[test]
    fn gaps_without_a_version_are_forgotten() {
        let mut history = History::default();
        let mut now = version(100);
        for _ in 0..50 {
            let state = history.clone();
            let taken = now;
            let later = version(now.to_bits() + 5);
            now = history.put_back(&state, taken, later).next().next();
        }
        let (ages, ranges) = (history.age(now), history.ranges().len());
        let used = [version(3), now, history.ranges()[20].until.next()];
        let before = used.map(|version| history.age(version));
        history.forget(used.into_iter());
        assert!(ranges == 50 && history.ranges().len() == 2, "{:?}", history.ranges);
        assert_eq!(used.map(|version| history.age(version)), before);
        assert_eq!(history.age(now), ages);
        assert_eq!(history.seen(now), now);
        assert_eq!(history.seen(used[2]), used[2]);
        assert_eq!(history.seen(version(109)), Version::NEVER, "it is discarded, or forgotten");
    }
}
