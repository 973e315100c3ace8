//! Shared types by the names that they have in bytes, and tags for values that are read from there.

use core::any::{TypeId, type_name};

use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::component_info::ComponentInfo;
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
    pub(crate) number: usize,
    pub(crate) marker: ComponentId,
    pub(crate) codec: &'r SharedCodec,
}

impl NamedShared<'_> {
    /// Whether two values of the type are equal. Runs the user's code.
    pub(crate) fn are_equal(&self, a: &AnyValue, b: &AnyValue) -> bool {
        (self.of_type.are_equal)(a, b)
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
            let owner = of_type.name;
            assert!(
                known != name || of_type.type_id == own,
                "two shared types are named `{name}`: this world has `{owner}`, so `{}` needs \
                 another name in `SharedValuesMut::encode`",
                type_name::<T>()
            );
            assert!(
                known == name || of_type.type_id != own,
                "the shared type `{owner}` is named `{known}` in this world, so it cannot be named \
                 `{name}` as well: `SharedValuesMut::encode` gives a type one name",
            );
        }
        self.register_shared::<T>();
        let of_type = self.shared.types.iter_mut().find(|of_type| of_type.type_id == own);
        of_type.expect("the type is registered").codec = Some(codec);
    }

    /// Sets the replacement of ids in values of type `T`.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types.
    pub(crate) fn map_shared<T: SharedValue>(&mut self, map: SharedMap) {
        self.register_shared::<T>();
        let own = TypeId::of::<T>();
        let of_type = self.shared.types.iter_mut().find(|of_type| of_type.type_id == own);
        of_type.expect("the type is registered").map = Some(map);
    }

    /// The shared type that has a name in bytes.
    pub(crate) fn shared_named(&self, name: &str) -> Option<NamedShared<'_>> {
        self.shared.types.iter().enumerate().find_map(|(number, of_type)| {
            let codec = of_type.codec.as_ref().filter(|codec| codec.name() == name)?;
            Some(NamedShared { of_type, number, marker: of_type.marker, codec })
        })
    }

    /// Whether there is room for `n` more types and shared values.
    pub(crate) const fn has_room_for(&self, n: usize) -> bool {
        self.infos.len() + n <= ComponentId::COUNT_MAX as usize
    }

    /// The names of the shared type of a marker or a tag. `None` for other components.
    pub(crate) fn shared_names(&self, id: ComponentId) -> Option<impl Ord + use<>> {
        self.info(id).is_shared().then(|| self.shared.type_like(id).names())
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
        Some((self.shared.type_like(tag).are_equal)(&own, &theirs))
    }

    /// The tags of a type, in the order of their ids. O(tags of all types).
    pub(crate) fn shared_tags(&self, number: usize) -> Vec<ComponentId> {
        let tags = self.shared.tags.iter().filter(|(_, (of, _))| *of == number);
        let mut tags: Vec<_> = tags.map(|(&tag, _)| tag).collect();
        tags.sort_unstable();
        tags
    }

    /// Adds tags to a type, for a state that has more of them. Until the world has that state,
    /// later values get them in the order in which they would have been made.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types and values.
    pub(crate) fn add_shared_tags(&mut self, number: usize, len: usize) {
        let Self { infos, shared, .. } = self;
        let (type_id, name) = shared.types[number].of_tag;
        let new: Vec<_> =
            (0..len).map(|_| push(infos, ComponentInfo::of_shared(type_id, name))).collect();
        shared.add_unassigned(number, new);
    }

    /// Takes back all components from number `len` on. They must be tags that
    /// [`Registry::add_shared_tags`] has added, and unused.
    pub(crate) fn forget_shared_tags(&mut self, len: usize) {
        if self.infos.len() > len {
            self.infos.truncate(len);
            self.shared.forget(|tag| tag.index() >= len);
        }
    }
}
