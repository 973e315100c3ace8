//! Copies of entities get copies of their plain values.
//!
//! A value of another type need not have copies, a cleanup component exists once, and relations are
//! copied with whole trees, by functions of their own.

use core::slice;

use crate::component::{DenseValues, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::sparse_set::SparseSet;
use super::sparse_sets::SparseSets;

/// Values are put in parts of this size, so that a call needs hardly more memory than they take.
const PART_BYTES: usize = 64 << 10;

impl<T: SparseComponent> SparseSet<T> {
    const IS_COPIED: bool =
        T::VALUES.is_some() && T::RELATION.is_none() && T::PAIRS.is_none() && !T::CLEANUP;

    /// The bytes that a copy of an entity takes here. `None` if it gets no value.
    pub(super) fn copied_bytes(&self, original: Entity) -> Option<usize> {
        let is_copied = Self::IS_COPIED && self.contains(original);
        is_copied.then_some(size_of::<T>() + size_of::<Entity>() + size_of::<u32>())
    }

    /// Gives copies the values of their originals, with new ids inside if some are given. Returns
    /// the copies that have one.
    pub(super) fn copy_values(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: Option<&dyn Fn(Entity) -> Entity>,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity> {
        let Some(plain) = T::VALUES.filter(|_| Self::IS_COPIED) else { return Vec::new() };
        let known = pairs.iter().filter_map(|&(one, copy)| Some((self.position(one)?, copy)));
        let (positions, copies): (Vec<_>, Vec<_>) = known.unzip();
        self.entities.reserve(copies.len());
        self.values.reserve(copies.len());
        let part = (PART_BYTES / size_of::<T>().max(1)).max(1);
        let mut copy_of = DenseValues::default();
        for (positions, copies) in positions.chunks(part).zip(copies.chunks(part)) {
            let mut values = DenseValues::default();
            for &at in positions {
                (plain.copy)(slice::from_ref(&self.values[at]), &mut copy_of);
                let mut value = copy_of.pop().expect("a value was copied");
                if let Some((map_value, new)) = T::MAP_ENTITIES.zip(new) {
                    panic.call(|| map_value(&mut value, &mut |id| new(id)));
                }
                values.push(value);
            }
            self.insert_new(copies, values, now);
        }
        copies
    }
}

impl SparseSets {
    /// The bytes that a copy of an entity takes in all sets. `None` if it gets no value. O(sets).
    pub(in crate::store) fn copied_bytes(&self, original: Entity) -> Option<usize> {
        self.sets.iter().filter_map(|set| set.copied_bytes(original)).reduce(|sum, one| sum + one)
    }

    /// Gives copies the plain values of their originals, with new ids inside if some are given.
    /// Returns the copies that have one, with the numbers of the sets. O(pairs × sets).
    pub(in crate::store) fn copy_values(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: Option<&dyn Fn(Entity) -> Entity>,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<(u16, Vec<Entity>)> {
        let sets = self.sets.iter_mut().zip(&self.numbers.types).filter(|(set, _)| set.len() > 0);
        sets.map(|(set, of)| (of.1, set.copy_values(pairs, new, now, panic))).collect()
    }
}
