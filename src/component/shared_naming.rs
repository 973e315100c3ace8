//! Shared types by the names that they have in bytes, and tags for values that are read from there.

use core::any::{TypeId, type_name};

use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::registry::{Registry, push};
use super::shared_codec::SharedCodec;
use super::shared_map::SharedMap;
use super::shared_types::SharedType;
use super::shared_value::SharedValue;

/// A type of shared values that has a name in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedShared<'r> {
    of_type: &'r SharedType,
    /// Its number in this world.
    pub(crate) number: u16,
    pub(crate) marker: ComponentId,
    pub(crate) codec: &'r SharedCodec,
}

impl NamedShared<'_> {
    /// Whether two values of the type are equal. Runs the user's code.
    pub(crate) fn are_equal(&self, a: &AnyValue, b: &AnyValue) -> bool {
        (self.of_type.facts.are_equal)(a, b)
    }
}

impl Registry {
    /// Sets the conversion between values of type `T` and bytes.
    ///
    /// # Panics
    ///
    /// If another type has the name, the type has another name, or the world has its maximum of
    /// types.
    pub(crate) fn encode_shared<T: SharedValue>(&mut self, codec: SharedCodec) {
        let (name, own) = (codec.name(), TypeId::of::<T>());
        for of_type in &self.shared.types {
            let Some(known) = of_type.codec.as_ref().map(SharedCodec::name) else { continue };
            let owner = of_type.facts.name;
            assert!(
                known != name || of_type.facts.type_id == own,
                "two shared types are named `{name}`: this world has `{owner}`, so `{}` needs \
                 another name in `SharedValuesMut::encode`",
                type_name::<T>()
            );
            assert!(
                known == name || of_type.facts.type_id != own,
                "the shared type `{owner}` is named `{known}` in this world, so it cannot be named \
                 `{name}` as well: `SharedValuesMut::encode` gives a type one name",
            );
        }
        self.register_shared::<T>();
        self.shared.get_mut(own).expect("the type is registered").codec = Some(codec);
    }

    /// Sets the replacement of ids in values of type `T`.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types.
    pub(crate) fn map_shared<T: SharedValue>(&mut self, map: SharedMap) {
        self.register_shared::<T>();
        self.shared.get_mut(TypeId::of::<T>()).expect("the type is registered").map = Some(map);
    }

    /// The shared type that has a name in bytes.
    pub(crate) fn shared_named(&self, name: &str) -> Option<NamedShared<'_>> {
        self.shared.types.iter().find_map(|of_type| {
            let codec = of_type.codec.as_ref().filter(|codec| codec.name() == name)?;
            let &SharedType { number, marker, .. } = of_type;
            Some(NamedShared { of_type, number, marker, codec })
        })
    }

    /// Whether there is room for `n` more types and shared values.
    pub(crate) const fn has_room_for(&self, n: usize) -> bool {
        self.infos.len() + n <= ComponentId::COUNT_MAX as usize
    }

    /// The names of the shared type of a marker or a tag. `None` for other components.
    pub(crate) fn shared_names(&self, id: ComponentId) -> Option<impl Ord + use<>> {
        self.shared_type_of(id).map(SharedType::names)
    }

    /// Whether a tag of this world and a tag of another have equal values. `None` if they are other
    /// components, or have no value. Runs the user's code.
    pub(crate) fn are_equal_tags(
        &self,
        tag: ComponentId,
        other: &Self,
        theirs: ComponentId,
    ) -> Option<bool> {
        let (own, theirs) = (self.shared_slot(tag)?.get()?, other.shared_slot(theirs)?.get()?);
        Some((self.shared_type_of(tag)?.facts.are_equal)(&own, &theirs))
    }

    /// The conversions of values to bytes, by the numbers of the types.
    pub(crate) fn shared_codecs(&self) -> Vec<Option<SharedCodec>> {
        self.shared.types.iter().map(|of_type| of_type.codec.clone()).collect()
    }

    /// The tag of the value with a number, in the type `of`. `None` if it would be a new one and
    /// leave room for fewer than `left` more types and values.
    pub(crate) fn shared_tag_numbered(
        &mut self,
        of: u16,
        number: u32,
        left: usize,
    ) -> Option<ComponentId> {
        let has_room = self.has_room_for(1 + left);
        let Self { infos, shared, .. } = self;
        let of_type = &mut shared.types[usize::from(of)];
        (has_room || of_type.table.has_tag(number))
            .then(|| of_type.tag(number, |info| push(infos, info)))
    }

    /// Takes back all components from number `len` on. They must be tags that
    /// [`Registry::shared_tag_numbered`] has added, and unused.
    pub(crate) fn forget_shared_tags(&mut self, len: usize) {
        if self.infos.len() > len {
            self.infos.truncate(len);
            let types = self.shared.types.iter_mut();
            types.for_each(|of_type| of_type.table.forget(|tag| tag.index() >= len));
        }
    }
}
