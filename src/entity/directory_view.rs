//! A view of the directory, which finds the location of an id.

use crate::cold::cold_fn;

use super::far_slots::FarSlots;
use super::location::Location;
use super::reserved::Reserved;
use super::slot::{GENERATION_FIRST, Slot, index_u32};
use super::{Entity, NoSuchEntity, ReturnedIds};

/// A read-only view of the slots, for random access to components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectoryView<'w> {
    slots: &'w [Slot],
    far: &'w FarSlots,
    /// `None` during a stage, in which no id is reserved.
    reserved: Option<ReservedIds<'w>>,
}

/// Tells which ids are reserved.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReservedIds<'w> {
    pub(super) count: &'w Reserved,
    /// The ids of dropped buffers.
    pub(super) returned: Option<&'w ReturnedIds>,
    /// The length of the free stack.
    pub(super) free_len: u32,
}

impl<'w> DirectoryView<'w> {
    #[inline]
    pub(super) const fn new(
        slots: &'w [Slot],
        far: &'w FarSlots,
        reserved: Option<ReservedIds<'w>>,
    ) -> Self {
        Self { slots, far, reserved }
    }

    /// Returns `true` if no far slots exist, as [`DirectoryView::position_in`] requires.
    pub(crate) const fn are_near(&self) -> bool {
        self.far.len() == 0
    }

    /// The position of an entity, if its archetype is `archetype`. Requires that no far slots
    /// exist: a call for these would cost every look-up of a loop two instructions.
    #[inline]
    pub(crate) fn position_in(&self, entity: Entity, archetype: u32) -> Option<u32> {
        debug_assert!(self.are_near(), "there are far slots, which this look-up ignores");
        let slot = self.slots.get(entity.index() as usize)?;
        // One load and one comparison.
        let key = |generation: u32, archetype: u32| {
            u64::from(generation) | u64::from(archetype) << u32::BITS
        };
        (key(slot.generation, slot.location.archetype) == key(entity.generation(), archetype))
            .then_some(slot.location.position)
    }

    /// The location in the slot of an id. Its archetype may be `u32::MAX`, in which case the entity
    /// is not alive: one comparison less than [`Directory::locate`](super::Directory::locate).
    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Option<Location> {
        match self.slots.get(entity.index() as usize) {
            Some(slot) => (slot.generation == entity.generation()).then_some(slot.location),
            None => Some(far_location(self, entity)),
        }
    }

    /// [`DirectoryView::get`], which finds far slots in `far`, a copy of this view: a loop that
    /// writes keeps this view in registers only if no call has its address.
    #[inline(always)]
    pub(crate) fn get_by(&self, entity: Entity, far: &Self) -> Option<Location> {
        match self.slots.get(entity.index() as usize) {
            Some(slot) => (slot.generation == entity.generation()).then_some(slot.location),
            None => Some(far_location(far, entity)),
        }
    }

    /// The location of an entity's row, or `None` if the id is reserved: such an entity is alive,
    /// but has no components and no row yet. Every call that names an entity uses this, or comes
    /// after a flush.
    ///
    /// # Errors
    ///
    /// For an id that is neither alive nor reserved.
    #[inline]
    pub(crate) fn resolve(&self, entity: Entity) -> Result<Option<Location>, NoSuchEntity> {
        match self.get(entity) {
            Some(location) if location.is_somewhere() => Ok(Some(location)),
            _ if self.is_reserved(entity) => Ok(None),
            _ => Err(NoSuchEntity { entity }),
        }
    }

    /// Returns `true` if the id is reserved and waits for the flush.
    #[cold]
    pub(super) fn is_reserved(&self, entity: Entity) -> bool {
        let Some(ReservedIds { count, returned, free_len }) = self.reserved else { return false };
        if !count.is_any() {
            return false;
        }
        let returned = returned.filter(|returned| returned.has_ids());
        if returned.is_some_and(|returned| returned.lock().is_reserved(entity)) {
            return true;
        }
        let (reserved, index) = (count.get(), entity.index());
        let slot = self.slots.get(index as usize).or_else(|| self.far.get(index));
        match slot {
            Some(slot) => {
                let stack_first = free_len.saturating_sub(reserved);
                !slot.is_alive()
                    && !entity.is_null()
                    && slot.generation == entity.generation()
                    && !slot.is_on_loan()
                    && slot.location.position >= stack_first
            }
            None => {
                let fresh_len = reserved.saturating_sub(free_len);
                let depth = index - index_u32(self.slots.len()) - self.far.len_before(index);
                entity.generation() == GENERATION_FIRST && depth < fresh_len
            }
        }
    }
}

cold_fn! {
    /// [`DirectoryView::get`] of an index beyond the slots: nowhere if the id has no slot. A result
    /// of one word, because an `Option` would lie in memory.
    fn far_location [] (view: &DirectoryView<'_>, entity: Entity) -> Location {
        let slot = view.far.get(entity.index());
        slot.filter(|slot| slot.generation == entity.generation())
            .map_or(Location::RETIRED, |slot| slot.location)
    }
}
