//! Allocating ids through `&mut Directory`.

use super::directory::Directory;
use super::far_slots::reserve_lean;
use super::location::Location;
use super::slot::{GENERATION_FIRST, Slot, index_u32};
use super::{AllocAtError, Entity, OutOfIds};
use crate::spare::shrink_unused;

impl Directory {
    /// Allocates the id of an entity at `location`. Amortised O(1), without allocation of memory if
    /// an index is free.
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] when no index is left.
    #[inline]
    pub(crate) fn alloc(&mut self, location: Location) -> Result<Entity, OutOfIds> {
        self.debug_assert_flushed();
        debug_assert!(location.is_somewhere(), "archetype u32::MAX marks slots without an entity");
        self.take_next(location)
    }

    /// Takes the next id, to be alive or on loan.
    #[inline]
    pub(super) fn take_next(&mut self, location: Location) -> Result<Entity, OutOfIds> {
        if let Some(index) = self.free.pop() {
            let slot = self.slot_mut(index);
            slot.location = location;
            return Ok(Entity::new(index, slot.generation));
        }
        let index = self.slots_len();
        if index >= self.fresh_end {
            return self.take_beyond(location);
        }
        self.slots.push(Slot { generation: GENERATION_FIRST, location });
        Ok(Entity::new(index, GENERATION_FIRST))
    }

    /// Allocates the same `n` ids as `n` calls of [`Directory::alloc`], and appends them to `out`.
    /// The location of the i-th is `location(i)`, which must not panic: the ids allocated before
    /// would stay alive. O(n).
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] when fewer than `n` ids are left; the directory is unchanged.
    pub(crate) fn alloc_batch(
        &mut self,
        n: usize,
        mut location: impl FnMut(u32) -> Location,
        out: &mut Vec<Entity>,
    ) -> Result<(), OutOfIds> {
        self.debug_assert_flushed();
        self.ensure_room(n)?;
        let n = index_u32(n);
        let mut recycled = n.min(self.free_len());
        if n - recycled > self.fresh_end - self.slots_len() {
            // Far slots lie between the fresh indices.
            recycled = n;
        }
        out.reserve(n as usize);
        // One by one: with all free indices taken at once, a batch of 10,000 fresh ids took 697,650
        // instructions instead of 638,422.
        for i in 0..recycled {
            let entity = self.alloc(location(i));
            out.push(entity.expect("fewer ids are left than were counted"));
        }
        let first = self.slots_len();
        let fresh = first..first + (n - recycled);
        self.slots.extend(
            (recycled..n).map(|i| Slot { generation: GENERATION_FIRST, location: location(i) }),
        );
        out.extend(fresh.map(|index| Entity::new(index, GENERATION_FIRST)));
        Ok(())
    }

    /// Allocates the given id. Any generation but 0 is accepted, even one that was despawned
    /// before: a request by number is taken as intended. The next generation of the index still
    /// follows the highest one it ever had, so that other old ids stay invalid.
    ///
    /// An index beyond the end of the slots pushes the skipped indices on the free stack, the
    /// lowest on top. Each costs 16 bytes, so [`Directory::ensure_gap`] limits them. O(indices
    /// skipped).
    ///
    /// # Errors
    ///
    /// [`AllocAtError`] if the id cannot be allocated; the directory is unchanged.
    pub(crate) fn alloc_at(
        &mut self,
        entity: Entity,
        location: Location,
    ) -> Result<(), AllocAtError> {
        self.debug_assert_flushed();
        debug_assert!(location.is_somewhere(), "archetype u32::MAX marks slots without an entity");
        let (index, generation) = (entity.index(), entity.generation());
        if entity.is_null() {
            return Err(AllocAtError::Null { entity });
        }
        if index >= self.limit {
            let limit = self.limit;
            return Err(AllocAtError::AboveLimit { entity, limit });
        }
        let Some(&slot) = self.slot(index) else {
            self.ensure_gap(entity)?;
            // Reserved with the slot of the id itself: a full vector would double its memory for
            // one more.
            let gap = (index - self.slots_len()) as usize;
            reserve_lean(&mut self.slots, gap + 1);
            self.add_free_below(index);
            self.slots.push(Slot { generation, location });
            return Ok(());
        };
        if slot.is_alive() {
            let occupant = Entity::new(index, slot.generation);
            return Err(AllocAtError::Occupied { entity, occupant });
        }
        if slot.generation == 0 {
            return Err(AllocAtError::Retired { entity });
        }
        if slot.is_on_loan() {
            return Err(AllocAtError::Lent { entity });
        }
        self.take_free(slot.location.position);
        let unused = u32::from(slot.generation == GENERATION_FIRST);
        self.unused_max = self.unused_max.saturating_sub(unused);
        if generation < slot.generation {
            self.next_generations.insert(index, slot.generation);
        }
        *self.slot_mut(index) = Slot { generation, location };
        Ok(())
    }

    /// Takes an index out of the free stack; the top one fills the hole.
    pub(super) fn take_free(&mut self, position: u32) {
        if let Some(moved) = self.free.swap_remove(position as usize) {
            self.slot_mut(moved).location = Location::free(position);
        }
    }

    /// Checks that `additional` more ids can be allocated.
    ///
    /// # Errors
    ///
    /// [`OutOfIds`] if not.
    pub(crate) fn ensure_room(&mut self, additional: usize) -> Result<(), OutOfIds> {
        if additional > self.available() as usize {
            // A buffer may have been dropped since the flush, for example by a batch's iterator.
            self.take_back();
            if additional > self.available() as usize {
                return Err(self.exhausted());
            }
        }
        Ok(())
    }

    /// Reserves memory for `additional` more entities.
    pub(crate) fn reserve_capacity(&mut self, additional: usize) {
        let fresh = additional.saturating_sub(self.free.len());
        let fresh_max = (self.limit - self.slots_len()) as usize;
        self.slots.reserve(fresh.min(fresh_max));
    }

    /// Frees unused memory. The slot of every index that was ever used remains, for its generation.
    pub(crate) fn shrink(&mut self) {
        shrink_unused(&mut self.slots);
        self.free.shrink();
        self.far.shrink();
    }

    #[cold]
    pub(super) fn exhausted(&self) -> OutOfIds {
        OutOfIds::InWorld { limit: self.limit }
    }

    #[inline]
    pub(super) fn debug_assert_flushed(&self) {
        debug_assert!(
            self.reserved.get() == 0,
            "reserved ids were not flushed before a change of the directory"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    fn with_entities(n: usize, limit: u32) -> (Directory, Vec<Entity>) {
        let mut directory = Directory::new(limit);
        let mut entities = Vec::new();
        directory.alloc_batch(n, at, &mut entities).unwrap();
        (directory, entities)
    }

    #[test]
    fn an_id_stays_invalid_when_its_slot_is_used_again() {
        let (mut directory, entities) = with_entities(1, u32::MAX);
        assert_eq!(directory.free(entities[0]), Ok(at(0)));
        let second = directory.alloc(at(5)).unwrap();
        assert_eq!(second, Entity::new(entities[0].index(), 2));
        assert!(!directory.contains(entities[0]));
        assert_eq!(directory.locate(second), Ok(at(5)));
    }

    #[test]
    fn a_million_entities_use_a_hundred_indices() {
        let rounds = if cfg!(miri) { 20 } else { 10_000 };
        let mut directory = Directory::new(u32::MAX);
        let mut alive = Vec::new();
        for _ in 0..rounds {
            directory.alloc_batch(100, at, &mut alive).unwrap();
            assert!(alive.iter().all(|entity| entity.index() < 100));
            for entity in alive.drain(..) {
                directory.free(entity).unwrap();
            }
        }
        assert_eq!(directory.slots_len(), 100);
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn a_batch_allocates_the_ids_of_single_calls() {
        let (mut batch, entities) = with_entities(10, u32::MAX);
        let (mut single, _) = with_entities(10, u32::MAX);
        for i in [2, 7, 3] {
            assert_eq!(batch.free(entities[i]), single.free(entities[i]));
        }
        let mut made = vec![Entity::NULL];
        batch.alloc_batch(6, at, &mut made).unwrap();
        let expected: Vec<_> = (0..6).map(|i| single.alloc(at(i)).unwrap()).collect();
        assert_eq!(made[0], Entity::NULL);
        assert_eq!(made[1..], expected);
        assert!(batch.iter().eq(single.iter()));
        assert_eq!(batch.check(), Ok(()));
    }

    #[test]
    fn exhaustion_is_an_error_and_allocates_nothing() {
        let (mut directory, entities) = with_entities(7, 8);
        let exhausted = Err(OutOfIds::InWorld { limit: 8 });
        let mut out = Vec::new();
        directory.free(entities[3]).unwrap();
        assert_eq!(directory.alloc_batch(3, at, &mut out), exhausted);
        assert_eq!(directory.alloc_batch(usize::MAX, at, &mut out), exhausted);
        assert!(out.is_empty());
        assert_eq!(directory.len(), 6);
        directory.alloc_batch(2, at, &mut out).unwrap();
        assert_eq!(directory.alloc(at(0)), Err(OutOfIds::InWorld { limit: 8 }));
        assert_eq!(directory.grow_indices(9), exhausted.map_err(Into::into));
        assert_eq!(directory.len(), 8);
        directory.free(out[0]).unwrap();
        assert!(directory.alloc(at(0)).is_ok());
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn a_given_index_beyond_the_end_frees_the_ones_between() {
        let mut directory = Directory::new(100);
        let given = Entity::new(5, 9);
        directory.alloc_at(given, at(1)).unwrap();
        assert_eq!(directory.locate(given), Ok(at(1)));
        assert_eq!(directory.check(), Ok(()));
        let indices: Vec<_> = (0..7).map(|_| directory.alloc(at(0)).unwrap().index()).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn a_given_id_is_refused_with_the_reason() {
        let (mut directory, entities) = with_entities(3, 2_000_000_000);
        let entity = Entity::new(1, 4);
        let occupant = entities[1];
        let occupied = Err(AllocAtError::Occupied { entity, occupant });
        assert_eq!(directory.alloc_at(entity, at(0)), occupied);
        let entity = Entity::new(3, 0);
        let null = Err(AllocAtError::Null { entity });
        assert_eq!(directory.alloc_at(entity, at(0)), null);
        let entity = Entity::new(2_000_000_000, 1);
        let error = directory.alloc_at(entity, at(0)).unwrap_err();
        assert!(matches!(error, AllocAtError::AboveLimit { .. }));
        let entity = Entity::new(1_999_999_999, 1);
        let error = directory.alloc_at(entity, at(0)).unwrap_err();
        assert!(matches!(error, AllocAtError::GapTooWide { .. }));
        assert!(directory.iter().map(|(id, _)| id).eq(entities));
        assert!(directory.capacity_bytes() < 1000);
    }

    #[test]
    fn an_old_id_requested_by_number_makes_no_other_valid() {
        let mut directory = Directory::new(u32::MAX);
        let old = directory.alloc(at(0)).unwrap();
        directory.free(old).unwrap();
        for generation in 2..=5 {
            let entity = directory.alloc(at(0)).unwrap();
            assert_eq!(entity.generation(), generation);
            directory.free(entity).unwrap();
        }
        directory.alloc_at(old, at(7)).unwrap();
        assert_eq!(directory.locate(old), Ok(at(7)));
        assert_eq!(directory.check(), Ok(()));
        directory.free(old).unwrap();
        assert_eq!(directory.alloc(at(0)), Ok(Entity::new(0, 6)));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn reserved_capacity_is_enough() {
        let (mut directory, entities) = with_entities(10, 1000);
        directory.free(entities[0]).unwrap();
        directory.reserve_capacity(500);
        let bytes = directory.capacity_bytes();
        for i in 0..500 {
            directory.alloc(at(i)).unwrap();
        }
        assert_eq!(directory.capacity_bytes(), bytes);
        directory.reserve_capacity(usize::MAX);
        directory.shrink();
        let len = directory.slots.len();
        assert!((len..=len + len / 8).contains(&directory.slots.capacity()), "most was freed");
    }
}
