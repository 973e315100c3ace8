//! The tags of shared values.
//!
//! ```text
//!  Shared<Mesh>  ──► c4           the marker: what every entity with a mesh has
//!    "oak"       ──► c5 ──► slot  a tag for each distinct value
//!    "birch"     ──► c6 ──► slot
//! ```
//!
//! An entity with a value has the marker and the tag, so that entities with different values lie in
//! different archetypes, and all rules of archetypes hold for them: queries, moves, copies. A new
//! value takes the tag of a value that no longer exists, so the number of tags is the largest
//! number of values at one time.

use core::any::{TypeId, type_name};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::any_value::{AnyValue, are_equal, downcast, hash_of, names_entities};
use super::component_id::ComponentId;
use super::shared_codec::SharedCodec;
use super::shared_map::SharedMap;
use super::shared_slot::{HeldValue, SharedSlot};
use super::shared_value::{Shared, SharedTag, SharedValue};
use super::tag_table::TagTable;

/// The types of shared values in a world.
#[derive(Debug, Default)]
pub(super) struct SharedTypes {
    pub(super) types: Vec<SharedType>,
    by_type: FxHashMap<TypeId, usize>,
    /// The slot of each tag, and the number of its type.
    pub(super) tags: FxHashMap<ComponentId, (usize, Arc<SharedSlot>)>,
}

/// A type of shared values.
#[derive(Debug)]
pub(super) struct SharedType {
    pub(super) name: &'static str,
    pub(super) type_id: TypeId,
    /// The type and the name of a tag in the registry.
    pub(super) of_tag: (TypeId, &'static str),
    /// Whether two values of the type are equal.
    pub(super) are_equal: fn(&AnyValue, &AnyValue) -> bool,
    /// Whether a value has ids of entities.
    pub(super) names_entities: fn(&AnyValue) -> bool,
    /// The conversion of values to bytes, if the user has set it.
    pub(super) codec: Option<SharedCodec>,
    /// The replacement of ids in values, if the user has set it.
    pub(super) map: Option<SharedMap>,
    pub(super) marker: ComponentId,
    pub(super) table: TagTable,
    /// Tags that are new to the world, which was restored to a state before their creation.
    pub(super) unassigned: Vec<ComponentId>,
}

/// Whether two values of a type are equal, and whether a value has ids of entities.
type ValueMethods = (fn(&AnyValue, &AnyValue) -> bool, fn(&AnyValue) -> bool);

/// The compiler's name of a shared type, and its name in bytes.
pub(super) type SharedNames = (&'static str, Option<&'static str>);

/// A value and its tags, on the way to an entity.
#[derive(Debug)]
pub(crate) struct SharedRow {
    /// The component of every entity with a value of this type.
    pub(crate) marker: ComponentId,
    /// The component of every entity with this value.
    pub(crate) tag: ComponentId,
    /// Keeps the value alive until an archetype owns it.
    #[allow(dead_code, reason = "it is owned, and not read")]
    pub(crate) value: Arc<HeldValue>,
}

impl SharedTypes {
    /// The marker of `T`, if it is known.
    pub(super) fn marker<T: SharedValue>(&self) -> Option<ComponentId> {
        Some(self.types[*self.by_type.get(&TypeId::of::<T>())?].marker)
    }

    /// Adds a type, which must be new.
    pub(super) fn add_type<T: SharedValue>(&mut self, marker: ComponentId) {
        let name = (type_name::<T>(), TypeId::of::<T>());
        let of_tag = (TypeId::of::<SharedTag<T>>(), type_name::<Shared<T>>());
        let methods = (are_equal::<T> as fn(&_, &_) -> _, names_entities::<T> as fn(&_) -> _);
        self.push_type(SharedType::new(name, of_tag, methods, marker));
    }

    fn push_type(&mut self, of_type: SharedType) {
        self.by_type.insert(of_type.type_id, self.types.len());
        self.types.push(of_type);
    }

    /// Adds tags that are new to the world, the last ones of a type.
    pub(super) fn add_unassigned(&mut self, number: usize, new: Vec<ComponentId>) {
        // The first one of all is at the end.
        self.types[number].unassigned.splice(..0, new.iter().rev().copied());
        let slots = new.into_iter().map(|tag| (tag, (number, Arc::new(SharedSlot::new()))));
        self.tags.extend(slots);
    }

    /// Takes back tags that are new to the world.
    pub(super) fn forget(&mut self, is_over: impl Fn(ComponentId) -> bool) {
        self.tags.retain(|&tag, _| !is_over(tag));
        for of_type in &mut self.types {
            of_type.unassigned.retain(|&tag| !is_over(tag));
        }
    }

    /// The tag of a value that is equal to this one, if the world has one.
    pub(super) fn find<T: SharedValue>(&self, value: &T) -> Option<ComponentId> {
        self.find_hashed(value, hash_of(value)).map(|row| row.tag)
    }

    fn find_hashed<T: SharedValue>(&self, value: &T, hash: u64) -> Option<SharedRow> {
        let of_type = &self.types[*self.by_type.get(&TypeId::of::<T>())?];
        of_type.table.by_hash.get(&hash)?.iter().find_map(|&tag| {
            let (_, slot) = &self.tags[&tag];
            let known = slot.get()?;
            let is_equal = downcast::<T>(&known).is_some_and(|known| known == value);
            is_equal.then_some(SharedRow { marker: of_type.marker, tag, value: known })
        })
    }

    /// The tag of a value of a known type. A new value has a tag that is free, or the result of
    /// `new_tag`. `is_full` tells that it will panic.
    pub(super) fn share<T: SharedValue>(
        &mut self,
        value: T,
        is_full: bool,
        new_tag: impl FnOnce() -> ComponentId,
    ) -> SharedRow {
        // This is the caller's code; it runs before any change.
        let hash = hash_of(&value);
        if let Some(known) = self.find_hashed(&value, hash) {
            // Before `known` is returned: a result is not dropped if the destructor of an argument
            // panics after it, and the value that is kept would be kept for ever.
            drop(value);
            return known;
        }
        let value = Arc::new(HeldValue::new(Arc::new(Box::new(value))));
        let number = self.by_type[&TypeId::of::<T>()];
        let tag = self.give_tag(number, (&value, hash), is_full, new_tag);
        SharedRow { marker: self.types[number].marker, tag, value }
    }

    /// Gives a new value of a type a tag that is free, or the result of `new_tag`.
    fn give_tag(
        &mut self,
        number: usize,
        (value, hash): (&Arc<HeldValue>, u64),
        is_full: bool,
        new_tag: impl FnOnce() -> ComponentId,
    ) -> ComponentId {
        let of_type = &mut self.types[number];
        let same = of_type.table.by_hash.get(&hash).into_iter().flatten();
        // A repeated value gets its old tag again, whatever else has the hash.
        let tag = same.copied().find(|tag| self.tags[tag].1.is_free()).unwrap_or_else(|| {
            // A tag that is new to the world takes no room.
            let is_full = is_full && of_type.unassigned.is_empty();
            let table = &mut of_type.table;
            if table.free.is_empty() && (table.len >= table.full || is_full) {
                table.free_tags(|tag| self.tags[&tag].1.is_free());
            }
            let known = table.free.pop().or_else(|| of_type.unassigned.pop());
            let tag = known.unwrap_or_else(|| {
                let tag = new_tag();
                self.tags.insert(tag, (number, Arc::new(SharedSlot::new())));
                tag
            });
            let table = &mut of_type.table;
            table.by_hash.entry(hash).or_default().push(tag);
            table.len += 1;
            tag
        });
        self.tags[&tag].1.set(value, hash);
        tag
    }

    /// The number of the type of a marker or a tag of another world.
    fn number_like(&self, other: &Self, theirs: ComponentId) -> Option<usize> {
        Some(*self.by_type.get(&other.type_like(theirs).type_id)?)
    }

    /// The type of a marker or a tag.
    ///
    /// # Panics
    ///
    /// If it is another component.
    pub(super) fn type_like(&self, id: ComponentId) -> &SharedType {
        let of_type = match self.tags.get(&id) {
            Some(&(number, _)) => self.types.get(number),
            None => self.types.iter().find(|of_type| of_type.marker == id),
        };
        of_type.expect("the component stands for no shared value")
    }

    /// The marker of the type of a marker of another world.
    pub(super) fn marker_like(&self, other: &Self, theirs: ComponentId) -> Option<ComponentId> {
        Some(self.types[self.number_like(other, theirs)?].marker)
    }

    /// The replacement of ids in the values of a type, given by a tag of another world: from this
    /// world, or else from that one.
    pub(super) fn map_like<'m>(
        &'m self,
        other: &'m Self,
        theirs: ComponentId,
    ) -> Option<&'m SharedMap> {
        let own =
            self.number_like(other, theirs).and_then(|number| self.types[number].map.as_ref());
        own.or(other.type_like(theirs).map.as_ref())
    }

    /// The tag of a value that is equal to `value`, in the type of a tag of another world.
    pub(super) fn find_value(
        &self,
        other: &Self,
        theirs: ComponentId,
        (value, hash): (&AnyValue, u64),
    ) -> Option<ComponentId> {
        let of_type = &self.types[self.number_like(other, theirs)?];
        let same = of_type.table.by_hash.get(&hash)?;
        let is_equal = |tag: &&ComponentId| {
            let known = self.tags[*tag].1.get();
            known.is_some_and(|known| (of_type.are_equal)(&known, value))
        };
        same.iter().find(is_equal).copied()
    }

    /// The marker of the type of a marker of another world. A new type has the result of
    /// `new_marker`.
    pub(super) fn adopt_type(
        &mut self,
        other: &Self,
        theirs: ComponentId,
        new_marker: impl FnOnce() -> ComponentId,
    ) -> ComponentId {
        self.marker_like(other, theirs).unwrap_or_else(|| {
            let &SharedType { name, type_id, of_tag, are_equal, names_entities, .. } =
                other.type_like(theirs);
            let (methods, marker) = ((are_equal, names_entities), new_marker());
            self.push_type(SharedType::new((name, type_id), of_tag, methods, marker));
            marker
        })
    }

    /// The number of tags that must be made for new values of another world, which have these tags
    /// there. The other values have tags that are free, or new to the world.
    pub(super) fn missing_tags(
        &self,
        other: &Self,
        theirs: impl Iterator<Item = ComponentId>,
    ) -> usize {
        let mut wanted: FxHashMap<Option<usize>, usize> = FxHashMap::default();
        theirs.for_each(|tag| *wanted.entry(self.number_like(other, tag)).or_default() += 1);
        let missing = wanted.into_iter().map(|(number, wanted)| {
            let of_type = number.map(|number| &self.types[number]);
            let spare =
                of_type.map_or(0, |of_type| of_type.table.free.len() + of_type.unassigned.len());
            wanted.saturating_sub(spare)
        });
        missing.sum()
    }

    /// Gives a value of another world, with the tag `theirs` there, a tag. Its type is known, and
    /// no value is equal.
    pub(super) fn adopt_value(
        &mut self,
        other: &Self,
        theirs: ComponentId,
        value: (&Arc<HeldValue>, u64),
        new_tag: impl FnOnce() -> ComponentId,
    ) -> ComponentId {
        let number = self.number_like(other, theirs).expect("the type of a value is not known");
        self.give_tag(number, value, false, new_tag)
    }

    /// The slot of a tag, if it is one.
    pub(super) fn slot(&self, tag: ComponentId) -> Option<&Arc<SharedSlot>> {
        self.tags.get(&tag).map(|(_, slot)| slot)
    }

    /// The type of a tag's value, as the compiler names it, and its marker.
    pub(super) fn type_of(&self, tag: ComponentId) -> Option<(&'static str, ComponentId)> {
        let of_type = &self.types[self.tags.get(&tag)?.0];
        Some((of_type.name, of_type.marker))
    }
}

impl SharedType {
    /// A type without values.
    fn new(
        (name, type_id): (&'static str, TypeId),
        of_tag: (TypeId, &'static str),
        (are_equal, names_entities): ValueMethods,
        marker: ComponentId,
    ) -> Self {
        Self {
            name,
            type_id,
            of_tag,
            are_equal,
            names_entities,
            codec: None,
            map: None,
            marker,
            table: TagTable::default(),
            unassigned: Vec::new(),
        }
    }

    /// The names that the compiler and the user give the type: its identity in any world.
    pub(super) fn names(&self) -> SharedNames {
        (self.name, self.codec.as_ref().map(SharedCodec::name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::tag_table::SPARE;

    /// All values have one hash.
    #[derive(Debug, PartialEq, Eq)]
    struct Same(u32);

    impl core::hash::Hash for Same {
        fn hash<H: core::hash::Hasher>(&self, _: &mut H) {}
    }

    fn types<T: SharedValue>() -> SharedTypes {
        let mut types = SharedTypes::default();
        types.add_type::<T>(ComponentId(0));
        types
    }

    #[test]
    fn values_of_one_hash_have_tags_of_their_own() {
        let mut types = types::<Same>();
        let first = types.share(Same(1), false, || ComponentId(1));
        let second = types.share(Same(2), false, || ComponentId(2));
        assert_eq!(types.find(&Same(1)), Some(first.tag));
        assert_eq!(types.share(Same(2), false, || unreachable!("it is known")).tag, second.tag);
        assert_eq!(types.find(&Same(3)), None);
        drop(first);
        assert_eq!(types.find(&Same(1)), None, "nothing owns it");
        assert_eq!(types.find(&Same(2)), Some(ComponentId(2)));
    }

    #[test]
    fn tags_are_given_again() {
        let mut types = types::<u32>();
        let mut made = 0;
        let values = if cfg!(miri) { 100 } else { 10_000_u32 };
        for value in 0..values {
            let row = types.share(value, false, || {
                made += 1;
                ComponentId(made)
            });
            assert_eq!(types.find(&value), Some(row.tag));
        }
        assert!(made as usize <= SPARE, "{made} tags for one value at a time");
    }

    #[test]
    fn values_that_come_and_go_keep_to_few_tags() {
        /// Shares values one after the other; each is dropped before the next one comes.
        fn tags<T: SharedValue>(value: impl Fn(u32) -> T) -> u32 {
            let (mut types, mut made) = (types::<T>(), 0);
            for i in 0..if cfg!(miri) { 40 } else { 1_000 } {
                let row = types.share(value(i), false, || {
                    made += 1;
                    ComponentId(made)
                });
                assert_eq!(types.find(&value(i)), Some(row.tag));
            }
            made
        }
        assert_eq!(tags(|i| i % 2), 2, "each has its own again");
        assert_eq!(tags(Same), 1, "of one hash");
    }

    #[test]
    fn a_full_world_gives_the_tags_that_are_free() {
        let mut types = types::<u32>();
        let kept: Vec<_> =
            (0..14_u32).map(|i| types.share(i, false, || ComponentId(i + 1))).collect();
        drop(types.share(14_u32, false, || ComponentId(15)));
        let row = types.share(15_u32, true, || panic!("the world is full"));
        assert_eq!((row.tag, kept.len()), (ComponentId(15), 14));
    }

    #[test]
    fn a_tag_is_not_given_again_while_its_value_lives() {
        let mut types = types::<u32>();
        let mut made = 0;
        let mut new_tag = || {
            made += 1;
            ComponentId(made)
        };
        let kept_len = if cfg!(miri) { 20 } else { 100_u32 };
        let kept: Vec<_> =
            (0..kept_len).map(|value| types.share(value, false, &mut new_tag)).collect();
        (kept_len..3 * kept_len).for_each(|value| drop(types.share(value, false, &mut new_tag)));
        for (value, row) in (0..kept_len).zip(&kept) {
            assert_eq!(types.find(&value), Some(row.tag));
            assert_eq!(downcast(&row.value), Some(&value));
        }
    }
}
