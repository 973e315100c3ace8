//! Rows that are written and found one by one, in lines of sixteen rows.
//!
//! A component that [tracks lines](macro@crate::component#components-that-track-lines) has
//! versions for each 64 rows, and a bit for each row, beside the version of the chunk.
//! [`ChangedLines`] is the filter that finds the changed rows. [`LinesMut`] is the term that stamps
//! only the rows that a pass takes for writing: from a [`LineSlice`], by line or as a [`LineRow`].
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[component(lines)]
//! struct Health(f32);
//!
//! let mut world = World::new();
//! world.spawn_batch((0..1000).map(|_| Health(9.0)));
//! let before = world.version();
//! for mut health in world.query_mut::<LinesMut<Health>>() {
//!     health.row_mut(100).0 = 1.0;
//! }
//! let changed = world.query::<&Health>().filter_since::<ChangedLines<Health>>(before);
//! assert_eq!(changed.count_rows(), 1, "one row of the chunk");
//! ```

pub use crate::query::{ChangedLines, LineRow, LineSlice, LinesMut};
