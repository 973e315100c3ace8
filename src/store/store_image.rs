//! A copy of a store's state, from which [`restore`](super::restore) gives it back.

use crate::archetype::{ArchetypeImage, ArchetypePatch, Archetypes};
use crate::entity::{DirectoryImage, IdNumbers};
use crate::version::Version;

use super::history::History;
use super::sparse::SavedSet;
use super::sparse::SparseImage;
use super::sparse::SparseSets;
use super::store::Store;

/// The state of a store at some version: rows, data of chunks, ids, and versions.
#[derive(Clone, Debug)]
pub(crate) struct StoreImage {
    clock: Version,
    history: History,
    archetypes: Vec<ArchetypeImage>,
    entities: DirectoryImage,
    pub(super) sparse: SparseImage,
    /// The names of sparse components with values that have no form as bytes.
    left_out: Vec<&'static str>,
    /// Whether it was read from bytes: its versions are ages, and it knows no list of chunks.
    pub(super) is_foreign: bool,
    /// The value of [`Store::state_number`] in the world that first had the state. It is unique
    /// among the states of that world, unlike the age, which occurs again after a restore.
    origin: u64,
}

impl Default for StoreImage {
    fn default() -> Self {
        Self {
            clock: Version::NEVER,
            history: History::default(),
            archetypes: Vec::new(),
            entities: DirectoryImage::default(),
            sparse: SparseImage::default(),
            left_out: Vec::new(),
            is_foreign: false,
            origin: 0,
        }
    }
}

/// The difference between two states. The older one may be empty.
#[derive(Debug)]
pub(crate) struct StorePatch<'b> {
    pub(crate) clock: Version,
    /// The new number of the state.
    pub(crate) origin: u64,
    /// The number of older archetypes, from the first on, that are among `archetypes`.
    pub(crate) kept: usize,
    /// In the new order of the archetypes.
    pub(crate) archetypes: Vec<ArchetypePatch<'b>>,
    /// `None` if ids and places are unchanged.
    pub(crate) entities: Option<DirectoryImage>,
    /// The sparse sets with values that have a form as bytes.
    pub(crate) sets: Vec<SavedSet>,
}

impl StoreImage {
    /// The version of the state.
    pub(crate) const fn version(&self) -> Version {
        self.clock
    }

    /// The discarded versions.
    pub(crate) const fn history(&self) -> &History {
        &self.history
    }

    /// The archetypes, in their order.
    pub(crate) fn archetypes(&self) -> &[ArchetypeImage] {
        &self.archetypes
    }

    /// The ids.
    pub(crate) const fn entities(&self) -> &DirectoryImage {
        &self.entities
    }

    /// The ids as numbers. O(indices).
    pub(crate) fn id_numbers(&self) -> IdNumbers {
        let rows = self.archetypes.iter().flat_map(ArchetypeImage::entities);
        self.entities.id_numbers(rows.copied())
    }

    /// The copies of sparse sets.
    pub(crate) const fn sets(&self) -> &SparseSets {
        self.sparse.sets()
    }

    /// The names of the sparse components with values that have no form as bytes.
    pub(crate) fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }

    /// A number that no other state of the same world has: see [`Store::state_number`].
    pub(crate) const fn origin(&self) -> u64 {
        self.origin
    }

    /// The number of advances of the clock.
    pub(crate) fn age(&self) -> u64 {
        self.history.age(self.clock)
    }

    /// Whether a world with this clock has versions left after it is restored to this state.
    pub(crate) fn leaves_time(&self, clock: Version) -> bool {
        !self.is_foreign || clock.to_bits().saturating_add(self.clock.to_bits()) < 1 << 62
    }

    /// Applies a patch, which has ages in place of versions. The image becomes one that was read:
    /// it knows no list of chunks, so that restoring it copies everything. Returns the former
    /// sparse components, to be dropped at the end: their destructors are the user's code.
    ///
    /// # Panics
    ///
    /// If the patch is for another image.
    pub(crate) fn apply(&mut self, patch: StorePatch<'_>) -> SparseImage {
        self.archetypes.truncate(patch.kept);
        for (number, archetype) in patch.archetypes.into_iter().enumerate() {
            if number == self.archetypes.len() {
                self.archetypes.push(ArchetypeImage::new(archetype.sample()));
            }
            self.archetypes[number].apply(archetype);
        }
        if let Some(entities) = patch.entities {
            self.entities = entities;
        }
        (self.clock, self.origin) = (patch.clock, patch.origin);
        (self.history, self.is_foreign) = (History::default(), true);
        self.left_out.clear();
        self.sparse.become_read(patch.sets)
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.archetypes.iter().map(ArchetypeImage::len).sum()
    }

    /// Bytes of all arrays, without unused arrays.
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.archetypes.iter().map(ArchetypeImage::bytes).sum();
        rows + self.entities.bytes()
    }

    /// Makes this the image of a store in which no id is reserved or on loan. Copies only changes
    /// if it was an image of the same store before.
    pub(crate) fn follow(&mut self, store: &mut Store) {
        store.entities.save(&mut self.entities);
        let archetypes = store.archetypes.as_slice();
        let known = common_len(&self.archetypes, &store.archetypes);
        self.archetypes.truncate(known);
        self.archetypes.extend(archetypes[known..].iter().map(ArchetypeImage::new));
        for (image, archetype) in self.archetypes.iter_mut().zip(archetypes) {
            image.follow(archetype);
        }
        self.sparse.follow(&store.sparse);
        self.clock = store.clock;
        self.history = store.history.clone();
        self.is_foreign = false;
        self.origin = store.state_number();
        self.left_out = store.sparse.names_in_use(|set| set.shape().is_none());
        self.left_out.sort_unstable();
    }
}

/// The age of a stamp's version, with the same additional bit as the stamp.
pub(crate) fn age_of_stamp(history: &History, stamp: u64) -> u64 {
    history.age(Version::from_bits(stamp >> 1)) << 1 | stamp & 1
}

/// The number of archetypes that a store and an image have in common, from the first on.
pub(super) fn common_len(images: &[ArchetypeImage], archetypes: &Archetypes) -> usize {
    let pairs = images.iter().zip(archetypes.as_slice());
    pairs.take_while(|(image, archetype)| image.set() == archetype.set()).count()
}
