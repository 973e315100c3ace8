//! How rows lie in chunks: layouts, padding, chunks that are cut ahead of time, and change stamps.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod chunk_cache;
mod extents;
mod layout;
mod padding;
mod soundness;
mod stamps;
