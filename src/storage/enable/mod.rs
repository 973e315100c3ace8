//! The enable bits of enableable components: a bit a row, outside of the chunks.
//!
//! [`enable_bits`] has the bits of one archetype, [`row_mask`] the rows of a chunk that a query
//! sees, [`row_runs`] their runs, and [`enabled_rows`] the items of terms that read or switch the
//! bits of one component.
//!
//! A disabled component stays in place, with its value: switching it moves no data, which is the
//! purpose. Queries take it for absent. The bits lie outside of the chunks, like versions and for
//! the same reasons: a chunk has only columns, and a pass tests a word for 64 rows before it
//! touches a line of them.

mod enable_bits;
mod enabled_rows;
mod row_mask;
mod row_runs;

pub(crate) use enable_bits::{ChunkBits, EnableBits};
pub use enabled_rows::{
    EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut, EnabledRowsMutIter,
};
pub use row_mask::RowMask;
pub(crate) use row_mask::{EnableRule, EnableRules, Share};
pub use row_runs::RowRuns;
pub(crate) use row_runs::SeenPart;
