//! Reserving ids from several threads at once.
//!
//! Between two flushes the slots and the free stack do not change, and one number counts the
//! reserved ids ([`super::reserved`]): the n-th reserved id is the n-th from the top of the free
//! stack, and after the end of the stack come fresh indices, without those of far slots
//! ([`NextIds`]).
//!
//! ```text
//!   free stack   [ 12   4   9   31 ]        slots  [ 0 .. 40 ]   fresh  41, 42, ...
//!   reserved n     3    2   1    0                                       4,  5, ...
//! ```

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;
use std::sync::Arc;

use super::directory::Directory;
use super::location::Location;
use super::next_ids::NextIds;
use super::slot::{Slot, index_u32};
use super::{Entity, OutOfIds, ReserveError, ReturnedIds};

impl Directory {
    /// Reserves an id. Its entity is alive after the next flush. Callable from any thread, without
    /// a lock unless ids of dropped command buffers wait.
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] when no id is left.
    #[inline]
    pub(crate) fn reserve(&self) -> Result<Entity, OutOfIds> {
        if let Some(returned) = self.waiting_ids()
            && let Some(entity) = self.reserve_returned(returned)
        {
            return Ok(entity);
        }
        let claimed = self.reserved.claim(1, self.available());
        let n = claimed.ok_or_else(|| self.exhausted())?;
        Ok(self.next().id(n))
    }

    /// Reserves `n` ids. Their entities are alive after the next flush, even if the iterator is not
    /// exhausted. Callable from any thread, without a lock unless ids of dropped command buffers
    /// wait. O(1), or O(ids of dropped buffers), and O(1) for each id, but O(runs of far slots) for
    /// each run of fresh ids between them.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] when fewer than `n` ids are left, or the flush of all reserved ids would
    /// allocate more memory than one call may; no id is reserved.
    pub(crate) fn reserve_many(&self, n: u32) -> Result<ReservedEntities<'_>, ReserveError> {
        let mut returned = Vec::new();
        let first = match self.waiting_ids() {
            None => self.claim(n, 0)?,
            Some(from) => {
                let mut returns = from.lock();
                let is_on_loan = |entity| self.is_on_loan(entity);
                let here = n.min(returns.sorted_len(is_on_loan));
                let first = self.claim(n - here, returns.reserved_len() + here)?;
                // Sorted after the claim: ids of later drops are not among them any more.
                if here > 0 {
                    returns.sort(is_on_loan);
                }
                returned.extend((0..here).map_while(|_| returns.reserve(first)));
                first
            }
        };
        let end = first + (n - index_u32(returned.len()));
        let (returned, next) = (returned.into_iter(), self.next());
        Ok(ReservedEntities { returned, next, positions: first..end, fresh: 0..0 })
    }

    /// Claims `n` ids of the free stack and the fresh ids after it. Returns the number claimed
    /// before.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if fewer are left, or if the flush of all reserved ids, including
    /// `returned` ids of dropped buffers, would allocate more memory than one call may.
    fn claim(&self, n: u32, returned: u32) -> Result<u32, ReserveError> {
        let (reserved, available) = (self.reserved.get(), self.available());
        if n > available.saturating_sub(reserved) {
            return Err(self.exhausted().into());
        }
        let ids = [reserved, n, returned].map(u64::from);
        self.requests.ensure_ids(ids.iter().sum())?;
        let claimed = self.reserved.claim(n, available);
        Ok(claimed.ok_or_else(|| self.exhausted())?)
    }

    /// [`Directory::reserve`] of an id of a dropped buffer, as if it had already been taken back.
    #[cold]
    fn reserve_returned(&self, returned: &ReturnedIds) -> Option<Entity> {
        let mut returns = returned.lock();
        returns.sort(|entity| self.is_on_loan(entity));
        returns.reserve(self.reserved.get())
    }

    /// Returns `true` if reserved ids, or ids of dropped buffers, wait for [`Directory::flush`].
    #[inline]
    pub(crate) fn needs_flush(&self) -> bool {
        self.reserved.is_any() && (self.reserved.get() != 0 || self.waiting_ids().is_some())
    }

    /// Returns `true` if reserved ids wait for [`Directory::flush`].
    pub(crate) fn has_reserved(&self) -> bool {
        let returned = || self.waiting_ids().is_some_and(|from| from.lock().reserved_len() > 0);
        self.reserved.get() != 0 || returned()
    }

    /// The ids of dropped buffers, if any wait to be taken back.
    #[inline]
    pub(super) fn waiting_ids(&self) -> Option<&Arc<ReturnedIds>> {
        self.returned_ids.as_ref().filter(|returned| returned.has_ids())
    }

    /// Makes the reserved ids alive, in the order of their reservation, at the location that
    /// `locate` returns for each. Takes back the ids of dropped buffers at the end. O(reserved +
    /// returned).
    ///
    /// If `locate` panics, this id and the ones after it stay reserved.
    #[cold]
    pub(crate) fn flush(&mut self, mut locate: impl FnMut(Entity) -> Location) {
        let returned = self.waiting_ids().cloned();
        let fresh = self.reserved.get().saturating_sub(self.free_len());
        self.slots.reserve(fresh as usize);
        for before in 0.. {
            let others = if self.reserved.get() == 0 { u32::MAX } else { before };
            while let Some(from) = &returned
                && let Some(entity) = from.next_reserved(others)
            {
                let location = locate(entity);
                *self.slot_mut(entity.index()) = Slot { generation: entity.generation(), location };
                self.loaned -= 1;
                from.lock().pop_reserved();
            }
            if self.reserved.get() == 0 {
                break;
            }
            let entity = self.next().id(0);
            let location = locate(entity);
            let alive = self.take_next(location);
            debug_assert_eq!(alive, Ok(entity), "the next id is not the one that was claimed");
            self.reserved.decrement();
        }
        self.take_back();
    }
}

/// An iterator over ids that were reserved together.
///
/// `World::contains` is true for them, and the world's next change spawns them as entities without
/// components. This includes the ids that the iterator has not yielded: dropping it does not
/// release them.
///
/// # Example
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let ids: Vec<Entity> = world.reserve_entities(3).unwrap().collect();
/// assert!(ids.iter().all(|&id| world.contains(id)));
///
/// world.spawn(());
/// assert_eq!(world.len(), 4);
/// ```
#[derive(Clone)]
#[must_use = "the ids are reserved, and only this iterator returns them"]
pub struct ReservedEntities<'a> {
    /// Ids that dropped buffers returned.
    returned: std::vec::IntoIter<Entity>,
    next: NextIds<'a>,
    positions: Range<u32>,
    /// The fresh indices that follow, up to the next far slot.
    fresh: Range<u32>,
}

impl Iterator for ReservedEntities<'_> {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        if let Some(entity) = self.returned.next() {
            return Some(entity);
        }
        self.positions.next().map(|n| self.next.following(n, &mut self.fresh))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.returned.len() + self.positions.len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for ReservedEntities<'_> {}

impl FusedIterator for ReservedEntities<'_> {}

/// Lists the remaining ids.
impl fmt::Debug for ReservedEntities<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    /// A directory with `n` used indices, of which every third was freed.
    fn holey(n: u32, limit: u32) -> Directory {
        let mut directory = Directory::new(limit);
        let mut entities = Vec::new();
        directory.alloc_batch(n as usize, at, &mut entities).unwrap();
        for &entity in entities.iter().step_by(3) {
            directory.free(entity).unwrap();
        }
        directory
    }

    #[test]
    fn eight_threads_reserve_distinct_ids_that_are_valid_after_the_flush() {
        let per_thread: u32 = if cfg!(miri) { 60 } else { 100_000 };
        let mut directory = holey(per_thread * 3, u32::MAX);
        let before = directory.len();

        let shared = &directory;
        let ids: Vec<Entity> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|i| {
                    scope.spawn(move || {
                        let mut ids = Vec::new();
                        while ids.len() < per_thread as usize {
                            if i % 2 == 0 {
                                ids.push(shared.reserve().unwrap());
                            } else {
                                ids.extend(shared.reserve_many(20).unwrap());
                            }
                            assert!(ids[ids.len() - 1..].iter().all(|&id| shared.contains(id)));
                        }
                        ids
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|t| t.join().unwrap());
            joined.flatten().collect()
        });

        let distinct: HashSet<_> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len());
        assert_eq!(ids.len(), 8 * per_thread as usize);
        assert!(ids.iter().all(|&id| directory.locate(id).is_err()));

        let mut position = 0;
        directory.flush(|_| {
            position += 1;
            at(position)
        });
        assert!(!directory.needs_flush());
        assert_eq!(directory.len(), before + ids.len());
        assert!(ids.iter().all(|&id| directory.locate(id).is_ok()));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn threads_that_race_for_the_last_ids_get_all_of_them() {
        let mut directory = holey(30, 100);
        let shared = &directory;
        let got: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..100).filter(|_| shared.reserve().is_ok()).count()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(got, 80);
        assert_eq!(directory.reserve(), Err(OutOfIds::InWorld { limit: 100 }));
        directory.flush(|_| at(0));
        assert_eq!(directory.len(), 100);
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn a_request_for_more_than_is_left_takes_nothing() {
        let mut directory = holey(9, 10);
        assert!(directory.reserve_many(5).is_err());
        assert!(directory.reserve_many(u32::MAX).is_err());
        assert!(!directory.needs_flush());
        assert_eq!(directory.reserve_many(4).unwrap().len(), 4);
        assert!(directory.reserve_many(u32::MAX).is_err());
        assert!(directory.reserve_many(0).is_ok());
        directory.flush(|_| at(0));
        assert_eq!(directory.len(), 10);
    }

    #[test]
    fn one_by_one_and_together_reserve_the_ids_that_alloc_would_return() {
        let (single, together) = (holey(9, 100), holey(9, 100));
        let mut made = holey(9, 100);
        let single: Vec<_> = (0..8).map(|_| single.reserve().unwrap()).collect();
        let first = together.reserve_many(2).unwrap();
        let rest = together.reserve_many(6).unwrap();
        assert_eq!((first.len(), rest.len()), (2, 6));
        assert_eq!(format!("{first:?}"), "[6v2, 3v2]");
        assert_eq!(first.chain(rest).collect::<Vec<_>>(), single);
        let made: Vec<_> = (0..8).map(|_| made.alloc(at(0)).unwrap()).collect();
        assert_eq!(made, single);
    }

    #[test]
    fn a_flush_that_panics_leaves_the_rest_reserved() {
        let mut directory = holey(9, 100);
        let ids: Vec<_> = directory.reserve_many(6).unwrap().collect();
        let mut left = 4;
        let flush = catch_unwind(AssertUnwindSafe(|| {
            directory.flush(|_| {
                left -= 1;
                assert!(left >= 0, "stop here");
                at(0)
            });
        }));
        assert!(flush.is_err());
        assert_eq!(directory.check(), Ok(()));
        assert!(ids[..4].iter().all(|&id| directory.locate(id).is_ok()));
        assert!(ids[4..].iter().all(|&id| directory.view().is_reserved(id)));
        let mut flushed = Vec::new();
        directory.flush(|id| {
            flushed.push(id);
            at(0)
        });
        assert_eq!(flushed, ids[4..]);
    }
}
