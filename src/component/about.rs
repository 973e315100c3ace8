//! Information about a component type: its fields or variants, and the printing of a value.

use core::fmt;

use super::chunk_shape::ChunkShape;
use super::map_entities::References;

/// Prints the value with these bytes.
pub(super) type Format = fn(&[u8], &mut fmt::Formatter<'_>) -> fmt::Result;

/// The facts that [`#[component]`](crate::component) knows about a type.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct About {
    pub shape: ComponentShape,
    /// `None` for a type without `Debug`.
    pub format: Option<Format>,
    /// The names of all columns of the split component that it belongs to; otherwise none.
    columns: &'static [&'static str],
    /// The values of its chunks, if it is [`PerChunk`](super::per_chunk::PerChunk).
    chunk_value: Option<ChunkShape>,
    /// The shape of these values.
    value_shape: Option<ComponentShape>,
    /// The function that finds ids of entities in its values, or in the values of its chunks.
    references: Option<References>,
}

impl About {
    /// Facts about a type without information.
    pub(super) const NOTHING: Self = Self::new(ComponentShape::Opaque, None);

    /// Facts about a type that is not a column of a split component.
    #[must_use]
    pub const fn new(
        shape: ComponentShape,
        format: Option<fn(&[u8], &mut fmt::Formatter<'_>) -> fmt::Result>,
    ) -> Self {
        Self { shape, format, columns: &[], chunk_value: None, value_shape: None, references: None }
    }

    /// The same with ids of entities in its values.
    #[must_use]
    pub const fn with_references(self, references: Option<References>) -> Self {
        Self { references, ..self }
    }

    /// The function that finds ids of entities in its values, if they have any.
    pub(super) const fn references(&self) -> Option<References> {
        self.references
    }

    /// The same as one of the columns of a split component.
    pub(super) const fn in_columns(self, columns: &'static [&'static str]) -> Self {
        Self { columns, chunk_value: None, value_shape: None, ..self }
    }

    /// The same with a value per chunk, which has the shape `shape`.
    pub(super) const fn with_chunk_value(self, value: ChunkShape, shape: ComponentShape) -> Self {
        Self { chunk_value: Some(value), value_shape: Some(shape), ..self }
    }

    /// The shape of the values of its chunks.
    pub(super) const fn value_shape(&self) -> Option<ComponentShape> {
        self.value_shape
    }

    /// The values of its chunks.
    pub(super) const fn chunk_value(&self) -> Option<&ChunkShape> {
        self.chunk_value.as_ref()
    }

    /// The names of all columns of its split component, its own among them.
    pub(super) const fn columns(&self) -> &'static [&'static str] {
        self.columns
    }
}

impl fmt::Debug for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_format = self.format.is_some();
        f.debug_struct("About").field("shape", &self.shape).field("debug", &has_format).finish()
    }
}

/// The parts of a value of a component type.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::reflect::ComponentShape;
///
/// #[component]
/// struct Position { x: f32, y: f32 }
/// #[component]
/// enum State { Idle, Dead = 9 }
/// let mut world = World::new();
/// world.register::<(Position, State)>();
/// let position = world.reflect().component(Position::NAME).unwrap();
/// let ComponentShape::Struct(fields) = position.shape() else { panic!("it is a struct") };
/// assert_eq!((fields[1].name, fields[1].type_name, fields[1].offset), ("y", "f32", 4));
/// let state = world.reflect().component(State::NAME).unwrap();
/// let ComponentShape::Enum(variants) = state.shape() else { panic!("it is an enum") };
/// assert_eq!((variants[1].name, variants[1].value), ("Dead", 9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComponentShape {
    /// Unknown: [`#[component]`](crate::component) has named the type and not defined it.
    Opaque,
    /// A struct with these fields, in the order of their definition; without fields, a tag.
    Struct(&'static [FieldInfo]),
    /// An enum of one byte.
    Enum(&'static [VariantInfo]),
}

/// A field of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name, or its number in a tuple.
    pub name: &'static str,
    /// Its type, as it is written in the definition, but for the marks `r#` of raw identifiers.
    pub type_name: &'static str,
    /// The bytes before it.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

impl FieldInfo {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        type_name: &'static str,
        offset: usize,
        size: usize,
    ) -> Self {
        Self { name, type_name, offset, size }
    }
}

/// A variant of a component that is an enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// The byte that stands for it.
    pub value: u8,
}

impl VariantInfo {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str, value: u8) -> Self {
        Self { name, value }
    }
}
