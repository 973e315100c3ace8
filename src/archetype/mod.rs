//! Archetypes: one list of chunks per exact set of components.
//!
//! [`archetype`] is an archetype: its chunks, the entities of its rows, its stamps. [`archetypes`] holds
//! all archetypes of a world and finds one by its set. When an entity gains or loses components
//! its row moves along an edge of the [`graph`], which remembers where "insert this bundle" and
//! "remove this bundle" lead from each archetype, and which columns the two ends share
//! ([`move_row`]): only the first entity that takes an edge costs a set and a hash. [`move_chunks`] moves
//! chunks along an edge, all their rows at once. [`change_log`] notes which archetypes were lent for such
//! changes, for who keeps addresses of their rows; who writes [`columns_mut`] only gets a type that moves
//! nothing, and is not noted.

mod append;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod archetype;
mod archetypes;
mod change_log;
mod columns_mut;
mod graph;
mod move_chunks;
mod move_row;

pub(crate) use archetype::{Archetype, ArchetypeId};
pub(crate) use archetypes::Archetypes;
pub(crate) use change_log::{ChangeLog, LogId, LogPosition};
pub(crate) use columns_mut::ColumnsMut;
pub(crate) use graph::{BundleId, Change, ChangeKind, Edge, EdgeId, Graph};
pub(crate) use move_chunks::{MoveContext, move_chunks};
pub(crate) use move_row::move_row;
