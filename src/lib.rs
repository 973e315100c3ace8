#![doc = include_str!("../README.md")]

mod archetype;
mod bundle;
mod command;
mod component;
#[cfg(doctest)]
mod contracts;
mod entity;
mod line;
mod query;
mod schedule;
mod simd;
mod stopwatch;
mod storage;
mod store;
mod tuples;
mod version;
mod world;

pub mod explain;
pub mod prelude;

pub use bundle::{Bundle, ColumnSlices};
pub use command::{
    Applied, ApplyError, CommandBuffer, CommandError, CommandErrors, CommandFault, CommandVerb,
    CommandWriter, CommandWriters, Commands, NoIdLeft, OnDead,
};
#[doc(hidden)]
pub use component::ComponentHint;
pub use component::{Component, ComponentInfo, NameTaken};
pub use entity::{
    AllocAtError, BrokenDirectory, EntitiesExhausted, Entity, NoSuchEntity, ReserveError,
    ReservedEntities, TooMuchMemory,
};
pub use line::{LINE_BYTES, VECTOR_ROWS};
pub use query::{
    AnyOf, Arrived, Changed, Chunk, Chunks, ComponentTuple, Filter, Modified, Query, QueryIter,
    ReadTerms, Rows, ScatterError, Term, Terms, Watch, With, Without,
};
pub use schedule::{
    AliasingParameters, CommandReport, FailedCommands, FixedStep, Local, Parameter, Schedule,
    ScheduleError, SetEntry, Subject, System, SystemEntry, SystemParam, SystemTiming, Timings,
    every,
};
pub use simd::{
    Lanes, Level, LevelError, ParseLevelError, Scalar, UnsupportedLevel, fold, lanes, lanes_mut,
    scalars, scalars_mut,
};
pub use storage::{ChunkSize, ChunkSizeError, LayoutError};
pub use version::Version;
pub use world::{
    ArchetypeInfo, BrokenInvariant, Compacted, EntityError, Lookup, LookupMut, Matching, Memory,
    MissingComponent, MissingResource, Res, ResMut, SpawnError, World, WorldBuilder,
};

pub use bytemuck;
pub use wide;
