//! The directory: one slot for each index, which holds the location of its entity.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directory_view::{DirectoryView, ReservedIds};
use super::far_slots::FarSlots;
use super::free_stack::FreeStack;
use super::id_demands::IdDemands;
use super::id_queue::IdQueue;
use super::location::Location;
use super::next_ids::NextIds;
use super::reserved::Reserved;
use super::slot::{BLOCK, Slot, index_u32, neighbours_mut};
use super::{Entity, NoSuchEntity, RequestLimit, ReturnedIds};
use crate::prefetch::prefetch;

/// Allocates and frees ids, and maps each id to the location of its entity.
///
/// Methods that take `&mut self` and allocate or free ids require that no reserved id waits for
/// [`Directory::flush`]. [`Directory::needs_flush`] tests this, and debug builds assert it.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(super) slots: Vec<Slot>,
    /// Indices to use again.
    pub(super) free: FreeStack,
    /// Slots beyond the end of `slots`.
    pub(super) far: FarSlots,
    /// The end of the fresh indices that follow `slots`: the first far slot, or the limit.
    pub(super) fresh_end: u32,
    /// Holds `slots`, `free` and `far` while systems take ids.
    pub(super) queue: Option<Arc<IdQueue>>,
    /// The ids that systems took in earlier stages.
    pub(super) demands: IdDemands,
    /// The number of ids reserved since the last flush: the last ones of `free`, then fresh ones.
    pub(super) reserved: Reserved,
    /// The number of indices that may be used, one more than the highest.
    pub(super) limit: u32,
    /// The indices without generations left, in the order in which they were used up.
    pub(super) retired: Vec<u32>,
    /// The number of slots on loan, neither free nor alive.
    pub(super) loaned: u32,
    /// The ids that dropped command buffers return; `None` before the first buffer.
    pub(super) returned_ids: Option<Arc<ReturnedIds>>,
    /// For each entity that was given a generation below the highest of its index: the generation
    /// that follows when it is despawned. Empty in nearly every world.
    pub(super) next_generations: BTreeMap<u32, u32>,
    /// [`Directory::alloc_at`] may skip any number of indices below this.
    pub(super) reach: u32,
    /// An upper bound of the number of free slots that were never used.
    pub(super) unused_max: u32,
    /// Counts possible changes of ids that the clock does not count, because no entity changed.
    pub(super) editions: u64,
    /// The memory that one call may take.
    pub(crate) requests: RequestLimit,
}

impl Directory {
    /// An empty directory for indices below `limit`. Allocates nothing.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            slots: Vec::new(),
            free: FreeStack::default(),
            far: FarSlots::default(),
            fresh_end: limit,
            queue: None,
            demands: IdDemands::default(),
            reserved: Reserved::default(),
            limit,
            retired: Vec::new(),
            loaned: 0,
            returned_ids: None,
            next_generations: BTreeMap::new(),
            reach: 0,
            unused_max: 0,
            editions: 0,
            requests: RequestLimit::default(),
        }
    }

    /// The number of entities that are alive. Reserved ids and ids on loan do not count.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let slots = self.slots.len() + self.far.len() as usize;
        slots - self.free.len() - self.retired.len() - self.loaned as usize
    }

    /// The number of possible changes of ids without a change of an entity.
    pub(crate) const fn editions(&self) -> u64 {
        self.editions
    }

    /// The number of slots, alive or not, without far slots.
    #[inline]
    pub(super) fn slots_len(&self) -> u32 {
        index_u32(self.slots.len())
    }

    /// The number of free slots.
    #[inline]
    pub(super) fn free_len(&self) -> u32 {
        index_u32(self.free.len())
    }

    /// The number of ids that can be allocated or reserved after a flush.
    #[inline]
    pub(super) fn available(&self) -> u32 {
        self.free_len() + (self.limit - self.slots_len() - self.far.len())
    }

    /// The ids that the next allocations will return, if no other id is allocated or freed before.
    ///
    /// # Panics
    ///
    /// If fewer ids are left.
    pub(crate) fn coming_ids(&self, len: usize) -> impl Iterator<Item = Entity> {
        let next = self.next();
        (0..u32::try_from(len).expect("more ids than indices")).map(move |n| next.id(n))
    }

    /// The free and fresh ids. Reserved ids come first.
    pub(super) fn next(&self) -> NextIds<'_> {
        NextIds::new(&self.slots, self.free.as_slice(), &self.far)
    }

    /// The location of an entity. The hot path is a bounds check and two comparisons on one slot.
    ///
    /// # Errors
    ///
    /// [`NoSuchEntity`] for an id that has no row. A reserved id has none before the flush: code
    /// that may run before a flush must use [`Directory::resolve`].
    #[inline]
    pub(crate) fn locate(&self, entity: Entity) -> Result<Location, NoSuchEntity> {
        match self.slots.get(entity.index() as usize) {
            Some(slot) if slot.generation == entity.generation() && slot.is_alive() => {
                Ok(slot.location)
            }
            Some(_) => Err(NoSuchEntity { entity }),
            None => self.locate_far(entity),
        }
    }

    /// The location of an entity without far slots: nowhere if it is not alive.
    #[inline(always)]
    pub(crate) fn locate_near(&self, entity: Entity) -> Option<Location> {
        let slot = self.slots.get(entity.index() as usize)?;
        (slot.generation == entity.generation()).then_some(slot.location)
    }

    /// [`Directory::locate`] for far slots.
    #[cold]
    fn locate_far(&self, entity: Entity) -> Result<Location, NoSuchEntity> {
        let location = DirectoryView::new(&[], &self.far, None).get(entity);
        location.filter(|location| location.is_somewhere()).ok_or(NoSuchEntity { entity })
    }

    /// Prefetches the slot of an entity that will be located soon.
    #[inline]
    pub(crate) fn prefetch(&self, entity: Entity) {
        prefetch(self.slots.as_ptr().wrapping_add(entity.index() as usize));
    }

    /// A view of the slots, for many look-ups.
    #[inline]
    pub(crate) fn view(&self) -> DirectoryView<'_> {
        match &self.queue {
            Some(queue) => queue.view(),
            None => DirectoryView::new(&self.slots, &self.far, Some(self.reserved_ids())),
        }
    }

    #[inline]
    fn reserved_ids(&self) -> ReservedIds<'_> {
        let (count, returned) = (&self.reserved, self.returned_ids.as_deref());
        ReservedIds { count, returned, free_len: self.free_len() }
    }

    /// [`DirectoryView::resolve`].
    #[inline]
    pub(crate) fn resolve(&self, entity: Entity) -> Result<Option<Location>, NoSuchEntity> {
        match self.locate(entity) {
            Ok(location) => Ok(Some(location)),
            Err(_) => self.resolve_reserved(entity),
        }
    }

    /// [`Directory::resolve`] of an id without a row.
    #[cold]
    fn resolve_reserved(&self, entity: Entity) -> Result<Option<Location>, NoSuchEntity> {
        self.view().resolve(entity)
    }

    #[inline]
    pub(super) fn slot(&self, index: u32) -> Option<&Slot> {
        match self.slots.get(index as usize) {
            None => self.far.get(index),
            slot => slot,
        }
    }

    /// The slot of an index that was used.
    ///
    /// # Panics
    ///
    /// If the index was never used.
    #[inline]
    pub(super) fn slot_mut(&mut self, index: u32) -> &mut Slot {
        match self.slots.get_mut(index as usize) {
            Some(slot) => slot,
            None => self.far.used_mut(index),
        }
    }

    /// Returns `true` if the entity is alive or reserved.
    #[inline]
    pub(crate) fn contains(&self, entity: Entity) -> bool {
        self.resolve(entity).is_ok()
    }

    /// Sets the location of the entity with this index.
    ///
    /// # Panics
    ///
    /// If the index was never used.
    #[inline]
    pub(crate) fn set_location(&mut self, index: u32, location: Location) {
        debug_assert!(location.is_somewhere(), "archetype u32::MAX marks slots without an entity");
        self.replace_location(index, location);
    }

    /// [`Directory::set_location`], which returns the previous location. Far slots are changed in a
    /// separate call, so that the common path selects no pointer to one of two slots.
    #[inline(always)]
    pub(crate) fn replace_location(&mut self, index: u32, location: Location) -> Location {
        match self.slots.get_mut(index as usize) {
            Some(slot) => {
                debug_assert!(slot.is_alive(), "the slot of index {index} is not alive");
                core::mem::replace(&mut slot.location, location)
            }
            None => self.far.replace_location(index, location),
        }
    }

    /// [`Directory::set_location`] for entities in consecutive rows, the first at `first`. A move
    /// of whole chunks costs this for each entity, less where their indices follow each other too.
    pub(crate) fn set_locations(&mut self, entities: &[Entity], first: Location) {
        self.write_slots(entities, first, |slot, _, location| {
            debug_assert!(slot.is_alive(), "the slot of a row is not alive");
            slot.location = location;
        });
    }

    /// Calls `write` with the slot of each entity and with its location: they are in consecutive
    /// rows, the first at `first`.
    #[inline(always)]
    pub(super) fn write_slots(
        &mut self,
        entities: &[Entity],
        first: Location,
        write: impl Fn(&mut Slot, Entity, Location),
    ) {
        let place = |i: u32| Location { position: first.position.wrapping_add(i), ..first };
        let mut row = 0;
        for block in entities.chunks(BLOCK) {
            let all = (row..).zip(block);
            if let Some(slots) = neighbours_mut(&mut self.slots, block) {
                all.zip(slots).for_each(|((i, &entity), slot)| write(slot, entity, place(i)));
            } else {
                // All of them at once: a write to a slot that is far waits for its line.
                block.iter().for_each(|&entity| self.prefetch(entity));
                all.for_each(|(i, &entity)| write(self.slot_mut(entity.index()), entity, place(i)));
            }
            row += index_u32(block.len());
        }
    }

    /// The entities that are alive, in the order of their indices. O(indices).
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Entity, Location)> + '_ {
        let slots = (0u32..).zip(&self.slots).chain(self.far.iter());
        slots.filter(|(_, slot)| slot.is_alive()).map(|(index, slot)| {
            let entity = Entity::new(index, slot.generation);
            (entity, slot.location)
        })
    }

    /// The allocated memory, in use or not.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.free.capacity_bytes()
            + self.retired.capacity() * size_of::<u32>()
            + self.far.capacity_bytes()
            + self.next_generations.len() * size_of::<(u32, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    #[test]
    fn a_stored_id_resolves_through_twenty_moves() {
        let mut directory = Directory::new(u32::MAX);
        let entity = directory.alloc(at(0)).unwrap();
        for archetype in 1..=20 {
            let location = Location { archetype, position: archetype * 3 };
            directory.set_location(entity.index(), location);
            assert_eq!(directory.locate(entity), Ok(location));
        }
    }

    #[test]
    fn made_up_ids_of_free_slots_are_refused() {
        let mut directory = Directory::new(u32::MAX);
        let entity = directory.alloc(at(0)).unwrap();
        directory.free(entity).unwrap();
        for generation in 0..4 {
            let entity = Entity::new(entity.index(), generation);
            assert!(!directory.contains(entity), "{entity}");
            assert_eq!(directory.free(entity), Err(NoSuchEntity { entity }));
        }
    }

    #[test]
    fn the_iterator_yields_entities_in_order_of_index() {
        let mut directory = Directory::new(u32::MAX);
        let mut entities = Vec::new();
        directory.alloc_batch(5, at, &mut entities).unwrap();
        directory.free(entities[1]).unwrap();
        directory.free(entities[4]).unwrap();
        let alive: Vec<_> = directory.iter().collect();
        assert_eq!(alive, [0, 2, 3].map(|index| (Entity::new(index, 1), at(index))));
        assert_eq!(directory.len(), 3);
    }

    #[test]
    fn a_million_single_spawns_take_less_than_thirteen_and_a_half_bytes_each() {
        let n = if cfg!(miri) { 1_000 } else { 1_000_000 };
        let mut directory = Directory::new(u32::MAX);
        for i in 0..n {
            directory.alloc(at(i)).unwrap();
        }
        let bytes = directory.capacity_bytes();
        assert!(bytes * 10 <= n as usize * 135, "{bytes} bytes");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 3 } else { crate::effort::effort(64) },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_bits_can_be_looked_up(
            bits in prop::collection::vec(
                prop_oneof![
                    any::<u64>(),
                    (0u64..40, 0u64..4).prop_map(|(index, generation)| index << 32 | generation),
                ],
                0..64,
            ),
            dead in prop::collection::vec(0usize..32, 0..16),
            reserved in 0u32..24,
        ) {
            let mut directory = Directory::new(48);
            let mut alive = Vec::new();
            directory.alloc_batch(32, at, &mut alive).unwrap();
            for &entity in dead.iter().filter_map(|&i| alive.get(i)) {
                let _ = directory.free(entity);
            }
            alive.retain(|&entity| directory.locate(entity).is_ok());
            let reserved: Vec<_> = directory.reserve_many(reserved.min(16)).unwrap().collect();
            for entity in bits.into_iter().map(Entity::from_bits) {
                prop_assert_eq!(directory.locate(entity).is_ok(), alive.contains(&entity));
                let known = alive.contains(&entity) || reserved.contains(&entity);
                prop_assert_eq!(directory.contains(entity), known);
            }
        }
    }
}
