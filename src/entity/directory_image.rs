//! A copy of what a directory knows, from which it can be put back.
//!
//! The slots of entities are not in it. They follow from the rows: whoever copies rows has for each
//! chunk a version of its order, and so knows which rows have other entities than before. A slot of
//! an entity changes with its row only, so a change of slots has no version of its own, and costs
//! no instruction where entities are spawned, moved and despawned. What is left are the slots
//! without an entity: the free ones, which have the stamps of [`free_stack`](super::free_stack),
//! and the retired ones, of which there are few.
//!
//! ```text
//!   slots   │ alive │ alive │ free │ alive │ retired │ free │ …
//!               │       │      │       │        │       │
//!   from      rows    rows   stack   rows     list    stack
//! ```
//!
//! So an image that is brought up to date, and a directory that is put back, cost what has changed.

use core::ops::Range;
use std::collections::BTreeMap;

use super::Entity;
use super::RequestLimit;
use super::directory::Directory;
use super::far_slots::FarSlots;
use super::free_stack::FreeImage;
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
    pub(super) reach: u32,
    fresh_end: u32,
    limit: u32,
    unused_max: u32,
    requests: RequestLimit,
}

impl DirectoryImage {
    /// The image of a directory that was made for it: no page of its free stack is one of another
    /// directory.
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
    /// Makes `image` that of this directory, in which no id is reserved or on loan. Copies what has
    /// changed since it was that of the same directory, or all. O(changed free ids + pages of the
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
        image.reach = self.reach;
        image.fresh_end = self.fresh_end;
        image.limit = self.limit;
        image.unused_max = self.unused_max;
        image.requests = self.requests;
    }

    /// Makes the directory what it was when [`Directory::save`] wrote the image, but for the slots
    /// of entities: each that had another row, or none, must be [put](Directory::put) to its own
    /// then. Returns `false` if all must be. O(changed slots + pages of the free stack + retired
    /// ids), or O(slots).
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
