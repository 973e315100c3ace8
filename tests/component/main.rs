//! Component types: their names, their hints, and the uses that the compiler refuses.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod attributes;
mod compiler;
mod define;
mod hints;
mod kernels;
mod map_entities;
mod mistakes;
mod names;
mod raw_names;
mod refusals;
mod split;
