//! The items that most programs need: `use phalanx::prelude::*;`.

pub use crate::logs::{
    Despawned, Despawns, EventReader, EventWriter, Events, Inserted, Insertions, Removals, Removed,
};
pub use crate::{
    AnyOf, Arrived, Bundle, Changed, ChangedLines, ChunkSize, CommandBuffer, Commands, Component,
    DeadEntityPolicy, Disabled, Enabled, EnabledMut, Entity, Filter, FixedStep, Gone,
    IgnoreEnabled, IncludeHidden, Level, LinesMut, Local, Lookup, LookupMut, Modified, PerChunk,
    PerChunkMut, Prototype, Query, Reordered, Res, ResMut, Schedule, ScheduleError, Shared, Side,
    SideMut, VECTOR_ROWS, Version, With, WithDisabled, WithShared, Without, WithoutShared, World,
    component, every, impl_component, kernel, lanes, lanes_mut, scalars, scalars_mut,
};
pub use bytemuck::{Pod, Zeroable};
