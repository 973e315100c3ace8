//! The component types of a world, numbered in the order in which they were first seen.

use core::any::TypeId;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::Component;

/// A component type's number in its world: dense, from zero, in order of first use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentId(pub(crate) u32);

impl ComponentId {
    /// What a lookup without registration answers for a type this world has not seen. No set
    /// contains it.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
    /// Component types in one world. Column numbers are 16 bits wide and `u16::MAX` is "absent".
    pub(crate) const COUNT_MAX: u32 = u16::MAX as u32;

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// What a world knows of a component type: its name and the shape of one row of its column.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// component!(Health as "health");
/// let mut world = World::new();
/// world.spawn(Health(1.0));
/// let archetype = world.archetypes().find(|a| !a.is_empty()).unwrap();
/// let info = archetype.components().next().unwrap();
/// assert_eq!((info.name(), info.size(), info.align()), ("health", 4, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentInfo {
    name: &'static str,
    type_id: TypeId,
    size: usize,
    align: usize,
}

impl ComponentInfo {
    fn of<C: Component>() -> Self {
        Self {
            name: C::NAME,
            type_id: TypeId::of::<C>(),
            size: size_of::<C>(),
            align: align_of::<C>(),
        }
    }

    /// The stable name, [`Component::NAME`].
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes of one row; zero for a tag.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Alignment of the type in bytes. Columns are aligned to at least a cache line.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align
    }
}

/// A registry's number, which no other in this process has: numbers of components mean something
/// in their own registry only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegistryId(u64);

impl Default for RegistryId {
    fn default() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self(IDS.fetch_add(1, Ordering::Relaxed))
    }
}

/// The component types of one world.
#[derive(Debug, Default)]
pub struct Registry {
    own: RegistryId,
    infos: Vec<ComponentInfo>,
    by_type: FxHashMap<TypeId, ComponentId>,
    by_name: FxHashMap<&'static str, ComponentId>,
}

impl Registry {
    /// Which registry this is.
    pub(crate) const fn own_id(&self) -> RegistryId {
        self.own
    }

    /// Types that are known.
    pub(crate) const fn len(&self) -> usize {
        self.infos.len()
    }

    /// The number of `C`, given now if `C` is new.
    ///
    /// # Panics
    ///
    /// If another type with the same name is registered, or the world has its maximum of types.
    pub(crate) fn register<C: Component>(&mut self) -> ComponentId {
        match self.id::<C>() {
            ComponentId::UNKNOWN => self.add(ComponentInfo::of::<C>()),
            id => id,
        }
    }

    /// The number of `C`, or [`ComponentId::UNKNOWN`].
    #[inline]
    pub(crate) fn id<C: Component>(&self) -> ComponentId {
        if let Some(hint) = C::hint() {
            let id = ComponentId(hint.get());
            let hinted = self.infos.get(id.index());
            if hinted.is_some_and(|info| info.type_id == TypeId::of::<C>()) {
                return id;
            }
        }
        self.find::<C>()
    }

    /// [`Registry::id`] by hashing, which leaves a hint.
    #[cold]
    fn find<C: Component>(&self) -> ComponentId {
        let Some(&id) = self.by_type.get(&TypeId::of::<C>()) else { return ComponentId::UNKNOWN };
        if let Some(hint) = C::hint() {
            hint.set(id.0);
        }
        id
    }

    #[inline]
    pub(crate) fn info(&self, id: ComponentId) -> &ComponentInfo {
        &self.infos[id.index()]
    }

    #[cold]
    fn add(&mut self, info: ComponentInfo) -> ComponentId {
        if let Some(&other) = self.by_name.get(info.name) {
            panic!(
                "two component types are named `{}` ({:?} and {:?}): give one of them another \
                 name with `component!(Type as \"name\")`",
                info.name,
                self.info(other).type_id,
                info.type_id,
            );
        }
        let id = u32::try_from(self.infos.len())
            .ok()
            .filter(|&id| id < ComponentId::COUNT_MAX)
            .map(ComponentId)
            .expect("a world has at most 65,535 component types");
        self.infos.push(info);
        self.by_type.insert(info.type_id, id);
        self.by_name.insert(info.name, id);
        id
    }
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
    crate::component!(First, Second as "second", Impostor as "second");

    #[test]
    fn ids_are_dense_and_stable() {
        let mut registry = Registry::default();
        assert_eq!(registry.id::<First>(), ComponentId::UNKNOWN);
        assert_eq!(registry.register::<Second>(), ComponentId(0));
        assert_eq!(registry.register::<First>(), ComponentId(1));
        assert_eq!(registry.register::<Second>(), ComponentId(0));
        assert_eq!(registry.id::<First>(), ComponentId(1));
        assert_eq!(registry.info(ComponentId(0)).size(), 8);
    }

    #[test]
    #[should_panic(expected = "two component types are named `second`")]
    fn two_types_of_one_name_are_refused() {
        let mut registry = Registry::default();
        registry.register::<Second>();
        registry.register::<Impostor>();
    }
}
