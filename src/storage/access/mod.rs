//! The one place where the bytes of a chunk become typed slices.
//!
//! Everything above this folder is safe code, because the types here prove what their accesses
//! need:
//!
//! * a [`ChunkLayout`](super::layout::ChunkLayout) proves that columns lie inside the block,
//!   aligned, without overlap;
//! * a [`ChunkList`](super::ChunkList) is the owner of its blocks, all taken for its layout, and
//!   promises that the first `padded(rows)` rows of every chunk are initialised;
//! * a [`ColumnMap`] row names columns of one list, any two of them distinct if one is written;
//! * a [`ChunkColumns`] borrows a run of rows of one chunk and hands out each column of such a row once;
//!   it is made from `&mut ChunkList` once per run, or from `&ChunkList` for reading only;
//! * rows become live in two ways: many by a [`WrittenRows`], which counts the rows behind the last
//!   live one that were written in every column; one by a [`RowWriter`] that has written every cell.
//!
//! The types of slices are checked by size and alignment, not by identity: components are `Pod`,
//! so any bytes are a value of any component of that size and alignment.
//!
//! The safe form of the same cuts, `get_disjoint_mut` and `cast_slice` over one `&mut [u8]`, cost
//! 4 to 12 % of a kernel in the first-level cache; it is the oracle of the tests.
//!
//! [`column_map`] has the rows, [`chunk_iter`] the walk and the slices, [`cell`] cells by row, [`written_rows`] the
//! rows that are written at the end of a list, [`chunk_cache`] cuts kept from one walk to the next,
//! [`column_type`] what these have in common, [`random_access`] random access, [`row_move`] rows that move to another
//! list, [`block_copy`] rows as bytes.

mod block_copy;
mod cell;
mod chunk_cache;
mod chunk_iter;
mod column_map;
mod column_type;
#[cfg(test)]
mod oracle_tests;
mod random_access;
mod row_move;
mod written_bytes;
mod written_rows;

pub(super) use block_copy::{copy_row, copy_rows, zero_rows};
pub(super) use cell::WrittenRow;
pub(crate) use cell::{BundleCells, CellsMut, DistinctColumns, LiveColumns, RowReader, RowWriter};
pub(crate) use chunk_cache::{CacheNext, CachedChunk, CachedChunks, ChunkCache};
pub(crate) use chunk_iter::ChunkIter;
pub(crate) use chunk_iter::{ChunkColumns, Columns};
pub(crate) use column_map::ColumnRef;
pub(crate) use column_map::{ArchetypeColumns, ColumnMap, ColumnUse};
pub(crate) use random_access::{ColumnViews, ColumnViewsMut};
pub(crate) use row_move::RowMove;
pub(crate) use written_rows::{NewCells, Tally, Writer, WrittenRows};
