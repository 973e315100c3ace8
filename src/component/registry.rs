//! The registry: the component types of a world, with ids in order of first use.

use core::any::{TypeId, type_name};
use core::error::Error;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Component;
use super::about::{About, ComponentShape};
use super::chunk_shape::ChunkShape;
use super::component_id::ComponentId;
use super::hidden::{Gone, Prototype};
use super::map_entities::References;
use super::shared_slot::SharedSlot;
use super::shared_types::{SharedRow, SharedTypes};
use super::shared_value::{Shared, SharedTag, SharedValue};
use super::sparse_names::SparseNames;
use super::values::Values;

/// A component type in a world: its name and the layout of one row of its column.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(name = "health")]
/// struct Health(f32);
/// let mut world = World::new();
/// world.spawn(Health(1.0));
/// let archetype = world.reflect().archetypes().find(|a| !a.is_empty()).unwrap();
/// let info = archetype.components().next().unwrap();
/// assert_eq!((info.name(), info.size(), info.align()), ("health", 4, 4));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ComponentInfo {
    name: &'static str,
    path: &'static str,
    type_id: TypeId,
    size: usize,
    align: usize,
    hidden: bool,
    cleanup: bool,
    copied: bool,
    values: Values,
    enableable: bool,
    tracks_lines: bool,
    /// Whether it represents a value that entities share.
    shared: bool,
    pub(super) about: About,
}

impl PartialEq for ComponentInfo {
    fn eq(&self, other: &Self) -> bool {
        self.type_id == other.type_id
    }
}

impl Eq for ComponentInfo {}

impl ComponentInfo {
    pub(crate) fn of<C: Component>() -> Self {
        Self {
            name: C::NAME,
            path: type_name::<C>(),
            type_id: TypeId::of::<C>(),
            size: size_of::<C>(),
            align: align_of::<C>(),
            hidden: C::HIDDEN,
            cleanup: C::CLEANUP,
            copied: !C::CLEANUP && TypeId::of::<C>() != TypeId::of::<Prototype>(),
            values: Values::of::<C>(),
            enableable: C::ENABLEABLE,
            tracks_lines: C::TRACKS_LINES,
            shared: false,
            about: C::about(),
        }
    }

    /// A tag that no bundle can name and that represents a value which entities share. The id is
    /// the id of its type for callers that compare types.
    pub(super) fn of_shared(type_id: TypeId, name: &'static str) -> Self {
        Self {
            name,
            path: name,
            type_id,
            size: 0,
            align: 1,
            hidden: false,
            cleanup: false,
            copied: true,
            values: Values::of::<Gone>(),
            enableable: false,
            tracks_lines: false,
            shared: true,
            about: About::new(ComponentShape::Struct(&[]), None),
        }
    }

    /// The stable name, [`Component::NAME`].
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The path of the type, as the compiler names it.
    pub(super) const fn path(&self) -> &'static str {
        self.path
    }

    pub(super) const fn type_id(&self) -> TypeId {
        self.type_id
    }

    /// The bytes of one row; zero for a tag.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The alignment of the type in bytes. Columns are aligned to at least a cache line.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align
    }

    /// Whether it hides its entities from queries that do not name it, [`Component::HIDDEN`].
    #[must_use]
    pub const fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Whether it outlives the despawn of its entity, [`Component::CLEANUP`].
    #[must_use]
    pub const fn is_cleanup(&self) -> bool {
        self.cleanup
    }

    /// Whether [`World::instantiate`](crate::World::instantiate) copies it.
    pub(crate) const fn is_copied(&self) -> bool {
        self.copied
    }

    /// Whether it represents a value that entities share, and not a component.
    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether rows have an enable bit for it, [`Component::ENABLEABLE`].
    #[must_use]
    pub const fn is_enableable(&self) -> bool {
        self.enableable
    }

    /// Whether lines of its rows have change versions of their own, [`Component::TRACKS_LINES`].
    #[must_use]
    pub const fn tracks_lines(&self) -> bool {
        self.tracks_lines
    }

    /// The values that its chunks have, if it is [`PerChunk`](crate::chunks::PerChunk).
    pub(crate) const fn chunk_value(&self) -> Option<&ChunkShape> {
        self.about.chunk_value()
    }

    /// The function that finds ids of entities in its values, or in the values of its chunks.
    pub(crate) const fn references(&self) -> Option<References> {
        self.about.references()
    }

    /// Its fields or variants, if [`#[component]`](crate::component) has defined it.
    #[must_use]
    pub const fn shape(&self) -> ComponentShape {
        self.about.shape
    }

    /// If it is a column of a [split component](crate::component#split-components), the names of
    /// all columns of it.
    pub(crate) const fn split_columns(&self) -> &'static [&'static str] {
        self.about.columns()
    }

    /// Prints a value as its type does, or its bytes if the type has no `Debug`.
    pub(crate) fn format(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.about.format {
            Some(format) => format(bytes, f),
            None => write!(f, "{bytes:02x?}"),
        }
    }

    /// The bytes that are values of the type.
    #[inline]
    pub(crate) const fn values(&self) -> Values {
        self.values
    }
}

/// Two component types have one name, and a world can have only one of them.
///
/// The first of the two types that is used in a world (in a spawn, an insertion, an exclusive
/// query, a system) owns the name in that world. Every later use of the other type is refused, even
/// by a query that only reads: methods of [`World`](crate::World) panic with this text, even if
/// they return errors, and a recorded command fails with
/// [`CommandErrorKind::NameTaken`](crate::command::CommandErrorKind::NameTaken).
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::command::{ApplyError, CommandErrorKind};
/// mod old {
///     # use phalanx::prelude::*;
///     #[component(name = "health")]
///     pub struct Health(pub f32);
/// }
/// mod new {
///     # use phalanx::prelude::*;
///     #[component(name = "health")]
///     pub struct Health(pub u32); // should have another name
/// }
/// let mut world = World::new();
/// let entity = world.spawn(old::Health(1.0));
/// let mut buffer = world.command_buffer(0)?;
/// buffer.insert(entity, new::Health(1));
/// let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
/// let CommandErrorKind::NameTaken(taken) = errors.as_slice()[0].fault else { panic!("its name") };
/// assert!(taken.owner.ends_with("old::Health") && taken.refused.ends_with("new::Health"));
/// # Ok::<(), phalanx::error::ReserveError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameTaken {
    /// The name that both types have.
    pub name: &'static str,
    /// The path of the type that owns the name in this world.
    pub owner: &'static str,
    /// The path of the type that was refused.
    pub refused: &'static str,
}

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, owner, refused } = self;
        write!(
            f,
            "two component types are named `{name}`: this world has `{owner}`, so `{refused}` \
             cannot be used in it; give one of them another name: `#[component(name = \"name\")]` \
             where it is defined, `impl_component!(Type as \"name\")` where it is not"
        )
    }
}

impl Error for NameTaken {}

impl NameTaken {
    /// Panics with this error, where no error can be returned.
    #[cold]
    pub(crate) fn refuse(self) -> ! {
        panic!("{self}")
    }
}

/// The id of a registry, unique in the process. Component ids are valid in their own registry only.
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
    pub(super) infos: Vec<ComponentInfo>,
    pub(super) by_type: FxHashMap<TypeId, ComponentId>,
    pub(super) by_name: FxHashMap<&'static str, ComponentId>,
    /// The id of [`Gone`], once there is a cleanup component.
    pub(super) gone: Option<ComponentId>,
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
                    self.gone = Some(self.register::<Gone>()?);
                }
                Ok(self.add(ComponentInfo::of::<C>()))
            }
            id => Ok(id),
        }
    }

    /// The id of [`Gone`], if a cleanup component is registered: without one no entity is ever
    /// gone.
    #[inline]
    pub(crate) const fn gone(&self) -> Option<ComponentId> {
        self.gone
    }

    /// The marker of entities that have a shared value of type `T`, or [`ComponentId::UNKNOWN`].
    pub(crate) fn shared_marker<T: SharedValue>(&self) -> ComponentId {
        self.shared.marker::<T>().unwrap_or(ComponentId::UNKNOWN)
    }

    /// The marker of entities that have a shared value of type `T`, which is registered if it is
    /// new.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types.
    pub(crate) fn register_shared<T: SharedValue>(&mut self) -> ComponentId {
        self.shared.marker::<T>().unwrap_or_else(|| {
            let info = ComponentInfo::of_shared(TypeId::of::<Shared<T>>(), type_name::<T>());
            let marker = push(&mut self.infos, info);
            self.shared.add_type::<T>(marker);
            marker
        })
    }

    /// The marker and the tag of a shared value. A new value gets a tag.
    ///
    /// # Panics
    ///
    /// If the world has its maximum of types and values.
    pub(crate) fn share<T: SharedValue>(&mut self, value: T) -> SharedRow {
        self.register_shared::<T>();
        let is_full = !self.has_room_for(1);
        let Self { infos, shared, .. } = self;
        shared.share(value, is_full, || {
            let type_id = TypeId::of::<SharedTag<T>>();
            push(infos, ComponentInfo::of_shared(type_id, type_name::<Shared<T>>()))
        })
    }

    /// The tag of a shared value that is equal to this one, if entities have one.
    pub(crate) fn shared_tag<T: SharedValue>(&self, value: &T) -> Option<ComponentId> {
        self.shared.find(value)
    }

    /// The slot of a shared value's tag.
    pub(crate) fn shared_slot(&self, tag: ComponentId) -> Option<&Arc<SharedSlot>> {
        self.shared.slot(tag)
    }

    /// The type of the value of a tag, as the compiler names it, and its marker. `None` for other
    /// components.
    pub(crate) fn shared_type(&self, tag: ComponentId) -> Option<(&'static str, ComponentId)> {
        self.shared.type_of(tag)
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
        (hinted.type_id == TypeId::of::<C>()).then_some(id)
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
        let Some(&id) = self.by_type.get(&TypeId::of::<C>()) else {
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
        self.by_type.insert(info.type_id, id);
        self.by_name.insert(info.name, id);
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
