//! All errors of this crate. Those that a program meets every day are at the root as well.

pub use crate::command::{ApplyError, CommandError, CommandErrorKind, CommandErrors, CommandVerb};
pub use crate::component::NameTaken;
pub use crate::entity::{AllocAtError, NoSuchEntity, OutOfIds, ReserveError, TooMuchMemory};
pub use crate::query::{Exclusion, NotSingle, RowError, ScatterError};
pub use crate::schedule::{AliasingParameters, Parameter, ScheduleError, Subject};
pub use crate::simd::{LevelError, ParseLevelError, UnsupportedLevel};
pub use crate::snapshot::{ReadError, SnapshotError};
pub use crate::storage::{ChunkSizeError, LayoutError, ParseChunkSizeError};
pub use crate::store::MergeErrorKind;
pub use crate::world::{
    BrokenInvariant, BytesError, EntityError, MergeError, MissingComponent, MissingResource,
    SpawnError,
};
