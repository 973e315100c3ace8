//! A copy of the tag tables of shared types, as a part of a world's state.
//!
//! Tags choose archetypes, and archetypes the order of rows. So a restored world must give later
//! values the same tags as before: its tables are restored, and tags that were made since are new
//! again.

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
    /// The tables of a type that is not known yet.
    fn default() -> Self {
        Self { marker: ComponentId::UNKNOWN, codec: None, table: TagTable::default() }
    }
}

impl SharedTypeImage {
    /// The tables of a type with these tags. No two may have the same place.
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

    /// The conversion of values to bytes.
    pub(crate) const fn codec(&self) -> Option<&SharedCodec> {
        self.codec.as_ref()
    }

    /// The number of tags at which the next search for free tags starts.
    pub(crate) const fn full(&self) -> usize {
        self.table.full
    }

    /// Whether a number of tags can start the next search for free tags.
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

    /// Replaces the tags of a type. Tags that the table lacks are new to the world.
    fn set_table(&mut self, number: usize, table: TagTable) {
        let known: FxHashSet<_> = table.by_hash.values().flatten().chain(&table.free).collect();
        let tags = self.tags.iter().filter(|(_, (of, _))| *of == number);
        let unassigned = tags.map(|(&tag, _)| tag).filter(|tag| !known.contains(tag));
        let of_type = &mut self.types[number];
        of_type.unassigned = unassigned.collect();
        // The first one is the next one, in the order of their creation.
        of_type.unassigned.sort_unstable_by(|a, b| b.cmp(a));
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
    /// Calls `say` with the numbers that decide the tags of later shared values, for the hash of a
    /// world. Returns the number of each tag among the tags of its type. Types without tags are
    /// skipped. O(tags).
    pub(crate) fn describe_tags(&self, mut say: impl FnMut(u64)) -> FxHashMap<ComponentId, u64> {
        let types = self.shared.types.iter().filter(|of_type| !of_type.table.is_empty());
        let mut types: Vec<_> = types.collect();
        // The order in which types were first used is not a state.
        types.sort_by_key(|of_type| of_type.names());
        let mut numbers = FxHashMap::default();
        for SharedType { table, .. } in types {
            let tags = table.tags();
            say(tags.len() as u64);
            say(table.full as u64);
            for (number, (tag, place)) in (0..).zip(tags) {
                // A free tag has a place that no other tag has.
                let (hash, place) =
                    place.map_or((0, u64::MAX), |(hash, place)| (hash, place as u64));
                say(hash);
                say(place);
                numbers.insert(tag, number);
            }
        }
        numbers
    }

    /// The tags of all shared values. O(tags).
    pub(crate) fn save_shared(&self) -> SharedImage {
        self.shared.save()
    }

    /// Restores the tables of [`Registry::save_shared`]. All tags have lost their values; the
    /// caller gives values back to tags that had one, by [`Registry::own_shared`].
    pub(crate) fn restore_shared(&mut self, image: &SharedImage) {
        self.shared.restore(image);
    }

    /// Makes all tags of a type new to the world if it has no archetype left, so that they are not
    /// a state: `is_used` tells whether an archetype has a marker. O(tags).
    pub(crate) fn forget_values(&mut self, is_used: impl Fn(ComponentId) -> bool) {
        self.shared.forget_values(is_used);
    }

    /// Gives a tag its value back, unless it has it. The caller owns the value until an archetype
    /// does.
    ///
    /// # Panics
    ///
    /// If it is not a tag.
    pub(crate) fn own_shared(
        &self,
        tag: ComponentId,
        (value, hash): (&Arc<AnyValue>, u64),
    ) -> Arc<HeldValue> {
        self.shared_slot(tag).expect("a shared value has no tag").get_or_set(value, hash)
    }
}
