#![doc = include_str!("../README.md")]

mod archetype;
mod command;
mod component;
#[cfg(doctest)]
mod contracts;
mod entity;
mod line;
mod nearest;
mod prefetch;
mod query;
mod simd;
mod stopwatch;
mod storage;
mod store;
mod tuples;
mod version;
mod world;

pub mod error;
pub mod explain;
pub mod prelude;
pub mod schedule;
pub mod testing;

pub use archetype::{Bundle, ColumnSlices};
pub use command::{
    Applied, ApplyError, CommandBuffer, CommandWriter, CommandWriters, Commands, DeadEntityPolicy,
};
#[doc(hidden)]
pub use component::ComponentHint;
#[doc(hidden)]
pub use component::define as __define;
pub use component::{Component, ComponentInfo, ComponentShape, FieldInfo, Plain, VariantInfo};
pub use entity::{Entity, ReservedEntities};
pub use line::{LINE_BYTES, VECTOR_ROWS};
pub use query::{
    AnyOf, Arrived, Changed, Chunk, Chunks, Combinations, ComponentTuple, Extents, Filter,
    Modified, Query, QueryIter, ReadTerms, RowLookup, Rows, Term, Terms, Watch, With, Without,
};
pub use schedule::{FixedStep, Local, Schedule, ScheduleError, System, SystemParam, every};
pub use simd::{Lanes, Level, Scalar, fold, lanes, lanes_mut, scalars, scalars_mut};
pub use storage::ChunkSize;
pub use version::Version;
pub use world::{
    ArchetypeInfo, Compacted, ComponentView, EntityError, EntityView, Lookup, LookupMut, Matching,
    Memory, Res, ResMut, SpawnError, World, WorldBuilder,
};

pub use bytemuck;
pub use wide;

/// What macros name: in another crate `core` may be whatever its author calls so.
#[doc(hidden)]
pub use ::core as __core;
