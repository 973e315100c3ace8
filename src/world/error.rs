//! What can go wrong, as values that say what to do.

use core::error::Error;
use core::fmt;

use crate::component::Component;
use crate::entity::{
    AllocAtError, EntitiesExhausted, Entity, NoSuchEntity, ReserveError, TooMuchMemory,
};
use crate::storage::LayoutError;

/// A living entity lacks a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingComponent {
    /// The entity.
    pub entity: Entity,
    /// The component's name.
    pub component: &'static str,
}

impl MissingComponent {
    #[cold]
    pub(super) const fn new<C: Component>(entity: Entity) -> Self {
        Self { entity, component: C::NAME }
    }
}

impl fmt::Display for MissingComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "entity {} has no `{}`: insert one, or ask with `World::has` first",
            self.entity, self.component
        )
    }
}

impl Error for MissingComponent {}

/// An error that is one of several others.
macro_rules! one_of {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident($error:ty)),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant($error)),*
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(error) => fmt::Display::fmt(error, f)),*
                }
            }
        }

        impl Error for $name {}

        $(impl From<$error> for $name {
            #[cold]
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

/// A [`ReserveError`] is one of the variants of every error that knows both.
macro_rules! from_reserve_error {
    ($($name:ident)*) => {
        $(impl From<ReserveError> for $name {
            #[cold]
            fn from(error: ReserveError) -> Self {
                match error {
                    ReserveError::Exhausted(error) => Self::Exhausted(error),
                    ReserveError::Memory(error) => Self::Memory(error),
                }
            }
        })*
    };
}

one_of! {
    /// Why a component of an entity cannot be had: see [`World::get`](crate::World::get) and
    /// [`World::remove`](crate::World::remove).
    ComponentError {
        /// The entity does not live.
        NoSuchEntity(NoSuchEntity),
        /// The entity lacks the component.
        Missing(MissingComponent),
    }
}

one_of! {
    /// Why components cannot be inserted. The entity is as it was.
    InsertError {
        /// The entity does not live.
        NoSuchEntity(NoSuchEntity),
        /// A row of the resulting components fits no chunk of this world.
        Layout(LayoutError),
    }
}

one_of! {
    /// Why components cannot be exchanged. The entity is as it was.
    ExchangeError {
        /// The entity does not live.
        NoSuchEntity(NoSuchEntity),
        /// The entity lacks a component that was to go.
        Missing(MissingComponent),
        /// A row of the resulting components fits no chunk of this world.
        Layout(LayoutError),
    }
}

one_of! {
    /// Why entities cannot be spawned. The world is as it was.
    SpawnError {
        /// No ids are left.
        Exhausted(EntitiesExhausted),
        /// A row of the bundle fits no chunk of this world.
        Layout(LayoutError),
        /// The rows would take too much memory.
        Memory(TooMuchMemory),
    }
}

one_of! {
    /// Why an entity cannot be copied. The world is as it was.
    InstantiateError {
        /// The prototype does not live.
        NoSuchEntity(NoSuchEntity),
        /// No ids are left.
        Exhausted(EntitiesExhausted),
        /// The copies would take too much memory.
        Memory(TooMuchMemory),
    }
}

one_of! {
    /// Why an entity cannot be spawned under a given id. The world is as it was.
    SpawnAtError {
        /// The id cannot be had.
        Id(AllocAtError),
        /// A row of the bundle fits no chunk of this world.
        Layout(LayoutError),
    }
}

from_reserve_error! { SpawnError InstantiateError }

/// Why columns cannot be spawned. The world is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnColumnsError {
    /// Two slices have different lengths.
    Uneven {
        /// The length of the first slice.
        first: usize,
        /// The first other length.
        other: usize,
    },
    /// The rows cannot be spawned.
    Spawn(SpawnError),
}

impl fmt::Display for SpawnColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uneven { first, other } => write!(
                f,
                "columns of {first} and {other} rows make no entities: give slices of one length"
            ),
            Self::Spawn(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for SpawnColumnsError {}

impl From<SpawnError> for SpawnColumnsError {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(error)
    }
}

/// Why several components cannot be borrowed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisjointError {
    /// One of them cannot be had at all.
    Component(ComponentError),
    /// An entity was named twice.
    Repeated(Entity),
}

impl fmt::Display for DisjointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(error) => fmt::Display::fmt(error, f),
            Self::Repeated(entity) => {
                write!(f, "entity {entity} is named twice: borrow each entity mutably once")
            }
        }
    }
}

impl Error for DisjointError {}

impl<E: Into<ComponentError>> From<E> for DisjointError {
    fn from(error: E) -> Self {
        Self::Component(error.into())
    }
}
