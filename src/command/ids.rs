//! Where a buffer's ids come from: lent in advance, and behind those from a lane of its own.
//!
//! While systems run on several threads, nobody may ask the world for an id: which one a system got
//! would depend on who asked first. So ids are lent to each buffer between the runs. A system that
//! needs more takes indices that no entity has ever used from its *lane*. Lanes part the indices
//! beyond the end of the directory into blocks, in turn, each round twice as large as the one
//! before:
//!
//! ```text
//!   base                base + 3 × 1024                          lanes = 3
//!   | lane 0 | lane 1 | lane 2 |     lane 0     |     lane 1     |     lane 2     | …
//! ```
//!
//! So an id depends on the system's number and on how many it took before, and on nothing else.
//! Afterwards the directory grows to the last index taken; what nobody took is free.

use std::sync::Arc;

use crate::entity::{EntitiesExhausted, Entity, Returned};
use crate::world::{World, WorldId};

use super::buffer::CommandBuffer;
use super::error::NoIdLeft;

/// A buffer's share of the indices beyond the end of the directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    world: WorldId,
    /// The first index of lane 0.
    base: u32,
    lane: u32,
    lanes: u32,
    /// Indices of a lane in the first round.
    block: u32,
    limit: u32,
}

impl Lane {
    const BLOCK_MAX: u32 = 1024;

    /// The `n`th id of the lane, or `None` beyond the world's limit.
    fn id(&self, n: usize) -> Option<Entity> {
        let (n, block, lanes) = (n as u64, u64::from(self.block), u64::from(self.lanes));
        // Rounds 0 to r - 1 have 2^r - 1 blocks of the first size.
        let round = (n / block + 1).ilog2();
        let before = block * ((1 << round) - 1);
        let within = u64::from(self.lane) * (block << round) + (n - before);
        let index = u64::from(self.base) + lanes * before + within;
        let index = u32::try_from(index).ok().filter(|&index| index < self.limit)?;
        Some(Entity::new(index, 1))
    }
}

/// The ids of one buffer.
#[derive(Debug)]
pub(super) struct IdSupply {
    /// Ids lent in advance, of which the first `used` were handed out.
    lent: Vec<Entity>,
    used: usize,
    lane: Option<Lane>,
    /// Ids taken from the lane and handed out.
    taken: Vec<Entity>,
    /// How many ids are lent in advance.
    quota: u32,
    /// Whether the quota follows the most that was ever used at once.
    grows: bool,
    returned: Arc<Returned>,
}

impl IdSupply {
    pub(super) fn new(world: &mut World, quota: u32, grows: bool) -> Self {
        let returned = world.store.entities.returned();
        let (lent, taken) = (Vec::new(), Vec::new());
        Self { lent, used: 0, lane: None, taken, quota, grows, returned }
    }

    /// Borrows as many ids as the quota says.
    pub(super) fn fill(&mut self, world: &mut World) -> Result<(), EntitiesExhausted> {
        let missing = self.missing();
        world.store.entities.lend(missing, &mut self.lent)
    }

    /// How many of the lent ones were not handed out.
    pub(super) const fn left(&self) -> usize {
        self.lent.len() - self.used
    }

    fn missing(&self) -> u32 {
        let left = u32::try_from(self.left()).expect("ids are 32 bits");
        self.quota.saturating_sub(left)
    }

    pub(super) const fn enter(&mut self, lane: Lane) {
        self.lane = Some(lane);
    }

    /// How many ids have been handed out since the last playback.
    pub(super) const fn handed_out(&self) -> usize {
        self.used + self.taken.len()
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Entity, NoIdLeft> {
        match self.lent.get(self.used) {
            Some(&entity) => {
                self.used += 1;
                Ok(entity)
            }
            None => self.next_of_lane(),
        }
    }

    #[cold]
    fn next_of_lane(&mut self) -> Result<Entity, NoIdLeft> {
        let Some(lane) = self.lane else { return Err(NoIdLeft::InBuffer { ids: self.lent.len() }) };
        let exhausted = EntitiesExhausted { limit: lane.limit };
        let entity = lane.id(self.taken.len()).ok_or(NoIdLeft::InWorld(exhausted))?;
        self.taken.push(entity);
        Ok(entity)
    }

    /// After playback: what was handed out and did not come to life never will. `settled` ids are
    /// known to be done with. Then borrows again.
    pub(super) fn renew(&mut self, world: &mut World, settled: usize) {
        let handed_out = self.handed_out();
        if settled < handed_out {
            for &entity in self.lent[..self.used].iter().chain(&self.taken) {
                world.store.entities.end_lent(entity);
            }
        }
        self.lent.drain(..self.used);
        self.used = 0;
        self.taken.clear();
        self.lane = None;
        if self.grows {
            let most = u32::try_from(handed_out).ok().and_then(u32::checked_next_power_of_two);
            self.quota = self.quota.max(most.filter(|_| handed_out > 0).unwrap_or(0));
        }
        world.store.entities.lend_at_most(self.missing(), &mut self.lent);
    }
}

impl Drop for IdSupply {
    fn drop(&mut self) {
        let (used, unused) = self.lent.split_at(self.used);
        if !self.lent.is_empty() || !self.taken.is_empty() {
            self.returned.leave(unused, used);
            self.returned.leave(&[], &self.taken);
        }
    }
}

impl World {
    /// The lane of system `lane` of `lanes`, until [`World::adopt`]. Nobody else may make entities in
    /// between.
    pub(crate) fn lane(&mut self, lane: u32, lanes: u32) -> Lane {
        assert!(lane < lanes, "lane {lane} of {lanes}");
        self.flush();
        let (base, limit) = self.store.entities.indices();
        // In a world of few ids every lane has some of what is left.
        let block = ((limit - base) / lanes).clamp(1, Lane::BLOCK_MAX);
        Lane { world: self.id(), base, lane, lanes, block, limit }
    }

    /// Makes the ids known that buffers have taken from their lanes. All buffers of one stage
    /// together, before the first of them is played back.
    pub(crate) fn adopt<'b>(&mut self, buffers: impl IntoIterator<Item = &'b mut CommandBuffer>) {
        self.flush();
        let mut taken = Vec::new();
        for buffer in buffers {
            let supply = buffer.ids_mut();
            if supply.lane.take().is_some_and(|lane| lane.world == self.id()) {
                taken.extend_from_slice(&supply.taken);
            }
        }
        if !taken.is_empty() {
            taken.sort_unstable();
            // Who keeps a buffer, and its lane, beyond a run may take what another has taken.
            taken.dedup();
            self.store.entities.lend_beyond(&taken);
        }
    }
}

#[cfg(all(test, not(miri)))] // Thousands of ids in safe code: minutes in Miri, for nothing.
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lanes_part_the_indices_without_gap_or_overlap() {
        let mut world = World::new();
        world.spawn_batch([(); 7]);
        let lanes = [0, 1, 2].map(|lane| world.lane(lane, 3));
        let mut indices = BTreeSet::new();
        for lane in lanes {
            let mut last = 0;
            // Rounds of 1, 2 and 4 blocks.
            for n in 0..7 * 1024 {
                let index = lane.id(n).expect("far from the limit").index();
                assert!(index > last || n == 0, "a lane ascends");
                assert!(indices.insert(index), "index {index} is taken twice");
                last = index;
            }
        }
        assert!(indices.into_iter().eq(7..7 + 3 * 7 * 1024), "no gap");
    }

    #[test]
    fn a_lane_ends_at_the_limit() {
        let mut world = World::builder().entities_max(10).build();
        world.spawn_batch([(); 4]);
        let ids = |lane: Lane| (0..9).map_while(|n| lane.id(n)).count();
        let lens: Vec<_> = (0..3).map(|lane| ids(world.lane(lane, 3))).collect();
        assert_eq!(lens, [2, 2, 2]);
    }

    #[test]
    fn ids_of_lanes_depend_on_nothing_but_the_lane() {
        // More than a lane's first block.
        const SPAWNS: usize = 700;
        let run = |order: [usize; 3]| {
            let mut world = World::new();
            let mut buffers: Vec<_> =
                (0..3).map(|_| CommandBuffer::for_system(&mut world)).collect();
            let mut seen = Vec::new();
            for _ in 0..4 {
                for (buffer, lane) in buffers.iter_mut().zip(0..) {
                    buffer.enter(world.lane(lane, 3));
                }
                let mut ids = [const { Vec::new() }; 3];
                for i in order {
                    ids[i].extend((0..i * SPAWNS).map(|_| buffers[i].spawn(())));
                }
                world.adopt(&mut buffers);
                for buffer in &mut buffers {
                    assert!(world.apply(buffer).is_ok(), "all of it");
                    assert_eq!(world.check(), Ok(()));
                }
                assert!(ids.iter().flatten().all(|&id| world.contains(id)), "alive");
                world.despawn(ids[2][5]).expect("alive");
                seen.push(ids);
            }
            seen
        };
        let seen = run([0, 1, 2]);
        assert_eq!(seen, run([2, 1, 0]));
        assert_eq!(seen, run([1, 2, 0]));
        let all: BTreeSet<_> = seen.iter().flatten().flatten().collect();
        assert_eq!(all.len(), 4 * 3 * SPAWNS, "no id twice");
    }
}
