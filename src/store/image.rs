//! A copy of a store's state, from which it can be put back.

use crate::archetype::{Archetype, ArchetypeImage, Archetypes};
use crate::component::SharedImage;
use crate::entity::Directory;
use crate::version::Version;

use super::first_panic::FirstPanic;
use super::history::History;
use super::store::Store;

/// The state of a store at some version: rows, what belongs to chunks, ids, and versions.
#[derive(Debug)]
pub(crate) struct StoreImage {
    clock: Version,
    history: History,
    archetypes: Vec<ArchetypeImage>,
    entities: Directory,
    shared: SharedImage,
}

impl Default for StoreImage {
    fn default() -> Self {
        Self {
            clock: Version::NEVER,
            history: History::default(),
            archetypes: Vec::new(),
            entities: Directory::new(0),
            shared: SharedImage::default(),
        }
    }
}

impl StoreImage {
    /// The version of the state.
    pub(crate) const fn version(&self) -> Version {
        self.clock
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.archetypes.iter().map(ArchetypeImage::len).sum()
    }

    /// Bytes of all arrays, without those that are not in use.
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.archetypes.iter().map(ArchetypeImage::bytes).sum();
        rows + self.entities.capacity_bytes()
    }

    /// Makes this the image of a store in which no id is reserved or on loan. Copies what has
    /// changed since it was that of the same store, or all.
    pub(crate) fn follow(&mut self, store: &Store) {
        let archetypes = store.archetypes.as_slice();
        let known = common_len(&self.archetypes, &store.archetypes);
        self.archetypes.truncate(known);
        let mut same_entities = known == archetypes.len();
        self.archetypes.extend(archetypes[known..].iter().map(ArchetypeImage::new));
        for (image, archetype) in self.archetypes.iter_mut().zip(archetypes) {
            same_entities &= !image.follow(archetype);
        }
        store.entities.save(&mut self.entities, same_entities);
        self.shared = store.registry.save_shared();
        self.clock = store.clock;
        self.history = store.history.clone();
    }
}

/// How many archetypes a store and an image have in common, from the first on.
fn common_len(images: &[ArchetypeImage], archetypes: &Archetypes) -> usize {
    let pairs = images.iter().zip(archetypes.as_slice());
    pairs.take_while(|(image, archetype)| image.set() == archetype.set()).count()
}

impl Store {
    /// Gives the store the state of an image that was made of it. Its clock goes on, and versions
    /// after that of the image become void. Copies what has changed. Events are dropped, as are
    /// the side values of entities that are not alive then.
    ///
    /// # Panics
    ///
    /// If an id is reserved or on loan, in debug builds, or if a destructor panics, after all else
    /// is done.
    pub(crate) fn restore(&mut self, image: &StoreImage) {
        let known = common_len(&image.archetypes, &self.archetypes);
        if self.archetypes.truncate(known, &mut self.pool) {
            self.forget_retired();
        }
        let mut same_entities = known == image.archetypes.len() && known == self.archetypes.len();
        self.archetypes.all_mut().iter_mut().for_each(Archetype::release_shared);
        self.registry.restore_shared(&image.shared);
        // Owned until archetypes do.
        let images = image.archetypes.iter();
        let owned: Vec<_> = images.flat_map(|image| image.own_shared(&self.registry)).collect();
        for new in &image.archetypes[known..] {
            self.find_or_add(new.set()).expect("a row that fitted a chunk does not");
        }
        let Self { archetypes, pool, .. } = self;
        for (archetype, image) in archetypes.all_mut().iter_mut().zip(&image.archetypes) {
            same_entities &= !archetype.restore(image, pool);
        }
        drop(owned);
        self.entities.restore(&image.entities, same_entities);
        self.clock = self.history.put_back(&image.history, image.clock, self.clock);
        if self.history.is_long() {
            self.history.forget(self.archetypes.as_slice().iter().flat_map(Archetype::versions));
        }
        let mut panic = FirstPanic::default();
        self.departures.drop_all();
        self.arrivals.drop_all();
        self.events.clear(&mut panic);
        let Self { sides, entities, archetypes, .. } = self;
        let is_alive = |entity| {
            entities.locate(entity).is_ok_and(|at| !archetypes.get(at.archetype()).is_gone())
        };
        sides.retain(&is_alive, &mut panic);
        panic.resume();
    }
}
