//! Archetypes: one list of chunks per exact set of components.
//!
//! [`rows`] is an archetype: its chunks, the entities of its rows, its stamps. [`catalog`] holds
//! all archetypes of a world and finds one by its set. When an entity gains or loses components
//! its row moves along an edge of the [`graph`], which remembers where "insert this bundle" and
//! "remove this bundle" lead from each archetype, and which columns the two ends share
//! ([`transfer`]): only the first entity that takes an edge costs a set and a hash. [`whole`] moves
//! chunks along an edge, all their rows at once. [`moves`] notes which archetypes were lent for such
//! changes, for who keeps addresses of their rows; who writes [`values`] only gets a type that moves
//! nothing, and is not noted.

mod append;
mod catalog;
mod graph;
mod moves;
mod rows;
mod transfer;
mod values;
mod whole;

pub(crate) use catalog::Catalog;
pub(crate) use graph::{BundleId, Change, Edge, EdgeId, Graph, Verb};
pub(crate) use moves::{HistoryId, Moment, Moves};
pub(crate) use rows::{Archetype, ArchetypeId};
pub(crate) use transfer::move_row;
pub(crate) use values::ValuesMut;
pub(crate) use whole::{Moving, move_chunks};
