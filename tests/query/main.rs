//! Queries: their shapes, their passes, filters, cached plans, and stamps.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod cached_plans;
mod chunk_bounds;
mod expressions;
mod few_members;
mod filters;
mod gather;
mod iteration;
mod optional_rows;
mod reordered;
mod rows_by_cells;
mod sets;
mod single_rows;
mod slices;
mod sparse_rows;
mod sparse_terms;
mod value_index;
mod versions;
mod wavering;
mod where_shared;
mod writes_by_cells;
