//! Errors of operations on entities.

use core::error::Error;
use core::fmt;

use crate::entity::{AllocAtError, Entity, NoSuchEntity, OutOfIds, ReserveError, TooMuchMemory};
use crate::storage::LayoutError;

use super::relations::RelationError;

/// Defines an error that is one of several others.
macro_rules! one_of {
    ($name:ident { $($variant:ident($error:ty)),* $(,)? }) => {
        $(impl From<$error> for $name {
            #[cold]
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

/// The reason why an operation on an entity is impossible. The entity is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntityError {
    /// The entity is not alive.
    NoSuchEntity(NoSuchEntity),
    /// The entity is alive, and lacks a component that is read or removed.
    Missing {
        /// The entity.
        entity: Entity,
        /// The component's name.
        component: &'static str,
    },
    /// A row of the resulting components does not fit a chunk of this world.
    Layout(LayoutError),
    /// The entity was named twice in one call that borrows each of them mutably.
    Repeated(Entity),
    /// A relation is not made, or it refuses the despawn.
    Relation(RelationError),
}

one_of! {
    EntityError { NoSuchEntity(NoSuchEntity), Layout(LayoutError), Relation(RelationError) }
}

impl EntityError {
    /// The error for an entity without a component. An entity that is gone is not alive.
    #[cold]
    pub(crate) const fn lacks(entity: Entity, component: &'static str, is_alive: bool) -> Self {
        match is_alive {
            true => Self::Missing { entity, component },
            false => Self::NoSuchEntity(NoSuchEntity { entity }),
        }
    }
}

impl fmt::Display for EntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchEntity(error) => fmt::Display::fmt(error, f),
            Self::Missing { entity, component } => write!(
                f,
                "entity {entity} has no `{component}`: insert one, or ask with `World::has` first (`world.shared::<T>().contains` for a shared value)"
            ),
            Self::Layout(error) => fmt::Display::fmt(error, f),
            Self::Repeated(entity) => {
                write!(f, "entity {entity} is named twice: borrow each entity mutably once")
            }
            Self::Relation(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for EntityError {}

/// The reason why entities cannot be spawned. The world is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnError {
    /// No ids are left.
    Exhausted(OutOfIds),
    /// A row of the bundle does not fit a chunk of this world.
    Layout(LayoutError),
    /// The rows would need too much memory.
    Memory(TooMuchMemory),
    /// The given id is not available.
    Id(AllocAtError),
    /// The entity to be copied is not alive.
    NoSuchEntity(NoSuchEntity),
    /// A relation of the bundle cannot be made.
    Relation(RelationError),
    /// Two columns have different lengths.
    Uneven {
        /// The length of the first column.
        first: usize,
        /// The first other length.
        other: usize,
    },
}

one_of! {
    SpawnError {
        Exhausted(OutOfIds),
        Layout(LayoutError),
        Memory(TooMuchMemory),
        Id(AllocAtError),
        NoSuchEntity(NoSuchEntity),
        Relation(RelationError),
    }
}

impl From<ReserveError> for SpawnError {
    #[cold]
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::Exhausted(error) => Self::Exhausted(error),
            ReserveError::Memory(error) => Self::Memory(error),
        }
    }
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted(error) => fmt::Display::fmt(error, f),
            Self::Layout(error) => fmt::Display::fmt(error, f),
            Self::Memory(error) => fmt::Display::fmt(error, f),
            Self::Id(error) => fmt::Display::fmt(error, f),
            Self::NoSuchEntity(error) => fmt::Display::fmt(error, f),
            Self::Relation(error) => fmt::Display::fmt(error, f),
            Self::Uneven { first, other } => write!(
                f,
                "columns of {first} and {other} rows make no entities: give slices of one length"
            ),
        }
    }
}

impl Error for SpawnError {}
