//! Reads the shared values of a state.
//!
//! All values are decoded before anything changes, because decoding runs the user's code. After it
//! the world gets the tags of the state that it lacks; [`NewTags`] takes them back if the rest
//! cannot be read. The new tags are in no table of the world until the state is restored.

use std::hash::RandomState;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::archetype::KeptValue;
use crate::component::{
    ComponentId, NamedShared, Registry, SharedImage, SharedTypeImage, TagPlace,
};
use crate::store::Store;

use super::format::IDS_LEFT;
use super::input::Input;
use super::read_error::ReadError;
use super::shared_table::{SharedTable, SharedTables, tag};

/// The shared types of a state that is read.
#[derive(Debug, Default)]
pub(super) struct FileShared {
    types: Vec<FileType>,
}

/// A shared type of a state.
#[derive(Debug)]
struct FileType {
    name: Box<str>,
    full: usize,
    /// By their numbers.
    tags: Vec<FileTag>,
}

/// A tag of a state.
#[derive(Debug, Default)]
struct FileTag {
    place: TagPlace,
    has_value: bool,
    /// The value, unless the type is left out.
    value: Option<KeptValue>,
    /// Whether rows have the tag.
    is_used: bool,
}

/// The part of a component in a shared type. Types and values are numbered by the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedPart {
    /// The component of all entities with a value.
    Marker(usize),
    /// The component of all entities with one value, which has the second number in its type.
    Tag(usize, usize),
}

/// The ids of a state's markers and tags in this world, in the order of their numbers. `None` if
/// their type is left out.
type SharedParts = Vec<(Option<ComponentId>, SharedPart)>;

impl FileShared {
    /// Reads the tables of some types, which are stored as the difference from `base`. Decodes and
    /// compares values, which runs the user's code. Unknown types are left out if `skip` returns
    /// `true` for their names.
    pub(super) fn read(
        input: &mut Input<'_>,
        len: usize,
        registry: &Registry,
        base: &SharedTables,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ReadError> {
        let mut types: Vec<FileType> = Vec::new();
        for _ in 0..len {
            let of_type = FileType::read(input, registry, base, skip)?;
            if types.last().is_some_and(|last| last.name >= of_type.name) {
                return Err(input.invalid("the shared types are out of order, or one is twice"));
            }
            types.push(of_type);
        }
        Ok(Self { types })
    }

    /// Gives the world the tags that it lacks. Returns the ids of all markers and tags in this
    /// world, and its tables with the state.
    pub(super) fn add_tags(
        &mut self,
        input: &Input<'_>,
        registry: &mut Registry,
    ) -> Result<(SharedParts, SharedImage), ReadError> {
        let (mut parts, mut image) = (Vec::new(), SharedImage::default());
        for (number, of_type) in self.types.iter_mut().enumerate() {
            let own = registry.shared_named(&of_type.name).map(|own| (own.number, own.marker));
            parts.push((own.map(|(_, marker)| marker), SharedPart::Marker(number)));
            let tags = match own {
                None => vec![None; of_type.tags.len()],
                Some((own, _)) => {
                    let known = registry.shared_tags(own).len();
                    let new = of_type.tags.len().saturating_sub(known);
                    if new > 0 && !registry.has_room_for(new + IDS_LEFT) {
                        return Err(input.invalid("more shared values than a world takes over"));
                    }
                    registry.add_shared_tags(own, new);
                    registry.shared_tags(own).into_iter().map(Some).collect()
                }
            };
            for (nth, (file, tag)) in of_type.tags.iter_mut().zip(&tags).enumerate() {
                file.value = file.value.take().zip(*tag).map(|(value, tag)| value.with_tag(tag));
                parts.push((*tag, SharedPart::Tag(number, nth)));
            }
            let Some(NamedShared { number, marker, codec, .. }) =
                registry.shared_named(&of_type.name)
            else {
                continue;
            };
            let places = of_type.tags.iter().map(|file| file.place);
            let tags = tags.into_iter().flatten().zip(places);
            let tables = SharedTypeImage::new((marker, codec.clone()), of_type.full, tags);
            image.set_type(number, tables);
        }
        Ok((parts, image))
    }

    /// The shared values of some rows, for the components of their archetype.
    pub(super) fn take(
        &mut self,
        input: &Input<'_>,
        parts: impl Iterator<Item = SharedPart>,
        rows: usize,
    ) -> Result<Vec<KeptValue>, ReadError> {
        let mut values = Vec::new();
        for part in parts {
            let SharedPart::Tag(number, nth) = part else { continue };
            let tag = &mut self.types[number].tags[nth];
            if rows > 0 {
                if !tag.has_value {
                    return Err(input.invalid("rows of a shared value that there is not"));
                }
                tag.is_used = true;
                values.extend(tag.value.clone());
            }
        }
        Ok(values)
    }

    /// Whether rows have each value, and only tags with a value.
    pub(super) fn are_used(&self) -> bool {
        let mut tags = self.types.iter().flat_map(|of_type| &of_type.tags);
        tags.all(|tag| tag.is_used == tag.has_value)
    }
}

impl FileType {
    fn read(
        input: &mut Input<'_>,
        registry: &Registry,
        base: &SharedTables,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<Self, ReadError> {
        let what = "a shared type";
        let (len, full, count) = (input.len(what)?, input.len(what)?, input.len(what)?);
        let name = core::str::from_utf8(input.bytes(len, what)?);
        let name: Box<str> = name.map_err(|_| input.invalid("the name of a shared type"))?.into();
        let own = registry.shared_named(&name);
        if own.is_none() && !skip(&name) {
            return Err(ReadError::UnknownShared { name });
        }
        if !SharedTypeImage::is_full(full) {
            return Err(input.invalid("when the tags of a shared type are looked at"));
        }
        if !(1..=ComponentId::COUNT_MAX as usize).contains(&count) {
            return Err(input.invalid("the number of tags of a shared type"));
        }
        let older = base.named(&name);
        let hashes = older.map_or(&[][..], |older| &older.hashes);
        let hashes = input.array(hashes, count, "the hashes of shared values")?;
        let words = older.map_or(&[][..], |older| &older.words);
        let words = input.array(words, count, "the tags of a shared type")?;
        let tags = hashes.into_iter().zip(words).map(|(hash, word)| FileTag::of(hash, word));
        let mut tags: Vec<_> =
            tags.collect::<Option<_>>().ok_or_else(|| input.invalid("a tag of a shared value"))?;
        read_values(input, own.as_ref(), older, &mut tags)?;
        Ok(Self { name, full, tags })
    }
}

impl FileTag {
    /// The tag described by a hash and a word, without its value.
    fn of(hash: u64, word: u32) -> Option<Self> {
        let (place, state) = (word >> tag::BITS, word & ((1 << tag::BITS) - 1));
        let (place, has_value) = match (state, hash, place) {
            (tag::FREE, 0, 0) => (None, false),
            (tag::NAMED, hash, place) => (Some((hash, place as usize)), false),
            // The hash follows with the value.
            (tag::VALUED, 0, place) => (Some((0, place as usize)), true),
            _ => return None,
        };
        Some(Self { place, has_value, ..Self::default() })
    }
}

/// Reads the values of all tags that have one, in their order. Values outside the stored ranges
/// come from the older table.
fn read_values(
    input: &mut Input<'_>,
    own: Option<&NamedShared<'_>>,
    older: Option<&SharedTable>,
    tags: &mut [FileTag],
) -> Result<(), ReadError> {
    let what = "the shared values";
    let old = older.map_or(&[][..], |older| &older.values);
    let mut new = vec![false; tags.len()];
    let ranges = input.ranges((old.len(), tags.len()), what)?;
    ranges.into_iter().for_each(|range| new[range].fill(true));
    // The tags with a value, by a hash with random keys: hostile values do not collide, so that few
    // are compared.
    let keys = RandomState::new();
    let mut same: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for nth in 0..tags.len() {
        if !tags[nth].has_value {
            continue;
        }
        let value = match new[nth] {
            true => read_value(input, own)?,
            false => {
                let old = old.get(nth).and_then(Option::as_ref);
                let value = old.cloned().filter(|_| own.is_some());
                Some(value.ok_or_else(|| input.invalid("an older value that there is not"))?)
            }
        };
        let Some((own, value)) = own.zip(value) else { continue };
        let hash = own.codec.keyed_hash(value.value(), &keys);
        let same = same.entry(hash).or_default();
        let is_equal = |&other: &usize| {
            let other = tags[other].value.as_ref();
            other.is_some_and(|other| own.are_equal(other.value(), value.value()))
        };
        if same.iter().any(is_equal) {
            return Err(input.invalid("two shared values are equal"));
        }
        same.push(nth);
        let tag = &mut tags[nth];
        tag.place = tag.place.map(|(_, place)| (value.hash(), place));
        tag.value = Some(value);
    }
    Ok(())
}

/// Reads one value. `None` if its type is left out.
fn read_value(
    input: &mut Input<'_>,
    own: Option<&NamedShared<'_>>,
) -> Result<Option<KeptValue>, ReadError> {
    let what = "a shared value";
    let len = usize::try_from(input.u64(what)?).map_err(|_| input.invalid(what))?;
    let bytes = input.bytes(len, what)?;
    let Some(own) = own else { return Ok(None) };
    let Some((value, hash)) = own.codec.decode(bytes) else {
        return Err(ReadError::RefusedValue { name: own.codec.name().into(), at: input.at() });
    };
    Ok(Some(KeptValue::new(ComponentId::UNKNOWN, Arc::new(value), hash)))
}

/// Takes back the tags that the world got for a state, unless the state is read.
#[derive(Debug)]
pub(super) struct NewTags<'w> {
    pub(super) store: &'w mut Store,
    /// The number of components before.
    before: usize,
    is_read: bool,
}

impl<'w> NewTags<'w> {
    pub(super) fn of(store: &'w mut Store) -> Self {
        Self { before: store.registry().len(), store, is_read: false }
    }

    /// Keeps the tags, because the state is read.
    pub(super) fn keep(mut self) {
        self.is_read = true;
    }
}

impl Drop for NewTags<'_> {
    fn drop(&mut self) {
        if !self.is_read {
            self.store.registry_mut().forget_shared_tags(self.before);
        }
    }
}
