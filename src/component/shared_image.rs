//! Which tags stand for which shared values, as a part of a world's state.
//!
//! Tags choose archetypes, and archetypes the order of rows. So a world that is put back gives its
//! later values the tags that it would have given them then: its tables are put back, and tags that
//! were made since are new again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::component_id::ComponentId;
use super::registry::Registry;
use super::shared_slot::{AnyValue, HeldValue};
use super::shared_types::{SPARE, SharedTypes};

/// The tables of all types of shared values.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedImage {
    types: Vec<TypeImage>,
}

/// The tables of a type: see `SharedType`.
#[derive(Clone, Debug)]
struct TypeImage {
    by_hash: FxHashMap<u64, Vec<ComponentId>>,
    len: usize,
    full: usize,
    free: Vec<ComponentId>,
}

impl Default for TypeImage {
    /// Those of a type that is not known yet.
    fn default() -> Self {
        Self { by_hash: FxHashMap::default(), len: 0, full: SPARE, free: Vec::new() }
    }
}

impl SharedTypes {
    fn save(&self) -> SharedImage {
        let types = self.types.iter().map(|of_type| TypeImage {
            by_hash: of_type.by_hash.clone(),
            len: of_type.len,
            full: of_type.full,
            free: of_type.free.clone(),
        });
        SharedImage { types: types.collect() }
    }

    fn restore(&mut self, image: &SharedImage) {
        for (number, of_type) in self.types.iter_mut().enumerate() {
            let saved = image.types.get(number).cloned().unwrap_or_default();
            let known: FxHashSet<_> = saved.by_hash.values().flatten().chain(&saved.free).collect();
            let tags = self.tags.iter().filter(|(_, (of, _))| *of == number);
            let unborn = tags.map(|(&tag, _)| tag).filter(|tag| !known.contains(tag));
            of_type.unborn = unborn.collect();
            // The first one is the next one, as it was when they were made.
            of_type.unborn.sort_unstable_by(|a, b| b.cmp(a));
            let TypeImage { by_hash, len, full, free } = saved;
            (of_type.by_hash, of_type.len) = (by_hash, len);
            (of_type.full, of_type.free) = (full, free);
        }
    }
}

impl Registry {
    /// Which tags stand for which values. O(tags).
    pub(crate) fn save_shared(&self) -> SharedImage {
        self.shared.save()
    }

    /// Puts back what [`Registry::save_shared`] has returned. Nothing owns a value any more; the
    /// caller gives tags that had one theirs by [`Registry::own_shared`].
    pub(crate) fn restore_shared(&mut self, image: &SharedImage) {
        self.shared.restore(image);
    }

    /// Gives a tag its value back, unless it has it. The caller owns the value until an archetype
    /// does.
    ///
    /// # Panics
    ///
    /// If it is no tag.
    pub(crate) fn own_shared(
        &self,
        tag: ComponentId,
        (value, hash): (&Arc<AnyValue>, u64),
    ) -> Arc<HeldValue> {
        self.shared_slot(tag).expect("a shared value has no tag").get_or_set(value, hash)
    }
}
