//! The entities that a component refers to.

use core::any::TypeId;
use core::fmt;

use crate::entity::Entity;

use super::identity::Identity;
use super::layout_fields::LayoutFields;
use super::plain::Plain;

/// Finds the [`Entity`] ids in a value, so that another id can take the place of each.
///
/// [`World::merge`](crate::World::merge), [`World::move_from`](crate::World::move_from) and
/// [`World::instantiate_tree`](crate::World::instantiate_tree) give entities new ids, and use this
/// trait to update the components, and the values of [pairs](crate::sparse::relation#many-targets),
/// that refer to them. Types that [`#[component]`](crate::component) and
/// [`#[relation(many)]`](crate::sparse::relation#many-targets) define as plain data have it without
/// further code: fields that are an [`Entity`], an array of these, another component that has some,
/// or an array of such components, are found by their types. So are the fields of a struct that
/// `#[component(sparse)]` leaves as it is, and an `Option` or a `Vec` of any of these types:
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(sparse)]
/// struct Party { leader: Entity, others: Vec<Entity>, name: String }
///
/// let (mut world, mut other) = (World::new(), World::new());
/// world.spawn_batch([(); 10]);
/// let [leader, friend] = [(); 2].map(|()| other.spawn(()));
/// let party = Party { leader, others: vec![friend], name: "Lone wolves".to_owned() };
/// let camp = other.spawn(party);
/// let merged = world.merge(other)?;
/// let party = world.get::<Party>(merged.get(camp).unwrap())?;
/// assert_eq!(Some(party.others[0]), merged.get(friend));
/// # assert_eq!(Some(party.leader), merged.get(leader));
/// # assert_eq!(party.name, "Lone wolves");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An entity that has ended, or stays behind, is [`Entity::NULL`] afterwards, also in a list.
///
/// In a field of any other type ids keep their numbers, without an error: in a tuple, a `Box`, a
/// map or set, another sequence, an enum, or a struct of your own. Such a struct is found, also in
/// a `Vec`, once it implements this trait. A type that `impl_component!` only names, and a sparse
/// component that is an enum, is `repr(packed)` or keeps its ids in such types, is implemented by
/// hand. The implementation for a struct with `#[component(sparse)]` takes the place of the search
/// in its fields:
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::MapEntities;
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C)]
/// #[bytemuck(crate = "phalanx::bytemuck")]
/// struct Spring { ends: [Entity; 2], length: f64 }
/// impl_component!(Spring);
///
/// impl MapEntities for Spring {
///     fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
///         self.ends.map_entities(map);
///     }
/// }
/// # let mut spring = Spring { ends: [Entity::NULL; 2], length: 1.0 };
/// # spring.map_entities(&mut |_| Entity::NULL);
/// ```
pub trait MapEntities {
    /// Whether a value has any ids. If not, `map_entities` need not be called.
    const HAS_ENTITIES: bool = true;

    /// Replaces each id in the value by the result of `map` for it.
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity);
}

impl MapEntities for Entity {
    #[inline]
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        *self = map(*self);
    }
}

impl<T: MapEntities, const N: usize> MapEntities for [T; N] {
    const HAS_ENTITIES: bool = T::HAS_ENTITIES && N > 0;

    #[inline]
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        self.iter_mut().for_each(|value| value.map_entities(map));
    }
}

impl<T: MapEntities> MapEntities for Option<T> {
    const HAS_ENTITIES: bool = T::HAS_ENTITIES;

    #[inline]
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        self.iter_mut().for_each(|value| value.map_entities(map));
    }
}

impl<T: MapEntities> MapEntities for Vec<T> {
    const HAS_ENTITIES: bool = T::HAS_ENTITIES;

    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        self.iter_mut().for_each(|value| value.map_entities(map));
    }
}

/// Replaces the ids in a value by the results of a function for them.
#[doc(hidden)]
pub type MapValue<T> = fn(&mut T, &mut dyn FnMut(Entity) -> Entity);

/// Finds the ids in values of one component, if the values are bytes.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct References(Finder);

#[derive(Clone, Copy)]
enum Finder {
    Type { type_id: fn() -> TypeId, map: fn(&mut [u8], &mut dyn FnMut(Entity) -> Entity) },
    Layout(&'static LayoutFields),
}

impl References {
    /// The ids in values of `T`. `None` if they have none.
    #[must_use]
    pub(super) const fn of<T: Plain + MapEntities>() -> Option<Self> {
        if T::HAS_ENTITIES {
            Some(Self(Finder::Type { type_id: TypeId::of::<T>, map: map_values::<T> }))
        } else {
            None
        }
    }

    /// The ids in values of a layout. `None` if they have none.
    pub(super) fn of_layout(fields: &'static LayoutFields) -> Option<Self> {
        fields.have_entities().then_some(Self(Finder::Layout(fields)))
    }

    /// The component of the values.
    pub(crate) fn identity(&self) -> Identity {
        match self.0 {
            Finder::Type { type_id, .. } => Identity::of_type(type_id()),
            Finder::Layout(fields) => fields.identity,
        }
    }

    /// Replaces the ids in some values, which are bytes. Bytes that were values of the component
    /// before stay values of it, also after a panic; other bytes do not change.
    pub(crate) fn map(&self, bytes: &mut [u8], map: &mut dyn FnMut(Entity) -> Entity) {
        match self.0 {
            Finder::Type { map: map_values, .. } => map_values(bytes, map),
            Finder::Layout(fields) => fields.map_entities(bytes, map),
        }
    }
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("References").field(&self.identity()).finish()
    }
}

fn map_values<T: Plain + MapEntities>(bytes: &mut [u8], map: &mut dyn FnMut(Entity) -> Entity) {
    if let Ok(values) = bytemuck::checked::try_cast_slice_mut::<u8, T>(bytes) {
        return values.iter_mut().for_each(|value| value.map_entities(map));
    }
    // The bytes are not aligned for the type.
    for bytes in bytes.chunks_exact_mut(size_of::<T>().max(1)) {
        if let Ok(mut value) = bytemuck::checked::try_pod_read_unaligned::<T>(bytes) {
            value.map_entities(map);
            bytes.copy_from_slice(bytemuck::bytes_of(&value));
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};

    use super::*;
    use crate::component::Component as _;

    #[derive(Clone, Copy, Debug, NoUninit, Zeroable, CheckedBitPattern)]
    #[repr(C)]
    struct Link {
        to: Entity,
        strong: bool,
        rest: [u8; 3],
    }
    #[derive(Clone, Copy, NoUninit, Zeroable, CheckedBitPattern)]
    #[repr(C)]
    struct Switch(bool);
    crate::impl_component!(Link, Switch);

    impl MapEntities for Link {
        fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
            self.to.map_entities(map);
        }
    }

    fn bytes_of_link(index: u32) -> Vec<u8> {
        let link = Link { to: Entity::new(index, 1), strong: true, rest: [0; 3] };
        bytemuck::bytes_of(&link).to_vec()
    }

    #[test]
    fn arrays_have_the_ids_of_their_elements() {
        const { assert!(<[Entity; 2]>::HAS_ENTITIES && !<[Entity; 0]>::HAS_ENTITIES) };
        let mut ids = [[1, 2], [3, 4]].map(|pair| pair.map(|index| Entity::new(index, 1)));
        ids.map_entities(&mut |old| Entity::new(old.index() + 10, 2));
        assert_eq!(ids.map(|pair| pair.map(Entity::index)), [[11, 12], [13, 14]]);
    }

    #[test]
    fn options_and_vectors_have_the_ids_of_their_elements() {
        const { assert!(<Vec<Option<Entity>>>::HAS_ENTITIES && !<Vec<[Entity; 0]>>::HAS_ENTITIES) };
        let mut ids = [Some(1), None, Some(3)].map(|id| id.map(|index| Entity::new(index, 1)));
        let mut list = ids.to_vec();
        ids.map_entities(&mut |old| Entity::new(old.index() + 10, 2));
        list.map_entities(&mut |old| Entity::new(old.index() + 10, 2));
        assert_eq!(list, ids);
        assert_eq!(ids.map(|id| id.map(Entity::index)), [Some(11), None, Some(13)]);
    }

    #[test]
    fn bytes_at_any_address_are_mapped_and_those_that_are_no_value_are_left() {
        assert!(Switch::about().references().is_none());
        let references = Link::about().references().expect("a link has an id");
        // One of the two is not aligned.
        for skipped in [0, 1] {
            let mut bytes = vec![9; skipped];
            (1..4).for_each(|index| bytes.extend(bytes_of_link(index)));
            references.map(&mut bytes[skipped..], &mut |old| Entity::new(old.index() + 5, 1));
            assert_eq!(bytes[skipped..], [6, 7, 8].map(bytes_of_link).concat());
            // The byte of a `bool` is 2.
            bytes[skipped + size_of::<Link>() + 8] = 2;
            references.map(&mut bytes[skipped..], &mut |_| Entity::new(1, 1));
            let kept = &bytes[skipped + size_of::<Link>()..][..4];
            assert_eq!(kept, 7u32.to_ne_bytes());
        }
    }

    #[test]
    fn a_panic_leaves_values() {
        let references = Link::about().references().expect("a link has an id");
        let mut bytes = [1, 2, 3].map(bytes_of_link).concat();
        let mut map = |old: Entity| {
            assert!(old.index() != 2, "two");
            Entity::NULL
        };
        let panic = crate::payload::Payload::catch(|| references.map(&mut bytes, &mut map));
        assert_eq!(panic.expect_err("two").text(), Some("two"));
        assert_eq!(bytes[size_of::<Link>()..], [2, 3].map(bytes_of_link).concat());
    }
}
