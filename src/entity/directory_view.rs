//! A view of the directory, which finds the location of an id.

use super::Entity;
use super::far_slots::FarSlots;
use super::location::Location;
use super::slot::Slot;

/// A read-only view of the slots, for random access to components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectoryView<'w> {
    slots: &'w [Slot],
    far: &'w FarSlots,
}

impl<'w> DirectoryView<'w> {
    #[inline]
    pub(super) const fn new(slots: &'w [Slot], far: &'w FarSlots) -> Self {
        Self { slots, far }
    }

    /// Returns `true` if there are no far slots, as [`DirectoryView::position_in`] requires.
    pub(crate) const fn are_near(&self) -> bool {
        self.far.len() == 0
    }

    /// The position of an entity, if its archetype is `archetype`. Requires that there are no far
    /// slots: a call for these would cost every look-up of a loop two instructions.
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
            None => self.get_far(entity),
        }
    }

    /// The location of an entity's row, if the entity is alive.
    pub(crate) fn locate(&self, entity: Entity) -> Option<Location> {
        self.get(entity).filter(|location| location.is_somewhere())
    }

    /// Whether the entity is alive.
    pub(crate) fn is_alive(&self, entity: Entity) -> bool {
        self.locate(entity).is_some()
    }

    #[cold]
    fn get_far(&self, entity: Entity) -> Option<Location> {
        let slot = self.far.get(entity.index())?;
        (slot.generation == entity.generation()).then_some(slot.location)
    }
}
