//! The edges: each case that a user meets once and a bug hides behind, one test each.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod batches;
mod bulk;
mod bulk_copies;
mod bulk_versions;
mod components;
mod filters;
mod hints;
mod hostile;
mod ids;
mod layout;
mod lookups;
mod lookups_mut;
mod many_types;
mod moved;
mod panics;
mod queries;
mod ready;
mod requests;
mod rows;
mod versions;
