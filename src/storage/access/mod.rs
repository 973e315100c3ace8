//! The only place where the bytes of a chunk become typed slices.
//!
//! In the modules above `storage` only `store/pass.rs` and `store/resolved_plan.rs` have unsafe
//! code, because the types here prove all conditions of their accesses:
//!
//! * A [`ChunkLayout`](super::layout::ChunkLayout) proves that columns lie inside the block,
//!   aligned and without overlap.
//! * A [`ChunkList`](super::ChunkList) owns its blocks, all allocated for its layout, and keeps the
//!   first `padded(rows)` rows of every chunk initialised.
//! * An entry of a [`ColumnMap`] names columns of one list, and each written column once.
//! * A [`ChunkColumns`] borrows the rows of one chunk, or of several that follow each other in
//!   memory, and hands out each column of an entry once. It is made once per chunk from `&mut
//!   ChunkList`, or from `&ChunkList` for reading or under the contract of
//!   [`ChunkIter::exclusive_unchecked`].
//! * Rows become live by two proofs (see [`written_rows`](super::written_rows)): a [`Writer`] and
//!   its [`Tally`] count the rows after the last live one that were written in every column, and a
//!   [`RowWriter`] has written every cell of one row.
//!
//! The type of a slice is checked by size and alignment if the column and the type accept any
//! bytes, as every `Pod` type does. A column of a type that does not, for example `bool`, is
//! accessed as that type only (see [`Values`](crate::component::Values)): a slice must never show
//! bytes that are not a value, and no code may write them. Its cells are values, because they come
//! from
//!
//! * values of its type: [`NewCells`], [`LiveColumns`] and slices check the type;
//! * cells of a column with the same values, checked once: [`RowMove`], `ChunkList::attach`, and
//!   copies within a list;
//! * zeros: padding rows;
//! * bytes that were tested: [`ColumnBytes`];
//! * the bytes of a value: [`RowWriter::put`] and `WrittenRows::write_bytes`. Only here the caller
//!   must know the type: it has the bytes of a bundle, in the order of the components that the
//!   bundle has registered, and [`BundleCells`] has their columns.
//!
//! `World::check` compares the bytes of all live rows with the values of their columns.
//!
//! The safe form of the same slices, `get_disjoint_mut` and `cast_slice` over one `&mut [u8]`, cost
//! 4 to 12 % of a kernel in the first-level cache. It is the oracle of the tests.
//!
//! * [`column_map`] has the columns that a query takes from each archetype, [`labels`] the entry of
//!   an archetype there.
//! * [`borrow`] tells whether a pass may write, [`access_kind`] whether a column is written.
//! * [`chunk_iter`] iterates over the chunks of a list and takes their columns as slices.
//! * [`chunk_cache`] keeps the addresses of columns from one pass to the next, [`column_type`]
//!   their common types.
//! * [`chunk_finder`] finds the chunk of an entity, in tables of [`list_view`]s and [`span`]s.
//!   [`cell_finder`] finds the cells of one component there, also by the place of a row, with a
//!   [`place_table`]; [`column_views`] reads and writes them. [`row_cells`] has the columns of a
//!   query there.
//! * [`cell`] has cells by row and column, [`column_bytes`] some columns of a chunk as bytes.
//! * [`writer`] writes rows at the end of a list, [`written_bytes`] does so without types.
//! * [`row_move`] has the cells of a bundle in one row, and moves a row to another list;
//!   `row_move_tests` compares it with vectors. [`rows_move`] moves many rows.
//! * [`oracle_tests`] compares the slices with the slices of the safe form.

mod access_kind;
mod borrow;
mod cell;
mod cell_finder;
mod chunk_cache;
mod chunk_finder;
mod chunk_iter;
mod column_bytes;
mod column_map;
mod column_type;
mod column_views;
mod labels;
mod list_view;
#[cfg(test)]
mod oracle_tests;
mod place_table;
mod row_cells;
mod row_move;
#[cfg(test)]
mod row_move_tests;
mod rows_move;
mod span;
mod writer;
mod written_bytes;

pub(crate) use access_kind::AccessKind;
pub(crate) use borrow::Borrow;
pub(crate) use cell::{CellsMut, LiveColumns};
pub(crate) use cell_finder::Absent;
pub(crate) use chunk_cache::{CacheNext, CachedChunk, CachedChunks, ChunkCache};
pub(crate) use chunk_iter::{ChunkColumns, ChunkIter, Columns};
pub(crate) use column_bytes::ColumnBytes;
pub(crate) use column_map::{ArchetypeColumns, ColumnMap, ColumnRef, ColumnUse};
pub(crate) use column_views::{ColumnViews, ColumnViewsMut};
pub(crate) use place_table::PlaceTable;
pub(crate) use row_cells::{CellRow, RowCells, RowCellsMut};
pub(crate) use row_move::{BundleCells, DistinctColumns, RowMove, RowReader, RowWriter};
pub(crate) use writer::{NewCells, Tally, Writer};
