//! Ids lent in advance, for entities that somebody will bring to life later.
//!
//! A reservation ([`super::reserve`]) lasts until the world's next change. A loan lasts until it is
//! settled: the slot is neither free nor alive, no other entity gets it, and the world does not
//! contain the id. Three things end a loan:
//!
//! ```text
//!   settle      the entity comes to life under the id
//!   end_lent    somebody may keep the id: the slot is free, with the next generation, as if the
//!               entity had lived and died, so that the id never means another entity
//!   take_back   its command buffer was dropped: as `end_lent`, or, if the id was never handed out,
//!               the slot is free again with the same generation
//! ```
//!
//! A command buffer that is dropped has no world at hand. It leaves its ids in [`ReturnedIds`], and
//! the next call that changes the world takes them back ([`Directory::take_back`]).

use std::sync::Arc;

use super::directory::{Directory, GENERATION_FIRST, Location, Slot, index_u32};
use super::{EntitiesExhausted, Entity, NoSuchEntity, ReturnedIds};

impl Location {
    /// The location of a slot that is lent: a position that no free stack reaches, and, unlike the
    /// retired slots that have it too, a generation.
    pub(super) const LENT: Self = Self::free(u32::MAX);
}

impl Slot {
    #[inline]
    pub(super) fn is_lent(&self) -> bool {
        self.generation != 0 && self.location == Location::LENT
    }
}

impl Directory {
    /// Lends `n` ids, the ones that `n` calls of [`Directory::alloc`] would make, and appends them
    /// to `out`. O(n).
    ///
    /// # Errors
    ///
    /// [`EntitiesExhausted`] when fewer than `n` ids are left; then none is lent.
    pub(crate) fn lend(&mut self, n: u32, out: &mut Vec<Entity>) -> Result<(), EntitiesExhausted> {
        self.debug_assert_flushed();
        self.ensure_room(n as usize)?;
        let recycled = n.min(self.free_len());
        if n - recycled > self.fresh_end - self.slots_len() {
            // FarSlots slots lie between the fresh indices.
            for _ in 0..n {
                out.push(self.take_next(Location::LENT)?);
                self.lent += 1;
            }
            return Ok(());
        }
        self.lend_free(recycled, |entity| out.push(entity));
        let first = self.slots_len();
        let fresh = first..first + (n - recycled);
        let slot = Slot { generation: GENERATION_FIRST, location: Location::LENT };
        self.slots.resize(fresh.end as usize, slot);
        out.extend(fresh.map(|index| Entity::new(index, GENERATION_FIRST)));
        self.lent += n - recycled;
        Ok(())
    }

    /// Lends the first `n` ids of the free stack.
    #[inline]
    pub(super) fn lend_free(&mut self, n: u32, mut f: impl FnMut(Entity)) {
        for index in self.free.drain((self.free.len() - n as usize)..).rev() {
            let slot = match self.slots.get_mut(index as usize) {
                Some(slot) => slot,
                None => self.far.used_mut(index),
            };
            slot.location = Location::LENT;
            f(Entity::new(index, slot.generation));
        }
        self.lent += n;
    }

    /// [`Directory::lend`] of `n` ids, or of as many as are left.
    pub(crate) fn lend_at_most(&mut self, n: u32, out: &mut Vec<Entity>) {
        self.take_back();
        let n = n.min(self.available());
        self.lend(n, out).expect("as many as are left");
    }

    /// The number of indices that entities may have.
    pub(crate) const fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether the id is lent and not settled.
    #[inline]
    pub(crate) fn is_lent(&self, entity: Entity) -> bool {
        self.slot(entity.index())
            .is_some_and(|slot| slot.generation == entity.generation() && slot.is_lent())
    }

    /// Brings the entity of a lent id to life.
    ///
    /// # Errors
    ///
    /// [`NoSuchEntity`] if the id is not lent; then nothing changes.
    #[inline]
    pub(crate) fn settle(
        &mut self,
        entity: Entity,
        location: Location,
    ) -> Result<(), NoSuchEntity> {
        self.debug_assert_flushed();
        debug_assert!(location.is_somewhere(), "archetype u32::MAX marks free slots");
        let slot = match self.slots.get_mut(entity.index() as usize) {
            None => self.far.get_mut(entity.index()),
            slot => slot,
        };
        match slot {
            Some(slot) if slot.generation == entity.generation() && slot.is_lent() => {
                slot.location = location;
            }
            _ => return Err(NoSuchEntity { entity }),
        }
        self.lent -= 1;
        Ok(())
    }

    /// Ends a loan whose id somebody may keep, as if the entity had lived and died. Ids that are not
    /// lent are left alone; says whether this one was.
    pub(crate) fn end_lent(&mut self, entity: Entity) -> bool {
        self.debug_assert_flushed();
        let lent = self.is_lent(entity);
        if lent {
            self.lent -= 1;
            self.go_on(entity.index(), entity.generation().wrapping_add(1));
        }
        lent
    }

    /// Where command buffers leave their ids when they are dropped. The first call allocates it.
    pub(crate) fn returned(&mut self) -> Arc<ReturnedIds> {
        self.reserved.lend();
        Arc::clone(self.returned.get_or_insert_default())
    }

    /// Takes back what dropped buffers have left; those that were reserved meanwhile are alive by
    /// now. Such an id is the next one in use, as one that was just freed.
    pub(super) fn take_back(&mut self) {
        let Some(returned) = self.returns() else { return };
        let returns = returned.take(|entity| self.is_lent(entity));
        debug_assert!(returns.reserved_len() == 0, "a reserved id is neither alive nor free");
        self.lent -= index_u32(returns.next.len() + returns.retired.len());
        for index in returns.retired {
            self.go_on(index, 0);
        }
        for entity in returns.next {
            self.push_free(entity.index(), entity.generation());
        }
        self.drop_unused_end();
    }
}

#[cfg(test)]
mod tests {
    use super::super::RequestLimit;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    /// A directory that has used ten indices, with 2, 7 and 4 free again, in that order.
    fn holey(limit: u32) -> Directory {
        let mut directory = Directory::new(limit);
        let mut entities = Vec::new();
        directory.alloc_batch(10, at, &mut entities).unwrap();
        for i in [2, 7, 4] {
            directory.free(entities[i]).unwrap();
        }
        directory
    }

    fn lend(directory: &mut Directory, n: u32) -> Vec<Entity> {
        let mut ids = Vec::new();
        directory.lend(n, &mut ids).unwrap();
        assert_eq!(directory.check(), Ok(()));
        ids
    }

    #[test]
    fn lent_ids_are_the_ones_that_alloc_would_make() {
        let (mut lender, mut maker) = (holey(100), holey(100));
        let made: Vec<_> = (0..6).map(|i| maker.alloc(at(i)).unwrap()).collect();
        assert_eq!(lend(&mut lender, 6), made);
    }

    #[test]
    fn a_lent_id_is_neither_free_nor_alive_until_it_is_settled() {
        let mut directory = holey(100);
        let ids = lend(&mut directory, 5);
        assert_eq!(directory.len(), 7);
        for &id in &ids {
            assert!(directory.is_lent(id) && !directory.contains(id));
            assert!(!directory.is_reserved(id));
            assert_eq!(directory.free(id), Err(NoSuchEntity { entity: id }));
        }
        let reserved: Vec<_> = directory.reserve_many(3).unwrap().collect();
        assert!(reserved.iter().all(|id| !ids.contains(id)));
        assert!(ids.iter().all(|&id| !directory.contains(id)), "not even while others wait");
        directory.flush(|_| at(0));
        directory.settle(ids[0], at(9)).unwrap();
        assert_eq!(directory.locate(ids[0]), Ok(at(9)));
        assert_eq!(directory.settle(ids[0], at(9)), Err(NoSuchEntity { entity: ids[0] }));
        assert_eq!(directory.len(), 11);
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn an_unseen_id_is_used_again_and_a_seen_one_is_not() {
        let mut directory = holey(100);
        let ids = lend(&mut directory, 2);
        directory.returned().leave(&ids[..1], &[]);
        directory.flush(|_| at(0));
        assert!(directory.end_lent(ids[1]));
        assert!(!directory.end_lent(ids[1]), "once");
        assert_eq!(directory.check(), Ok(()));
        let again = lend(&mut directory, 2);
        assert_eq!(again[0].index(), ids[1].index());
        assert_eq!(again[0].generation(), ids[1].generation() + 1);
        assert_eq!(again[1], ids[0]);
    }

    #[test]
    fn the_last_generation_of_a_slot_is_retired_when_its_loan_ends() {
        let mut directory = Directory::new(10);
        directory.alloc_at(Entity::new(0, u32::MAX - 1), at(0)).unwrap();
        directory.free(Entity::new(0, u32::MAX - 1)).unwrap();
        let ids = lend(&mut directory, 1);
        assert_eq!(ids, [Entity::new(0, u32::MAX)]);
        directory.end_lent(ids[0]);
        assert_eq!(directory.check(), Ok(()));
        assert_eq!(lend(&mut directory, 1), [Entity::new(1, 1)]);
    }

    #[test]
    fn a_clear_leaves_loans_alone() {
        let mut directory = holey(100);
        let ids = lend(&mut directory, 5);
        directory.clear();
        assert_eq!(directory.check(), Ok(()));
        assert_eq!(directory.len(), 0);
        assert!(ids.iter().all(|&id| directory.is_lent(id)));
        let others = lend(&mut directory, 20);
        assert!(others.iter().all(|id| ids.iter().all(|lent| lent.index() != id.index())));
    }

    #[test]
    fn loans_count_against_the_limit_and_cannot_be_taken_by_number() {
        let mut directory = holey(12);
        let ids = lend(&mut directory, 5);
        assert_eq!(directory.lend(1, &mut Vec::new()), Err(EntitiesExhausted { limit: 12 }));
        assert!(directory.alloc(at(0)).is_err());
        let taken = directory.alloc_at(ids[0], at(0));
        assert_eq!(taken, Err(super::super::AllocAtError::Lent { entity: ids[0] }));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn what_a_dropped_borrower_left_is_lent_again() {
        let mut directory = holey(12);
        let returned = directory.returned();
        let ids = lend(&mut directory, 5);
        returned.leave(&ids[2..], &ids[..2]);
        assert!(directory.needs_flush());
        directory.flush(|_| at(0));
        assert!(!directory.needs_flush());
        let again = lend(&mut directory, 5);
        assert_eq!(again[..3], ids[2..]);
        let older: Vec<_> = again[3..].iter().map(|id| id.generation()).collect();
        assert_eq!(older, [ids[0].generation() + 1, ids[1].generation() + 1]);
    }

    #[test]
    fn ids_that_wait_are_reserved_as_if_they_had_been_taken_back() {
        let mut directory = Directory::new(12);
        directory.alloc_at(Entity::new(0, u32::MAX), at(0)).unwrap();
        directory.free(Entity::new(0, u32::MAX)).unwrap();
        directory.alloc_at(Entity::new(0, u32::MAX), at(0)).unwrap_err();
        let ids = lend(&mut directory, 11);
        directory.returned().leave(&ids[3..6], &ids[..2]);
        assert_eq!(directory.check(), Ok(()));
        let want = [ids[3], ids[4], ids[5], Entity::new(2, 2), Entity::new(1, 2)];

        let one = directory.reserve().unwrap();
        assert!(directory.contains(one) && !directory.contains(ids[4]));
        let ids: Vec<_> = directory.reserve_many(4).unwrap().collect();
        assert_eq!((one, &ids[..]), (want[0], &want[1..]));
        assert!(directory.reserve_many(1).is_err());
        assert_eq!(directory.check(), Ok(()));
        let mut flushed = Vec::new();
        directory.flush(|id| {
            flushed.push(id);
            at(0)
        });
        assert_eq!(flushed, want);
        assert!(want.iter().all(|&id| directory.locate(id).is_ok()));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn reserved_ids_come_to_life_in_their_order() {
        let mut directory = holey(20);
        let ids = lend(&mut directory, 4);
        let mut reserved: Vec<_> = directory.reserve_many(2).unwrap().collect();
        directory.returned().leave(&ids[1..], &[]);
        reserved.extend(directory.reserve());
        reserved.extend(directory.reserve_many(3).unwrap());
        let mut flushed = Vec::new();
        directory.flush(|id| {
            flushed.push(id);
            at(0)
        });
        assert_eq!(flushed, reserved);
        assert_eq!(flushed[2..5], [ids[2], ids[1], ids[3]], "the lowest first");
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn a_request_for_more_than_is_given_back_takes_nothing() {
        let mut directory = Directory::new(5);
        let ids = lend(&mut directory, 4);
        directory.returned().leave(&ids[..2], &[]);
        assert!(directory.reserve_many(4).is_err());
        directory.requests = RequestLimit::new(3 * RequestLimit::ID_BYTES - 1);
        assert!(directory.reserve_many(3).is_err(), "more memory than one call may take");
        directory.requests = RequestLimit::default();
        let reserved: Vec<_> = directory.reserve_many(3).unwrap().collect();
        assert_eq!(reserved, [ids[0], ids[1], Entity::new(4, 1)]);
        directory.flush(|_| at(0));
        assert_eq!(directory.len(), 3);
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn which_borrower_was_dropped_first_decides_nothing() {
        let next = |first: [usize; 3], second: [usize; 3]| {
            let mut directory = holey(12);
            let returned = directory.returned();
            let ids = lend(&mut directory, 5);
            for [a, b, seen] in [first, second] {
                let unseen = if a == b { vec![ids[a]] } else { vec![ids[a], ids[b]] };
                returned.leave(&unseen, &[ids[seen]]);
            }
            directory.flush(|_| at(0));
            lend(&mut directory, 5)
        };
        assert_eq!(next([0, 0, 1], [2, 3, 4]), next([2, 3, 4], [0, 0, 1]));
    }
}
