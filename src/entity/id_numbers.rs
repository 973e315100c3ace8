//! The ids of a directory as numbers, for writing and reading.
//!
//! Locations are not stored; they follow from the rows. Loading fails if ids and rows disagree, for
//! any numbers.

use std::collections::BTreeMap;

use super::Entity;
use super::directory::Directory;
use super::directory_image::DirectoryImage;
use super::far_slots::FarSlots;
use super::id_demands::IdDemands;
use super::location::Location;
use super::slot::Slot;

/// All data about ids except locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdNumbers {
    /// The generation of each slot, followed by the generation of each far slot.
    pub(crate) generations: Vec<u32>,
    /// The free stack: the next one last.
    pub(crate) free: Vec<u32>,
    /// The first index and the number of each run of far slots.
    pub(crate) far: Vec<u32>,
    /// Pairs of an index and the generation that follows.
    pub(crate) next_generations: Vec<u32>,
    /// The seat, the greatest number of ids and the age of each demand.
    pub(crate) demands: Vec<u32>,
    /// The distance that a given id may skip.
    pub(crate) reach: u32,
}

impl Directory {
    /// The ids as numbers. No id is reserved or on loan. O(indices).
    pub(crate) fn id_numbers(&self) -> IdNumbers {
        debug_assert!(!self.needs_flush() && self.loaned == 0, "an id is reserved or on loan");
        let far = self.far.iter().map(|(_, slot)| slot);
        IdNumbers {
            generations: self.slots.iter().chain(far).map(|slot| slot.generation).collect(),
            free: self.free.as_slice().to_vec(),
            far: self.far.ranges().flat_map(|run| [run.start, run.end - run.start]).collect(),
            next_generations: pairs(&self.next_generations),
            demands: self.demands.numbers(),
            reach: self.reach,
        }
    }

    /// A directory of ids and of the entities in rows, with the limits of this one.
    ///
    /// # Errors
    ///
    /// The defect of the ids, or the wrong entity. The time and the memory are O(ids + rows).
    pub(crate) fn of_numbers(
        &self,
        numbers: &IdNumbers,
        rows: impl Iterator<Item = (Entity, Location)>,
    ) -> Result<Self, IdDefect> {
        let mut made = Self::new(self.limit);
        (made.requests, made.reach) = (self.requests, numbers.reach);
        made.add_slots(numbers)?;
        for (entity, location) in rows {
            let slot = made.any_slot_mut(entity.index()).ok_or(IdDefect::Entity(entity))?;
            if slot.is_alive() || slot.generation == 0 || slot.generation != entity.generation() {
                return Err(IdDefect::Entity(entity));
            }
            slot.location = location;
        }
        for (position, &index) in (0u32..).zip(&numbers.free) {
            let slot = made.any_slot_mut(index).ok_or(IdDefect::Free(index))?;
            // A slot is on loan if no row and no other entry has taken it.
            if !slot.is_on_loan() {
                return Err(IdDefect::Free(index));
            }
            slot.location = Location::free(position);
        }
        made.free = numbers.free.clone().into();
        made.unused_max = made.free_len();
        let (pairs, _) = numbers.next_generations.as_chunks::<2>();
        made.next_generations = pairs.iter().map(|&[index, next]| (index, next)).collect();
        made.demands = IdDemands::of_numbers(&numbers.demands).ok_or(IdDefect::Ids)?;
        let slots = (0..).zip(&made.slots).chain(made.far.iter());
        let retired = slots.filter(|(_, slot)| slot.generation == 0);
        made.retired = retired.map(|(index, _)| index).collect();
        if numbers.reach > self.limit || made.check().is_err() {
            return Err(IdDefect::Ids);
        }
        Ok(made)
    }

    /// Adds a slot without an entity for each generation.
    fn add_slots(&mut self, numbers: &IdNumbers) -> Result<(), IdDefect> {
        let (runs, rest) = numbers.far.as_chunks::<2>();
        let far: u64 = runs.iter().map(|run| u64::from(run[1])).sum();
        let near = (numbers.generations.len() as u64).checked_sub(far).ok_or(IdDefect::Ids)?;
        if !rest.is_empty() || numbers.generations.len() as u64 > u64::from(self.limit) {
            return Err(IdDefect::Ids);
        }
        let near = usize::try_from(near).map_err(|_| IdDefect::Ids)?;
        let (near, mut generations) = numbers.generations.split_at(near);
        let slot = |&generation| Slot { generation, location: Location::ON_LOAN };
        self.slots.extend(near.iter().map(slot));
        let mut end = self.slots_len();
        let mut far = FarSlots::default();
        for &[first, len] in runs {
            let run_end = first.checked_add(len).filter(|&run_end| run_end <= self.limit);
            let run_end = run_end.filter(|_| first >= end && len > 0).ok_or(IdDefect::Ids)?;
            let own = generations.split_off(..len as usize).ok_or(IdDefect::Ids)?;
            (first..run_end).zip(own).for_each(|(i, generation)| {
                far.insert(i..i + 1, slot(generation));
            });
            end = run_end;
        }
        self.far = far;
        self.fresh_end = self.far.first().unwrap_or(self.limit);
        Ok(())
    }

    fn any_slot_mut(&mut self, index: u32) -> Option<&mut Slot> {
        match self.slots.get_mut(index as usize) {
            None => self.far.get_mut(index),
            slot => slot,
        }
    }
}

impl DirectoryImage {
    /// The ids as numbers. `entities` must be the entities of all rows. O(indices).
    pub(crate) fn id_numbers(&self, entities: impl Iterator<Item = Entity>) -> IdNumbers {
        let mut numbers = IdNumbers {
            // Retired slots have none.
            generations: vec![0; self.slots_len as usize],
            free: self.free.ids().iter().map(|id| id.index()).collect(),
            far: self.far.iter().flat_map(|run| [run.start, run.end - run.start]).collect(),
            next_generations: pairs(&self.next_generations),
            demands: self.demands.numbers(),
            reach: self.reach,
        };
        // The difference between the indices and the places of generations, for each run.
        let mut before = Vec::new();
        for run in &self.far {
            let at = numbers.generations.len();
            before.push(run.start as usize - at);
            numbers.generations.resize(at + run.len(), 0);
        }
        for id in entities.chain(self.free.ids().iter().copied()) {
            let index = id.index() as usize;
            let at = match self.far.partition_point(|run| run.start <= id.index()) {
                0 => index,
                run => index - before[run - 1],
            };
            numbers.generations[at] = id.generation();
        }
        numbers
    }
}

/// The indices with their generations, one after the other.
pub(super) fn pairs(next_generations: &BTreeMap<u32, u32>) -> Vec<u32> {
    next_generations.iter().flat_map(|(&index, &next)| [index, next]).collect()
}

/// The defect of ids that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdDefect {
    /// An entity of a row is in another row as well, or has no such generation.
    Entity(Entity),
    /// A free index belongs to an entity, is free twice, or does not exist.
    Free(u32),
    /// The ids contradict each other, or exceed the limit of the world.
    Ids,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::id_demands::Seat;
    use crate::entity::{ArchetypeId, RowIndex};

    fn at(position: u32) -> Location {
        Location::new(ArchetypeId(0), RowIndex(position))
    }

    /// Six entities, one of them with an old generation, a free id, and a retired one.
    fn directory() -> (Directory, Vec<(Entity, Location)>) {
        let mut directory = Directory::new(1000);
        let mut all = Vec::new();
        directory.alloc_batch(8, at, &mut all).unwrap();
        for i in [3, 6, 2] {
            directory.free(all[i]).unwrap();
        }
        let last = Entity::new(2, u32::MAX);
        directory.alloc_at(last, at(2)).unwrap();
        directory.free(last).unwrap();
        let old = Entity::new(6, 1);
        directory.alloc_at(old, at(6)).unwrap();
        assert_eq!(directory.check(), Ok(()));
        let rows = [0, 1, 4, 5, 6, 7].map(|i| (all[i], at(u32::try_from(i).unwrap())));
        (directory, rows.to_vec())
    }

    fn numbers(directory: &Directory) -> Vec<u64> {
        let mut numbers = Vec::new();
        directory.describe(|number| numbers.push(number));
        numbers
    }

    #[test]
    fn ids_and_rows_make_the_directory_again() {
        let (directory, rows) = directory();
        let made = Directory::new(1000).of_numbers(&directory.id_numbers(), rows.iter().copied());
        let made = made.expect("they agree");
        assert_eq!(numbers(&made), numbers(&directory));
        for &(entity, location) in &rows {
            assert_eq!(made.locate(entity), Ok(location));
        }
    }

    #[test]
    fn far_slots_are_made_again() {
        let mut directory = Directory::new(1000);
        let mut all = Vec::new();
        directory.alloc_batch(2, at, &mut all).unwrap();
        let mut image = directory.id_numbers();
        image.generations.extend([1, 4, 2]);
        image.far = vec![90, 2, 700, 1];
        let far = [(90, 1), (91, 4), (700, 2)].map(|(i, g)| Entity::new(i, g));
        let rows = || (0..).zip(all.iter().chain(&far)).map(|(i, &entity)| (entity, at(i)));
        let made = directory.of_numbers(&image, rows()).expect("they agree");
        assert_eq!(made.id_numbers(), image);
        assert!(rows().all(|(entity, location)| made.locate(entity) == Ok(location)));
        for bad in [vec![90, 2, 91, 1], vec![90, 3], vec![1, 2, 700, 1], vec![90, 2, 999, 2]] {
            let image = IdNumbers { far: bad.clone(), ..image.clone() };
            assert!(directory.of_numbers(&image, rows()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn demands_of_numbers_leave_ids_to_other_systems() {
        let most = u32::MAX - 1;
        let demands = vec![0, most, 0];
        let numbers = IdNumbers { demands, ..IdNumbers::default() };
        let made = Directory::new(10_000).of_numbers(&numbers, [].into_iter());
        let mut made = made.expect("they are demands");
        let mut shares = made.open_queue(&[Some(Seat::new(0, 0)), Some(Seat::new(0, 1))]);
        let (mut ids, other) = (Vec::new(), &mut shares[1]);
        while other.take(&mut ids) == Ok(true) {}
        assert_eq!(ids.len(), 2_500, "half of the rest");
    }

    #[test]
    fn what_contradicts_is_refused() {
        type Damage = fn(&mut IdNumbers, &mut Vec<(Entity, Location)>);
        let damages: [Damage; 11] = [
            |_, rows| rows.push(rows[0]),
            |_, rows| rows.truncate(5),
            |_, rows| rows[0].0 = Entity::new(3, 2),
            |_, rows| rows[0].0 = Entity::new(0, 9),
            |_, rows| rows[0].0 = Entity::new(800, 1),
            |image, _| image.free.push(image.free[0]),
            |image, _| image.free.push(800),
            |image, _| image.free.clear(),
            |image, _| image.generations.extend([1; 1000]),
            |image, _| image.next_generations.extend([3, 9]),
            |image, _| image.reach = 1001,
        ];
        let (sound, all) = directory();
        for (number, damage) in damages.into_iter().enumerate() {
            let (mut image, mut rows) = (sound.id_numbers(), all.clone());
            damage(&mut image, &mut rows);
            let made = Directory::new(1000).of_numbers(&image, rows.into_iter());
            assert!(made.is_err(), "damage {number}");
        }
    }
}
