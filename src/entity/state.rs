//! The state of the directory as numbers, for the hash of a world.

use std::sync::Arc;

use super::Entity;
use super::directory::Directory;
use super::location::Location;
use super::unused::GAP_MAX;

impl Directory {
    /// Passes to `number` all data that decides which ids later calls return, find and refuse,
    /// except the entities that are alive and their locations. Directories with equal numbers
    /// behave alike.
    ///
    /// Work that waits for the next exclusive call counts as done: reserved ids are listed and
    /// taken, and ids of dropped buffers are back. O(free slots), and O(indices) if ids wait or are
    /// on loan.
    pub(crate) fn describe(&self, mut number: impl FnMut(u64)) {
        debug_assert!(self.queue.is_none(), "the id queue is still open");
        if !self.needs_flush() {
            number(0);
            self.describe_flushed(number);
            return;
        }
        let mut copy = self.clone();
        let mut reserved = Vec::new();
        copy.flush(|entity| {
            reserved.push(entity);
            Location { archetype: 0, position: 0 }
        });
        number(reserved.len() as u64);
        reserved.iter().for_each(|entity| number(entity.to_bits()));
        copy.describe_flushed(number);
    }

    fn describe_flushed(&self, mut number: impl FnMut(u64)) {
        number(self.requests.bytes_max());
        // The fresh indices, without indices of far slots.
        let mut fresh = self.slots_len();
        for far in self.far.ranges() {
            if fresh < far.start {
                number(u64::from(fresh));
                number(u64::from(far.start));
            }
            fresh = far.end;
        }
        number(u64::from(fresh));
        number(u64::from(self.limit));
        // A reach below `GAP_MAX` allows no index that would be refused without it.
        number(u64::from(self.reach.max(GAP_MAX)));
        // The ids that are allocated next.
        number(u64::from(self.free_len()));
        let free = self.next().free_ids(0..self.free_len());
        free.for_each(|entity| number(entity.to_bits()));
        number(self.next_generations.len() as u64);
        for (&index, &generation) in &self.next_generations {
            number(Entity::new(index, generation).to_bits());
        }
        let demands = self.demands.numbers();
        number(demands.len() as u64);
        demands.into_iter().for_each(|n| number(u64::from(n)));
        // The retired indices are neither alive, nor free, nor on loan.
        number(self.retired.len() as u64);
        number(u64::from(self.loaned));
        if self.loaned > 0 {
            let on_loan = (0u32..)
                .zip(&self.slots)
                .chain(self.far.iter())
                .filter(|(_, slot)| slot.is_on_loan());
            on_loan.for_each(|(index, slot)| number(Entity::new(index, slot.generation).to_bits()));
        }
    }

    /// The number of ids on loan.
    pub(crate) const fn loaned(&self) -> u32 {
        self.loaned
    }
}

/// Copies all but an open queue: no id is reserved from it yet.
impl Clone for Directory {
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            free: self.free.clone(),
            far: self.far.clone(),
            queue: None,
            reserved: self.reserved.copy(),
            retired: self.retired.clone(),
            returned_ids: self.returned_ids.as_ref().map(|returned| Arc::new(returned.copy())),
            next_generations: self.next_generations.clone(),
            demands: self.demands.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::id_demands::Seat;
    use super::super::slot::Slot;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    /// Ten used indices, of which 2, 7 and 4 were freed in that order.
    fn holey() -> (Directory, Vec<Entity>) {
        let mut directory = Directory::new(100);
        let mut entities = Vec::new();
        directory.alloc_batch(10, at, &mut entities).unwrap();
        for i in [2, 7, 4] {
            directory.free(entities[i]).unwrap();
        }
        (directory, entities)
    }

    fn numbers(directory: &Directory) -> Vec<u64> {
        let mut numbers = Vec::new();
        directory.describe(|number| numbers.push(number));
        numbers
    }

    /// Each of these changes the result of a later call.
    #[test]
    fn every_part_of_the_state_is_in_it() {
        type Change = (&'static str, fn(&mut Directory, &[Entity]));
        let changes: [Change; 16] = [
            ("nothing", |_, _| {}),
            ("a reserved id", |d, _| {
                d.reserve().unwrap();
            }),
            ("two reserved ids", |d, _| d.reserve_many(2).unwrap().for_each(|_| ())),
            ("a new id", |d, _| {
                d.alloc(at(0)).unwrap();
            }),
            ("the order of free ids", |d, _| {
                let [a, b] = [d.alloc(at(0)).unwrap(), d.alloc(at(0)).unwrap()];
                let older = |id: Entity| Entity::new(id.index(), 1);
                for id in [a, b] {
                    d.free(id).unwrap();
                    d.alloc_at(older(id), at(0)).unwrap();
                    d.free(older(id)).unwrap();
                }
            }),
            ("the generation of a free id", |d, _| {
                let id = d.alloc(at(0)).unwrap();
                d.free(id).unwrap();
            }),
            ("the next generation of an old id", |d, _| {
                let id = d.alloc(at(0)).unwrap();
                d.free(id).unwrap();
                d.alloc_at(id, at(0)).unwrap();
            }),
            ("a retired index", |d, _| {
                let id = d.alloc(at(0)).unwrap();
                d.free(id).unwrap();
                let last = Entity::new(id.index(), u32::MAX);
                d.alloc_at(last, at(0)).unwrap();
                d.free(last).unwrap();
            }),
            ("an id on loan", |d, _| d.loan(1, &mut Vec::new()).unwrap()),
            ("a far slot", |d, _| {
                d.far.insert(60..61, Slot { generation: 1, location: Location::ON_LOAN });
                (d.loaned, d.fresh_end) = (1, 60);
                assert_eq!(d.check(), Ok(()));
            }),
            ("a skipped index", |d, _| d.alloc_at(Entity::new(12, 1), at(0)).unwrap()),
            ("the limit", |d, _| d.limit += 1),
            ("the reach", |d, _| d.reach = GAP_MAX + 1),
            ("a demand", |d, _| d.demands.record([(Seat::new(2, 0), 5)])),
            ("a greater demand", |d, _| d.demands.record([(Seat::new(2, 0), 6)])),
            ("the memory of a call", |d, _| {
                d.requests = crate::entity::RequestLimit::new(1 << 30);
            }),
        ];
        let all = changes.map(|(name, change)| {
            let (mut directory, entities) = holey();
            change(&mut directory, &entities);
            (name, numbers(&directory))
        });
        for (i, (name, numbers)) in all.iter().enumerate() {
            let same = all[..i].iter().find(|(_, other)| other == numbers);
            assert_eq!(same.map(|(other, _)| other), None, "{name}");
        }
    }

    /// Returned ids go on the free stack with the lowest on top.
    #[test]
    fn ids_that_wait_count_as_flushed() {
        let ordered = || {
            let mut directory = Directory::new(100);
            let mut entities = Vec::new();
            directory.alloc_batch(10, at, &mut entities).unwrap();
            for i in [7, 4, 2] {
                directory.free(entities[i]).unwrap();
            }
            directory
        };
        let mut plain = ordered();
        let before = numbers(&plain);
        // Ids that were on loan and returned leave no trace, taken back or not.
        let returned = plain.returned_ids();
        let mut loaned = Vec::new();
        plain.loan(8, &mut loaned).unwrap();
        assert_ne!(numbers(&plain), before);
        returned.give_back(&loaned, &[]);
        assert_eq!(numbers(&plain), before);
        plain.take_back();
        assert_eq!(numbers(&plain), before);
        // The same, together with reserved ids.
        let mut waits = ordered();
        let returned = waits.returned_ids();
        loaned.clear();
        waits.loan(2, &mut loaned).unwrap();
        waits.reserve_many(2).unwrap().for_each(|_| ());
        returned.give_back(&loaned[..1], &loaned[1..]);
        let waiting = numbers(&waits);
        waits.flush(|_| at(0));
        waits.take_back();
        let mut flushed = vec![2, Entity::new(7, 2).to_bits(), Entity::new(10, 1).to_bits()];
        flushed.extend_from_slice(&numbers(&waits)[1..]);
        assert_eq!(waiting, flushed);
    }

    #[test]
    fn the_runs_of_far_slots_are_not_state() {
        let slot = Slot { generation: 1, location: Location::ON_LOAN };
        let stored: [&[(u32, u32)]; 3] =
            [&[(60, 63)], &[(60, 61), (61, 63)], &[(62, 63), (60, 62)]];
        let numbers = stored.map(|runs| {
            let (mut directory, _) = holey();
            runs.iter().for_each(|&(first, end)| directory.far.insert(first..end, slot));
            (directory.loaned, directory.fresh_end) = (3, 60);
            assert_eq!(directory.check(), Ok(()));
            numbers(&directory)
        });
        assert!(numbers.iter().all(|other| *other == numbers[0]));
    }

    #[test]
    fn room_for_indices_is_not_state() {
        let (mut directory, _) = holey();
        let before = numbers(&directory);
        directory.grow_indices(90).unwrap();
        assert_eq!(numbers(&directory), before);
        directory.shrink();
        assert_eq!(numbers(&directory), before);
    }
}
