//! Component types: their names, their number, their hints, and what the compiler refuses of them.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod hints;
mod many_types;
mod names;
mod refusals;
