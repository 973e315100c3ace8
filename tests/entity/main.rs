//! Entity ids: stale, invented, requested by number, reserved, of another world, and too many.

#![expect(clippy::missing_assert_message, reason = "the values that differ say what was asked")]

#[path = "../common/mod.rs"]
mod common;

mod ids;
mod requests;
