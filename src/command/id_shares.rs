//! Shares of the free ids: one for each buffer of a stage, so that its systems may spawn on several
//! threads.

use crate::entity::Seat;
use crate::world::World;

use super::buffer::CommandBuffer;

impl World {
    /// Gives each buffer a share of the ids, until [`World::close_id_shares`]. No other call may
    /// allocate ids in between. The world remembers how many ids the buffer in a seat takes. A
    /// buffer of another world gets none.
    pub(crate) fn open_id_shares(&mut self, mut buffers: Vec<(Option<Seat>, &mut CommandBuffer)>) {
        self.flush();
        buffers.retain(|(_, buffer)| buffer.is_of(self));
        let seats: Vec<Option<Seat>> = buffers.iter().map(|&(seat, _)| seat).collect();
        let shares = self.store.open_id_queue(&seats);
        for ((_, buffer), share) in buffers.into_iter().zip(shares) {
            buffer.ids.share = Some(share);
        }
    }

    /// Closes the shares. The ids that were taken from them are on loan to the buffers, for all
    /// buffers of a stage before the first of them is played back.
    pub(crate) fn close_id_shares<'b>(
        &mut self,
        buffers: impl IntoIterator<Item = &'b mut CommandBuffer>,
    ) {
        if let Some(queue) = self.store.entities().queue().cloned() {
            for buffer in buffers {
                buffer.ids.close_share(&queue);
            }
        }
        self.store.close_id_queue();
    }
}

#[cfg(all(test, not(miri)))] // Thousands of ids in safe code: Miri takes minutes and finds nothing.
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn buffers(world: &mut World, n: usize) -> Vec<CommandBuffer> {
        (0..n).map(|_| CommandBuffer::for_system(world)).collect()
    }

    fn seated(buffers: &mut [CommandBuffer]) -> Vec<(Option<Seat>, &mut CommandBuffer)> {
        (0..).zip(buffers).map(|(system, buffer)| (Some(Seat::new(system, 0)), buffer)).collect()
    }

    /// One stage, in which `record` is called with each buffer, in the given order.
    fn stage(
        world: &mut World,
        buffers: &mut [CommandBuffer],
        order: &[usize],
        mut record: impl FnMut(usize, &mut CommandBuffer),
    ) {
        world.open_id_shares(seated(buffers));
        for &i in order {
            record(i, &mut buffers[i]);
        }
        world.close_id_shares(&mut *buffers);
        assert_eq!(world.check(), Ok(()), "the world is not sound");
        for buffer in buffers {
            assert!(world.apply(buffer).is_ok(), "a command failed");
            assert_eq!(world.check(), Ok(()), "the world is not sound");
        }
    }

    #[test]
    fn shares_divide_the_indices_without_gap_or_overlap() {
        let mut world = World::new();
        world.spawn_batch([(); 7]);
        let mut buffers = buffers(&mut world, 3);
        let mut indices = BTreeSet::new();
        // Rounds of 1, 2, 4, … 512.
        stage(&mut world, &mut buffers, &[2, 0, 1], |_, buffer| {
            let mut last = 0;
            for n in 0..1023 {
                let index = buffer.spawn(()).index();
                assert!(index > last || n == 0, "the indices of a share do not ascend");
                assert!(indices.insert(index), "index {index} is taken twice");
                last = index;
            }
        });
        assert!(indices.into_iter().eq(7..7 + 3 * 1023), "the indices have a gap");
    }

    #[test]
    fn shares_divide_the_ids_left_below_the_limit() {
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
    fn ids_do_not_depend_on_the_order_of_systems() {
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
                assert!(ids.iter().flatten().all(|&id| world.contains(id)), "an id is not alive");
                world.despawn(ids[2][5]).expect("the entity is not alive");
                seen.push(ids);
            }
            seen
        };
        let seen = run([0, 1, 2]);
        assert_eq!(seen, run([2, 1, 0]));
        assert_eq!(seen, run([1, 2, 0]));
        let all: BTreeSet<_> = seen.iter().flatten().flatten().collect();
        assert_eq!(all.len(), 3 * (4 * SPAWNS + 6), "an id occurs twice");
    }

    #[test]
    fn ids_of_a_buffer_dropped_while_shares_are_open_wait_for_their_end() {
        let mut world = World::builder().entities_max(100).build();
        let mut buffers = buffers(&mut world, 2);
        let held = world.command_buffer(60).expect("fewer than 60 ids are left");
        world.open_id_shares(seated(&mut buffers));
        drop(held);
        world.split(1);
        let taken: Vec<_> = core::iter::from_fn(|| buffers[1].try_spawn(()).ok()).collect();
        assert_eq!(taken.len(), 20, "not half of the ids left");
        world.close_id_shares(&mut buffers);
        assert_eq!(world.check(), Ok(()), "the world is not sound");
        assert_eq!(world.spawn_batch([(); 80]).len(), 80);
        assert!(world.apply(&mut buffers[1]).is_ok() && world.len() == 100);
        assert_eq!(world.check(), Ok(()), "the world is not sound");
    }

    #[test]
    fn a_buffer_that_leaves_its_stage_keeps_what_it_took_and_takes_no_more() {
        let mut world = World::new();
        let mut buffers = buffers(&mut world, 2);
        let mut away = world.command_buffer(0).expect("a buffer without ids was refused");
        let mut taken = Vec::new();
        stage(&mut world, &mut buffers, &[0, 1], |i, buffer| {
            taken.extend((0..50).map(|_| buffer.spawn(())));
            if i == 0 {
                core::mem::swap(buffer, &mut away);
                assert!(buffer.try_spawn(()).is_err(), "this buffer has no share");
            }
        });
        let mine = &taken[..50];
        assert!(taken[50..].iter().all(|&id| world.contains(id)));
        let others: Vec<_> = world.spawn_batch([(); 500]).to_vec();
        assert!(mine.iter().all(|id| !others.contains(id) && !world.contains(*id)));
        let more: Vec<_> = core::iter::from_fn(|| away.try_spawn(()).ok()).collect();
        assert!(more.len() < 50, "it took more than it had claimed");
        assert!(world.apply(&mut away).is_ok());
        assert!(mine.iter().chain(&more).all(|&id| world.contains(id)));
        assert_eq!(world.check(), Ok(()), "the world is not sound");
    }
}
