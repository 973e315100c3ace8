//! The storage of a world. This module is not generic over query types.
//!
//! * [`store`] has [`Store`]: archetypes, entities and the clock, with their indices: the numbers
//!   of components, cached plans, the graph of structural changes. Its fields are private to this
//!   folder, so rows change here only; [`query_parts`] are the parts that a query writes.
//! * [`spawn_rows`] spawns one row or many: a [`batch`] has rows while they are written, and
//!   [`instantiate`] copies a row, and
//!   [`instantiate_tree`] a tree. [`attempt`] removes the archetypes that a refused call has
//!   added.
//! * [`change_row`] changes the components of one entity, [`change_rows`] of many entities that
//!   have one change, [`change_chunks`] of all [`matches`] of a query. [`find_edge`] finds the
//!   archetype to which a change moves a row. [`row_values`] has values as bytes.
//! * [`ids`] has the ids without rows, which other modules take and give back.
//! * [`despawn`] removes rows. [`cleanup`] has the despawned entities that keep their cleanup
//!   components.
//! * [`entity_error`] has the errors of changes and spawns.
//! * [`requirements`] has the type of a query as a value, which describes its requirements:
//!   columns, [`rule`]s for archetypes, and [`row_rule`]s for enable bits. Rules name components by
//!   a [`component_ref`]. [`hidden_filter`] has the hidden components that the query sees. A
//!   [`filter_expression`] is a condition of alternatives and negations; [`require_expression`]
//!   makes rules of it. [`named_requirements`] are those of components that are named at run time,
//!   as [`named_parts`] of a query that is data, which keeps its [`named_plan`] itself.
//! * [`plan`] lists the archetypes that meet the requirements. A plan is made once per type of
//!   query and found by it among the [`plans`], or in one load among the [`recent_plans`]; each new
//!   archetype is tested once by each plan whose first words admit it. [`tagged_entries`] finds the
//!   entries of a plan by the tags of shared values, and [`resolved_plan`] caches the addresses of
//!   archetypes with one chunk. A [`pass`] visits the entries of a plan, each once, and hands out
//!   the [`entered_archetype`].
//! * [`store_image`] is a copy of the state, and [`restore`] gives it back; [`history`] knows the
//!   versions that this discards.
//! * [`merge`] takes over the entities of another store, [`move_from`] a part of them. A
//!   [`merge_error_kind`] is the reason of a refusal.
//! * [`retire_archetypes`] frees archetypes without rows.
//! * [`swap`] exchanges two columns in constant time.
//! * [`row_order`] puts the rows of an archetype in another order; [`sort_order`] finds the order
//!   of sorted keys, and [`sorted_lists`] knows the chunks that have been sorted and are unchanged.
//! * [`split_store`] grants the columns of one store to systems that run at the same time, each by
//!   an [`access_request`]: a [`granted_plan`] is the right to the columns of a query, and
//!   [`granted_rows`] are the rows of a query of names.
//! * [`sparse`] has the values that are stored by entity beside the chunks, and [`relations`] the
//!   sparse sets whose values are other entities. [`first_panic`] catches the panics of their
//!   destructors.
//! * [`logs`] has the events that were sent, and the rows that have gained or lost components or
//!   were despawned, for their readers.
//! * [`read_guard`] has the read borrows of resources, sparse sets and queues, which may be
//!   forgotten.
//!
//! From the type of a query to its chunks:
//!
//! ```text
//!  query::Query ── query_type ──► Plans::get ──► Plan: archetype 3: columns 0, 1
//!                                                 │    archetype 7: columns 0, 2   …
//!                                    ResolvedPlan ▼
//!  query::ChunkCursor ◄── Pass: addresses of archetypes with one chunk, or lists of chunks
//! ```
//!
//! The calls of `world.insert(e, x)`, if the entity has no `x` yet:
//!
//! ```text
//!  World::insert                        world/structural.rs
//!    Store::flush                       store/spawn_rows.rs
//!    Store::insert                      store/change_row.rs      splits `x` by kind
//!      Store::change_of                 store/change_row.rs
//!        Directory::locate              entity/directory.rs      the entity's archetype and row
//!        Graph::last_edge               archetype/graph.rs       same bundle type and source, or:
//!        Store::find_edge               store/change_row.rs
//!          Bundles::id                  archetype/bundles.rs
//!          Store::edge                  store/find_edge.rs
//!            Graph::find                archetype/graph.rs       the edge is known, or:
//!            Store::add_edge            store/find_edge.rs
//!              Store::find_or_add       store/store.rs           adds the target, extends plans
//!              Edge::new, Graph::add    archetype/graph.rs
//!          Graph::remember_edge         archetype/graph.rs
//!        Store::advance_clock           store/store.rs
//!      Store::exchange_along            store/change_row.rs
//!        ColumnBundle::store            archetype/column_bundle.rs writes `x`, for move_cells
//!        Store::change_row              store/change_row.rs      every change of a single row
//!          Store::record_move           store/logs/record_rows.rs for readers of removed rows
//!          Archetypes::pair_mut         archetype/archetypes.rs  records both in the change log
//!          move_row                     archetype/row_changes.rs
//!            ChunkList::begin_removal   storage/chunk_list/append_remove.rs
//!            ChunkList::next_row        storage/chunk_list/append_remove.rs
//!            RowMove::move_cells        storage/access/row_move.rs
//!              copy_small               storage/block.rs
//!              NextRow::commit          storage/chunk_list/append_remove.rs
//!            RemovedRow::remove         storage/chunk_list/append_remove.rs
//!              Blocks::copy_row         storage/chunk_list/blocks.rs
//!            Archetype::row_arrived     archetype/row_changes.rs
//!              Stamps::record_arrival   storage/stamps/moved_rows.rs
//!            Archetype::finish_removal  archetype/row_changes.rs
//!              Archetype::row_removed   archetype/row_changes.rs
//!                Stamps::record_removal storage/stamps/moved_rows.rs
//!          Directory::set_location      entity/directory.rs
//!          Store::record_arrived        store/logs/record_rows.rs for readers of inserted rows
//! ```
//!
//! If the entity has `x`, the edge leads back to its archetype, and [`Archetype::overwrite_row`]
//! writes the new value in place.
//!
//! [`Archetype::overwrite_row`]: crate::archetype::Archetype::overwrite_row

mod access_request;
mod attempt;
mod batch;
mod change_chunks;
mod change_row;
mod change_rows;
mod cleanup;
mod component_ref;
mod despawn;
mod entered_archetype;
mod entity_error;
mod filter_expression;
mod find_edge;
mod first_panic;
mod granted_plan;
mod granted_rows;
mod hidden_filter;
mod history;
mod ids;
mod instantiate;
mod instantiate_tree;
mod logs;
mod matches;
mod merge;
mod merge_error_kind;
mod move_from;
mod named_parts;
mod named_plan;
mod named_requirements;
mod pass;
mod plan;
mod plans;
mod query_parts;
mod read_guard;
mod recent_plans;
mod relations;
mod require_expression;
mod requirements;
mod resolved_plan;
mod restore;
mod retire_archetypes;
mod row_order;
mod row_rule;
mod row_values;
mod rule;
mod sort_order;
mod sorted_lists;
mod sparse;
mod spawn_rows;
mod split_store;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod store;
mod store_image;
mod swap;
mod tagged_entries;

pub(crate) use access_request::{AccessRequest, RequestKey};
pub(crate) use component_ref::ComponentRef;
pub(crate) use entered_archetype::EnteredArchetype;
pub use entity_error::{EntityError, SpawnError};
pub(crate) use filter_expression::FilterExpression;
pub(crate) use first_panic::FirstPanic;
pub(crate) use granted_plan::GrantedPlan;
pub(crate) use granted_rows::GrantedRows;
pub(crate) use history::History;
pub(crate) use logs::{
    EntityRows, EventQueueInfo, EventQueues, Kept, KeptEvents, LogSubject, Logs, ReaderPosition,
    RowKind, RowLog,
};
pub(crate) use matches::{MatchedChunks, MatchedRows, Matches};
pub use merge_error_kind::MergeErrorKind;
pub(crate) use named_parts::{NamedParts, TermUse};
pub(crate) use named_plan::NamedPlan;
pub(crate) use named_requirements::NamedColumns;
pub(crate) use pass::{NextStep, Pass};
pub(crate) use plan::Plan;
pub(crate) use query_parts::QueryParts;
pub(crate) use read_guard::{ReadGuard, is_held};
pub use relations::{Levels, NamedTarget, RelationError};
pub(crate) use requirements::QueryType;
pub(crate) use requirements::{ComponentIds, Obstacle, Requirements, RequirementsBuilder};
pub(crate) use row_order::RowOrder;
pub(crate) use row_rule::RowRule;
pub(crate) use row_values::RowValues;
pub(crate) use rule::Rule;
pub(crate) use sort_order::{KeyCells, KeySlice, sort_all, sort_few};
pub(crate) use sparse::{
    BlockSource, EachOfSet, EntityStates, MemberRows, OpenSet, PendingBundle, PendingLists,
    PendingParts, ReadSet, Reading, SavedSet, SetArrays, SetKind, SetMembers, SetRows, SetShape,
    SetValues, SetView, SetWrites, SetsMut, SparseSet, SparseSetInfo, SparseSets, TermSets,
    WatchedBlocks, WatchedSets, Watching, Writing,
};
pub(crate) use split_store::{AccessGuard, ColumnAccess, ReadAccess, SplitStore};
pub(crate) use store::Store;
pub(crate) use store_image::{StoreImage, StorePatch, age_of_stamp};
