//! The one place where the bytes of a chunk become typed slices.
//!
//! Everything above this folder is safe code, because the types here prove what their accesses
//! need:
//!
//! * a [`ChunkLayout`](super::layout::ChunkLayout) proves that columns lie inside the block,
//!   aligned, without overlap;
//! * a [`ChunkList`](super::ChunkList) is the owner of its blocks, all taken for its layout, and
//!   promises that the first `padded(rows)` rows of every chunk are initialised;
//! * a [`CutTable`] row names columns of one list, any two of them distinct if one is written;
//! * a [`Cutter`] borrows a run of rows of one chunk and hands out each column of such a row once;
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
//! [`table`] has the rows, [`cut`] the walk and the slices, [`cell`] cells by row, [`append`] the
//! rows that are written at the end of a list, [`ready`] cuts kept from one walk to the next,
//! [`shape`] what these have in common, [`view`] random access, [`row`] rows that move to another
//! list, [`copy`] rows as bytes.

mod append;
mod cell;
mod copy;
mod cut;
mod ready;
mod row;
mod shape;
mod table;
#[cfg(test)]
mod twin;
mod view;

pub(crate) use append::{NewCells, Tally, Writer, WrittenRows};
pub(super) use cell::RowWritten;
pub(crate) use cell::{BundleCells, CellsMut, DistinctColumns, LiveColumns, RowReader, RowWriter};
pub(super) use copy::{copy_row, copy_rows, zero_rows};
pub(crate) use cut::CutChunks;
pub(crate) use cut::{Cutter, TakeColumns};
pub(crate) use ready::{ReadyCutter, ReadyNext, ReadyTable, ReadyWalk};
pub(crate) use row::RowMove;
pub(crate) use table::CutColumn;
pub(crate) use table::{ColumnUse, CutRow, CutTable};
pub(crate) use view::{ColumnViews, ColumnViewsMut};
