//! What most programs need: `use phalanx::prelude::*;`.

pub use crate::{
    Added, AnyOf, Bundle, Changed, ChunkSize, CommandBuffer, Commands, Component, Entity, Filter,
    FixedStep, Level, Local, Lookup, LookupMut, OnDead, Query, Res, ResMut, Schedule,
    ScheduleError, Touch, VECTOR_ROWS, Version, With, Without, World, component, every, kernel,
    lanes, lanes_mut, scalars, scalars_mut,
};
pub use bytemuck::{Pod, Zeroable};
