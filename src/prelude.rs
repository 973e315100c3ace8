//! The items that most programs need: `use phalanx::prelude::*;`.

pub use crate::chunks::{PerChunk, PerChunkMut};
pub use crate::command::DeadEntityPolicy;
pub use crate::lines::{ChangedLines, LinesMut};
pub use crate::logs::{
    Despawned, Despawns, EventReader, EventWriter, Events, Inserted, Insertions, Removals, Removed,
};
pub use crate::schedule::{FixedStep, Local, ScheduleError, every};
pub use crate::shared::{Shared, WithShared, WithoutShared};
pub use crate::simd::{lanes, lanes_mut, scalars, scalars_mut};
pub use crate::sparse::{Pairs, Relation, Sparse, SparseMut, Targets, relation};
pub use crate::terms::{Not, Or};
pub use crate::{
    AnyOf, Arrived, Bundle, Changed, ChunkSize, CommandBuffer, Commands, Component, Disabled,
    Enabled, EnabledMut, Entity, Filter, Gone, IgnoreEnabled, IncludeHidden, Level, Lookup,
    LookupMut, Modified, Prototype, Query, Reordered, Res, ResMut, Schedule, VECTOR_ROWS, Version,
    With, WithDisabled, Without, World, component, impl_component, kernel,
};
pub use bytemuck::{Pod, Zeroable};
