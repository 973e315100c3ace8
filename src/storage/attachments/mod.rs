//! Attachments: words that some columns have for each chunk, outside of the chunks.
//!
//! ```text
//!  chunk                             0               1               2
//!  enable bits of column 1        │ 9 words       │ 9 words       │ 9 words       │
//!  versions of rows of column 1   │ 28 words      │ 28 words      │ 28 words      │
//!  value a chunk of column 4      │ 2 words       │ 2 words       │ 2 words       │
//! ```
//!
//! A row has one enable bit; 64 rows have three words of versions, and a chunk one more. The chunks
//! above have 576 rows.
//!
//! A chunk has only columns, so attachments lie in arrays of their own, like stamps and for the
//! same reasons: a pass reads a word for 64 rows, or one value, before it touches a line of the
//! rows.
//!
//! * [`attachments`] has the words of all columns and chunks of an archetype. It adds, moves, saves
//!   and loads them without knowing their meaning.
//! * [`attachment`] is the trait of a kind: how its words follow rows that arrive, leave or are
//!   written. [`kinds`] has the list of all kinds. A new kind is one file, and one line in this
//!   list. [`words_layout`] has the places of saved words.
//! * `write_counts` is a kind for the tests, which proves the sentence before: a random world
//!   (`world/attachment_tests.rs`) compares it with counts by entity.
//! * [`enable_bits`], [`line_versions`] and [`chunk_values`] are the kinds, each with a typed view
//!   of the words of one chunk; [`chunk_lines`] is the view of line versions. [`members`] is a kind
//!   of sparse components, not of columns; [`chunk_members`] are the members of one chunk.
//! * [`newer_rows`] has the rows of a chunk that are newer than a version.
//! * [`set_blocks`] has the versions of a sparse component's values, by which rows are chosen.
//! * [`row_mask`] has the rows of a chunk that a query sees, [`row_runs`] their runs, and
//!   [`few_rows`] a list of those that lie far apart. [`enabled_rows`] has the items of terms that
//!   read or switch enable bits.
//!
//! Words are atomic, because threads that share an archetype write the words of different columns,
//! rows and chunks. All accesses are relaxed: readers and writers of one component are synchronised
//! elsewhere.

mod attachment;
#[expect(clippy::module_inception, reason = "a file bears the name of its type")]
mod attachments;
mod chunk_lines;
mod chunk_members;
mod chunk_values;
mod enable_bits;
mod enabled_rows;
mod few_rows;
mod kinds;
mod line_versions;
mod members;
mod newer_rows;
mod row_mask;
mod row_runs;
mod set_blocks;
mod words_layout;
#[cfg(test)]
mod write_counts;

pub use attachment::AttachmentFigure;
pub(crate) use attachment::{AttachmentKind, Content, RowSpan};
pub(crate) use attachments::{Attachments, RowSource};
pub(crate) use chunk_lines::ChunkLines;
pub(crate) use chunk_members::ChunkMembers;
pub(crate) use chunk_values::ValueCell;
pub(crate) use enable_bits::{ChunkBits, ColumnBits};
pub use enabled_rows::{
    EnabledRow, EnabledRows, EnabledRowsIter, EnabledRowsMut, EnabledRowsMutIter,
};
pub(crate) use few_rows::{FewRows, ListedRow};
pub(crate) use newer_rows::NewerRows;
pub use row_mask::RowMask;
pub(crate) use row_mask::{EnableRule, EnableRules, Visibility};
pub use row_runs::RowRuns;
pub(crate) use row_runs::SeenPart;
pub(crate) use set_blocks::SetBlocks;
pub(crate) use words_layout::{WordsLayout, WordsPart};
