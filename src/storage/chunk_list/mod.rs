//! The list of an archetype's chunks.
//!
//! [`chunk_list`] has the list and its growth, [`append_remove`] rows that come and go one by one,
//! [`detach`] whole chunks that leave and are added.

mod append_remove;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod chunk_list;
mod detach;

pub(crate) use append_remove::{NextRow, RemovedRow};
pub(crate) use chunk_list::{ChunkList, FreeRun};
pub(crate) use detach::DetachedChunks;
