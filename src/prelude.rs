//! The items that most programs need: `use phalanx::prelude::*;`.

pub use crate::{
    AnyOf, Arrived, Bundle, Changed, ChangedLines, ChunkSize, CommandBuffer, Commands, Component,
    DeadEntityPolicy, Despawned, Disabled, Enabled, EnabledMut, Entity, EventReader, EventWriter,
    Filter, FixedStep, Gone, IgnoreEnabled, IncludeHidden, Inserted, Level, LinesMut, Local,
    Lookup, LookupMut, Modified, PerChunk, PerChunkMut, Prototype, Query, Removed, Reordered, Res,
    ResMut, Schedule, ScheduleError, Shared, Side, SideMut, VECTOR_ROWS, Version, With,
    WithDisabled, WithShared, Without, WithoutShared, World, component, every, impl_component,
    kernel, lanes, lanes_mut, scalars, scalars_mut,
};
pub use bytemuck::{Pod, Zeroable};
