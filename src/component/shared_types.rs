//! The types of shared values.
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
//! number of values at one time. The [`tag_table`](super::tag_table) says which tag it takes.

use core::any::{TypeId, type_name};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::any_value::{AnyValue, are_equal, downcast, hash_of, names_entities};
use super::component_id::ComponentId;
use super::component_info::ComponentInfo;
use super::held_value::HeldValue;
use super::shared_codec::SharedCodec;
use super::shared_map::SharedMap;
use super::shared_place::SharedPlace;
use super::shared_value::{Shared, SharedTag, SharedValue};
use super::tag_table::TagTable;

/// The types of shared values in a world.
#[derive(Debug, Default)]
pub(super) struct SharedTypes {
    /// By their numbers.
    pub(super) types: Vec<SharedType>,
    by_type: FxHashMap<TypeId, u16>,
}

/// A type of shared values.
#[derive(Debug)]
pub(super) struct SharedType {
    pub(super) number: u16,
    pub(super) facts: SharedFacts,
    /// The conversion of values to bytes, if the user has set it.
    pub(super) codec: Option<SharedCodec>,
    /// The replacement of ids in values, if the user has set it.
    pub(super) map: Option<SharedMap>,
    pub(super) marker: ComponentId,
    pub(super) table: TagTable,
}

/// The facts about a type that are the same in each world.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedFacts {
    pub(super) name: &'static str,
    pub(super) type_id: TypeId,
    /// The types and the names of the marker and of a tag in the registry.
    of_marker: (TypeId, &'static str),
    of_tag: (TypeId, &'static str),
    /// Whether two values of the type are equal.
    pub(super) are_equal: fn(&AnyValue, &AnyValue) -> bool,
    /// Whether a value has ids of entities.
    pub(super) names_entities: fn(&AnyValue) -> bool,
}

impl SharedFacts {
    pub(super) fn of<T: SharedValue>() -> Self {
        Self {
            name: type_name::<T>(),
            type_id: TypeId::of::<T>(),
            of_marker: (TypeId::of::<Shared<T>>(), type_name::<T>()),
            of_tag: (TypeId::of::<SharedTag<T>>(), type_name::<Shared<T>>()),
            are_equal: are_equal::<T>,
            names_entities: names_entities::<T>,
        }
    }
}

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
    /// The type with an id of the compiler, if it is known.
    pub(super) fn get(&self, type_id: TypeId) -> Option<&SharedType> {
        self.numbered(*self.by_type.get(&type_id)?)
    }

    /// The same for writing.
    pub(super) fn get_mut(&mut self, type_id: TypeId) -> Option<&mut SharedType> {
        let number = *self.by_type.get(&type_id)?;
        self.types.get_mut(usize::from(number))
    }

    pub(super) fn numbered(&self, number: u16) -> Option<&SharedType> {
        self.types.get(usize::from(number))
    }

    /// The marker of a type. A new type has the result of `new_marker`.
    pub(super) fn add_type(
        &mut self,
        facts: SharedFacts,
        new_marker: impl FnOnce(ComponentInfo) -> ComponentId,
    ) -> ComponentId {
        if let Some(known) = self.get(facts.type_id) {
            return known.marker;
        }
        let number = u16::try_from(self.types.len()).expect("each type has a marker");
        let place = SharedPlace::Marker(number);
        let marker = new_marker(ComponentInfo::of_shared(place, facts.of_marker));
        let (codec, map, table) = (None, None, TagTable::default());
        self.by_type.insert(facts.type_id, number);
        self.types.push(SharedType { number, facts, codec, map, marker, table });
        marker
    }

    /// The tag of a value that is equal to this one, if the world has one.
    pub(super) fn find<T: SharedValue>(&self, value: &T) -> Option<ComponentId> {
        self.find_hashed(value, hash_of(value)).map(|row| row.tag)
    }

    fn find_hashed<T: SharedValue>(&self, value: &T, hash: u64) -> Option<SharedRow> {
        let of_type = self.get(TypeId::of::<T>())?;
        let is_equal = |known: &AnyValue| downcast::<T>(known).is_some_and(|known| known == value);
        let (tag, value) = of_type.table.find(hash, is_equal)?;
        Some(SharedRow { marker: of_type.marker, tag, value })
    }

    /// The tag of a value of a known type. A new value has the lowest number that is free; if that
    /// has no tag yet, it gets the result of `new_tag`.
    pub(super) fn share<T: SharedValue>(
        &mut self,
        value: T,
        new_tag: impl FnOnce(ComponentInfo) -> ComponentId,
    ) -> SharedRow {
        // This is the caller's code; it runs before any change.
        let hash = hash_of(&value);
        if let Some(known) = self.find_hashed(&value, hash) {
            // Before `known` is returned: a result is not dropped if the destructor of an argument
            // panics after it, and the value that is kept would be kept for ever.
            drop(value);
            return known;
        }
        let value: Arc<AnyValue> = Arc::new(Box::new(value));
        let of_type = self.get_mut(TypeId::of::<T>()).expect("the type is registered");
        let (tag, value) = of_type.add_value(&value, hash, new_tag);
        SharedRow { marker: of_type.marker, tag, value }
    }
}

impl SharedType {
    /// The tag with a number. A new one is the result of `new_tag`.
    pub(super) fn tag(
        &mut self,
        number: u32,
        new_tag: impl FnOnce(ComponentInfo) -> ComponentId,
    ) -> ComponentId {
        let place = SharedPlace::Tag { of: self.number, number };
        self.table.tag(number, || new_tag(ComponentInfo::of_shared(place, self.facts.of_tag)))
    }

    /// Gives a value that is new to the type a tag. The caller owns the value until an archetype
    /// does.
    pub(super) fn add_value(
        &mut self,
        value: &Arc<AnyValue>,
        hash: u64,
        new_tag: impl FnOnce(ComponentInfo) -> ComponentId,
    ) -> (ComponentId, Arc<HeldValue>) {
        let number = self.table.lowest();
        let tag = self.tag(number, new_tag);
        (tag, self.table.hold(number, value, hash))
    }

    /// The tag of an equal value, if there is one.
    pub(super) fn find(&self, value: &AnyValue, hash: u64) -> Option<ComponentId> {
        self.table.find(hash, |known| (self.facts.are_equal)(known, value)).map(|(tag, _)| tag)
    }

    /// The names that the compiler and the user give the type: its identity in any world.
    pub(super) fn names(&self) -> SharedNames {
        (self.facts.name, self.codec.as_ref().map(SharedCodec::name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values have one hash.
    #[derive(Debug, PartialEq, Eq)]
    struct Same(u32);

    impl core::hash::Hash for Same {
        fn hash<H: core::hash::Hasher>(&self, _: &mut H) {}
    }

    /// A shared type, and the number of its tags.
    struct Types(SharedTypes, u32);

    impl Types {
        fn of<T: SharedValue>() -> Self {
            let mut types = SharedTypes::default();
            types.add_type(SharedFacts::of::<T>(), |_| ComponentId(0));
            Self(types, 0)
        }

        fn share<T: SharedValue>(&mut self, value: T) -> SharedRow {
            self.0.share(value, |info| {
                let number = self.1;
                assert_eq!(info.shared_place(), Some(SharedPlace::Tag { of: 0, number }));
                self.1 += 1;
                ComponentId(self.1)
            })
        }
    }

    #[test]
    fn values_of_one_hash_have_tags_of_their_own() {
        let mut types = Types::of::<Same>();
        let (first, second) = (types.share(Same(1)), types.share(Same(2)));
        assert_eq!(types.0.find(&Same(1)), Some(first.tag));
        assert_eq!((types.share(Same(2)).tag, types.1), (second.tag, 2));
        assert_eq!(types.0.find(&Same(3)), None);
        drop(first);
        assert_eq!(types.0.find(&Same(1)), None, "nothing owns it");
        assert_eq!(types.0.find(&Same(2)), Some(ComponentId(2)));
    }

    #[test]
    fn one_value_at_a_time_has_one_tag() {
        fn tags<T: SharedValue>(value: impl Fn(u32) -> T) -> u32 {
            let mut types = Types::of::<T>();
            for i in 0..if cfg!(miri) { 40 } else { 1_000 } {
                let row = types.share(value(i));
                assert_eq!(types.0.find(&value(i)), Some(row.tag));
            }
            types.1
        }
        assert_eq!([tags(|i| i), tags(|i| i % 2), tags(Same)], [1; 3]);
    }

    #[test]
    fn a_new_value_has_the_lowest_number() {
        let mut types = Types::of::<u32>();
        let mut rows: Vec<_> = (0..14_u32).map(|value| types.share(value)).collect();
        assert_eq!(rows[13].tag, ComponentId(14));
        for number in [9, 3, 11] {
            rows.remove(number);
        }
        let tags = [20_u32, 21, 22, 23].map(|value| types.share(value));
        assert_eq!(tags.each_ref().map(|row| row.tag.0), [4, 10, 14, 15]);
        drop(tags);
        rows.clear();
        assert_eq!((types.share(30_u32).tag, types.1), (ComponentId(1), 15));
    }

    #[test]
    fn a_full_world_gives_the_tags_that_are_free() {
        let mut types = Types::of::<u32>();
        let kept: Vec<_> = (0..14_u32).map(|value| types.share(value)).collect();
        drop(types.share(14_u32));
        let row = types.0.share(15_u32, |_| panic!("the world is full"));
        assert_eq!((row.tag, kept.len()), (ComponentId(15), 14));
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            types.0.share(16_u32, |_| panic!("the world is full"))
        }));
        assert!(refused.is_err());
        drop(row);
        assert_eq!(types.share(16_u32).tag, ComponentId(15), "the refused value took no number");
    }

    #[test]
    fn a_tag_is_not_given_again_while_its_value_lives() {
        let mut types = Types::of::<u32>();
        let kept_len = if cfg!(miri) { 20 } else { 100_u32 };
        let kept: Vec<_> = (0..kept_len).map(|value| types.share(value)).collect();
        (kept_len..3 * kept_len).for_each(|value| drop(types.share(value)));
        for (value, row) in (0..kept_len).zip(&kept) {
            assert_eq!(types.0.find(&value), Some(row.tag));
            assert_eq!(downcast(&row.value), Some(&value));
        }
    }

    #[test]
    fn values_that_end_on_other_threads_free_their_numbers() {
        let mut types = Types::of::<u32>();
        let values = if cfg!(miri) { 12 } else { 2_000_u32 };
        let mut rows: Vec<_> = (0..values).map(|value| types.share(value)).collect();
        let second = rows.split_off(rows.len() / 2);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(rows));
            scope.spawn(|| drop(second));
            let mut taken = std::collections::BTreeSet::new();
            let new: Vec<_> = (values..2 * values).map(|value| types.share(value)).collect();
            assert!(new.iter().all(|row| taken.insert(row.tag)), "two values have one tag");
        });
        let row = types.share(0_u32);
        assert_eq!(row.tag, ComponentId(1), "all have ended");
        assert!(types.1 <= 2 * values);
    }
}
