//! Chunks: how rows become bytes, and bytes become slices.
//!
//! An archetype's rows lie in *chunks*: blocks of 16 KiB (a parameter of the world) that hold
//! column after column and nothing else. One chunk of an archetype `{Position, Velocity, Age}`,
//! 12 + 12 + 4 bytes a row:
//!
//! ```text
//!  byte 0                 6912                 13824        16128  16384
//!  │ Position × 576       │ Velocity × 576     │ Age × 576  │ rest │
//!  └─ 64-byte line        └─ 64-byte line      └─ 64-byte line
//! ```
//!
//! * Each column **starts on a cache line and ends on one**, and a chunk has room for a multiple of
//!   16 rows wherever 16 fit. Sixteen rows of any component are whole 64-byte lines or whole
//!   vectors, so a kernel may run past the last live row to the next multiple of 16 and needs no
//!   remainder loop. The rows up to there are always initialised.
//! * **Versions, counts and entity ids are stored outside the chunks**, in dense arrays
//!   ([`stamps`]). Inside a chunk they would interrupt the streams: scanning versions in chunk
//!   headers cost 6 to 68 times as much as scanning the dense array, and an id column cost 20 % of
//!   a pass at DRAM size.
//! * **Bases are coloured.** Blocks of one slab lie `bytes + 64` apart, not `bytes`: at a power of
//!   two, equal columns of different chunks would fall into the same sets of the first-level cache.
//!   One pass over 26 chunks of 20 rows took 149.6 ns at 16 KiB and 69.6 ns at 16 KiB + 64.
//! * **Rare archetypes start small.** The first block of a list is the smallest power of two from
//!   1 KiB up that holds 16 rows. When it is full, its rows move once, into a full-size chunk.
//!
//! What uses what:
//!
//! ```text
//!  access ─────► stamps              typed slices and cells │ change versions
//!    │
//!    ▼
//!  chunk_list ─► chunk_set, row      the chunks of an archetype │ some of them, and rows
//!    │
//!    ▼
//!  slab                              memory
//!    │
//!    ▼
//!  layout ─────► chunk_size          offsets and capacity │ bytes of a chunk
//! ```
//!
//! * [`chunk_size`] has the size of a world's chunks.
//! * [`layout`] computes the offsets and the capacity of a chunk and proves them.
//! * [`row`] has the position of a row in its list.
//! * [`slab`] owns memory and cuts blocks from it.
//! * [`chunk_list`] is the list of an archetype's chunks, [`chunk_set`] a selection of them.
//! * [`access`] is the only place where bytes become typed slices.
//! * [`stamps`] has the change versions of chunks.

mod access;
mod chunk_list;
mod chunk_set;
mod chunk_size;
mod layout;
mod row;
mod slab;
mod stamps;

pub(crate) use access::{
    Absent, ArchetypeColumns, BundleCells, CacheNext, CachedChunk, CachedChunks, CellsMut,
    ChunkCache, ChunkColumns, ChunkIter, ColumnMap, ColumnRef, ColumnUse, ColumnViews,
    ColumnViewsMut, Columns, DistinctColumns, LiveColumns, NewCells, RowMove, RowReader, RowWriter,
    Tally, Writer, WrittenRows,
};
pub(crate) use chunk_list::{ChunkList, DetachedChunks, FreeRun, NextRow};
pub(crate) use chunk_set::{ChunkMove, ChunkSet};
pub use chunk_size::{ChunkSize, ChunkSizeError};
pub use layout::LayoutError;
pub(crate) use layout::{Column, ColumnShape, ListLayout};
pub(crate) use row::ChunkRow;
pub(crate) use slab::Pool;
pub(crate) use stamps::{SharedLines, StampKind, Stamps};
