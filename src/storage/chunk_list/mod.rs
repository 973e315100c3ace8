//! The list of an archetype's chunks.
//!
//! [`chunk_list`] has the list and how it grows, [`append_remove`] the append and the removal of
//! single rows, [`detach`] the transfer of whole chunks between lists.

mod append_remove;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod chunk_list;
mod detach;

pub(crate) use append_remove::{NextRow, RemovedRow};
pub(crate) use chunk_list::{ChunkList, FreeRun};
pub(crate) use detach::DetachedChunks;
