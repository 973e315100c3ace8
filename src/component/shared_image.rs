//! Which tags stand for which shared values, as a part of a world's state.
//!
//! Tags choose archetypes, and archetypes the order of rows. So a world that is put back gives its
//! later values the tags that it would have given them then: its tables are put back, and tags that
//! were made since are new again.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::registry::Registry;
use super::shared_codec::SharedCodec;
use super::shared_slot::HeldValue;
use super::shared_types::{SharedType, SharedTypes};
use super::tag_table::{TagPlace, TagTable};

/// The tables of all types of shared values.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedImage {
    types: Vec<SharedTypeImage>,
}

/// The tables of a type: see `SharedType`.
#[derive(Clone, Debug)]
pub(crate) struct SharedTypeImage {
    marker: ComponentId,
    codec: Option<SharedCodec>,
    table: TagTable,
}

impl Default for SharedTypeImage {
    /// Those of a type that is not known yet.
    fn default() -> Self {
        Self { marker: ComponentId::UNKNOWN, codec: None, table: TagTable::default() }
    }
}

impl SharedTypeImage {
    /// The tables of a type with these tags, of which no two have the same place.
    pub(crate) fn new(
        (marker, codec): (ComponentId, SharedCodec),
        full: usize,
        tags: impl Iterator<Item = (ComponentId, TagPlace)>,
    ) -> Self {
        Self { marker, codec: Some(codec), table: TagTable::new(full, tags) }
    }

    /// The component of all entities with a value.
    pub(crate) const fn marker(&self) -> ComponentId {
        self.marker
    }

    /// How values are bytes.
    pub(crate) const fn codec(&self) -> Option<&SharedCodec> {
        self.codec.as_ref()
    }

    /// The number of tags at which they are looked at next.
    pub(crate) const fn full(&self) -> usize {
        self.table.full
    }

    /// Whether a number of tags can be one at which they are looked at.
    pub(crate) fn is_full(full: usize) -> bool {
        TagTable::is_full(full)
    }

    /// All tags, in the order of their ids. O(tags).
    pub(crate) fn tags(&self) -> Vec<(ComponentId, TagPlace)> {
        self.table.tags()
    }
}

impl SharedImage {
    /// The tables of the types, by their numbers.
    pub(crate) fn types(&self) -> &[SharedTypeImage] {
        &self.types
    }

    /// Sets the tables of a type.
    pub(crate) fn set_type(&mut self, number: usize, image: SharedTypeImage) {
        if number >= self.types.len() {
            self.types.resize_with(number + 1, SharedTypeImage::default);
        }
        self.types[number] = image;
    }
}

impl SharedTypes {
    fn save(&self) -> SharedImage {
        let types = self.types.iter().map(|of_type| SharedTypeImage {
            marker: of_type.marker,
            codec: of_type.codec.clone(),
            table: of_type.table.clone(),
        });
        SharedImage { types: types.collect() }
    }

    fn restore(&mut self, image: &SharedImage) {
        for number in 0..self.types.len() {
            let saved = image.types.get(number).map(|saved| saved.table.clone());
            self.set_table(number, saved.unwrap_or_default());
        }
    }

    /// Replaces the tags of a type. Those that are not in the table are new to the world.
    fn set_table(&mut self, number: usize, table: TagTable) {
        let known: FxHashSet<_> = table.by_hash.values().flatten().chain(&table.free).collect();
        let tags = self.tags.iter().filter(|(_, (of, _))| *of == number);
        let unborn = tags.map(|(&tag, _)| tag).filter(|tag| !known.contains(tag));
        let of_type = &mut self.types[number];
        of_type.unborn = unborn.collect();
        // The first one is the next one, as it was when they were made.
        of_type.unborn.sort_unstable_by(|a, b| b.cmp(a));
        of_type.table = table;
    }

    fn forget_values(&mut self, is_used: impl Fn(ComponentId) -> bool) {
        for number in 0..self.types.len() {
            let of_type = &self.types[number];
            if !of_type.table.is_empty() && !is_used(of_type.marker) {
                self.set_table(number, TagTable::default());
            }
        }
    }
}

impl Registry {
    /// Says in numbers what decides the tags of later shared values, for the hash of a world.
    /// Returns the number of each tag among those of its type. Nothing is said of types without
    /// tags. O(tags).
    pub(crate) fn describe_tags(&self, mut say: impl FnMut(u64)) -> FxHashMap<ComponentId, u64> {
        let types = self.shared.types.iter().filter(|of_type| !of_type.table.is_empty());
        let mut types: Vec<_> = types.collect();
        // The order in which types were first used is no state.
        types.sort_by_key(|of_type| of_type.names());
        let mut numbers = FxHashMap::default();
        for SharedType { table, .. } in types {
            let tags = table.tags();
            say(tags.len() as u64);
            say(table.full as u64);
            for (number, (tag, place)) in (0..).zip(tags) {
                // A tag that is free has a place that no other one has.
                let (hash, place) =
                    place.map_or((0, u64::MAX), |(hash, place)| (hash, place as u64));
                say(hash);
                say(place);
                numbers.insert(tag, number);
            }
        }
        numbers
    }

    /// Which tags stand for which values. O(tags).
    pub(crate) fn save_shared(&self) -> SharedImage {
        self.shared.save()
    }

    /// Puts back what [`Registry::save_shared`] has returned. Nothing owns a value any more; the
    /// caller gives tags that had one theirs by [`Registry::own_shared`].
    pub(crate) fn restore_shared(&mut self, image: &SharedImage) {
        self.shared.restore(image);
    }

    /// Makes all tags of those types new to the world of which no archetype is left, so that they
    /// are no state: `is_used` tells whether an archetype has a marker. O(tags).
    pub(crate) fn forget_values(&mut self, is_used: impl Fn(ComponentId) -> bool) {
        self.shared.forget_values(is_used);
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
