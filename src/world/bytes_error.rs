//! The error of calls that name components by text.

use core::error::Error;
use core::fmt;

use crate::component::FieldInfo;
#[cfg(doc)]
use crate::component::Gone;
use crate::message::{ByteCount, Outside};
use crate::store::{EntityError, SpawnError};

/// An error of a call that names components by text. The world is unchanged.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BytesError {
    /// The world has no component with this name.
    UnknownName {
        /// The name.
        name: String,
        /// The nearest known name, if one is near.
        nearest: Option<&'static str>,
    },
    /// The world has no [relation](crate::sparse::relation) with this name.
    UnknownRelation {
        /// The name.
        name: String,
        /// The nearest known name of a relation, if one is near.
        nearest: Option<&'static str>,
    },
    /// The component with this name is no [relation](crate::sparse::relation).
    NotRelation {
        /// The name.
        name: String,
    },
    /// A place is asked for, and the relation is not
    /// [ordered](crate::sparse::relation#ordered-sources).
    NotOrdered {
        /// The name.
        name: String,
    },
    /// The component with this name is [sparse](crate::component#sparse-components): its values
    /// have no bytes for these calls, also if they are plain data.
    Sparse {
        /// The name.
        name: String,
    },
    /// The world has another component with this name than the
    /// [`ComponentInfo`](crate::reflect::ComponentInfo) that was given.
    OtherComponent {
        /// The name.
        name: String,
    },
    /// A component is named twice in one call.
    Repeated {
        /// Its name.
        name: String,
    },
    /// There are more or fewer bytes than a value has.
    Size {
        /// The component's name.
        name: String,
        /// The bytes of a value.
        size: usize,
        /// The bytes that were given.
        len: usize,
    },
    /// The bytes are not a value of the type, such as a `bool` of 2.
    Value {
        /// The component's name.
        name: String,
        /// A field that they are no value of, if its type is one that layouts have; none of an
        /// enum, and of fields with fields of their own.
        field: Option<FieldInfo>,
    },
    /// Bytes of a column are asked for writing, and not all bytes are values of its type.
    NotAllBytes {
        /// The component's name.
        name: String,
    },
    /// The component has no data, so there are no values to be seen.
    Tag {
        /// Its name.
        name: String,
    },
    /// Values of an optional column are asked for in a chunk that lacks it.
    Absent {
        /// The component's name.
        name: String,
    },
    /// Values are asked for as a type that is not the component's.
    OtherType {
        /// The component's name.
        name: String,
        /// The path of the type.
        asked: &'static str,
    },
    /// A column is written that may only be read.
    ReadOnly {
        /// The component's name.
        name: String,
    },
    /// The component has no enable bits.
    NotEnableable {
        /// Its name.
        name: String,
    },
    /// [`Gone`] is named, which only the world itself adds and removes.
    Gone,
    /// A field of a split component is named, and another is not.
    Part {
        /// The field that is named.
        name: String,
        /// The first field that is not named.
        missing: String,
    },
    /// The entity is not alive, or its row would not fit a chunk.
    Entity(EntityError),
    /// An entity cannot be spawned: ids or memory run out, or its row would not fit a chunk.
    Spawn(SpawnError),
}

impl From<EntityError> for BytesError {
    fn from(error: EntityError) -> Self {
        Self::Entity(error)
    }
}

impl From<SpawnError> for BytesError {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(error)
    }
}

impl fmt::Display for BytesError {
    #[expect(clippy::too_many_lines, reason = "a message for each variant")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name, nearest } => {
                let call = "call `World::register` first, or `ReflectMut::register_layout` if no \
                            type defines it; without `#[component(name = \"…\")]` its name is a \
                            path, `crate::module::Type`; a shared value has none";
                write_unknown(f, ("component", name), *nearest, call)
            }
            Self::UnknownRelation { name, nearest } => {
                let call = "call `World::register` first, with `Targets<Likes>` for \
                            `#[relation(many)] struct Likes`; without `#[relation(name = \"…\")]` \
                            its name is a path, `crate::module::Type`";
                write_unknown(f, ("relation", name), *nearest, call)
            }
            Self::NotRelation { name } => write!(
                f,
                "`{name}` is no relation: `ReflectMut::insert` and `remove` change a component \
                 with bytes, and `World::insert` and `remove` a sparse one by its type"
            ),
            Self::NotOrdered { name } => write!(
                f,
                "`{name}` keeps no order of its sources: write `#[relation(ordered)]`, or leave \
                 `NamedTarget::at` out"
            ),
            Self::Sparse { name } => write!(
                f,
                "`{name}` is sparse: calls by name do not reach its values; use its type, with \
                 `World::get`, `insert` and `remove`; a query names it by `NamedQuery::with`, \
                 `without` or `any_of`; of a relation, `Reflect::targets` and `ReflectMut::relate` \
                 have the ends, and `Reflect::pair` the value"
            ),
            Self::OtherComponent { name } => write!(
                f,
                "`{name}` is another component in this world: the one that was given is of another \
                 world; give the name to mean the one of this world"
            ),
            Self::Repeated { name } => write!(f, "`{name}` is named twice: name it once"),
            Self::Size { name, size, len } => {
                let verb = if *len == 1 { "was" } else { "were" };
                write!(f, "a value of `{name}` has {}, and {len} {verb} given", ByteCount(*size))
            }
            Self::Value { name, field: Some(field) } => write!(
                f,
                "the field `{}` of `{name}` has bytes that are no `{}`: a `bool` is 0 or 1, and a \
                 `char` a Unicode scalar value",
                field.name, field.type_name
            ),
            Self::Value { name, field: None } => write!(
                f,
                "the bytes are no value of `{name}`: a `bool` is 0 or 1, a `char` a \
                 Unicode scalar value, an enum one of its variants, which `ComponentInfo::shape` lists"
            ),
            Self::NotAllBytes { name } => write!(
                f,
                "not all bytes are values of `{name}`: write it by `ColumnViewMut::set`, which \
                 checks them, or by `values_mut`"
            ),
            Self::Tag { name } => write!(f, "`{name}` has no data: name it by `NamedQuery::with`"),
            Self::Absent { name } => write!(
                f,
                "the entities of this chunk lack `{name}`: test `is_present` before its values, or \
                 name it by `NamedQuery::read` or `write` to visit the others only"
            ),
            Self::OtherType { name, asked } => write!(f, "`{name}` is not the type `{asked}`"),
            Self::ReadOnly { name } => write!(
                f,
                "`{name}` is only read here: a column is written if the query names it by \
                 `NamedQuery::write`, and is visited by `ReflectMut::for_each_chunk` or a system; \
                 `Reflect::chunks` reads, and takes queries that do"
            ),
            Self::NotEnableable { name } => write!(
                f,
                "`{name}` cannot be disabled: write `#[component(enableable)]`, or register its \
                 layout as `enableable`"
            ),
            Self::Gone => f.write_str(
                "`Gone` is what the world gives to entities that are despawned: use `despawn`, and \
                 remove the cleanup components",
            ),
            Self::Part { name, missing } => write!(
                f,
                "`{name}` is a column of a split component, of which an entity has all or none: \
                 name `{missing}` as well"
            ),
            Self::Entity(error) => fmt::Display::fmt(error, f),
            Self::Spawn(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for BytesError {}

/// Writes that a name is not registered, with the nearest one or else with the call that mends it.
fn write_unknown(
    f: &mut fmt::Formatter<'_>,
    (kind, name): (&str, &str),
    nearest: Option<&str>,
    call: &str,
) -> fmt::Result {
    write!(f, "the {kind} `{}` is not registered", Outside(name))?;
    match nearest {
        Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
        None => write!(f, ": {call}"),
    }
}
