//! Chunks: rows as bytes, and bytes as slices.
//!
//! An archetype's rows lie in *chunks*: blocks of 16 KiB (`WorldBuilder::chunk_size`) that hold
//! only columns, one after the other. One chunk of an archetype `{Position, Velocity, Age}`, 12 +
//! 12 + 4 bytes a row:
//!
//! ```text
//!  byte 0                 6912                 13824        16128  16384
//!  │ Position × 576       │ Velocity × 576     │ Age × 576  │ rest │
//!  └─ 64-byte line        └─ 64-byte line      └─ 64-byte line
//! ```
//!
//! * Each column **starts on a cache line**, and a chunk has room for a multiple of 16 rows
//!   wherever 16 fit. Rows are always initialised up to the next multiple of 16 after the last live
//!   one, or the capacity: a kernel that gets them (`query.padded()`) needs no remainder loop.
//! * **Versions, counts and entity ids are stored outside the chunks**, in dense arrays
//!   ([`stamps`]). Inside a chunk they would interrupt the streams: scanning versions in chunk
//!   headers cost 6 to 68 times as much as scanning the dense array, and an id column cost 20 % of
//!   a pass at DRAM size.
//! * **Bases are coloured.** Blocks of one slab lie at least 64 bytes more than their size apart:
//!   at a power of two, equal columns of different chunks would fall into the same sets of the
//!   first-level cache. One pass over 26 chunks of 20 rows took 149.6 ns at 16 KiB and 69.6 ns at
//!   16 KiB + 64.
//! * **Long archetypes are streams.** A chunk may lie anywhere: the chunks of a long list share
//!   [`extents`], which have the runs of a column one after the other, so that a pass runs at the
//!   speed of flat arrays.
//! * **Rare archetypes start small.** A list that begins with few rows has one small block, of the
//!   smallest power of two from 1 KiB up in which 16 rows fit. When it is full, its rows move to a
//!   full-size chunk; `compact` may move them back.
//!
//! The dependencies:
//!
//! ```text
//!  access ─────► attachments         typed slices and cells │ words beside columns
//!    │              ▼
//!    │           stamps              change versions
//!    │
//!    ▼
//!  chunk_list ─► chunk_set, row,     the chunks of an archetype │ some of them, and rows,
//!    │           written_rows        proof that rows are written
//!    ▼
//!  pool ───────► extents, slab       memory │ for several chunks, for one
//!    │
//!    ▼
//!  block ──────► block_class         where a chunk lies │ alone or with others
//!    │
//!    ▼
//!  layout ─────► chunk_size          offsets and capacity │ bytes of a chunk
//! ```
//!
//! * [`chunk_size`] has the size of a world's chunks.
//! * [`layout`] computes the offsets and the capacity of a chunk and proves them; `layout_tests`
//!   compares it with layouts by hand and at random.
//! * [`row`] has a position, split into the number of a chunk and a row in it, and neighbours in a
//!   chunk. [`row_place`] has places of rows for users, and [`chunk_numbers`] finds their rows.
//! * [`block`] is the memory of one chunk, computes addresses in it and copies its cells.
//!   [`block_class`] tells how many chunks share memory.
//! * [`slab`] cuts blocks of one size from large allocations, [`extents`] blocks for several
//!   chunks, both from huge pages where the system has them. [`pool`] has all blocks of a world.
//! * [`slice_rows`] tells whether slices show padding.
//! * [`written_rows`] has the proof that a list needs to make rows live.
//! * [`chunk_list`] is the list of an archetype's chunks, [`chunk_set`] a selection of them.
//! * [`access`] is the only place where bytes become typed slices.
//! * [`stamps`] has the change versions of chunks, and [`attachments`] the words that some columns
//!   have for each chunk in addition: enable bits, versions of lines, values of chunks.

mod access;
mod attachments;
mod block;
mod block_class;
mod chunk_list;
mod chunk_numbers;
mod chunk_set;
mod chunk_size;
mod extents;
mod layout;
mod pool;
mod row;
mod row_place;
mod slab;
mod slice_rows;
mod stamps;
mod written_rows;

pub(crate) use access::{
    Absent, AccessKind, ArchetypeColumns, Borrow, BundleCells, CacheNext, CachedChunk,
    CachedChunks, CellRow, CellsMut, ChunkCache, ChunkColumns, ChunkIter, ColumnBytes, ColumnMap,
    ColumnRef, ColumnUse, ColumnViews, ColumnViewsMut, Columns, DistinctColumns, LiveColumns,
    NewCells, PlaceTable, RowCells, RowCellsMut, RowMove, RowReader, RowWriter, Tally, Writer,
};
pub use attachments::{
    AttachmentFigure, EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut, EnabledRowsMutIter,
    RowMask, RowRuns,
};
pub(crate) use attachments::{
    AttachmentKind, Attachments, ChunkBits, ChunkLines, ChunkMembers, ColumnBits, Content,
    EnableRule, EnableRules, FewRows, ListedRow, NewerRows, RowSource, RowSpan, SeenPart,
    SetBlocks, ValueCell, Visibility, WordsLayout, WordsPart,
};
pub(crate) use chunk_list::{ChunkList, DetachedChunks, FreeRun};
pub(crate) use chunk_numbers::ChunkNumbers;
pub(crate) use chunk_set::{ChunkMove, ChunkSet};
pub use chunk_size::{ChunkSize, ChunkSizeError};
pub(crate) use extents::EXTENT_CHUNKS_MAX;
pub use layout::LayoutError;
pub(crate) use layout::{Column, ColumnShape, ListLayout};
pub(crate) use pool::{NewSlabs, Pool};
pub(crate) use row::{ChunkRow, RowRun};
pub use row_place::RowPlace;
pub(crate) use slice_rows::SliceRows;
pub(crate) use stamps::{SharedLines, StampKind, StampRun, Stamps};
pub(crate) use written_rows::WrittenRows;
