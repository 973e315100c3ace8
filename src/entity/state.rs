//! The state of the directory, as the numbers that decide its answers.

use std::sync::Arc;

use super::Entity;
use super::directory::{Directory, Location};
use super::unused::GAP_MAX;

impl Directory {
    /// Passes everything to `number` that decides which ids later calls give out, find and refuse,
    /// but for the living entities and their places. Directories of equal numbers answer alike.
    ///
    /// What waits for the next exclusive call counts as done: reserved ids are listed and taken, and
    /// ids of dropped buffers are back. O(free slots), and O(indices) if something waits or is lent.
    pub(crate) fn describe(&self, mut number: impl FnMut(u64)) {
        debug_assert!(self.line.is_none(), "ids are taken from the line until it ends");
        if !self.needs_flush() {
            number(0);
            self.describe_settled(number);
            return;
        }
        let mut copy = self.copy();
        let mut reserved = Vec::new();
        copy.flush(|entity| {
            reserved.push(entity);
            Location { archetype: 0, position: 0 }
        });
        number(reserved.len() as u64);
        reserved.iter().for_each(|entity| number(entity.to_bits()));
        copy.describe_settled(number);
    }

    fn describe_settled(&self, mut number: impl FnMut(u64)) {
        number(self.requests.bytes_max());
        // The fresh indices, those of far slots left out.
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
        // With a shorter reach no index can be had that could not be had without one.
        number(u64::from(self.reach.max(GAP_MAX)));
        // The ids that will be made next.
        number(u64::from(self.free_len()));
        let free = self.next().free_ids(0..self.free_len());
        free.for_each(|entity| number(entity.to_bits()));
        number(self.overtaken.len() as u64);
        for (&index, &generation) in &self.overtaken {
            number(Entity::new(index, generation).to_bits());
        }
        // The retired ones are what is neither alive, nor free, nor lent.
        number(u64::from(self.retired));
        number(u64::from(self.lent));
        if self.lent > 0 {
            let lent =
                (0u32..).zip(&self.slots).chain(self.far.iter()).filter(|(_, slot)| slot.is_lent());
            lent.for_each(|(index, slot)| number(Entity::new(index, slot.generation).to_bits()));
        }
    }

    /// The same directory once more.
    fn copy(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            free: self.free.clone(),
            far: self.far.clone(),
            line: None,
            reserved: self.reserved.copy(),
            returned: self.returned.as_ref().map(|returned| Arc::new(returned.copy())),
            overtaken: self.overtaken.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::Slot;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    /// Ten indices, of which 2, 7 and 4 are free again, in that order.
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

    /// Each of these changes what a later call answers.
    #[test]
    fn every_part_of_the_state_is_in_it() {
        type Change = (&'static str, fn(&mut Directory, &[Entity]));
        let changes: [Change; 14] = [
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
            ("the generation an old id goes on with", |d, _| {
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
            ("a lent id", |d, _| d.lend(1, &mut Vec::new()).unwrap()),
            ("a far slot", |d, _| {
                d.far.insert(60..61, Slot { generation: 1, location: Location::LENT });
                (d.lent, d.fresh_end) = (1, 60);
                assert_eq!(d.check(), Ok(()));
            }),
            ("a skipped index", |d, _| d.alloc_at(Entity::new(12, 1), at(0)).unwrap()),
            ("the limit", |d, _| d.limit += 1),
            ("the reach", |d, _| d.reach = GAP_MAX + 1),
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

    /// Ids that were lent come back with the lowest on top.
    #[test]
    fn what_waits_counts_as_done() {
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
        // Ids that are lent and given back leave nothing behind, collected or not.
        let returned = plain.returned();
        let mut lent = Vec::new();
        plain.lend(8, &mut lent).unwrap();
        assert_ne!(numbers(&plain), before);
        returned.leave(&lent, &[]);
        assert_eq!(numbers(&plain), before);
        plain.take_back();
        assert_eq!(numbers(&plain), before);
        // Also beside reserved ones.
        let mut waits = ordered();
        let returned = waits.returned();
        lent.clear();
        waits.lend(2, &mut lent).unwrap();
        waits.reserve_many(2).unwrap().for_each(|_| ());
        returned.leave(&lent[..1], &lent[1..]);
        let waiting = numbers(&waits);
        waits.flush(|_| at(0));
        waits.take_back();
        let mut settled = vec![2, Entity::new(7, 2).to_bits(), Entity::new(10, 1).to_bits()];
        settled.extend_from_slice(&numbers(&waits)[1..]);
        assert_eq!(waiting, settled);
    }

    #[test]
    fn how_far_slots_are_kept_is_not_state() {
        let slot = Slot { generation: 1, location: Location::LENT };
        let kept: [&[(u32, u32)]; 3] = [&[(60, 63)], &[(60, 61), (61, 63)], &[(62, 63), (60, 62)]];
        let kept = kept.map(|runs| {
            let (mut directory, _) = holey();
            runs.iter().for_each(|&(first, end)| directory.far.insert(first..end, slot));
            (directory.lent, directory.fresh_end) = (3, 60);
            assert_eq!(directory.check(), Ok(()));
            numbers(&directory)
        });
        assert!(kept.iter().all(|numbers| *numbers == kept[0]));
    }

    #[test]
    fn room_for_indices_is_not_state() {
        let (mut directory, _) = holey();
        let before = numbers(&directory);
        directory.reserve_indices(90).unwrap();
        assert_eq!(numbers(&directory), before);
        directory.shrink();
        assert_eq!(numbers(&directory), before);
    }
}
