//! Chunks of a query, and one value for all rows of a chunk.
//!
//! A [`Query`](crate::Query) yields chunks. [`QueryIter`] yields their slices alone; [`Chunks`]
//! yields each as a [`Chunk`], which also knows its length and versions; [`ContiguousChunks`] joins
//! chunks that follow each other in memory. [`ParChunks`] visits them on several threads, and
//! [`Copies`] copies one component of all of them to one array, and counts them by archetype as
//! [`Group`]s.
//!
//! A chunk can have a value of its own, such as the bounds of its rows. Any component with a
//! default is such a [`ChunkValue`]. [`PerChunk`] is the tag of its entities and the term that
//! reads it, [`PerChunkMut`] the term that writes it by a [`ChunkValueMut`]. [`WhereChunk`] is the
//! filter of [`Query::where_chunk`](crate::Query::where_chunk), which skips all rows of a chunk at
//! once.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component]
//! struct Height(f32);
//! #[component]
//! struct Highest(#[default(f32::INFINITY)] f32);
//!
//! let mut world = World::new();
//! world.spawn_batch((0..10_000).map(|i| (Height(i as f32), PerChunk::<Highest>::TAG)));
//! for (heights, mut highest) in world.query_mut::<(&Height, PerChunkMut<Highest>)>() {
//!     highest.0 = heights.iter().map(|height| height.0).fold(0.0, f32::max);
//! }
//! let low = world.query::<&Height>().chunks().next().unwrap();
//! assert_eq!((low.index(), low.first_row()), (0, 0));
//! let high = world.query::<&Height>().where_chunk(|highest: &Highest| highest.0 > 9_000.0);
//! assert!(high.count_rows() < 10_000, "some chunks are skipped as a whole");
//! ```

pub use crate::archetype::ColumnBundle;
pub use crate::component::{ChunkValue, PerChunk};
pub use crate::query::{
    Chunk, ChunkValueMut, Chunks, ContiguousChunks, Copies, Group, ParChunks, PerChunkMut,
    QueryIter, WhereChunk,
};
