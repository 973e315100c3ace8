#![doc = include_str!("front_page.md")]

// The attributes write paths that begin with the name of the crate, here as well.
extern crate self as phalanx;

// Before the others, so that the documentation of `World` and `Query` begins with their own files.
mod world;

mod query;

mod archetype;
mod cold;
mod component;
#[cfg(doctest)]
mod contracts;
#[cfg(test)]
mod effort;
mod entity;
mod line;
mod message;
mod nearest;
mod payload;
mod prefetch;
mod spare;
mod stopwatch;
mod storage;
mod store;
mod total_order;
mod tuples;
mod unique;
mod version;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub mod chunks;
pub mod command;
pub mod error;
pub mod explain;
pub mod lines;
pub mod logs;
pub mod memory;
pub mod prelude;
pub mod reflect;
pub mod rows;
pub mod schedule;
pub mod shared;
pub mod simd;
pub mod snapshot;
pub mod sparse;
pub mod terms;
pub mod testing;

pub use archetype::{Bundle, ColumnSlices};
pub use command::{CommandBuffer, Commands};
#[doc(hidden)]
pub use component::ComponentHint;
#[doc(hidden)]
pub use component::define as __define;
pub use component::{
    AnyComponent, Columnar, Component, Disabled, Gone, MapEntities, Plain, Previous, Prototype,
    SplitMut, component,
};
pub use entity::{Entity, ReservedEntities};
pub use line::{LINE_BYTES, VECTOR_ROWS};
pub use query::{
    AnyOf, Arrived, Changed, Enabled, EnabledMut, Filter, IgnoreEnabled, IncludeHidden, Modified,
    Query, Reordered, With, WithDisabled, Without,
};
pub use schedule::Schedule;
pub use simd::{Level, kernel};
pub use storage::ChunkSize;
pub use version::Version;
pub use world::{HashCache, Lookup, LookupMut, Matching, Merged, Res, ResMut, World, WorldBuilder};

#[doc(hidden)]
pub use phalanx_macros::Component;

pub use bytemuck;
pub use wide;

/// Macros name this module: in another crate `core` may be a different crate or module.
#[doc(hidden)]
pub use ::core as __core;
