//! The storage of rows in chunks: layouts, padding, cached slices, and change stamps.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod chunk_cache;
mod extents;
mod layout;
mod padding;
mod soundness;
mod stamps;
