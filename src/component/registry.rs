//! The registry: the component types of a world, with ids in order of first use.

use core::any::{TypeId, type_name};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::unique::unique_number;

use super::Component;
use super::any_value::AnyValue;
use super::component_id::ComponentId;
use super::component_info::ComponentInfo;
use super::component_set::ComponentSet;
use super::held_value::HeldValue;
use super::hidden::{Gone, HasSparseCleanup};
use super::identity::Identity;
use super::name_taken::NameTaken;
use super::shared_place::SharedPlace;
use super::shared_slot::SharedSlot;
use super::shared_types::{SharedFacts, SharedRow, SharedType, SharedTypes};
use super::shared_value::SharedValue;
use super::sparse_names::SparseNames;

/// The id of a registry, unique in the process. Component ids are valid in their own registry only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegistryId(u64);

impl Default for RegistryId {
    fn default() -> Self {
        Self(unique_number())
    }
}

/// The component types of one world.
#[derive(Debug, Default)]
pub struct Registry {
    own: RegistryId,
    pub(super) infos: Vec<ComponentInfo>,
    pub(super) by_identity: FxHashMap<Identity, ComponentId>,
    pub(super) by_name: FxHashMap<&'static str, ComponentId>,
    /// The id of [`Gone`], once it is registered.
    pub(super) gone: Option<ComponentId>,
    /// The id of [`HasSparseCleanup`], once it is registered.
    pub(super) sparse_cleanup_tag: Option<ComponentId>,
    pub(super) shared: SharedTypes,
    pub(super) sparse: SparseNames,
}

impl Registry {
    /// The id of this registry.
    pub(crate) const fn own_id(&self) -> RegistryId {
        self.own
    }

    /// The number of component types.
    pub(crate) const fn len(&self) -> usize {
        self.infos.len()
    }

    /// The id of `C`, which is registered if it is new.
    ///
    /// # Errors
    ///
    /// If another type has the name of `C`.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types.
    pub(crate) fn register<C: Component>(&mut self) -> Result<ComponentId, NameTaken> {
        match self.known::<C>()? {
            ComponentId::UNKNOWN => {
                if C::CLEANUP {
                    self.register::<Gone>()?;
                }
                Ok(self.add(ComponentInfo::of::<C>()))
            }
            id => Ok(id),
        }
    }

    /// The id of [`Gone`], which is registered before the first cleanup component: without one no
    /// entity is ever gone.
    #[inline]
    pub(crate) const fn gone(&self) -> Option<ComponentId> {
        self.gone
    }

    /// The id of [`HasSparseCleanup`], which is registered before the first sparse cleanup
    /// component.
    #[inline]
    pub(crate) const fn sparse_cleanup_tag(&self) -> Option<ComponentId> {
        self.sparse_cleanup_tag
    }

    /// Whether entities of this set are free, because they are gone and have no cleanup component.
    pub(crate) fn is_over(&self, set: &ComponentSet) -> bool {
        self.gone.is_some_and(|gone| set.iter().eq([gone]))
    }

    /// The marker of entities that have a shared value of type `T`, or [`ComponentId::UNKNOWN`].
    pub(crate) fn shared_marker<T: SharedValue>(&self) -> ComponentId {
        self.shared.get(TypeId::of::<T>()).map_or(ComponentId::UNKNOWN, |of_type| of_type.marker)
    }

    /// The marker of entities that have a shared value of type `T`, which is registered if it is
    /// new.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types.
    pub(crate) fn register_shared<T: SharedValue>(&mut self) -> ComponentId {
        let Self { infos, shared, .. } = self;
        shared.add_type(SharedFacts::of::<T>(), |info| push(infos, info))
    }

    /// The marker and the tag of a shared value. A new value gets a tag.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types and values.
    pub(crate) fn share<T: SharedValue>(&mut self, value: T) -> SharedRow {
        self.register_shared::<T>();
        let Self { infos, shared, .. } = self;
        shared.share(value, |info| push(infos, info))
    }

    /// The tag of a shared value that is equal to this one, if entities have one.
    pub(crate) fn shared_tag<T: SharedValue>(&self, value: &T) -> Option<ComponentId> {
        self.shared.find(value)
    }

    /// The type of a marker or a tag.
    pub(super) fn shared_type_of(&self, id: ComponentId) -> Option<&SharedType> {
        let (SharedPlace::Marker(of) | SharedPlace::Tag { of, .. }) =
            self.info(id).shared_place()?;
        self.shared.numbered(of)
    }

    /// The slot of a shared value's tag. `None` for other components.
    pub(crate) fn shared_slot(&self, tag: ComponentId) -> Option<&Arc<SharedSlot>> {
        match self.info(tag).shared_place()? {
            SharedPlace::Marker(_) => None,
            SharedPlace::Tag { of, number } => Some(self.shared.numbered(of)?.table.slot(number)),
        }
    }

    /// Gives a tag its value back, unless it has it. The caller owns the value until an archetype
    /// does.
    ///
    /// # Panics
    ///
    /// If it is not a tag.
    pub(crate) fn own_shared(
        &mut self,
        tag: ComponentId,
        (value, hash): (&Arc<AnyValue>, u64),
    ) -> Arc<HeldValue> {
        let Some(SharedPlace::Tag { of, number }) = self.info(tag).shared_place() else {
            panic!("a shared value has no tag")
        };
        self.shared.types[usize::from(of)].table.hold(number, value, hash)
    }

    /// The name of a shared type with a table of numbers that contradicts itself or the registry,
    /// and the contradiction. O(types and tags).
    pub(crate) fn find_shared_defect(&self) -> Option<(&'static str, &'static str)> {
        let mut tags_len = vec![0; self.shared.types.len()];
        for info in &self.infos {
            if let Some(SharedPlace::Tag { of, .. }) = info.shared_place() {
                tags_len[usize::from(of)] += 1;
            }
        }
        self.shared.types.iter().zip(tags_len).find_map(|(of_type, len)| {
            let is_tag = |id: ComponentId, number| {
                let place = self.infos.get(id.index()).and_then(ComponentInfo::shared_place);
                place == Some(SharedPlace::Tag { of: of_type.number, number })
            };
            let lost = (of_type.table.len() != len).then_some("a tag has no number");
            Some((of_type.facts.name, of_type.table.find_defect(is_tag).or(lost)?))
        })
    }

    /// The type of the value of a tag, as the compiler names it, and its marker. `None` for other
    /// components.
    pub(crate) fn shared_type(&self, tag: ComponentId) -> Option<(&'static str, ComponentId)> {
        let of_type = self.shared_type_of(tag).filter(|of_type| of_type.marker != tag)?;
        Some((of_type.facts.name, of_type.marker))
    }

    /// The id of `C`, or [`ComponentId::UNKNOWN`].
    ///
    /// # Panics
    ///
    /// If another type has the name of `C`.
    #[inline]
    pub(crate) fn id<C: Component>(&self) -> ComponentId {
        self.hinted::<C>().unwrap_or_else(|| self.find_or_refuse::<C>())
    }

    /// The id of `C`, or [`ComponentId::UNKNOWN`].
    ///
    /// # Errors
    ///
    /// If another type has the name of `C`.
    pub(crate) fn known<C: Component>(&self) -> Result<ComponentId, NameTaken> {
        self.hinted::<C>().map_or_else(|| self.find::<C>(), Ok)
    }

    /// The id of `C`, if its hint is valid in this registry.
    #[inline(always)]
    pub(crate) fn hinted<C: Component>(&self) -> Option<ComponentId> {
        let id = ComponentId(C::hint()?.get());
        let hinted = self.infos.get(id.index())?;
        hinted.is::<C>().then_some(id)
    }

    #[cold]
    fn find_or_refuse<C: Component>(&self) -> ComponentId {
        match self.find::<C>() {
            Ok(id) => id,
            Err(taken) => taken.refuse(),
        }
    }

    /// [`Registry::known`] by hashing. It sets the hint.
    fn find<C: Component>(&self) -> Result<ComponentId, NameTaken> {
        let Some(&id) = self.by_identity.get(&Identity::of_type(TypeId::of::<C>())) else {
            return match self.owner_of(C::NAME) {
                None => Ok(ComponentId::UNKNOWN),
                Some(owner) => Err(NameTaken { name: C::NAME, owner, refused: type_name::<C>() }),
            };
        };
        if let Some(hint) = C::hint() {
            hint.set(id.0);
        }
        Ok(id)
    }

    /// The id of the type with a name, if it exists.
    pub(crate) fn id_of_name(&self, name: &str) -> Option<ComponentId> {
        self.by_name.get(name).copied()
    }

    /// Checks that no other column has the name of this one.
    pub(crate) fn check_column(&self, info: &ComponentInfo) -> Result<(), NameTaken> {
        match self.id_of_name(info.name()).map(|id| self.info(id)) {
            Some(owner) if owner != info => {
                let (owner, refused) = (owner.path(), info.path());
                Err(NameTaken { name: info.name(), owner, refused })
            }
            _ => Ok(()),
        }
    }

    /// All types, in the order of their ids.
    pub(crate) fn infos(&self) -> &[ComponentInfo] {
        &self.infos
    }

    #[inline]
    pub(crate) fn info(&self, id: ComponentId) -> &ComponentInfo {
        &self.infos[id.index()]
    }

    #[cold]
    pub(super) fn add(&mut self, info: ComponentInfo) -> ComponentId {
        let id = push(&mut self.infos, info);
        if info.is::<Gone>() {
            self.gone = Some(id);
        } else if info.is::<HasSparseCleanup>() {
            self.sparse_cleanup_tag = Some(id);
        }
        self.by_identity.insert(info.identity(), id);
        self.by_name.insert(info.name(), id);
        id
    }
}

/// Adds a component type.
pub(super) fn push(infos: &mut Vec<ComponentInfo>, info: ComponentInfo) -> ComponentId {
    let id = u32::try_from(infos.len())
        .ok()
        .filter(|&id| id < ComponentId::COUNT_MAX)
        .map(ComponentId)
        .expect("the world already has the maximum of 65,535 component types and shared values");
    infos.push(info);
    id
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct First(u32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Second(u64);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Impostor(u8);
    crate::impl_component!(First, Second as "second", Impostor as "second");

    #[test]
    fn ids_are_dense_and_stable() {
        let mut registry = Registry::default();
        assert_eq!(registry.id::<First>(), ComponentId::UNKNOWN);
        assert_eq!(registry.register::<Second>(), Ok(ComponentId(0)));
        assert_eq!(registry.register::<First>(), Ok(ComponentId(1)));
        assert_eq!(registry.register::<Second>(), Ok(ComponentId(0)));
        assert_eq!(registry.id::<First>(), ComponentId(1));
        assert_eq!(registry.info(ComponentId(0)).size(), 8);
    }

    #[test]
    fn two_types_of_one_name_are_refused_by_their_paths() {
        let mut registry = Registry::default();
        assert_eq!(registry.known::<Impostor>(), Ok(ComponentId::UNKNOWN), "the name is free");
        registry.register::<Second>().expect("the name is free");
        let taken = registry.register::<Impostor>().expect_err("the name is taken");
        assert_eq!(registry.known::<Impostor>(), Err(taken));
        assert_eq!((taken.name, registry.len()), ("second", 1));
        assert!(taken.owner.ends_with("tests::Second"), "{taken}");
        assert!(taken.refused.ends_with("tests::Impostor"), "{taken}");
    }
}
