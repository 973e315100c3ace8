//! What a world says of itself: where bytes lie, what a query touches, and why.
//!
//! Nothing here is a second formula. Layouts are read from the layouts that chunks are cut by,
//! matches from the rules that plans are made by, and skipped chunks from the filters that skip
//! them.

mod name;
mod query;

pub use query::{MatchedArchetype, Mismatch, QueryExplanation, SkippedArchetype, TouchedColumn};
