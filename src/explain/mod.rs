//! Explanations: the layout of a world's bytes, the memory that a query touches, and the speed of a
//! pass.
//!
//! * [`World::explain`](crate::World::explain) returns a [`WorldExplanation`]: the columns of each
//!   archetype, their offsets and cache lines, the bytes that are used and wasted, and the change
//!   versions of each chunk.
//! * [`Query::explain`](crate::Query::explain) returns a [`QueryExplanation`]: the archetypes,
//!   chunks, rows and cache lines of one pass, and the reason why each other archetype does not
//!   match.
//! * [`QueryExplanation::roofline`] compares the measured time of a pass with a copy of the same
//!   size, which [`CopyBandwidth`] measures.
//!
//! Every figure is a public field or method, and `Display` prints a summary with tables. The
//! example `explain` also draws worlds and chunks as SVG.
//!
//! ```
//! # use phalanx::prelude::*;
//! # #[component] struct Position([f32; 3]);
//! let mut world = World::new();
//! world.spawn_batch((0..1000).map(|_| Position([0.0; 3])));
//! println!("{}", world.explain());
//! let pass = world.query_mut::<&mut Position>().explain();
//! // 12,000 bytes are 187.5 cache lines.
//! assert_eq!((pass.rows(), pass.lines()), (1000, 188));
//! ```

// No figure has a second formula. Layouts are the ones from which chunks are cut, matches come from
// the conditions that query plans are made from, and skipped chunks from the filters that skip
// them.
//
// `archetype_explanation`, `shared_explanation` and `world_explanation` explain where bytes lie,
// `query_explanation` explains a pass, and `roofline` compares its time with a copy. `display`
// prints all but the last with the words and tables of `text`.

mod archetype_explanation;
mod display;
mod query_explanation;
mod roofline;
mod shared_explanation;
mod text;
mod world_explanation;

pub use crate::storage::AttachmentFigure;
pub use archetype_explanation::{
    ArchetypeExplanation, ColumnExplanation, FirstBlock, SetConflict, Waste,
};
pub use query_explanation::{
    MatchedArchetype, Mismatch, QueryExplanation, SkippedArchetype, TouchedColumn,
};
pub use roofline::{CopyBandwidth, Roofline};
pub use shared_explanation::SharedExplanation;
pub use world_explanation::{EventExplanation, SparseExplanation, WorldExplanation};
