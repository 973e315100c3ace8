//! The directory during a stage of systems: opening and closing the queue of ids.
//!
//! The directory hands its slots to the queue ([`IdQueue`]) and gets them back at the end of the
//! stage. Claimed ids are put on loan only at that time, all at once and in the order of the queue,
//! so that the slots do not depend on the threads.

use core::ops::Range;
use std::sync::Arc;

use super::directory::Directory;
use super::far_slots::reserve_lean;
use super::id_demands::Seat;
use super::id_queue::{HeldSlots, IdQueue, IdShare};
use super::location::Location;
use super::next_ids::NextPart;
use super::slot::{GENERATION_FIRST, Slot, index_u32};

/// A number of free slots that is small enough for a world of any size.
const FREE_MIN: u32 = 64;

impl Directory {
    /// Divides the remaining ids into shares, one for each seat; a share without a seat has no
    /// demand. Until [`Directory::close_queue`] only [`Directory::view`] may be used. O(shares),
    /// for any number of ids.
    pub(crate) fn open_queue(&mut self, seats: &[Option<Seat>]) -> Vec<IdShare> {
        self.debug_assert_flushed();
        debug_assert!(self.queue.is_none(), "the last queue has not been closed");
        self.editions += 1;
        let (available, limit) = (self.available(), self.limit);
        let held = HeldSlots {
            slots: core::mem::take(&mut self.slots),
            free: core::mem::take(&mut self.free),
            far: core::mem::take(&mut self.far),
        };
        let queue = Arc::new(IdQueue::new(held, available, limit, seats, &self.demands));
        self.queue = Some(Arc::clone(&queue));
        IdQueue::shares(&queue)
    }

    /// The open queue.
    pub(crate) const fn queue(&self) -> Option<&Arc<IdQueue>> {
        self.queue.as_ref()
    }

    /// Closes the queue. Ids that are claimed are on loan from now on, all others are free.
    /// O(claimed), if every [`IdShare`] was dropped.
    pub(crate) fn close_queue(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        let taken = queue.end();
        self.demands.record(queue.requests());
        HeldSlots { slots: self.slots, free: self.free, far: self.far } = IdQueue::release(queue);
        self.loan_positions(taken);
    }

    /// Puts the ids at ascending positions of the queue on loan.
    fn loan_positions(&mut self, taken: Vec<Range<u32>>) {
        let (mut free, mut fresh) = (Vec::new(), Vec::<Range<u32>>::new());
        for piece in taken {
            for part in self.next().parts(piece) {
                match (part, fresh.last_mut()) {
                    (NextPart::Free(part), _) => free.push(part),
                    (NextPart::Fresh(part), Some(last)) if last.end == part.start => {
                        last.end = part.end
                    }
                    (NextPart::Fresh(part), _) => fresh.push(part),
                }
            }
        }
        // From the top of the stack down, so that an index that fills a hole was not taken.
        let free_len = self.free_len();
        for positions in free {
            if free_len - positions.start == self.free_len() {
                self.loan_free(positions.end - positions.start, |_| ());
                continue;
            }
            for at in positions.map(|n| free_len - 1 - n) {
                let index = self.free.as_slice()[at as usize];
                self.take_free(at);
                self.slot_mut(index).location = Location::ON_LOAN;
                self.loaned += 1;
            }
        }
        self.loan_fresh(&fresh);
    }

    /// Puts ascending fresh indices on loan. The indices between them become free slots while free
    /// slots are few compared with the others; after it the loaned ones become far slots.
    fn loan_fresh(&mut self, indices: &[Range<u32>]) {
        let slot = Slot { generation: GENERATION_FIRST, location: Location::ON_LOAN };
        let taken: usize = indices.iter().map(ExactSizeIterator::len).sum();
        let used = index_u32(self.len() + taken) + self.loaned;
        let mut spare = (used / 2).max(FREE_MIN).saturating_sub(self.free_len());
        let mut gaps = Vec::new();
        for &Range { start: first, end } in indices {
            self.absorb_near(first, &mut spare, &mut gaps);
            let gap = first - self.slots_len();
            if self.far.first().is_none_or(|far| first < far) && gap <= spare {
                spare -= gap;
                reserve_lean(&mut self.slots, (gap + end - first) as usize);
                self.open_gap(first, &mut gaps);
                self.slots.resize(end as usize, slot);
            } else {
                self.far.insert(first..end, slot);
            }
            self.loaned += end - first;
        }
        self.absorb_near(self.limit, &mut spare, &mut gaps);
        self.close_gaps(gaps);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Entity;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            u32::try_from(self.0 >> 40).expect("a number of 24 bits exceeds a u32") % n
        }
    }

    /// A directory, and the ids that it must contain.
    struct Tested {
        directory: Directory,
        alive: BTreeSet<Entity>,
        seen: BTreeSet<Entity>,
    }

    impl Tested {
        fn add(&mut self, ids: impl IntoIterator<Item = Entity>) {
            for id in ids {
                assert!(self.seen.insert(id), "{id} is not new");
                self.alive.insert(id);
            }
        }

        /// A stage in which ids are taken from shares; some of them become entities.
        fn stage(&mut self, asked: &[u32], random: &mut Random) {
            let seats = [0, 1, 2, 3, 4, 5, 6, 7].map(|system| Some(Seat::new(system, 0)));
            let mut shares = self.directory.open_queue(&seats);
            let mut taken = Vec::new();
            let queue = Arc::clone(self.directory.queue().expect("the queue is not open"));
            for (share, &n) in shares.iter_mut().zip(asked) {
                let mut ids = Vec::new();
                while ids.len() < n as usize && share.take(&mut ids) == Ok(true) {}
                let left = ids.len().saturating_sub(n as usize);
                assert_eq!(share.close(&queue, left), Some(left));
                taken.extend_from_slice(&ids[..ids.len() - left]);
            }
            drop(shares);
            drop(queue);
            self.directory.close_queue();
            self.check();
            for id in taken {
                assert!(self.directory.is_on_loan(id) && self.seen.insert(id), "{id}");
                match random.below(4) {
                    0 => assert!(self.directory.end_loan(id)),
                    _ => {
                        self.directory.alloc_loaned(id, at(1)).unwrap();
                        self.alive.insert(id);
                    }
                }
            }
        }

        fn check(&self) {
            assert_eq!(self.directory.check(), Ok(()));
            assert_eq!(self.directory.len(), self.alive.len());
        }
    }

    fn operate(tested: &mut Tested, random: &mut Random) {
        let (n, mut ids) = (random.below(300), Vec::new());
        match random.below(9) {
            0 | 1 => {
                let busy = random.below(8);
                let asked: Vec<_> =
                    (0..8).map(|i| if i == busy { n * n / 8 } else { n / 64 * (i % 3) }).collect();
                tested.stage(&asked, random);
            }
            2 => {
                let _ = tested.directory.alloc_batch(n as usize, at, &mut ids);
                tested.add(ids);
            }
            3 => {
                let id = tested.directory.alloc(at(2));
                tested.add(id);
            }
            4 | 5 => {
                let many = tested.alive.len() * random.below(5) as usize / 4;
                let dead: Vec<_> = tested.alive.iter().copied().take(many).collect();
                for id in dead {
                    tested.directory.free(id).unwrap();
                    tested.alive.remove(&id);
                }
            }
            6 => {
                let free_len = tested.directory.free_len();
                let next: Vec<_> = (0..=free_len).map(|n| tested.directory.next().id(n)).collect();
                let ids: Vec<_> = tested.directory.reserve_many(n).into_iter().flatten().collect();
                assert!(ids.iter().zip(&next).all(|(a, b)| a == b));
                assert!(ids.iter().all(|&id| tested.directory.view().is_reserved(id)));
                tested.directory.flush(|_| at(3));
                tested.add(ids);
            }
            7 => {
                tested.directory.loan_at_most(n, &mut ids);
                let (unseen, seen) = ids.split_at(ids.len() / 2);
                tested.seen.extend(seen);
                tested.directory.returned_ids().give_back(unseen, seen);
                tested.directory.flush(|_| unreachable!("none is reserved"));
            }
            _ => {
                let id = Entity::new(random.below(5000), 1_000_000 + random.below(1_000_000));
                if tested.directory.alloc_at(id, at(4)).is_ok() {
                    tested.add([id]);
                }
            }
        }
        tested.check();
    }

    #[test]
    fn ids_are_new_after_any_shares_and_other_calls() {
        let (seeds, operations) = if cfg!(miri) { (1, 6) } else { (crate::effort::effort(6), 60) };
        let mut far = 0;
        for seed in 1..=seeds {
            let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed.into()));
            let limit = [400, 6_000, 1_000_000][random.below(3) as usize];
            let mut tested = Tested {
                directory: Directory::new(limit),
                alive: BTreeSet::new(),
                seen: BTreeSet::new(),
            };
            for _ in 0..operations {
                operate(&mut tested, &mut random);
                far += tested.directory.far.len();
            }
            assert!(tested.alive.iter().all(|&id| tested.directory.contains(id)));
            tested.directory.clear();
            tested.alive.clear();
            tested.check();
        }
        assert!(far > 0 || cfg!(miri), "no id had a far slot");
    }
}
