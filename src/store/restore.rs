//! Gives a store the state of an image.

use crate::archetype::{Archetype, ArchetypeImage, RestoreContext};
use crate::entity::ArchetypeId;
use crate::version::Version;

use super::first_panic::FirstPanic;
use super::store::Store;
use super::store_image::{StoreImage, common_len};

impl Store {
    /// Gives the store the state of an image that was made of it, or read for it. Its clock goes
    /// on, and versions after the image's version are discarded, or all versions if the image was
    /// read. Copies only differences. Drops events, and the sparse components that are not part of
    /// the image if their entities are not alive in it, or all sparse components if it was read.
    /// Entities that are gone and have lost their last cleanup component so end.
    ///
    /// # Panics
    ///
    /// If an id is reserved or on loan, in debug builds; if a clone of a sparse component panics,
    /// before any change; or if a destructor panics, at the end.
    pub(crate) fn restore(&mut self, image: &StoreImage) {
        // Runs `Component::hint`, which may panic, so it comes before the first change.
        self.know_types();
        let prepared = image.sparse.prepare(&self.sparse);
        let known = match image.is_foreign {
            true => 0,
            false => common_len(image.archetypes(), &self.archetypes),
        };
        if self.archetypes.truncate(known, &mut self.pool) {
            self.forget_retired();
        }
        self.archetypes.all_mut().iter_mut().for_each(Archetype::release_shared);
        // All numbers are free now. Owns the values until the archetypes own them.
        let kept = image.archetypes().iter().flat_map(ArchetypeImage::owned_values);
        let owned: Vec<_> = kept.map(|kept| kept.own(&mut self.registry)).collect();
        for new in &image.archetypes()[known..] {
            self.find_or_add(new.set()).expect("a row that fitted a chunk does not");
        }
        let (clock, first) = if image.is_foreign {
            let first = self.history.put_foreign(self.clock);
            (image.version().after(first), first)
        } else {
            let clock = self.history.put_back(image.history(), image.version(), self.clock);
            (clock, Version::NEVER)
        };
        self.clock = clock;
        let Self { archetypes, entities, pool, .. } = self;
        let keeps_places = entities.restore(image.entities());
        let mut context = RestoreContext { pool, entities, keeps_places, first };
        let pairs = archetypes.all_mut().iter_mut().zip(image.archetypes());
        for (id, (archetype, image)) in (0..).map(ArchetypeId).zip(pairs) {
            archetype.restore(id, image, &mut context);
        }
        drop(owned);
        if self.history.is_long() {
            self.history.forget(self.archetypes.as_slice().iter().flat_map(Archetype::versions));
        }
        let mut panic = FirstPanic::default();
        self.logs.clear(&mut panic);
        let Self { sparse, entities, archetypes, .. } = self;
        let sparse_cleanup_tag = self.registry.sparse_cleanup_tag();
        let is_alive = |entity, is_cleanup| {
            let place = entities.locate(entity).ok();
            let archetype = place.map(|place| archetypes.get(place.archetype()));
            // The ids of another world are other entities.
            !image.is_foreign
                && archetype
                    .is_some_and(|one| one.has_values(sparse_cleanup_tag.filter(|_| is_cleanup)))
        };
        image.sparse.restore((sparse, prepared), &is_alive, clock, &mut panic);
        self.forget_set_notes();
        self.renew_all_members();
        self.end_without_values();
        panic.resume();
    }
}
