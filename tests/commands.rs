//! Command buffers: each case that a user meets once and a bug hides behind, one test each, and
//! random programs against the same commands one by one.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "common/mod.rs"]
mod common;

#[path = "commands/by_query.rs"]
mod by_query;
#[path = "commands/components.rs"]
mod components;
#[path = "commands/dead.rs"]
mod dead;
#[path = "commands/ids.rs"]
mod ids;
#[path = "commands/merging.rs"]
mod merging;
#[path = "commands/model.rs"]
mod model;
#[path = "commands/panics.rs"]
mod panics;
#[path = "commands/parallel.rs"]
mod parallel;
#[path = "commands/returned.rs"]
mod returned;
