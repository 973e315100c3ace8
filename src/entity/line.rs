//! The ids that are next in use, in order, and the lanes that part them among systems.
//!
//! Free ids and fresh indices form one line: first the free stack from its top, then the indices
//! that no entity has ever used. A reservation takes from its front ([`super::reserve`]).
//!
//! Systems take ids while they run on several threads, and which ones must not depend on the
//! threads. So each gets a *lane*: positions of the line that only it may take. Its share comes
//! first, as many as it ever took at once. The shares of the systems that took ids last stand before
//! the others, and of those the smaller ones first. What is beyond all shares is parted in blocks, in
//! turn, each round twice as large as the one before:
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
//! A lane counts what it takes in claims of [`CLAIM`] ids, so that the end of the stage knows them
//! even if the buffer is not where it was: a system can exchange its buffer for another. Claims are
//! compare-exchanges with one winner: a claim, or the end of the stage, after which there is none.

use core::cmp::Reverse;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use std::sync::Arc;

use super::directory::{Directory, GENERATION_FIRST, Location, Places, Slot, index_u32};
use super::far::{Far, reserve_lean};
use super::{EntitiesExhausted, Entity};

/// How many ids of a lane are claimed at once.
const CLAIM: u32 = 64;

/// What stands for the claims of a lane whose stage has ended. No lane has so many positions.
const ENDED: u32 = u32::MAX;

/// As many free slots are no waste in a world of any size.
const FREE_MIN: u32 = 64;

/// The free ids, then the fresh ones, in the order of their use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next<'a> {
    slots: &'a [Slot],
    free: &'a [u32],
    far: &'a Far,
}

impl Next<'_> {
    /// The `n`th id, of those that are left. O(1), beyond the free ones O(runs of far slots).
    #[inline]
    pub(super) fn id(&self, n: u32) -> Entity {
        match self.free.len().checked_sub(n as usize + 1) {
            Some(at) => {
                let index = self.free[at];
                let slot = self.slots.get(index as usize).or_else(|| self.far.get(index));
                Entity::new(index, slot.expect("a free index has a slot").generation)
            }
            None => Entity::new(self.fresh(n - index_u32(self.free.len())), GENERATION_FIRST),
        }
    }

    #[inline]
    fn fresh(&self, n: u32) -> u32 {
        self.far.nth_absent(index_u32(self.slots.len()), n)
    }
}

/// What a system took from its lanes in earlier stages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demand {
    /// The most ids that it wanted at once.
    most: u32,
    /// The number of the last line that it took an id from.
    last: u64,
}

/// A directory's table while its ids are parted among lanes.
#[derive(Debug)]
pub(crate) struct Line {
    slots: Vec<Slot>,
    free: Vec<u32>,
    far: Far,
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

impl Line {
    /// [`Directory::places`].
    pub(super) fn places(&self) -> Places<'_> {
        Places::new(&self.slots, &self.far)
    }

    fn next(&self) -> Next<'_> {
        Next { slots: &self.slots, free: &self.free, far: &self.far }
    }

    /// The `n`th position of a lane, or `None` if it has fewer.
    #[inline]
    fn position(&self, lane: u32, n: u32) -> Option<u32> {
        let Range { start, end } = self.lanes[lane as usize].share;
        match n < end - start {
            true => Some(start + n),
            false => self.position_in_rest(lane, n - (end - start)),
        }
    }

    /// The `n`th position of a lane beyond its share.
    fn position_in_rest(&self, lane: u32, n: u32) -> Option<u32> {
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
        let position = u64::from(self.rest) + lanes * before + start + within;
        (within < len).then(|| u32::try_from(position).expect("positions are below the limit"))
    }
}

/// The right of one system to take ids, until its stage ends.
#[derive(Debug)]
pub(crate) struct Lane {
    line: Arc<Line>,
    lane: u32,
    taken: u32,
    claimed: u32,
    /// How many ids were asked for in vain.
    refused: u32,
}

impl Lane {
    /// Takes the next id of the lane; `Ok(None)` if the stage has ended.
    ///
    /// # Errors
    ///
    /// [`EntitiesExhausted`] when the lane has no id left.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Entity>, EntitiesExhausted> {
        if self.taken == self.claimed && !self.claim() {
            return Ok(None);
        }
        let Some(position) = self.line.position(self.lane, self.taken) else {
            self.refused = self.refused.saturating_add(1);
            return Err(EntitiesExhausted { limit: self.line.limit });
        };
        self.taken += 1;
        Ok(Some(self.line.next().id(position)))
    }

    #[cold]
    fn claim(&mut self) -> bool {
        let (claimed, more) = (self.claimed, self.claimed.saturating_add(CLAIM));
        let positions = &self.line.lanes[self.lane as usize];
        let relaxed = Ordering::Relaxed;
        let claim = positions.claimed.compare_exchange(claimed, more, relaxed, relaxed).is_ok();
        if claim {
            self.claimed = more;
        }
        claim
    }

    /// How many ids were taken.
    pub(crate) const fn taken(&self) -> u32 {
        self.taken
    }

    /// Withdraws the claim to ids that were not taken, if this is a lane of `line`, and notes what
    /// was wanted.
    pub(crate) fn settle(&mut self, line: &Arc<Line>, demand: &mut Demand) -> bool {
        if !Arc::ptr_eq(&self.line, line) {
            return false;
        }
        self.line.lanes[self.lane as usize].claimed.store(self.taken, Ordering::Relaxed);
        self.claimed = self.taken;
        let wanted = self.taken.saturating_add(self.refused);
        if wanted > 0 {
            *demand = Demand { most: demand.most.max(wanted), last: self.line.number };
        }
        true
    }

    /// All ids that are claimed, those that were taken first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Entity> {
        let positions = (0..self.claimed).map_while(|n| self.line.position(self.lane, n));
        positions.map(|position| self.line.next().id(position))
    }
}

impl Directory {
    /// The free and fresh ids. Reserved ones are the first of them.
    pub(super) fn next(&self) -> Next<'_> {
        Next { slots: &self.slots, free: &self.free, far: &self.far }
    }

    /// Parts the ids that are left among lanes, one for each demand. Until [`Directory::end_line`]
    /// only [`Directory::places`] may be used. O(lanes), no matter how many ids there are.
    pub(crate) fn start_line(&mut self, demands: &[Demand]) -> Vec<Lane> {
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
            let Demand { most, last } = demands[i];
            // Shares of the others leave something for lanes that have none.
            let kept = if last == newest { 0 } else { lanes.min(available / 4) };
            let end = rest.saturating_add(most).min(available - kept).max(rest);
            shares[i] = rest..end;
            rest = end;
        }
        let positions =
            shares.into_iter().map(|share| Positions { share, claimed: AtomicU32::new(0) });
        self.lines += 1;
        let line = Arc::new(Line {
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
        let lane = |lane| Lane { line: Arc::clone(&line), lane, taken: 0, claimed: 0, refused: 0 };
        (0..lanes).map(lane).collect()
    }

    /// The line under way.
    pub(crate) const fn line(&self) -> Option<&Arc<Line>> {
        self.line.as_ref()
    }

    /// Ends the line. Ids that are claimed are lent from now on, all others are free. O(claimed), if
    /// no lane is left.
    pub(crate) fn end_line(&mut self) {
        let Some(line) = self.line.take() else { return };
        let mut taken = Vec::new();
        for (lane, positions) in (0..).zip(&line.lanes) {
            let claimed = positions.claimed.swap(ENDED, Ordering::Relaxed);
            taken.extend((0..claimed).map_while(|n| line.position(lane, n)));
        }
        (self.slots, self.free, self.far) = match Arc::try_unwrap(line) {
            Ok(Line { slots, free, far, .. }) => (slots, free, far),
            // A buffer has left its system, with its lane.
            Err(line) => (line.slots.clone(), line.free.clone(), line.far.clone()),
        };
        taken.sort_unstable();
        self.lend_positions(&taken);
    }

    /// Lends the ids at ascending positions of the line.
    fn lend_positions(&mut self, taken: &[u32]) {
        let free_len = self.free_len();
        let (free, fresh) = taken.split_at(taken.partition_point(|&n| n < free_len));
        let next = self.next();
        let fresh: Vec<u32> = fresh.iter().map(|&n| next.fresh(n - free_len)).collect();
        // From the top of the stack down: what fills a hole was not taken.
        for &n in free {
            let at = free_len - 1 - n;
            let index = self.free[at as usize];
            self.take_free(at);
            self.slot_mut(index).location = Location::LENT;
        }
        self.lent += index_u32(free.len());
        self.lend_fresh(&fresh);
    }

    /// Lends fresh indices, which ascend. Those between them become free slots as long as the free
    /// slots are few beside the others, and else the lent ones are far slots.
    fn lend_fresh(&mut self, indices: &[u32]) {
        let slot = Slot { generation: GENERATION_FIRST, location: Location::LENT };
        let used = index_u32(self.len() + indices.len()) + self.lent;
        let mut spare = (used / 2).max(FREE_MIN).saturating_sub(self.free_len());
        let mut gaps = Vec::new();
        for run in indices.chunk_by(|a, b| a + 1 == *b) {
            let (first, end) = (run[0], run[run.len() - 1] + 1);
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
        demands: Vec<Demand>,
    }

    impl Tried {
        fn add(&mut self, ids: impl IntoIterator<Item = Entity>) {
            for id in ids {
                assert!(self.seen.insert(id), "{id} is not new");
                self.alive.insert(id);
            }
        }

        /// A stage in which lanes are asked for ids; of those some come to life.
        fn stage(&mut self, asked: &[u32], random: &mut Random) {
            let mut lanes = self.directory.start_line(&self.demands);
            let mut taken = Vec::new();
            for (lane, &n) in lanes.iter_mut().zip(asked) {
                taken.extend((0..n).map_while(|_| lane.next().ok().flatten()));
            }
            let line = Arc::clone(self.directory.line().expect("it has started"));
            for (mut lane, demand) in lanes.into_iter().zip(&mut self.demands) {
                assert!(lane.settle(&line, demand));
            }
            drop(line);
            self.directory.end_line();
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
        let n = random.below(300);
        match random.below(9) {
            0 | 1 => {
                let busy = random.below(8);
                let asked: Vec<_> =
                    (0..8).map(|i| if i == busy { n * n / 8 } else { n / 64 * (i % 3) }).collect();
                tried.stage(&asked, random);
            }
            2 => {
                let mut ids = Vec::new();
                let _ = tried.directory.alloc_batch(n as usize, at, &mut ids);
                tried.add(ids);
            }
            3 => {
                let id = tried.directory.alloc(at(2)).ok();
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
                let mut next = Vec::new();
                tried.directory.next_ids(|id| next.push(id));
                next.truncate(tried.directory.free.len() + 1);
                let ids: Vec<_> = tried.directory.reserve_many(n).into_iter().flatten().collect();
                assert!(ids.iter().zip(&next).all(|(a, b)| a == b));
                assert!(ids.iter().all(|&id| tried.directory.is_reserved(id)));
                tried.directory.flush(|_| at(3));
                tried.add(ids);
            }
            7 => {
                let mut ids = Vec::new();
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
            let mut random = Random(seed * 0x9e37_79b9_7f4a_7c15);
            let limit = [400, 6_000, 1_000_000][random.below(3) as usize];
            let mut tried = Tried {
                directory: Directory::new(limit),
                alive: BTreeSet::new(),
                seen: BTreeSet::new(),
                demands: vec![Demand::default(); 8],
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
