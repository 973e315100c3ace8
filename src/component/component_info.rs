//! The facts about a component type that a world keeps.

use core::any::{TypeId, type_name};
use core::fmt;

use super::Component;
use super::about::{About, ComponentShape, FieldInfo};
use super::chunk_shape::ChunkShape;
use super::field_kind::FieldKind;
use super::hidden::Prototype;
use super::identity::Identity;
use super::layout_properties::LayoutProperties;
use super::map_entities::References;
use super::plain::Plain;
use super::run_time_layout::RunTimeLayout;
use super::shared_place::SharedPlace;
use super::values::Values;

/// A component type in a world: its name and the layout of one row of its column. Or a
/// [relation](crate::sparse::relation), with the layout of the value of a pair: see
/// [`Reflect::pair`](crate::reflect::Reflect::pair).
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
/// let text = r#"ComponentInfo { name: "health", size: 4, align: 4, .. }"#;
/// assert_eq!(format!("{info:?}"), text);
///
/// let fuel = world.reflect_mut().register_layout_with("mod.fuel", ["enableable"], [])?;
/// assert!(format!("{fuel:?}").contains(r#"properties: ["enableable"]"#));
/// # Ok::<(), phalanx::reflect::RegisterError>(())
/// ```
#[derive(Clone, Copy)]
pub struct ComponentInfo {
    name: &'static str,
    path: &'static str,
    identity: Identity,
    size: usize,
    align: usize,
    hidden: bool,
    cleanup: bool,
    copied: bool,
    values: Values,
    enableable: bool,
    tracks_lines: bool,
    /// Its part in a type of shared values, if it represents one.
    shared: Option<SharedPlace>,
    /// Its fields, if it exists at run time only.
    layout: Option<&'static RunTimeLayout>,
    pub(super) about: About,
}

impl PartialEq for ComponentInfo {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for ComponentInfo {}

impl fmt::Debug for ComponentInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, size, align) = (&self.name, &self.size, &self.align);
        let mut shown = f.debug_struct("ComponentInfo");
        shown.field("name", name).field("size", size).field("align", align);
        let Self { hidden, cleanup, enableable, tracks_lines, .. } = *self;
        let words = LayoutProperties { hidden, cleanup, enableable }.words();
        let properties: Vec<_> = words.chain(tracks_lines.then_some("lines")).collect();
        if !properties.is_empty() {
            shown.field("properties", &properties);
        }
        shown.finish_non_exhaustive()
    }
}

impl ComponentInfo {
    pub(crate) fn of<C: Component>() -> Self {
        Self {
            name: C::NAME,
            path: type_name::<C>(),
            identity: Identity::of_type(TypeId::of::<C>()),
            size: size_of::<C>(),
            align: align_of::<C>(),
            hidden: C::HIDDEN,
            cleanup: C::CLEANUP,
            copied: !C::CLEANUP && TypeId::of::<C>() != TypeId::of::<Prototype>(),
            values: Values::of::<C>(),
            enableable: C::ENABLEABLE,
            tracks_lines: C::TRACKS_LINES,
            shared: None,
            layout: None,
            about: C::about(),
        }
    }

    /// A component that exists at run time only.
    pub(super) fn of_layout(layout: &'static RunTimeLayout) -> Self {
        let shape = ComponentShape::Struct(&layout.fields);
        Self {
            name: layout.name,
            path: layout.path,
            identity: layout.bytes.identity,
            size: layout.bytes.size,
            align: layout.bytes.align,
            hidden: layout.properties.hidden,
            cleanup: layout.properties.cleanup,
            copied: !layout.properties.cleanup,
            values: layout.values,
            enableable: layout.properties.enableable,
            tracks_lines: false,
            shared: None,
            layout: Some(layout),
            about: About::new(shape, None).with_references(layout.references),
        }
    }

    /// A tag that no bundle can name, in a type of shared values. The id is the id of its type for
    /// callers that compare types.
    pub(super) fn of_shared(place: SharedPlace, (type_id, name): (TypeId, &'static str)) -> Self {
        Self { copied: true, shared: Some(place), ..Self::without_data(name, (type_id, name)) }
    }

    /// The value of a pair of a relation to many.
    pub(super) fn of_pair<R: Plain>(name: &'static str, about: About) -> Self {
        let values = Values::of::<R>();
        let (size, align) = (size_of::<R>(), align_of::<R>());
        Self { size, align, values, about, ..Self::of_relation::<R>(name) }
    }

    /// A relation of the type `R` without data.
    pub(super) fn of_relation<R: 'static>(name: &'static str) -> Self {
        Self::without_data(name, (TypeId::of::<R>(), type_name::<R>()))
    }

    fn without_data(name: &'static str, (type_id, path): (TypeId, &'static str)) -> Self {
        Self {
            name,
            path,
            identity: Identity::of_type(type_id),
            size: 0,
            align: 1,
            hidden: false,
            cleanup: false,
            copied: false,
            values: Values::ANY,
            enableable: false,
            tracks_lines: false,
            shared: None,
            layout: None,
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

    /// Whether it is the component type `C`.
    #[inline(always)]
    pub(crate) fn is<C: Component>(&self) -> bool {
        self.identity.is_type(TypeId::of::<C>())
    }

    /// Its identity in all worlds.
    pub(crate) const fn identity(&self) -> Identity {
        self.identity
    }

    /// Its fields, if it exists at run time only.
    pub(super) const fn layout(&self) -> Option<&'static RunTimeLayout> {
        self.layout
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

    /// Whether it is a part of a type of shared values, and not a component.
    pub(crate) const fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Its part in a type of shared values.
    pub(crate) const fn shared_place(&self) -> Option<SharedPlace> {
        self.shared
    }

    /// Whether rows have an enable bit for it, [`Component::ENABLEABLE`].
    #[must_use]
    pub const fn is_enableable(&self) -> bool {
        self.enableable
    }

    /// Whether its rows are found by versions of 64 rows, [`Component::TRACKS_LINES`].
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

    /// Its fields or variants, if [`#[component]`](crate::component) has defined it, or it is
    /// [registered at run time](crate::reflect::ReflectMut::register_layout).
    #[must_use]
    pub const fn shape(&self) -> ComponentShape {
        self.about.shape
    }

    /// If it is a column of a [split component](crate::component#split-components), the names of
    /// all columns of it.
    pub(crate) const fn split_columns(&self) -> &'static [&'static str] {
        self.about.columns()
    }

    /// The first field with bytes that are no value of it, among fields of types that a layout may
    /// have.
    #[cold]
    pub(crate) fn refused_field(&self, value: &[u8]) -> Option<FieldInfo> {
        let ComponentShape::Struct(fields) = self.shape() else { return None };
        let is_refused = |field: &&FieldInfo| {
            let bytes = value.get(field.offset..).and_then(|bytes| bytes.get(..field.size));
            let kind = FieldKind::named(field.type_name);
            let kind = kind.filter(|kind| kind.size() == field.size);
            bytes.zip(kind).is_some_and(|(bytes, kind)| !kind.accepts(bytes))
        };
        fields.iter().find(is_refused).copied()
    }

    /// Prints a value as its type does, or its bytes if the type has no `Debug`.
    pub(crate) fn format(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.about.format, self.layout) {
            (Some(format), _) => format(bytes, f),
            (None, Some(layout)) => layout.format(bytes, f),
            (None, None) => write!(f, "{bytes:02x?}"),
        }
    }

    /// The bytes that are values of the type.
    #[inline]
    pub(crate) const fn values(&self) -> Values {
        self.values
    }
}
