//! Archetypes: one list of chunks per exact set of components.
//!
//! * [`archetype`] has the chunks of an archetype, the entities of its rows, its attachments and
//!   its stamps; all but the chunks are [`chunk_meta`]. [`extras`] has the data that most
//!   archetypes do not need: attachments, [`traits`] (facts about the components) and
//!   [`shared_tags`] (the shared values). [`set_members`] are the rows of entities with a sparse
//!   component. [`append`] adds many rows.
//! * [`archetypes`] has all archetypes of a world and finds one by its set.
//! * [`bundle`] has the trait of the components with which an entity is spawned, or that it gains
//!   or loses at once, and [`column_bundle`] the trait of those that are columns: the move of one
//!   row. [`bundles`] has the ids of these and the archetype of exactly them.
//! * [`graph`] stores the edges between archetypes: the target of "insert this bundle" or "remove
//!   this bundle" from each archetype, and the columns that both archetypes have. Only the first
//!   entity that uses an edge costs a set and a hash.
//! * [`row_changes`] adds, overwrites and removes one row, or moves it along an edge when an entity
//!   gains or loses components. It has the order in which stamps and attachments are told about
//!   rows. [`move_rows`] moves many rows from any places, [`move_chunks`] whole chunks.
//!   [`merge_archetype`] takes over archetypes of another world, and [`part`] takes out the rows
//!   that leave for one. [`reorder`] puts the rows in another order,
//!   by a list of each [`row_shift`].
//! * [`archetype_image`] is a copy of an archetype's rows, and [`restore_rows`] gives them back.
//!   [`patch`] is the difference between two images, and [`rows_view`] a view of the rows of an
//!   archetype or of an image. [`meta_image`] has the data of all three beside the chunks, and
//!   [`unchanged_chunks`] the rule for data that is unchanged between two states. Caches that read
//!   some columns keep [`chunk_contents`].
//! * [`change_log`] records every archetype whose rows may have moved, so that cached addresses can
//!   be refreshed. Writing values through [`in_place`] or [`columns_mut`] moves no rows and is not
//!   recorded.

mod append;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod archetype;
mod archetype_image;
mod archetypes;
mod bundle;
mod bundles;
mod change_log;
mod chunk_contents;
mod chunk_meta;
mod column_bundle;
mod columns_mut;
mod extras;
mod graph;
mod in_place;
mod merge_archetype;
mod meta_image;
mod move_chunks;
mod move_rows;
mod part;
mod patch;
mod reorder;
mod restore_rows;
mod row_changes;
mod row_shift;
mod rows_view;
mod set_members;
mod shared_tags;
mod traits;
mod unchanged_chunks;

pub(crate) use archetype::Archetype;
pub(crate) use archetype_image::ArchetypeImage;
pub(crate) use archetypes::{Archetypes, Census, places_of};
pub use bundle::Bundle;
pub(crate) use bundle::{assert_distinct, assert_no_relations};
pub(crate) use bundles::{Bundles, HomeId, columns_in};
pub(crate) use change_log::{ChangeLog, LogId, LogPosition, RowPlaces};
pub(crate) use chunk_contents::ChunkContents;
pub(crate) use chunk_meta::ChunkMeta;
pub(crate) use column_bundle::NewRows;
pub use column_bundle::{ColumnBundle, ColumnSlices};
pub(crate) use columns_mut::ColumnsMut;
pub(crate) use graph::{BundleId, Change, ChangeKind, Edge, EdgeId, Graph};
pub(crate) use in_place::ArchetypesInPlace;
pub(crate) use merge_archetype::merge_archetype;
pub(crate) use move_chunks::{MoveContext, move_chunks};
pub(crate) use move_rows::{MoveScratch, move_rows};
pub(crate) use patch::{ArchetypePatch, CellRun};
pub(crate) use restore_rows::RestoreContext;
pub(crate) use row_changes::move_row;
pub(crate) use row_shift::RowShift;
pub(crate) use rows_view::RowsView;
pub(crate) use shared_tags::{OwnedSharedValue, SharedTags};
pub(crate) use traits::DespawnAction;
pub(crate) use unchanged_chunks::ChunkVersions;
