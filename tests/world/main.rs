//! Worlds: spawning, structural changes of one entity and of all that match, random access, memory,
//! hashes and threads.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod by_name;
mod compact;
mod despawn_batch;
mod disjoint;
mod hash;
mod instantiate;
mod lookup;
mod lookup_mut;
mod matching;
mod matching_versions;
mod memory;
mod panics;
mod retain;
mod retire;
mod spawn_batch;
mod spawn_columns;
mod structural;
mod threads;
