//! A copy of a directory's state, for restoring it.
//!
//! The image omits the slots of entities, because they follow from the rows. A copy of the rows has
//! a version of the order for each chunk, and so knows the rows whose entities have changed. A slot
//! of an entity changes only with its row, so slots need no versions, and spawns, moves and
//! despawns spend no instruction on them. The other slots have no entity: the free ones, which have
//! the stamps of [`free_stack`](super::free_stack), and the few retired ones.
//!
//! ```text
//!   slots   │ alive │ alive │ free │ alive │ retired │ free │ …
//!               │       │      │       │        │       │
//!   from      rows    rows   stack   rows     list    stack
//! ```
//!
//! So updating an image and restoring a directory cost only the differences.

use core::ops::Range;
use std::collections::BTreeMap;

use super::Entity;
use super::RequestLimit;
use super::directory::Directory;
use super::far_slots::FarSlots;
use super::free_stack::FreeImage;
use super::id_demands::IdDemands;
use super::location::Location;
use super::slot::Slot;

/// The state of a directory in which no id is reserved or on loan, without the slots of entities.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectoryImage {
    pub(super) slots_len: u32,
    pub(super) far: Vec<Range<u32>>,
    pub(super) free: FreeImage,
    pub(super) retired: Vec<u32>,
    pub(super) next_generations: BTreeMap<u32, u32>,
    pub(super) demands: IdDemands,
    pub(super) reach: u32,
    fresh_end: u32,
    limit: u32,
    unused_max: u32,
    requests: RequestLimit,
}

impl DirectoryImage {
    /// The image of a directory that was made for it. No page of its free stack equals a page of
    /// another directory.
    pub(crate) fn of_made(mut directory: Directory) -> Self {
        let mut image = Self::default();
        directory.save(&mut image);
        image.free.forget_stamps();
        image
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.free.bytes() + size_of_val(&self.far[..]) + size_of_val(&self.retired[..])
    }
}

impl Directory {
    /// Makes `image` an image of this directory, in which no id is reserved or on loan. Copies only
    /// changes if it was an image of the same directory before. O(changed free ids + pages of the
    /// free stack + retired ids).
    pub(crate) fn save(&mut self, image: &mut DirectoryImage) {
        self.debug_assert_no_loans();
        self.free.settle();
        image.slots_len = self.slots_len();
        image.far.clear();
        image.far.extend(self.far.ranges());
        image.free.follow(&self.free, |index| self.id_of_slot(index));
        self.debug_assert_same_free(image);
        image.retired.clone_from(&self.retired);
        if image.next_generations != self.next_generations {
            image.next_generations.clone_from(&self.next_generations);
        }
        if image.demands != self.demands {
            image.demands.clone_from(&self.demands);
        }
        image.reach = self.reach;
        image.fresh_end = self.fresh_end;
        image.limit = self.limit;
        image.unused_max = self.unused_max;
        image.requests = self.requests;
    }

    /// Restores the state that [`Directory::save`] wrote, except for the slots of entities: each
    /// entity whose row differs, or that had none, must be [put](Directory::put) to its row
    /// afterwards. Returns `false` if all entities must be. O(changed slots + pages of the free
    /// stack + retired ids), or O(slots).
    #[must_use = "if it is false, the slots of all entities are lost"]
    pub(crate) fn restore(&mut self, image: &DirectoryImage) -> bool {
        self.debug_assert_no_loans();
        self.free.settle();
        let retired = Slot { generation: 0, location: Location::RETIRED };
        let keeps_places = self.far.ranges().eq(image.far.iter().cloned());
        if !keeps_places {
            self.free.clear();
            self.free.settle();
            self.far = FarSlots::default();
            image.far.iter().for_each(|run| self.far.insert(run.clone(), retired));
        }
        self.slots.resize(image.slots_len as usize, retired);
        let Self { slots, far, free, .. } = self;
        free.restore(&image.free, |position, id| {
            let slot = match slots.get_mut(id.index() as usize) {
                Some(slot) => slot,
                None => far.used_mut(id.index()),
            };
            let location = Location::free(position);
            *slot = Slot { generation: id.generation(), location };
        });
        self.debug_assert_same_free(image);
        for &index in &image.retired {
            *self.slot_mut(index) = retired;
        }
        self.retired.clone_from(&image.retired);
        if self.next_generations != image.next_generations {
            self.next_generations.clone_from(&image.next_generations);
        }
        if self.demands != image.demands {
            self.demands.clone_from(&image.demands);
        }
        self.reach = image.reach;
        self.fresh_end = image.fresh_end;
        self.limit = image.limit;
        self.unused_max = image.unused_max;
        self.requests = image.requests;
        keeps_places
    }

    /// Gives an entity its row, after [`Directory::restore`].
    #[inline]
    pub(crate) fn put(&mut self, entity: Entity, location: Location) {
        *self.slot_mut(entity.index()) = Slot { generation: entity.generation(), location };
    }

    /// [`Directory::put`] for entities in consecutive rows, the first at `first`.
    pub(crate) fn put_all(&mut self, entities: &[Entity], first: Location) {
        self.write_slots(entities, first, |slot, entity, location| {
            *slot = Slot { generation: entity.generation(), location };
        });
    }

    /// The id of a slot, alive or not.
    pub(super) fn id_of_slot(&self, index: u32) -> Entity {
        let slot = self.slot(index).expect("the index has a slot");
        Entity::new(index, slot.generation)
    }

    /// A page whose stamp is wrong would have kept other ids.
    fn debug_assert_same_free(&self, image: &DirectoryImage) {
        let ids = || self.free.as_slice().iter().map(|&index| self.id_of_slot(index));
        debug_assert!(ids().eq(image.free.ids().iter().copied()), "a page has a wrong stamp");
    }

    fn debug_assert_no_loans(&self) {
        debug_assert!(!self.needs_flush() && self.loaned == 0, "an id is reserved or on loan");
    }
}
