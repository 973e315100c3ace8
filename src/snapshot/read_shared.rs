//! Reads the shared values of a state.
//!
//! All values are decoded before anything changes, because decoding runs the user's code. After it
//! the world gets tags for the numbers that have none; [`NewTags`] takes them back if the rest
//! cannot be read. No entity has their values before the state is restored.

use std::hash::RandomState;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::archetype::OwnedSharedValue;
use crate::component::{ComponentId, NamedShared, Registry};
use crate::store::Store;

use super::format::IDS_LEFT;
use super::input::Input;
use super::read_error::ReadError;
use super::shared_table::{SharedTable, SharedTables, ValueWord};

/// The shared types of a state that is read.
#[derive(Debug, Default)]
pub(super) struct FileShared {
    types: Vec<FileType>,
}

/// A shared type of a state.
#[derive(Debug)]
struct FileType {
    name: Box<str>,
    /// In the order of their numbers.
    tags: Vec<FileTag>,
}

/// The number of a shared value in a state.
#[derive(Debug)]
struct FileTag {
    word: ValueWord,
    /// The value, if there is one and its type is not left out.
    value: Option<OwnedSharedValue>,
    /// Whether rows have the value, or an archetype the number if there is no value.
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
    /// world.
    pub(super) fn add_tags(
        &mut self,
        input: &Input<'_>,
        registry: &mut Registry,
    ) -> Result<SharedParts, ReadError> {
        let mut parts = Vec::new();
        for (number, of_type) in self.types.iter_mut().enumerate() {
            let own = registry.shared_named(&of_type.name).map(|own| (own.number, own.marker));
            parts.push((own.map(|(_, marker)| marker), SharedPart::Marker(number)));
            for (nth, file) in of_type.tags.iter_mut().enumerate() {
                let tag = own.map(|(own, _)| {
                    let tag = registry.shared_tag_numbered(own, file.word.number(), IDS_LEFT);
                    tag.ok_or_else(|| input.invalid("more shared values than a world takes over"))
                });
                let tag = tag.transpose()?;
                file.value = file.value.take().zip(tag).map(|(value, tag)| value.with_tag(tag));
                parts.push((tag, SharedPart::Tag(number, nth)));
            }
        }
        Ok(parts)
    }

    /// The shared values of some rows, for the components of their archetype.
    pub(super) fn take(
        &mut self,
        input: &Input<'_>,
        parts: impl Iterator<Item = SharedPart>,
        rows: usize,
    ) -> Result<Vec<OwnedSharedValue>, ReadError> {
        let mut values = Vec::new();
        for part in parts {
            let SharedPart::Tag(number, nth) = part else { continue };
            let tag = &mut self.types[number].tags[nth];
            let is_living = tag.word.is_living();
            if rows > 0 && !is_living {
                return Err(input.invalid("rows of a shared value that there is not"));
            }
            tag.is_used |= rows > 0 || !is_living;
            values.extend(tag.value.clone().filter(|_| rows > 0));
        }
        Ok(values)
    }

    /// Whether rows have each value, and archetypes each number without a value.
    pub(super) fn are_used(&self) -> bool {
        self.types.iter().flat_map(|of_type| &of_type.tags).all(|tag| tag.is_used)
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
        let (len, count) = (input.len(what)?, input.len(what)?);
        let name = core::str::from_utf8(input.bytes(len, what)?);
        let name: Box<str> = name.map_err(|_| input.invalid("the name of a shared type"))?.into();
        let own = registry.shared_named(&name);
        if own.is_none() && !skip(&name) {
            return Err(ReadError::UnknownShared { name });
        }
        if count == 0 {
            return Err(input.invalid("a shared type without numbers of values"));
        }
        let older = base.named(&name);
        let words = older.map_or(&[][..], |older| &older.words);
        let words = input.array(words, count, "the numbers of shared values")?;
        let words: Vec<_> = words.into_iter().map(ValueWord).collect();
        if !words.is_sorted_by(|a, b| a.number() < b.number()) {
            return Err(input.invalid("a number of a shared value that is not above the last one"));
        }
        if words.last().is_some_and(|last| last.number() >= ComponentId::COUNT_MAX) {
            return Err(input.invalid("a number of a shared value above those of any type"));
        }
        let tag = |word| FileTag { word, value: None, is_used: false };
        let mut tags: Vec<_> = words.into_iter().map(tag).collect();
        read_values(input, own.as_ref(), older, &mut tags)?;
        Ok(Self { name, tags })
    }
}

/// Reads the values of all tags that have one, in their order. Values outside the stored ranges
/// are those with their numbers in the older table.
fn read_values(
    input: &mut Input<'_>,
    own: Option<&NamedShared<'_>>,
    older: Option<&SharedTable>,
    tags: &mut [FileTag],
) -> Result<(), ReadError> {
    let what = "the shared values";
    let mut new = vec![false; tags.len()];
    let ranges = input.ranges((tags.len(), tags.len()), what)?;
    ranges.into_iter().for_each(|range| new[range].fill(true));
    // The tags with a value, by a hash with random keys: hostile values do not collide, so that few
    // are compared.
    let keys = RandomState::new();
    let mut same: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for nth in 0..tags.len() {
        let word = tags[nth].word;
        if !word.is_living() {
            match new[nth] {
                true => return Err(input.invalid(what)),
                false => continue,
            }
        }
        let value = match new[nth] {
            true => read_value(input, own)?,
            false => {
                let old = older.and_then(|older| older.value(word.number()));
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
        tags[nth].value = Some(value);
    }
    Ok(())
}

/// Reads one value. `None` if its type is left out.
fn read_value(
    input: &mut Input<'_>,
    own: Option<&NamedShared<'_>>,
) -> Result<Option<OwnedSharedValue>, ReadError> {
    let what = "a shared value";
    let len = usize::try_from(input.u64(what)?).map_err(|_| input.invalid(what))?;
    let bytes = input.bytes(len, what)?;
    let Some(own) = own else { return Ok(None) };
    let Some((value, hash)) = own.codec.decode(bytes) else {
        return Err(ReadError::RefusedValue { name: own.codec.name().into(), at: input.at() });
    };
    Ok(Some(OwnedSharedValue::new(ComponentId::UNKNOWN, Arc::new(value), hash)))
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
