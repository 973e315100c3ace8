//! The ids that are next in use, in order, and the lanes that part them among systems.
//!
//! Free ids and fresh indices form one line: first the free stack from its top, then the indices
//! that no entity has ever used. A reservation takes from its front ([`super::reserve`]).
//!
//! Systems take ids while they run on several threads, and which ones must not depend on the
//! threads. So each gets a *lane*: positions of the line that only it may take. Its share comes
//! first, as many as it ever took at once. The shares of the systems that took ids last stand
//! before the others, and of those the smaller ones first. What is beyond all shares is parted in
//! blocks, in turn, each round twice as large as the one before:
//!
//! ```text
//!   position   0          share 1 ends      rest
//!              | share 1 | share 0         |0|1|2| 0 | 1 | 2 |  0    |  1    |  2    | …
//! ```
//!
//! So an id depends on the system's number, on how many it took before, and on what systems took in
//! earlier stages. A lane costs nothing until an id is taken: nothing is lent in advance, and all
//! other positions are free again when the stage ends.
//!
//! A lane claims several ids at a time, so that the end of the stage knows them even if the buffer
//! is not where it was: a system can exchange its buffer for another. Claims are compare-exchanges
//! with one winner: a claim, or the end of the stage, after which there is none.

use core::cmp::Reverse;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use std::sync::Arc;

use super::directory::{Directory, DirectoryView, GENERATION_FIRST, Location, Slot, index_u32};
use super::far_slots::{FarSlots, reserve_lean};
use super::next_ids::{NextIds, NextPart};
use super::{EntitiesExhausted, Entity};

/// How many ids of a lane are claimed at once, at least and at most.
const CLAIM_MIN: u32 = 128;
const CLAIM_MAX: u32 = 1024;

/// What stands for the claims of a lane whose stage has ended. No lane has as many positions.
const ENDED: u32 = u32::MAX;

/// As many free slots are no waste in a world of any size.
const FREE_MIN: u32 = 64;

/// What a system took from its lanes in earlier stages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdDemand {
    /// The most ids that it wanted at once.
    most: u32,
    /// The number of the last line that it took an id from.
    last: u64,
}

/// A directory's table while its ids are parted among lanes.
#[derive(Debug)]
pub(crate) struct IdQueue {
    slots: Vec<Slot>,
    free: Vec<u32>,
    far: FarSlots,
    number: u64,
    /// Positions of the line.
    available: u32,
    /// The first position beyond all shares.
    rest: u32,
    limit: u32,
    lanes: Box<[Positions]>,
}

/// The positions of a lane.
#[derive(Debug)]
struct Positions {
    share: Range<u32>,
    /// How many were claimed, or [`ENDED`].
    claimed: AtomicU32,
}

impl IdQueue {
    /// [`Directory::places`].
    pub(super) fn places(&self) -> DirectoryView<'_> {
        DirectoryView::new(&self.slots, &self.far)
    }

    fn next(&self) -> NextIds<'_> {
        NextIds::new(&self.slots, &self.free, &self.far)
    }

    /// The `n`th position of a lane, to the end of the consecutive ones that follow it; `None` if
    /// the lane has fewer.
    fn piece(&self, lane: u32, n: u32) -> Option<Range<u32>> {
        let Range { start, end } = self.lanes[lane as usize].share;
        match n < end - start {
            true => Some(start + n..end),
            false => self.piece_of_rest(lane, n - (end - start)),
        }
    }

    /// The `n`th position of a lane beyond its share.
    fn piece_of_rest(&self, lane: u32, n: u32) -> Option<Range<u32>> {
        let (lane, lanes, n) = (u64::from(lane), self.lanes.len() as u64, u64::from(n));
        // Rounds 0 to r - 1 have 2^r - 1 positions of each lane.
        let block = 1 << (n + 1).ilog2();
        let before = block - 1;
        let left = u64::from(self.available - self.rest).checked_sub(lanes * before)?;
        let (start, len) = if lanes * block <= left {
            (lane * block, block)
        } else {
            // The last round: every lane has some of what is left.
            let (each, more) = (left / lanes, left % lanes);
            (lane * each + lane.min(more), each + u64::from(lane < more))
        };
        let within = n - before;
        let first = u64::from(self.rest) + lanes * before + start;
        let narrow = |n| u32::try_from(n).expect("positions are below the limit");
        (within < len).then(|| narrow(first + within)..narrow(first + len))
    }

    /// The first `n` positions of a lane.
    fn pieces(&self, lane: u32, n: u32) -> impl Iterator<Item = Range<u32>> {
        let mut from = 0;
        core::iter::from_fn(move || {
            let Range { start, end } = (from < n).then(|| self.piece(lane, from)).flatten()?;
            let end = end.min(start.saturating_add(n - from));
            from += end - start;
            Some(start..end)
        })
    }
}

/// The right of one system to take ids, until its stage ends.
#[derive(Debug)]
pub(crate) struct IdShare {
    line: Arc<IdQueue>,
    lane: u32,
    /// How many ids it has given.
    claimed: u32,
    /// How many ids were asked for in vain.
    refused: u32,
}

impl IdShare {
    /// Claims the next ids of the lane and appends them to `out`, one or more. Says whether it
    /// could: it cannot when the stage has ended. O(claimed), and more at a time the more it has
    /// claimed.
    ///
    /// # Errors
    ///
    /// [`EntitiesExhausted`] when the lane has no id left.
    pub(crate) fn take(&mut self, out: &mut Vec<Entity>) -> Result<bool, EntitiesExhausted> {
        let (claimed, relaxed) = (self.claimed, Ordering::Relaxed);
        let Some(Range { start, end }) = self.line.piece(self.lane, claimed) else {
            self.refused = self.refused.saturating_add(1);
            return Err(EntitiesExhausted { limit: self.line.limit });
        };
        let n = (end - start).min(claimed.clamp(CLAIM_MIN, CLAIM_MAX));
        let state = &self.line.lanes[self.lane as usize].claimed;
        if state.compare_exchange(claimed, claimed + n, relaxed, relaxed).is_err() {
            return Ok(false);
        }
        self.claimed += n;
        let next = self.line.next();
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

    /// If this is a lane of `line`: withdraws the claim to the last `left` of the ids that it gave,
    /// or to all if they are fewer, and notes what was wanted. Says how many it withdrew.
    pub(crate) fn settle(
        &mut self,
        line: &Arc<IdQueue>,
        left: usize,
        demand: &mut IdDemand,
    ) -> Option<usize> {
        if !Arc::ptr_eq(&self.line, line) {
            return None;
        }
        let left = left.min(self.claimed as usize);
        let taken = self.claimed - index_u32(left);
        self.line.lanes[self.lane as usize].claimed.store(taken, Ordering::Relaxed);
        let wanted = taken.saturating_add(self.refused);
        if wanted > 0 {
            *demand = IdDemand { most: demand.most.max(wanted), last: self.line.number };
        }
        Some(left)
    }
}

impl Directory {
    /// Parts the ids that are left among lanes, one for each demand. Until [`Directory::end_split`]
    /// only [`Directory::places`] may be used. O(lanes), no matter how many ids there are.
    pub(crate) fn split_ids(&mut self, demands: &[IdDemand]) -> Vec<IdShare> {
        self.debug_assert_flushed();
        debug_assert!(self.line.is_none(), "the last line has ended");
        let available = self.available();
        let lanes = index_u32(demands.len());
        let mut order: Vec<usize> = (0..demands.len()).filter(|&i| demands[i].most > 0).collect();
        order.sort_by_key(|&i| (Reverse(demands[i].last), demands[i].most));
        let newest = order.first().map_or(0, |&i| demands[i].last);
        let mut shares = vec![0..0; demands.len()];
        let mut rest = 0u32;
        for i in order {
            let IdDemand { most, last } = demands[i];
            // Shares of the others leave something for lanes that have none.
            let kept = if last == newest { 0 } else { lanes.min(available / 4) };
            let end = rest.saturating_add(most).min(available - kept).max(rest);
            shares[i] = rest..end;
            rest = end;
        }
        let positions =
            shares.into_iter().map(|share| Positions { share, claimed: AtomicU32::new(0) });
        self.lines += 1;
        let line = Arc::new(IdQueue {
            slots: core::mem::take(&mut self.slots),
            free: core::mem::take(&mut self.free),
            far: core::mem::take(&mut self.far),
            number: self.lines,
            available,
            rest,
            limit: self.limit,
            lanes: positions.collect(),
        });
        self.line = Some(Arc::clone(&line));
        let lane = |lane| IdShare { line: Arc::clone(&line), lane, claimed: 0, refused: 0 };
        (0..lanes).map(lane).collect()
    }

    /// The line under way.
    pub(crate) const fn line(&self) -> Option<&Arc<IdQueue>> {
        self.line.as_ref()
    }

    /// Ends the line. Ids that are claimed are lent from now on, all others are free. O(claimed),
    /// if no lane is left.
    pub(crate) fn end_split(&mut self) {
        let Some(line) = self.line.take() else { return };
        let mut taken = Vec::new();
        for (lane, positions) in (0..).zip(&line.lanes) {
            let claimed = positions.claimed.swap(ENDED, Ordering::Relaxed);
            taken.extend(line.pieces(lane, claimed));
        }
        (self.slots, self.free, self.far) = match Arc::try_unwrap(line) {
            Ok(IdQueue { slots, free, far, .. }) => (slots, free, far),
            // A buffer has left its system, with its lane.
            Err(line) => (line.slots.clone(), line.free.clone(), line.far.clone()),
        };
        taken.sort_unstable_by_key(|piece| piece.start);
        self.lend_positions(taken);
    }

    /// Lends the ids at ascending positions of the line.
    fn lend_positions(&mut self, taken: Vec<Range<u32>>) {
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
        // From the top of the stack down: what fills a hole was not taken.
        let free_len = self.free_len();
        for positions in free {
            if free_len - positions.start == self.free_len() {
                self.lend_free(positions.end - positions.start, |_| ());
                continue;
            }
            for at in positions.map(|n| free_len - 1 - n) {
                let index = self.free[at as usize];
                self.take_free(at);
                self.slot_mut(index).location = Location::LENT;
                self.lent += 1;
            }
        }
        self.lend_fresh(&fresh);
    }

    /// Lends fresh indices, which ascend. Those between them become free slots as long as the free
    /// slots are few beside the others, and else the lent ones are far slots.
    fn lend_fresh(&mut self, indices: &[Range<u32>]) {
        let slot = Slot { generation: GENERATION_FIRST, location: Location::LENT };
        let taken: usize = indices.iter().map(ExactSizeIterator::len).sum();
        let used = index_u32(self.len() + taken) + self.lent;
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
            self.lent += end - first;
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
            u32::try_from(self.0 >> 40).expect("24 bits") % n
        }
    }

    /// A directory, what it must contain, and how much systems have taken.
    struct Tried {
        directory: Directory,
        alive: BTreeSet<Entity>,
        seen: BTreeSet<Entity>,
        demands: Vec<IdDemand>,
    }

    impl Tried {
        fn add(&mut self, ids: impl IntoIterator<Item = Entity>) {
            for id in ids {
                assert!(self.seen.insert(id), "{id} is not new");
                self.alive.insert(id);
            }
        }

        /// A stage in which lanes are asked for ids; some of the ids are settled.
        fn stage(&mut self, asked: &[u32], random: &mut Random) {
            let mut lanes = self.directory.split_ids(&self.demands);
            let mut taken = Vec::new();
            let line = Arc::clone(self.directory.line().expect("it has started"));
            for ((lane, &n), demand) in lanes.iter_mut().zip(asked).zip(&mut self.demands) {
                let mut ids = Vec::new();
                while ids.len() < n as usize && lane.take(&mut ids) == Ok(true) {}
                let left = ids.len().saturating_sub(n as usize);
                assert_eq!(lane.settle(&line, left, demand), Some(left));
                taken.extend_from_slice(&ids[..ids.len() - left]);
            }
            drop(lanes);
            drop(line);
            self.directory.end_split();
            self.check();
            for id in taken {
                assert!(self.directory.is_lent(id) && self.seen.insert(id), "{id}");
                match random.below(4) {
                    0 => assert!(self.directory.end_lent(id)),
                    _ => {
                        self.directory.settle(id, at(1)).unwrap();
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

    fn operate(tried: &mut Tried, random: &mut Random) {
        let (n, mut ids) = (random.below(300), Vec::new());
        match random.below(9) {
            0 | 1 => {
                let busy = random.below(8);
                let asked: Vec<_> =
                    (0..8).map(|i| if i == busy { n * n / 8 } else { n / 64 * (i % 3) }).collect();
                tried.stage(&asked, random);
            }
            2 => {
                let _ = tried.directory.alloc_batch(n as usize, at, &mut ids);
                tried.add(ids);
            }
            3 => {
                let id = tried.directory.alloc(at(2));
                tried.add(id);
            }
            4 | 5 => {
                let many = tried.alive.len() * random.below(5) as usize / 4;
                let dead: Vec<_> = tried.alive.iter().copied().take(many).collect();
                for id in dead {
                    tried.directory.free(id).unwrap();
                    tried.alive.remove(&id);
                }
            }
            6 => {
                let free_len = tried.directory.free_len();
                let next: Vec<_> = (0..=free_len).map(|n| tried.directory.next().id(n)).collect();
                let ids: Vec<_> = tried.directory.reserve_many(n).into_iter().flatten().collect();
                assert!(ids.iter().zip(&next).all(|(a, b)| a == b));
                assert!(ids.iter().all(|&id| tried.directory.is_reserved(id)));
                tried.directory.flush(|_| at(3));
                tried.add(ids);
            }
            7 => {
                tried.directory.lend_at_most(n, &mut ids);
                let (unseen, seen) = ids.split_at(ids.len() / 2);
                tried.seen.extend(seen);
                tried.directory.returned().leave(unseen, seen);
                tried.directory.flush(|_| unreachable!("none is reserved"));
            }
            _ => {
                let id = Entity::new(random.below(5000), 1_000_000 + random.below(1_000_000));
                if tried.directory.alloc_at(id, at(4)).is_ok() {
                    tried.add([id]);
                }
            }
        }
        tried.check();
    }

    #[test]
    fn ids_are_new_whatever_lanes_and_other_calls_took_before() {
        let (seeds, operations) = if cfg!(miri) { (1, 6) } else { (60, 60) };
        let mut far = 0;
        for seed in 1..=seeds {
            let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
            let limit = [400, 6_000, 1_000_000][random.below(3) as usize];
            let mut tried = Tried {
                directory: Directory::new(limit),
                alive: BTreeSet::new(),
                seen: BTreeSet::new(),
                demands: vec![IdDemand::default(); 8],
            };
            for _ in 0..operations {
                operate(&mut tried, &mut random);
                far += tried.directory.far.len();
            }
            assert!(tried.alive.iter().all(|&id| tried.directory.contains(id)));
            tried.directory.clear();
            tried.alive.clear();
            tried.check();
        }
        assert!(far > 0 || cfg!(miri), "some ids were far");
    }
}
