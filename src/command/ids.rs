//! Where a buffer's ids come from: lent in advance, or taken from a lane.
//!
//! A buffer that a program makes is lent as many ids as it asks for. While systems run on several
//! threads, nothing may ask the world for an id: which one a system got would depend on which asked
//! first. So between the start and the end of a stage each buffer has a [`IdShare`] of ids that only
//! it may take; those that it took are lent to it when the stage ends.

use std::sync::Arc;

use crate::entity::{EntitiesExhausted, Entity, IdDemand, IdQueue, IdShare, ReturnedIds};
use crate::world::World;

use super::buffer::CommandBuffer;
use super::error::NoIdLeft;

/// The ids of one buffer.
#[derive(Debug)]
pub(super) struct IdSupply {
    /// Lent ids, of which the first `used` were handed out.
    lent: Vec<Entity>,
    used: usize,
    /// Where more ids come from, until the stage ends.
    lane: Option<IdShare>,
    /// BarrierKind was taken from lanes.
    demand: IdDemand,
    /// How many ids are lent in advance.
    quota: u32,
    returned: Arc<ReturnedIds>,
}

impl IdSupply {
    pub(super) fn new(world: &mut World, quota: u32) -> Self {
        let returned = world.store.entities.returned();
        let (lent, demand) = (Vec::new(), IdDemand::default());
        Self { lent, used: 0, lane: None, demand, quota, returned }
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

    /// The next id after the lane has given more.
    #[cold]
    fn next_of_lane(&mut self) -> Result<Entity, NoIdLeft> {
        let taken = self.lane.as_mut().map_or(Ok(false), |lane| lane.take(&mut self.lent));
        if !taken.map_err(NoIdLeft::InWorld)? {
            // Its stage has ended.
            self.lane = None;
            return Err(NoIdLeft::InBuffer { ids: self.lent.len() });
        }
        self.used += 1;
        Ok(self.lent[self.used - 1])
    }

    /// Leaves the lane, if it is one of `line`, with the ids that were handed out.
    fn leave_lane(&mut self, line: &Arc<IdQueue>) {
        // Ids of the lane are handed out when no other is left.
        let left = self.left();
        let settled = self.lane.as_mut().and_then(|lane| lane.settle(line, left, &mut self.demand));
        if let Some(unused) = settled {
            self.lent.truncate(self.lent.len() - unused);
            self.lane = None;
        }
    }

    /// After playback: what was handed out and did not come to life never will. `settled` ids are
    /// known to be done with. Then borrows again.
    pub(super) fn renew(&mut self, world: &mut World, settled: usize) {
        self.lane = None;
        if settled < self.used {
            for &entity in &self.lent[..self.used] {
                world.store.entities.end_lent(entity);
            }
        }
        self.lent.drain(..self.used);
        self.used = 0;
        world.store.entities.lend_at_most(self.missing(), &mut self.lent);
    }
}

impl Drop for IdSupply {
    fn drop(&mut self) {
        let (used, unused) = self.lent.split_at(self.used);
        self.returned.leave(unused, used);
    }
}

impl World {
    /// Gives each buffer a lane of ids, until [`World::close_id_shares`]. Nothing else may make
    /// entities in between.
    pub(crate) fn open_id_shares(&mut self, buffers: &mut [&mut CommandBuffer]) {
        self.flush();
        let demands: Vec<IdDemand> =
            buffers.iter_mut().map(|buffer| buffer.ids_mut().demand).collect();
        let lanes = self.store.entities.split_ids(&demands);
        for (buffer, lane) in buffers.iter_mut().zip(lanes) {
            buffer.ids_mut().lane = Some(lane);
        }
    }

    /// Ends the lanes. The ids that were taken from them are lent to the buffers, all of one stage
    /// together, before the first of them is played back.
    pub(crate) fn close_id_shares<'b>(
        &mut self,
        buffers: impl IntoIterator<Item = &'b mut CommandBuffer>,
    ) {
        if let Some(line) = self.store.entities.line().cloned() {
            for buffer in buffers {
                buffer.ids_mut().leave_lane(&line);
            }
        }
        self.store.entities.end_split();
    }
}

#[cfg(all(test, not(miri)))] // Thousands of ids in safe code: minutes in Miri, for nothing.
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn buffers(world: &mut World, n: usize) -> Vec<CommandBuffer> {
        (0..n).map(|_| CommandBuffer::for_system(world)).collect()
    }

    /// One stage, in which each buffer is recorded into by `record`, in the given order.
    fn stage(
        world: &mut World,
        buffers: &mut [CommandBuffer],
        order: &[usize],
        mut record: impl FnMut(usize, &mut CommandBuffer),
    ) {
        world.open_id_shares(&mut buffers.iter_mut().collect::<Vec<_>>());
        for &i in order {
            record(i, &mut buffers[i]);
        }
        world.close_id_shares(&mut *buffers);
        assert_eq!(world.check(), Ok(()), "it is sound");
        for buffer in buffers {
            assert!(world.apply(buffer).is_ok(), "all of it");
            assert_eq!(world.check(), Ok(()), "it is sound");
        }
    }

    #[test]
    fn lanes_part_the_indices_without_gap_or_overlap() {
        let mut world = World::new();
        world.spawn_batch([(); 7]);
        let mut buffers = buffers(&mut world, 3);
        let mut indices = BTreeSet::new();
        // Rounds of 1, 2, 4, … 512.
        stage(&mut world, &mut buffers, &[2, 0, 1], |_, buffer| {
            let mut last = 0;
            for n in 0..1023 {
                let index = buffer.spawn(()).index();
                assert!(index > last || n == 0, "a lane ascends");
                assert!(indices.insert(index), "index {index} is taken twice");
                last = index;
            }
        });
        assert!(indices.into_iter().eq(7..7 + 3 * 1023), "no gap");
    }

    #[test]
    fn lanes_share_what_is_left_below_the_limit() {
        for (left, want) in [(6, [2, 2, 2]), (7, [3, 2, 2]), (2, [1, 1, 0]), (0, [0, 0, 0])] {
            let mut world = World::builder().entities_max(10).build();
            world.spawn_batch((0..10 - left).map(|_| ()));
            let mut buffers = buffers(&mut world, 3);
            let mut taken = [0; 3];
            stage(&mut world, &mut buffers, &[1, 2, 0], |i, buffer| {
                taken[i] = (0..9).filter(|_| buffer.try_spawn(()).is_ok()).count();
            });
            assert_eq!(taken, want, "{left} ids are left");
        }
    }

    #[test]
    fn ids_of_lanes_depend_on_nothing_but_the_lane() {
        const SPAWNS: usize = 700;
        let run = |order: [usize; 3]| {
            let mut world = World::new();
            let mut buffers = buffers(&mut world, 3);
            let mut seen = Vec::new();
            for round in 0..4 {
                let mut ids = [const { Vec::new() }; 3];
                stage(&mut world, &mut buffers, &order, |i, buffer| {
                    ids[i].extend((0..i * (SPAWNS + round)).map(|_| buffer.spawn(())));
                });
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
        assert_eq!(all.len(), 3 * (4 * SPAWNS + 6), "no id twice");
    }

    #[test]
    fn a_buffer_that_is_dropped_while_lanes_are_open_waits_for_their_end() {
        let mut world = World::builder().entities_max(100).build();
        let mut buffers = buffers(&mut world, 2);
        let held = world.command_buffer(60).expect("it has as many");
        world.open_id_shares(&mut buffers.iter_mut().collect::<Vec<_>>());
        drop(held);
        world.divide(1);
        let taken: Vec<_> = core::iter::from_fn(|| buffers[1].try_spawn(()).ok()).collect();
        assert_eq!(taken.len(), 20, "half of what was left");
        world.close_id_shares(&mut buffers);
        assert_eq!(world.check(), Ok(()), "it is sound");
        assert_eq!(world.spawn_batch([(); 80]).len(), 80);
        assert!(world.apply(&mut buffers[1]).is_ok() && world.len() == 100);
        assert_eq!(world.check(), Ok(()), "it is sound");
    }

    #[test]
    fn a_buffer_that_leaves_its_stage_keeps_what_it_took_and_takes_no_more() {
        let mut world = World::new();
        let mut buffers = buffers(&mut world, 2);
        let mut away = world.command_buffer(0).expect("none");
        let mut taken = Vec::new();
        stage(&mut world, &mut buffers, &[0, 1], |i, buffer| {
            taken.extend((0..50).map(|_| buffer.spawn(())));
            if i == 0 {
                core::mem::swap(buffer, &mut away);
                assert!(buffer.try_spawn(()).is_err(), "this one has no lane");
            }
        });
        let mine = &taken[..50];
        assert!(taken[50..].iter().all(|&id| world.contains(id)));
        let others: Vec<_> = world.spawn_batch([(); 500]).to_vec();
        assert!(mine.iter().all(|id| !others.contains(id) && !world.contains(*id)));
        let more: Vec<_> = core::iter::from_fn(|| away.try_spawn(()).ok()).collect();
        assert!(more.len() < 50, "what it had claimed, and no more");
        assert!(world.apply(&mut away).is_ok());
        assert!(mine.iter().chain(&more).all(|&id| world.contains(id)));
        assert_eq!(world.check(), Ok(()), "it is sound");
    }
}
