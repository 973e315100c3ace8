//! The queue of ids during a stage, and the shares that divide it among systems.
//!
//! Free ids and fresh indices form one queue: first the free stack from its top, then the indices
//! that were never used. A reservation takes from its front ([`super::reserve`]).
//!
//! Systems take ids while they run on several threads, and the ids must not depend on the threads.
//! So each system gets a *share*: positions of the queue that only it may take. A share begins with
//! as many positions as the system ever took in one stage, its *demand*. The demands of the systems
//! that took ids most recently precede the others, and among those the smaller ones come first. The
//! positions after all demands are dealt out in blocks, one for each share in turn, and each round
//! has blocks twice as large as the round before:
//!
//! ```text
//!   position   0                        rest
//!              | demand 1 | demand 0    |0|1|2| 0 | 1 | 2 |  0    |  1    |  2    | …
//! ```
//!
//! So an id depends on the system's number, on how many ids it took before, and on what systems
//! took in earlier stages. A share costs nothing until an id is taken: no id is put on loan in
//! advance, and all positions that were not taken are free again when the stage ends.
//!
//! A share claims several ids at a time. The end of the stage reads the claims here and not in the
//! buffer, because a system can exchange its buffer for another. Claims and the end of the stage
//! are atomic operations on one number: after the end, no claim succeeds.

use core::cmp::Reverse;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use std::sync::Arc;

use super::directory::{Directory, DirectoryView, GENERATION_FIRST, Slot, index_u32};
use super::far_slots::{FarSlots, reserve_lean};
use super::location::Location;
use super::next_ids::{NextIds, NextPart};
use super::{Entity, OutOfIds};

/// The fewest and the most ids of a share that are claimed at once.
const CLAIM_MIN: u32 = 128;
const CLAIM_MAX: u32 = 1024;

/// The number of claims of a share whose stage has ended. No share has as many positions.
const ENDED: u32 = u32::MAX;

/// The number of free slots that is no waste in a world of any size.
const FREE_MIN: u32 = 64;

/// The ids that a system took in earlier stages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdDemand {
    /// The most ids that it requested in one stage.
    most: u32,
    /// The number of the last queue that it took an id from.
    last: u64,
}

/// A directory's slots during a stage, with the shares of its systems.
#[derive(Debug)]
pub(crate) struct IdQueue {
    slots: Vec<Slot>,
    free: Vec<u32>,
    far: FarSlots,
    number: u64,
    /// The number of positions.
    available: u32,
    /// The first position after all demands.
    rest: u32,
    limit: u32,
    shares: Box<[ShareState]>,
}

/// The state of one share.
#[derive(Debug)]
struct ShareState {
    /// The positions that its system is expected to take.
    demand: Range<u32>,
    /// The number of positions claimed, or [`ENDED`].
    claimed: AtomicU32,
}

impl IdQueue {
    /// [`Directory::view`].
    pub(super) fn view(&self) -> DirectoryView<'_> {
        DirectoryView::new(&self.slots, &self.far)
    }

    fn next(&self) -> NextIds<'_> {
        NextIds::new(&self.slots, &self.free, &self.far)
    }

    /// The `n`th position of a share, to the end of the consecutive ones that follow it; `None` if
    /// the share has fewer.
    fn piece(&self, share: u32, n: u32) -> Option<Range<u32>> {
        let Range { start, end } = self.shares[share as usize].demand;
        match n < end - start {
            true => Some(start + n..end),
            false => self.piece_of_rest(share, n - (end - start)),
        }
    }

    /// The `n`th position of a share after its demand.
    fn piece_of_rest(&self, share: u32, n: u32) -> Option<Range<u32>> {
        let (share, shares, n) = (u64::from(share), self.shares.len() as u64, u64::from(n));
        // Rounds 0 to r - 1 have 2^r - 1 positions of each share.
        let block = 1 << (n + 1).ilog2();
        let before = block - 1;
        let left = u64::from(self.available - self.rest).checked_sub(shares * before)?;
        let (start, len) = if shares * block <= left {
            (share * block, block)
        } else {
            // The last round divides the remaining positions equally.
            let (each, more) = (left / shares, left % shares);
            (share * each + share.min(more), each + u64::from(share < more))
        };
        let within = n - before;
        let first = u64::from(self.rest) + shares * before + start;
        let narrow = |n| u32::try_from(n).expect("a position is not below the limit of ids");
        (within < len).then(|| narrow(first + within)..narrow(first + len))
    }

    /// The first `n` positions of a share.
    fn pieces(&self, share: u32, n: u32) -> impl Iterator<Item = Range<u32>> {
        let mut from = 0;
        core::iter::from_fn(move || {
            let Range { start, end } = (from < n).then(|| self.piece(share, from)).flatten()?;
            let end = end.min(start.saturating_add(n - from));
            from += end - start;
            Some(start..end)
        })
    }
}

/// The right of one system to take ids, until its stage ends.
#[derive(Debug)]
pub(crate) struct IdShare {
    queue: Arc<IdQueue>,
    /// The position of its state in `queue.shares`.
    number: u32,
    /// The number of ids claimed.
    claimed: u32,
    /// The number of requests that were refused.
    refused: u32,
}

impl IdShare {
    /// Claims the next ids of the share and appends them to `out`, one or more. Returns `false`
    /// without claiming any if the stage has ended. Claims grow with the number claimed before.
    /// O(claimed).
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] when the share has no id left.
    pub(crate) fn take(&mut self, out: &mut Vec<Entity>) -> Result<bool, OutOfIds> {
        let (claimed, relaxed) = (self.claimed, Ordering::Relaxed);
        let Some(Range { start, end }) = self.queue.piece(self.number, claimed) else {
            self.refused = self.refused.saturating_add(1);
            return Err(OutOfIds::InWorld { limit: self.queue.limit });
        };
        let n = (end - start).min(claimed.clamp(CLAIM_MIN, CLAIM_MAX));
        let state = &self.queue.shares[self.number as usize].claimed;
        if state.compare_exchange(claimed, claimed + n, relaxed, relaxed).is_err() {
            return Ok(false);
        }
        self.claimed += n;
        let next = self.queue.next();
        for part in next.parts(start..start + n) {
            match part {
                NextPart::Free(positions) => out.extend(next.free_ids(positions)),
                NextPart::Fresh(indices) => {
                    out.extend(indices.map(|index| Entity::new(index, GENERATION_FIRST)));
                }
            }
        }
        Ok(true)
    }

    /// If this is a share of `queue`, withdraws the claim to the last `left` of its ids, or to all
    /// if they are fewer, and records in `demand` how many were requested. Returns the number
    /// withdrawn.
    pub(crate) fn close(
        &mut self,
        queue: &Arc<IdQueue>,
        left: usize,
        demand: &mut IdDemand,
    ) -> Option<usize> {
        if !Arc::ptr_eq(&self.queue, queue) {
            return None;
        }
        let left = left.min(self.claimed as usize);
        let taken = self.claimed - index_u32(left);
        self.queue.shares[self.number as usize].claimed.store(taken, Ordering::Relaxed);
        let requested = taken.saturating_add(self.refused);
        if requested > 0 {
            *demand = IdDemand { most: demand.most.max(requested), last: self.queue.number };
        }
        Some(left)
    }
}

impl Directory {
    /// Divides the remaining ids into shares, one for each demand. Until [`Directory::close_queue`]
    /// only [`Directory::view`] may be used. O(shares), however many ids there are.
    pub(crate) fn open_queue(&mut self, demands: &[IdDemand]) -> Vec<IdShare> {
        self.debug_assert_flushed();
        debug_assert!(self.queue.is_none(), "the last queue has not been closed");
        let available = self.available();
        let shares_len = index_u32(demands.len());
        let mut order: Vec<usize> = (0..demands.len()).filter(|&i| demands[i].most > 0).collect();
        order.sort_by_key(|&i| (Reverse(demands[i].last), demands[i].most));
        let newest = order.first().map_or(0, |&i| demands[i].last);
        let mut positions = vec![0..0; demands.len()];
        let mut rest = 0u32;
        for i in order {
            let IdDemand { most, last } = demands[i];
            // Older demands leave some positions to shares without a demand.
            let kept = if last == newest { 0 } else { shares_len.min(available / 4) };
            let end = rest.saturating_add(most).min(available - kept).max(rest);
            positions[i] = rest..end;
            rest = end;
        }
        let shares =
            positions.into_iter().map(|demand| ShareState { demand, claimed: AtomicU32::new(0) });
        self.queue_number += 1;
        let queue = Arc::new(IdQueue {
            slots: core::mem::take(&mut self.slots),
            free: core::mem::take(&mut self.free),
            far: core::mem::take(&mut self.far),
            number: self.queue_number,
            available,
            rest,
            limit: self.limit,
            shares: shares.collect(),
        });
        self.queue = Some(Arc::clone(&queue));
        let share = |number| IdShare { queue: Arc::clone(&queue), number, claimed: 0, refused: 0 };
        (0..shares_len).map(share).collect()
    }

    /// The open queue.
    pub(crate) const fn queue(&self) -> Option<&Arc<IdQueue>> {
        self.queue.as_ref()
    }

    /// Closes the queue. Ids that are claimed are on loan from now on, all others are free.
    /// O(claimed), if every [`IdShare`] was dropped.
    pub(crate) fn close_queue(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        let mut taken = Vec::new();
        for (share, state) in (0..).zip(&queue.shares) {
            let claimed = state.claimed.swap(ENDED, Ordering::Relaxed);
            taken.extend(queue.pieces(share, claimed));
        }
        (self.slots, self.free, self.far) = match Arc::try_unwrap(queue) {
            Ok(IdQueue { slots, free, far, .. }) => (slots, free, far),
            // A buffer was moved out of its system, and keeps its share.
            Err(queue) => (queue.slots.clone(), queue.free.clone(), queue.far.clone()),
        };
        taken.sort_unstable_by_key(|piece| piece.start);
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
        // From the top of the stack down, so that an index which fills a hole was not taken.
        let free_len = self.free_len();
        for positions in free {
            if free_len - positions.start == self.free_len() {
                self.loan_free(positions.end - positions.start, |_| ());
                continue;
            }
            for at in positions.map(|n| free_len - 1 - n) {
                let index = self.free[at as usize];
                self.take_free(at);
                self.slot_mut(index).location = Location::ON_LOAN;
                self.loaned += 1;
            }
        }
        self.loan_fresh(&fresh);
    }

    /// Puts ascending fresh indices on loan. The indices between them become free slots as long as
    /// free slots are few compared with the others; after that the loaned ones become far slots.
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

    /// A directory, the ids that it must contain, and the demands of its systems.
    struct Tested {
        directory: Directory,
        alive: BTreeSet<Entity>,
        seen: BTreeSet<Entity>,
        demands: Vec<IdDemand>,
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
            let mut shares = self.directory.open_queue(&self.demands);
            let mut taken = Vec::new();
            let queue = Arc::clone(self.directory.queue().expect("the queue is not open"));
            for ((share, &n), demand) in shares.iter_mut().zip(asked).zip(&mut self.demands) {
                let mut ids = Vec::new();
                while ids.len() < n as usize && share.take(&mut ids) == Ok(true) {}
                let left = ids.len().saturating_sub(n as usize);
                assert_eq!(share.close(&queue, left, demand), Some(left));
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
                assert!(ids.iter().all(|&id| tested.directory.is_reserved(id)));
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
        let (seeds, operations) = if cfg!(miri) { (1, 6) } else { (60, 60) };
        let mut far = 0;
        for seed in 1..=seeds {
            let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
            let limit = [400, 6_000, 1_000_000][random.below(3) as usize];
            let mut tested = Tested {
                directory: Directory::new(limit),
                alive: BTreeSet::new(),
                seen: BTreeSet::new(),
                demands: vec![IdDemand::default(); 8],
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
