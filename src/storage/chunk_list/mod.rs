//! The list of an archetype's chunks.
//!
//! [`chunk_list`] has the list and [`blocks`] the memory of its chunks, which [`grow`] and
//! [`compact`] place. [`append_remove`] has the append and the removal of single rows, [`padding`]
//! the rows that are initialised after the last one, and [`detach`] the transfer of whole chunks
//! between lists. `growth_tests` checks the places of chunks while a
//! list grows and shrinks, `blocks_tests` that blocks of other lists are refused.

mod append_remove;
mod blocks;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod chunk_list;
mod compact;
mod detach;
mod grow;
#[cfg(test)]
mod growth_tests;
mod padding;

pub(crate) use append_remove::{NextRow, RemovedRow};
pub(crate) use chunk_list::{ChunkList, FreeRun};
pub(crate) use detach::DetachedChunks;
