//! What most programs need: `use phalanx::prelude::*;`.

pub use crate::{
    AnyOf, Arrived, Bundle, Changed, ChunkSize, CommandBuffer, Commands, Component,
    DeadEntityPolicy, Entity, Filter, FixedStep, Level, Local, Lookup, LookupMut, Modified, Query,
    Res, ResMut, Schedule, ScheduleError, VECTOR_ROWS, Version, With, Without, World, component,
    every, kernel, lanes, lanes_mut, scalars, scalars_mut,
};
pub use bytemuck::{Pod, Zeroable};
