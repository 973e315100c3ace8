//! The queue of ids during a stage, and the shares that divide it among systems.
//!
//! Free ids and fresh indices form one queue: the free stack from its top, followed by the indices
//! that were never used. A reservation takes from its front ([`super::reserve`]).
//!
//! Systems take ids while they run on several threads, and the ids must not depend on the threads.
//! So each system gets a *share*: positions of the queue that only it may take. A share begins with
//! its system's *demand*, the greatest number of ids that the system ever took in one stage
//! ([`super::id_demands`]). The demands of the systems that took ids most recently precede the
//! others, and among them the smaller ones come first. Demands may come from bytes that claim any
//! number, so together they have at most half of the queue, or a position for each slot of the
//! directory, for which the bytes had to have an entry. The positions after all demands are dealt
//! out in blocks, one for each share in turn, and each round has blocks twice as large as the round
//! before:
//!
//! ```text
//!   position   0                        rest
//!              | demand 1 | demand 0    |0|1|2| 0 | 1 | 2 |  0    |  1    |  2    | …
//! ```
//!
//! So an id depends on the system's number, on the number of ids it took before, and on the ids
//! taken in earlier stages. An unused share costs nothing: no id is put on loan in advance, and all
//! positions that were not taken are free again when the stage ends.
//!
//! A share claims several ids at a time. The end of the stage reads the claims from the queue
//! instead of the buffer, because a system can exchange its buffer for another. Claims and the end
//! of the stage are atomic operations on one number: after the end, no claim succeeds.

use core::cmp::Reverse;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use super::directory_view::DirectoryView;
use super::far_slots::FarSlots;
use super::free_stack::FreeStack;
use super::id_demands::{IdDemand, IdDemands, Seat};
use super::next_ids::{NextIds, NextPart};
use super::slot::{GENERATION_FIRST, Slot, index_u32};
use super::{Entity, OutOfIds};

/// The least and the greatest number of ids that a share claims at once.
const CLAIM_MIN: u32 = 128;
const CLAIM_MAX: u32 = 1024;

/// The number of claims of a share whose stage has ended. Shares have fewer positions.
const ENDED: u32 = u32::MAX;

/// The data that a queue takes from its directory for a stage.
#[derive(Clone, Debug)]
pub(super) struct HeldSlots {
    pub(super) slots: Vec<Slot>,
    pub(super) free: FreeStack,
    pub(super) far: FarSlots,
}

/// A directory's slots during a stage, with the shares of its systems.
#[derive(Debug)]
pub(crate) struct IdQueue {
    held: HeldSlots,
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
    /// The seat whose demand this share begins with and counts for.
    seat: Option<Seat>,
    /// The positions that its system is expected to take.
    demand: Range<u32>,
    /// The number of positions claimed, or [`ENDED`].
    claimed: AtomicU32,
    /// The number of ids requested, from the time when the system closes its share.
    requested: AtomicU32,
}

impl IdQueue {
    /// The queue that divides `available` ids into shares, one for each seat. O(shares), for any
    /// number of ids.
    pub(super) fn new(
        held: HeldSlots,
        available: u32,
        limit: u32,
        seats: &[Option<Seat>],
        demands: &IdDemands,
    ) -> Self {
        let demand = |seat: &Option<Seat>| seat.map(|seat| demands.of(seat)).unwrap_or_default();
        let demands: Vec<IdDemand> = seats.iter().map(demand).collect();
        let shares_len = index_u32(demands.len());
        let mut order: Vec<usize> = (0..demands.len()).filter(|&i| demands[i].most > 0).collect();
        order.sort_by_key(|&i| (Reverse(demands[i].last), demands[i].most));
        let newest = order.first().map_or(0, |&i| demands[i].last);
        let bound = (index_u32(held.slots.len()) + held.far.len()).max(available / 2);
        let mut positions = vec![0..0; demands.len()];
        let mut rest = 0u32;
        let of_newest = order.iter().map(|&i| demands[i]).filter(|demand| demand.last == newest);
        let are_enough =
            of_newest.map(|demand| u64::from(demand.most)).sum::<u64>() <= u64::from(available);
        for i in order {
            let IdDemand { most, last } = demands[i];
            // Older demands leave some positions to shares without a demand, and so do those that
            // cannot all be met.
            let kept = match are_enough && last == newest {
                true => 0,
                false => shares_len.min(available / 4),
            };
            let end = rest.saturating_add(most).min(bound).min(available - kept).max(rest);
            positions[i] = rest..end;
            rest = end;
        }
        let share = |(demand, &seat)| ShareState {
            seat,
            demand,
            claimed: AtomicU32::new(0),
            requested: AtomicU32::new(0),
        };
        let shares = positions.into_iter().zip(seats).map(share).collect();
        Self { held, available, rest, limit, shares }
    }

    /// The shares, in the order of their seats. Must be called once.
    pub(super) fn shares(this: &Arc<Self>) -> Vec<IdShare> {
        let share = |number| IdShare { queue: Arc::clone(this), number, claimed: 0, refused: 0 };
        (0..index_u32(this.shares.len())).map(share).collect()
    }

    /// [`Directory::view`](super::Directory::view).
    pub(super) fn view(&self) -> DirectoryView<'_> {
        DirectoryView::new(&self.held.slots, &self.held.far, None)
    }

    fn next(&self) -> NextIds<'_> {
        let HeldSlots { slots, free, far } = &self.held;
        NextIds::new(slots, free.as_slice(), far)
    }

    /// Ends all shares. Returns the positions that were claimed, in ascending order.
    pub(super) fn end(&self) -> Vec<Range<u32>> {
        let mut taken = Vec::new();
        for (share, state) in (0..).zip(&self.shares) {
            let claimed = state.claimed.swap(ENDED, Ordering::Relaxed);
            taken.extend(self.pieces(share, claimed));
        }
        taken.sort_unstable_by_key(|piece| piece.start);
        taken
    }

    /// The number of ids that was requested in each seat, of the shares that were closed.
    pub(super) fn requests(&self) -> impl Iterator<Item = (Seat, u32)> {
        let request =
            |share: &ShareState| Some((share.seat?, share.requested.load(Ordering::Relaxed)));
        self.shares.iter().filter_map(request)
    }

    /// The slots, after the end of all shares. A copy if a share still exists, because its buffer
    /// was moved out of its system.
    pub(super) fn release(this: Arc<Self>) -> HeldSlots {
        match Arc::try_unwrap(this) {
            Ok(queue) => queue.held,
            Err(queue) => queue.held.clone(),
        }
    }

    /// The `n`th position of a share, to the end of the consecutive ones that follow it. `None` if
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
    /// if they are fewer, and records the number requested for the demand of its seat. Returns the
    /// number withdrawn.
    pub(crate) fn close(&mut self, queue: &Arc<IdQueue>, left: usize) -> Option<usize> {
        if !Arc::ptr_eq(&self.queue, queue) {
            return None;
        }
        let left = left.min(self.claimed as usize);
        let taken = self.claimed - index_u32(left);
        let state = &self.queue.shares[self.number as usize];
        state.claimed.store(taken, Ordering::Relaxed);
        state.requested.store(taken.saturating_add(self.refused), Ordering::Relaxed);
        Some(left)
    }
}
