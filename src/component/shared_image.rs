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
use super::shared_types::{SPARE, SharedTypes};

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
    by_hash: FxHashMap<u64, Vec<ComponentId>>,
    len: usize,
    full: usize,
    free: Vec<ComponentId>,
}

impl Default for SharedTypeImage {
    /// Those of a type that is not known yet.
    fn default() -> Self {
        Self {
            marker: ComponentId::UNKNOWN,
            codec: None,
            by_hash: FxHashMap::default(),
            len: 0,
            full: SPARE,
            free: Vec::new(),
        }
    }
}

/// The hash by which a tag is found, and its place among those of one hash. `None` if it is free.
pub(crate) type TagPlace = Option<(u64, usize)>;

impl SharedTypeImage {
    /// The tables of a type with these tags, of which no two have the same place.
    pub(crate) fn new(
        (marker, codec): (ComponentId, SharedCodec),
        full: usize,
        tags: impl Iterator<Item = (ComponentId, TagPlace)>,
    ) -> Self {
        let mut image = Self { marker, codec: Some(codec), full, ..Self::default() };
        let mut placed: FxHashMap<u64, Vec<(usize, ComponentId)>> = FxHashMap::default();
        for (tag, place) in tags {
            match place {
                None => image.free.push(tag),
                Some((hash, place)) => {
                    placed.entry(hash).or_default().push((place, tag));
                    image.len += 1;
                }
            }
        }
        // The first one is the next one.
        image.free.sort_unstable_by(|a, b| b.cmp(a));
        for (hash, mut same) in placed {
            same.sort_unstable();
            image.by_hash.insert(hash, same.into_iter().map(|(_, tag)| tag).collect());
        }
        image
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
        self.full
    }

    /// Whether a number of tags can be one at which they are looked at.
    pub(crate) fn is_full(full: usize) -> bool {
        (SPARE..=2 * ComponentId::COUNT_MAX as usize + SPARE).contains(&full)
    }

    /// All tags, in the order of their ids. O(tags).
    pub(crate) fn tags(&self) -> Vec<(ComponentId, TagPlace)> {
        let placed = self.by_hash.iter().flat_map(|(&hash, same)| {
            same.iter().enumerate().map(move |(place, &tag)| (tag, Some((hash, place))))
        });
        let mut tags: Vec<_> = placed.chain(self.free.iter().map(|&tag| (tag, None))).collect();
        tags.sort_unstable_by_key(|&(tag, _)| tag);
        tags
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
            let SharedTypeImage { by_hash, len, full, free, .. } = saved;
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
