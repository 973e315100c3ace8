//! Worlds: spawning, structural changes of one entity and of all that match, random access, side
//! values, memory, hashes and threads.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod by_entity;
mod by_name;
mod cleanup;
mod cleanup_model;
mod compact;
mod despawn_batch;
mod disjoint;
mod enable;
mod enable_cases;
mod enable_forms;
mod flip;
mod hash;
mod hash_cache;
mod hash_parts;
mod hidden;
mod instantiate;
mod instantiate_tree;
mod lines;
mod lines_faults;
mod lookup;
mod lookup_mut;
mod matching;
mod matching_versions;
mod memory;
mod memory_of_bursts;
mod merge;
mod merge_model;
mod move_from;
mod move_from_model;
mod panics;
mod per_chunk;
mod refused;
mod relation_rows;
mod relations;
mod relations_large;
mod relations_model;
mod removed;
mod retain;
mod retire;
mod row_logs;
mod shared;
mod shared_faults;
mod shared_ids;
mod shared_panics;
mod snapshot;
mod snapshot_bytes;
mod snapshot_changes;
mod snapshot_columns;
mod snapshot_compressed;
mod snapshot_histories;
mod snapshot_hostile;
mod snapshot_reader;
mod snapshot_save;
mod snapshot_sets;
mod snapshot_sets_hostile;
mod snapshot_shared;
mod snapshot_shared_faults;
mod snapshot_shared_types;
mod snapshot_sparse;
mod snapshot_steps;
mod sort;
mod sparse;
mod sparse_bundles;
mod sparse_drops;
mod spawn_batch;
mod spawn_columns;
mod structural;
mod threads;
mod together;
