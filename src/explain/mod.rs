//! What a world says of itself: where bytes lie, what a query touches, and why.
//!
//! Nothing here is a second formula. Layouts are read from the layouts that chunks are cut by,
//! matches from the rules that plans are made by, and skipped chunks from the filters that skip
//! them.
//!
//! [`archetype`] and [`world`] say where bytes lie, [`query`] what a pass touches, [`roofline`] how near
//! its time is to that of a copy; [`display`] prints the former, in the words and tables of [`text`],
//! and [`drawing`] draws the first two.

mod archetype;
mod display;
mod drawing;
mod query;
mod roofline;
mod text;
mod world;

pub use archetype::{ArchetypeExplanation, ColumnExplanation, FirstBlock, SetConflict, Waste};
pub use query::{MatchedArchetype, Mismatch, QueryExplanation, SkippedArchetype, TouchedColumn};
pub use roofline::{CopyBandwidth, Roofline};
pub use world::WorldExplanation;
