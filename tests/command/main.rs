//! Command buffers: one test for each rare case that may hide a bug, and random programs against
//! the same commands one by one.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod by_query;
mod dead;
mod exchanged_worlds;
mod fixtures;
mod ids;
mod merging;
mod model;
mod named;
mod named_relations;
mod panics;
mod parallel;
mod returned;
mod sparse;
mod together;
