//! What a world stores, and what is kept to find it, without a type of query.
//!
//! The [`store`] holds archetypes, entities and the clock. A query reaches it as a value, its
//! [`query_type`], which builds the [`requirements`] of the query: columns, and [`rule`]s for
//! archetypes. A [`plan`] lists the archetypes that meet them; it is made once per type of query,
//! and its [`resolved_plan`] keeps the addresses of small archetypes. [`split`] grants the columns
//! of one store to systems that run at the same time. [`edges`] find where a structural change
//! leads.
//!
//! The way of a query from its type to its chunks:
//!
//! ```text
//!  query::Query ─ query_type ─► Plans::get ─► Plan: archetype 3: columns 0, 1
//!                                              │    archetype 7: columns 0, 2   …
//!                                 ResolvedPlan ▼
//!  query::ChunkCursor ◄──── addresses of small archetypes, or Archetypes, chunk by chunk
//! ```

mod edges;
mod plan;
mod query_type;
mod requirements;
mod resolved_plan;
mod rule;
mod split;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod store;

pub(crate) use edges::EdgeError;
pub(crate) use plan::Plan;
pub(crate) use query_type::QueryType;
pub(crate) use requirements::{ComponentIds, Requirements, RequirementsBuilder};
pub(crate) use rule::Rule;
pub(crate) use split::{AccessGuard, AccessRequest};
pub(crate) use split::{ColumnAccess, SplitStore};
pub(crate) use store::Store;
