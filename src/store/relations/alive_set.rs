//! A set of entities of a world, by their indices.

use rustc_hash::FxHashMap;

use crate::entity::Entity;

/// Some of the entities that are alive. Their indices differ, so a bit for each index is enough:
/// neighbours share a word, and a million of them take 300 KB, where a set of ids takes 18 MB.
#[derive(Debug, Default)]
pub(super) struct AliveSet {
    /// The words that have had a bit, by their numbers.
    words: FxHashMap<u32, u64>,
}

/// The word of an entity, and its bit there.
const fn split(entity: Entity) -> (u32, u64) {
    (entity.index() / u64::BITS, 1 << (entity.index() % u64::BITS))
}

impl AliveSet {
    /// Adds an entity. Returns whether it is new.
    pub(super) fn insert(&mut self, entity: Entity) -> bool {
        let (word, bit) = split(entity);
        let word = self.words.entry(word).or_default();
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes an entity out. Returns whether it was there.
    pub(super) fn remove(&mut self, entity: Entity) -> bool {
        let (word, bit) = split(entity);
        let Some(word) = self.words.get_mut(&word) else { return false };
        let was_there = *word & bit != 0;
        *word &= !bit;
        was_there
    }

    pub(super) fn contains(&self, entity: Entity) -> bool {
        let (word, bit) = split(entity);
        self.words.get(&word).is_some_and(|word| word & bit != 0)
    }
}
