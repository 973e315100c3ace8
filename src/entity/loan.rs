//! Loans: ids taken in advance, for entities that are spawned later.
//!
//! A reservation ([`super::reserve`]) lasts until the world's next change. A loan lasts until it is
//! ended. During it, the slot is neither free nor alive, no other entity gets it, and the world
//! does not contain the id. Three methods end a loan:
//!
//! ```text
//!   alloc_loaned   the entity with this id is alive
//!   end_loan       copies of the id may exist: the slot is free, with the next generation, as if
//!                  the entity had been spawned and despawned, so that the id never becomes valid
//!   take_back      the command buffer was dropped: as `end_loan`, or, if the id was never handed
//!                  out, the slot is free again with the same generation
//! ```
//!
//! A command buffer that is dropped has no access to the world. It returns its ids to
//! [`ReturnedIds`], and the next call that changes the world takes them back
//! ([`Directory::take_back`]).

use std::sync::Arc;

use super::directory::Directory;
use super::location::Location;
use super::slot::{GENERATION_FIRST, Slot, index_u32};
use super::{Entity, NoSuchEntity, OutOfIds, ReturnedIds};

impl Directory {
    /// Puts the same `n` ids on loan that `n` calls of [`Directory::alloc`] would return, and
    /// appends them to `out`. O(n).
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] when fewer than `n` ids are left; the directory is unchanged.
    pub(crate) fn loan(&mut self, n: u32, out: &mut Vec<Entity>) -> Result<(), OutOfIds> {
        self.debug_assert_flushed();
        self.ensure_room(n as usize)?;
        self.editions += 1;
        let recycled = n.min(self.free_len());
        if n - recycled > self.fresh_end - self.slots_len() {
            // Far slots lie between the fresh indices.
            for _ in 0..n {
                out.push(self.take_next(Location::ON_LOAN)?);
                self.loaned += 1;
            }
            return Ok(());
        }
        self.loan_free(recycled, |entity| out.push(entity));
        let first = self.slots_len();
        let fresh = first..first + (n - recycled);
        let slot = Slot { generation: GENERATION_FIRST, location: Location::ON_LOAN };
        self.slots.resize(fresh.end as usize, slot);
        out.extend(fresh.map(|index| Entity::new(index, GENERATION_FIRST)));
        self.loaned += n - recycled;
        Ok(())
    }

    /// Puts the first `n` ids of the free stack on loan.
    #[inline]
    pub(super) fn loan_free(&mut self, n: u32, mut f: impl FnMut(Entity)) {
        self.editions += 1;
        for index in self.free.take(n as usize) {
            let slot = match self.slots.get_mut(index as usize) {
                Some(slot) => slot,
                None => self.far.used_mut(index),
            };
            slot.location = Location::ON_LOAN;
            f(Entity::new(index, slot.generation));
        }
        self.loaned += n;
    }

    /// [`Directory::loan`] of `n` ids, or of all if fewer are left.
    pub(crate) fn loan_at_most(&mut self, n: u32, out: &mut Vec<Entity>) {
        self.take_back();
        let n = n.min(self.available());
        self.loan(n, out).expect("fewer ids are left than were counted");
    }

    /// The number of indices that entities may have.
    pub(crate) const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns `true` if the id is on loan.
    #[inline]
    pub(crate) fn is_on_loan(&self, entity: Entity) -> bool {
        self.slot(entity.index())
            .is_some_and(|slot| slot.generation == entity.generation() && slot.is_on_loan())
    }

    /// Makes the entity of an id on loan alive.
    ///
    /// # Errors
    ///
    /// [`NoSuchEntity`] if the id is not on loan; the directory is unchanged.
    #[inline]
    pub(crate) fn alloc_loaned(
        &mut self,
        entity: Entity,
        location: Location,
    ) -> Result<(), NoSuchEntity> {
        self.debug_assert_flushed();
        debug_assert!(location.is_somewhere(), "archetype u32::MAX marks slots without an entity");
        let slot = match self.slots.get_mut(entity.index() as usize) {
            None => self.far.get_mut(entity.index()),
            slot => slot,
        };
        match slot {
            Some(slot) if slot.generation == entity.generation() && slot.is_on_loan() => {
                slot.location = location;
            }
            _ => return Err(NoSuchEntity { entity }),
        }
        self.loaned -= 1;
        Ok(())
    }

    /// Ends a loan whose id may have been copied, as if the entity had been spawned and despawned.
    /// Returns `false`, without a change, if the id is not on loan.
    pub(crate) fn end_loan(&mut self, entity: Entity) -> bool {
        self.debug_assert_flushed();
        let on_loan = self.is_on_loan(entity);
        if on_loan {
            self.loaned -= 1;
            self.free_with_generation(entity.index(), entity.generation().wrapping_add(1));
        }
        on_loan
    }

    /// The ids that dropped command buffers return. Allocated by the first call.
    pub(crate) fn returned_ids(&mut self) -> Arc<ReturnedIds> {
        self.reserved.note_buffer();
        Arc::clone(self.returned_ids.get_or_insert_default())
    }

    /// Takes back the ids that dropped buffers returned. Ids among them that were reserved must be
    /// alive. The ids are allocated next, as if they had just been freed.
    pub(super) fn take_back(&mut self) {
        let Some(returned) = self.waiting_ids() else { return };
        let returns = returned.take(|entity| self.is_on_loan(entity));
        debug_assert!(returns.reserved_len() == 0, "a reserved id was not flushed");
        self.loaned -= index_u32(returns.next.len() + returns.retired.len());
        for index in returns.retired {
            self.free_with_generation(index, 0);
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

    /// A directory with ten used indices, of which 2, 7 and 4 were freed in that order.
    fn holey(limit: u32) -> Directory {
        let mut directory = Directory::new(limit);
        let mut entities = Vec::new();
        directory.alloc_batch(10, at, &mut entities).unwrap();
        for i in [2, 7, 4] {
            directory.free(entities[i]).unwrap();
        }
        directory
    }

    fn loan(directory: &mut Directory, n: u32) -> Vec<Entity> {
        let mut ids = Vec::new();
        directory.loan(n, &mut ids).unwrap();
        assert_eq!(directory.check(), Ok(()));
        ids
    }

    #[test]
    fn ids_on_loan_are_the_ones_that_alloc_would_return() {
        let (mut loaned, mut allocated) = (holey(100), holey(100));
        let ids: Vec<_> = (0..6).map(|i| allocated.alloc(at(i)).unwrap()).collect();
        assert_eq!(loan(&mut loaned, 6), ids);
    }

    #[test]
    fn an_id_on_loan_is_neither_free_nor_alive() {
        let mut directory = holey(100);
        let ids = loan(&mut directory, 5);
        assert_eq!(directory.len(), 7);
        for &id in &ids {
            assert!(directory.is_on_loan(id) && !directory.contains(id));
            assert!(!directory.view().is_reserved(id));
            assert_eq!(directory.free(id), Err(NoSuchEntity { entity: id }));
        }
        let reserved: Vec<_> = directory.reserve_many(3).unwrap().collect();
        assert!(reserved.iter().all(|id| !ids.contains(id)));
        assert!(ids.iter().all(|&id| !directory.contains(id)), "not while others are reserved");
        directory.flush(|_| at(0));
        directory.alloc_loaned(ids[0], at(9)).unwrap();
        assert_eq!(directory.locate(ids[0]), Ok(at(9)));
        assert_eq!(directory.alloc_loaned(ids[0], at(9)), Err(NoSuchEntity { entity: ids[0] }));
        assert_eq!(directory.len(), 11);
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn only_an_id_that_was_not_handed_out_is_used_again() {
        let mut directory = holey(100);
        let ids = loan(&mut directory, 2);
        directory.returned_ids().give_back(&ids[..1], &[]);
        directory.flush(|_| at(0));
        assert!(directory.end_loan(ids[1]));
        assert!(!directory.end_loan(ids[1]), "it has ended");
        assert_eq!(directory.check(), Ok(()));
        let again = loan(&mut directory, 2);
        assert_eq!(again[0].index(), ids[1].index());
        assert_eq!(again[0].generation(), ids[1].generation() + 1);
        assert_eq!(again[1], ids[0]);
    }

    #[test]
    fn a_slot_retires_when_the_loan_of_its_last_generation_ends() {
        let mut directory = Directory::new(10);
        directory.alloc_at(Entity::new(0, u32::MAX - 1), at(0)).unwrap();
        directory.free(Entity::new(0, u32::MAX - 1)).unwrap();
        let ids = loan(&mut directory, 1);
        assert_eq!(ids, [Entity::new(0, u32::MAX)]);
        directory.end_loan(ids[0]);
        assert_eq!(directory.check(), Ok(()));
        assert_eq!(loan(&mut directory, 1), [Entity::new(1, 1)]);
    }

    #[test]
    fn a_clear_keeps_loans() {
        let mut directory = holey(100);
        let ids = loan(&mut directory, 5);
        directory.clear();
        assert_eq!(directory.check(), Ok(()));
        assert_eq!(directory.len(), 0);
        assert!(ids.iter().all(|&id| directory.is_on_loan(id)));
        let others = loan(&mut directory, 20);
        assert!(others.iter().all(|id| ids.iter().all(|loaned| loaned.index() != id.index())));
    }

    #[test]
    fn loans_count_against_the_limit_and_cannot_be_taken_by_number() {
        let mut directory = holey(12);
        let ids = loan(&mut directory, 5);
        assert_eq!(directory.loan(1, &mut Vec::new()), Err(OutOfIds::InWorld { limit: 12 }));
        assert!(directory.alloc(at(0)).is_err());
        let taken = directory.alloc_at(ids[0], at(0));
        assert_eq!(taken, Err(super::super::AllocAtError::Lent { entity: ids[0] }));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn ids_of_a_dropped_buffer_are_loaned_again() {
        let mut directory = holey(12);
        let returned = directory.returned_ids();
        let ids = loan(&mut directory, 5);
        returned.give_back(&ids[2..], &ids[..2]);
        assert!(directory.needs_flush());
        directory.flush(|_| at(0));
        assert!(!directory.needs_flush());
        let again = loan(&mut directory, 5);
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
        let ids = loan(&mut directory, 11);
        directory.returned_ids().give_back(&ids[3..6], &ids[..2]);
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
    fn reserved_ids_are_flushed_in_their_order() {
        let mut directory = holey(20);
        let ids = loan(&mut directory, 4);
        let mut reserved: Vec<_> = directory.reserve_many(2).unwrap().collect();
        directory.returned_ids().give_back(&ids[1..], &[]);
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
    fn a_request_that_is_refused_does_not_change_which_ids_come_next() {
        for (n, is_refused) in [(6, true), (0, false)] {
            let mut directory = Directory::new(6);
            let ids = loan(&mut directory, 5);
            directory.returned_ids().give_back(&ids[2..3], &[]);
            assert_eq!(directory.reserve_many(n).is_err(), is_refused);
            directory.returned_ids().give_back(&ids[3..4], &ids[4..]);
            assert_eq!(directory.reserve_many(n).is_err(), is_refused);
            directory.returned_ids().give_back(&ids[..2], &[]);
            let reserved: Vec<_> = directory.reserve_many(6).unwrap().collect();
            assert_eq!(reserved[..4], ids[..4], "the lowest first");
            assert_eq!(reserved[4..], [Entity::new(4, 2), Entity::new(5, 1)]);
            assert_eq!(directory.check(), Ok(()));
        }
    }

    #[test]
    fn a_request_for_more_than_was_returned_takes_nothing() {
        let mut directory = Directory::new(5);
        let ids = loan(&mut directory, 4);
        directory.returned_ids().give_back(&ids[..2], &[]);
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
    fn the_order_of_dropped_buffers_decides_nothing() {
        let next = |first: [usize; 3], second: [usize; 3]| {
            let mut directory = holey(12);
            let returned = directory.returned_ids();
            let ids = loan(&mut directory, 5);
            for [a, b, seen] in [first, second] {
                let unseen = if a == b { vec![ids[a]] } else { vec![ids[a], ids[b]] };
                returned.give_back(&unseen, &[ids[seen]]);
            }
            directory.flush(|_| at(0));
            loan(&mut directory, 5)
        };
        assert_eq!(next([0, 0, 1], [2, 3, 4]), next([2, 3, 4], [0, 0, 1]));
    }
}
