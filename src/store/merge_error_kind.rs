//! The reasons why entities of another world are refused.

use core::error::Error;
use core::fmt;

use crate::component::{AdoptionError, NameTaken};
use crate::entity::{OutOfIds, TooMuchMemory};
use crate::storage::ChunkSize;

/// The reason why a world was not merged into another, or entities were not moved to it. Both
/// worlds are unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeErrorKind {
    /// The worlds have chunks of different sizes.
    ChunkSize {
        /// The size in the world that was to take over the entities.
        target: ChunkSize,
        /// The size in the world from which they were to come.
        source: ChunkSize,
    },
    /// A component of the other world has the name of another type.
    NameTaken(NameTaken),
    /// There would be more than 65,535 component types and shared values.
    TooManyTypes,
    /// Values of a shared type that come have ids of entities in them, and neither world knows how
    /// they are replaced: see
    /// [`SharedValuesMut::map_entities`](crate::shared::SharedValuesMut::map_entities).
    SharedEntities {
        /// The path of the type.
        name: &'static str,
    },
    /// There are too few ids.
    Exhausted(OutOfIds),
    /// The ids, and the rows that have to be copied, need more memory than one call may take.
    Memory(TooMuchMemory),
    /// An archetype would have more chunks than it can number: see
    /// [`chunk_size`](crate::WorldBuilder::chunk_size).
    TooManyRows,
}

impl From<AdoptionError> for MergeErrorKind {
    fn from(error: AdoptionError) -> Self {
        match error {
            AdoptionError::Name(taken) => Self::NameTaken(taken),
            AdoptionError::Types => Self::TooManyTypes,
            AdoptionError::SharedEntities(name) => Self::SharedEntities { name },
        }
    }
}

impl From<OutOfIds> for MergeErrorKind {
    fn from(error: OutOfIds) -> Self {
        Self::Exhausted(error)
    }
}

impl From<TooMuchMemory> for MergeErrorKind {
    fn from(error: TooMuchMemory) -> Self {
        Self::Memory(error)
    }
}

impl fmt::Display for MergeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChunkSize { target, source } => write!(
                f,
                "a world with chunks of {target} cannot take over entities of one with chunks of \
                 {source}: build both with one `chunk_size`"
            ),
            Self::NameTaken(taken) => fmt::Display::fmt(taken, f),
            Self::TooManyTypes => f.write_str(
                "the worlds together have more than 65,535 component types and shared values",
            ),
            Self::SharedEntities { name } => write!(
                f,
                "shared values of type `{name}` name entities, which have other ids in another \
                 world: say by `SharedValuesMut::map_entities` how their ids are replaced, in \
                 one of the two worlds, or take these values from the entities before"
            ),
            Self::Exhausted(error) => fmt::Display::fmt(error, f),
            Self::Memory(error) => fmt::Display::fmt(error, f),
            Self::TooManyRows => f.write_str(
                "an archetype would have more chunks than it can number: build both worlds with \
                 a larger `chunk_size`",
            ),
        }
    }
}

impl Error for MergeErrorKind {}
