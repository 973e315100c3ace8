//! Random operations against a naive world of maps, with a full self-check after each.
//!
//! Components of 0, 1, 4, 12, 64 and 1,000 bytes, in chunks of every size, so that a chunk holds
//! anything from four rows to many thousands. The value of a component is made from one number,
//! which is all that the model keeps of it.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod compare;
mod matching;
mod operations;
mod parts;
mod passes;
mod properties;
mod shared;
mod world;
