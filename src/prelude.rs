//! What most programs need: `use phalanx::prelude::*;`.

pub use crate::{
    Added, AnyOf, Bundle, Changed, ChunkSize, CommandBuffer, Commands, Component, Entity, Filter,
    Level, Local, Lookup, LookupMut, OnDead, Query, Res, ResMut, Schedule, Touch, Version, With,
    Without, World, component, kernel, lanes, lanes_mut, scalars, scalars_mut,
};
pub use bytemuck::{Pod, Zeroable};
