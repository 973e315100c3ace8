#![doc = include_str!("front_page.md")]

// The attributes write paths that begin with the name of the crate, here as well.
extern crate self as phalanx;

// Before the others, so that the documentation of `World` and `Query` begins with their own files.
mod world;

mod query;

mod archetype;
mod command;
mod component;
#[cfg(doctest)]
mod contracts;
#[cfg(test)]
mod effort;
mod entity;
mod line;
mod nearest;
mod payload;
mod prefetch;
mod simd;
mod snapshot;
mod spare;
mod stopwatch;
mod storage;
mod store;
mod tuples;
mod version;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub mod error;
pub mod explain;
pub mod logs;
pub mod prelude;
pub mod schedule;
pub mod testing;

pub use archetype::{Bundle, ColumnSlices};
pub use command::{
    Applied, ApplyError, CommandBuffer, CommandWriter, CommandWriters, Commands, DeadEntityPolicy,
    ParTarget,
};
#[doc(hidden)]
pub use component::ComponentHint;
#[doc(hidden)]
pub use component::define as __define;
pub use component::{
    ChunkValue, Columnar, Component, ComponentInfo, ComponentShape, Disabled, FieldInfo, Gone,
    MapEntities, PerChunk, Plain, Previous, Prototype, Shared, SharedValue, SplitMut, VariantInfo,
    component,
};
pub use entity::{Entity, ReservedEntities};
pub use line::{LINE_BYTES, VECTOR_ROWS};
pub use query::{
    AnyOf, Arrived, Changed, ChangedLines, Chunk, ChunkValueMut, Chunks, Combinations,
    ComponentTuple, Enabled, EnabledMut, Extents, Filter, IgnoreEnabled, IncludeHidden, LineRow,
    LineSlice, LinesMut, Masked, Modified, PerChunkMut, Query, QueryIter, ReadTerms, Reordered,
    RowLookup, Rows, SharedRef, Term, Terms, Watch, WhereChunk, WhereShared, With, WithDisabled,
    WithShared, Without, WithoutShared,
};
pub use schedule::{
    FixedStep, Local, RunOnce, Schedule, ScheduleError, System, SystemParam, every,
};
pub use simd::{
    Lanes, Level, Scalar, Stores, fold, kernel, lanes, lanes_mut, overwrite, scalars, scalars_mut,
    vectors,
};
pub use snapshot::{Snapshot, SnapshotArchetype, SnapshotColumn, SnapshotReader, SnapshotRing};
pub use storage::{
    ChunkSize, EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut, EnabledRowsMutIter,
    RowMask, RowRuns,
};
pub use version::Version;
pub use world::{
    ArchetypeInfo, Cell, CellMut, Compacted, ComponentView, EntityError, EntityView, HashCache,
    Lookup, LookupMut, Matching, Memory, Merged, Res, ResMut, Side, SideMut, SpawnError, World,
    WorldBuilder,
};

#[doc(hidden)]
pub use phalanx_macros::Component;

pub use bytemuck;
pub use wide;

/// Macros name this module: in another crate `core` may be a different crate or module.
#[doc(hidden)]
pub use ::core as __core;
