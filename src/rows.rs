//! Rows of a query: one after the other, in pairs, by entity, and as masks.
//!
//! [`Rows`] is an iterator over the rows of all chunks, [`Combinations`] over each choice of
//! several different rows. A [`RowLookup`] finds the row of an entity, or returns a [`RowError`]
//! with the [`Exclusion`] that keeps the entity out of the query. A [`ValueIndex`] finds the
//! entities with a value, and [`ChunkBounds`] the rows [`Between`] two values of a [`SortKey`], by
//! which [`Matching::sort_by`](crate::Matching::sort_by) puts rows in order. A [`LevelPlan`] has
//! the rows of a tree, level after level. A [`RowPlace`] finds a row until rows move: a
//! [`PlaceLookup`] or a [`PlaceLookupMut`] reads it, or returns a [`PlaceError`]; with filters, a
//! [`RowLookup`] does.
//!
//! A query leaves out the rows of a chunk of which a component is
//! [disabled](crate::World::set_enabled). It yields the runs of the others, or, as [`Masked`],
//! whole chunks with a [`RowMask`], for kernels that compute all lanes and blend. The terms
//! [`Enabled`](crate::Enabled) and [`EnabledMut`](crate::EnabledMut) yield the bits themselves, as
//! [`EnabledRows`] and [`EnabledRowsMut`].
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component(enableable)]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! world.spawn_batch((0..100).map(|i| Health(i as f32)));
//! for mut enabled in world.query_mut::<EnabledMut<Health>>() {
//!     enabled.assign(|row| row % 3 == 0);
//! }
//! assert_eq!(world.query::<&Health>().rows().count(), 34);
//! for (mask, healths) in world.query::<&Health>().masked() {
//!     assert_eq!((mask.get(0), mask.get(1), healths.len()), (true, false, 100));
//! }
//! ```

pub use crate::query::{
    Between, BetweenIter, ChunkBounds, Combinations, Exclusion, KeyColumns, LevelPlan, LevelTerms,
    Masked, RowError, RowLookup, Rows, SortKey, ValueIndex,
};
pub use crate::storage::{
    EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut, EnabledRowsMutIter, RowMask,
    RowPlace, RowRuns,
};
pub use crate::total_order::{TotalOrder, total_order};
pub use crate::world::{PlaceError, PlaceLookup, PlaceLookupMut};
