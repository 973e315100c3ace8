//! A pass over the rows for whose entities a value is found, with slices of these values.
//!
//! ```text
//!  rows of a chunk    a  b  c  d  e  f  g
//!  values             A  B  C     E     G
//!  calls             [a  b  c]   [e]   [g]      beside [A B C], [E], [G]
//! ```
//!
//! Values are collected in one buffer, which has room for the rows of the longest part of a chunk.
//! Only rows that a body gets are stamped.

use crate::component::ConstText;
use crate::entity::Entity;
use crate::storage::SliceRows;

use super::cursor::{ChunkCursor, ChunkPart};
use super::filter::Filter;
use super::for_each::{Modified, StampOnDrop};
use super::query::Query;
use super::query_iter::QueryIter;
use super::terms::Terms;

/// A compile error if the query writes a value per chunk. Evaluated in a constant of the public
/// function, so that the error names the caller's line.
pub(crate) const fn assert_by_run<Q: Terms>() {
    if Q::WRITES_CHUNKS {
        let text = "rows beside values of other entities come in runs, so their query cannot write \
                    a value per chunk";
        panic!("{}", ConstText::of(&[text]).as_str());
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of rows that follow each other, and the values of their
    /// entities. Rows without a value are left out.
    pub(crate) fn for_each_found<V, R: Into<Modified>>(
        self,
        mut find: impl FnMut(Entity) -> Option<V>,
        mut body: impl FnMut(Q::Slices<'w>, &[V]) -> R,
    ) {
        let mut iter = QueryIter::<Q, F>::new(self.borrow, self.held, self.filter, SliceRows::Live);
        let (cursor, filter, slice_rows, sets) = iter.parts();
        let mut values = Vec::new();
        while let Some(mut cut) = cursor.cut_next::<Q, F>(filter, slice_rows) {
            let (chunk, entities) = (cut.chunk, cut.rows.entities());
            let mut parts = cut.parts::<Q, F>(sets);
            while let Some(part) = parts.next::<F>() {
                let entities = &entities[part.rows.clone()];
                values.reserve(entities.len());
                let mut run = FoundRun::<Q> { cursor, chunk, part };
                for &entity in entities {
                    match find(entity) {
                        Some(value) => values.push(value),
                        None => {
                            run.visit(&mut values, &mut body);
                            run.take(1);
                        }
                    }
                }
                run.visit(&mut values, &mut body);
            }
        }
    }
}

/// The rows of a part that are left.
struct FoundRun<'a, 'w, Q: Terms> {
    cursor: &'a mut ChunkCursor<'w>,
    chunk: usize,
    part: ChunkPart<Q::Slices<'w>>,
}

impl<'w, Q: Terms> FoundRun<'_, 'w, Q> {
    /// The next rows.
    fn take(&mut self, len: usize) -> ChunkPart<Q::Slices<'w>> {
        let ChunkPart { slices, rows } = &mut self.part;
        let taken = rows.start..rows.start + len;
        rows.start = taken.end;
        ChunkPart { slices: Q::split_off(slices, len), rows: taken }
    }

    /// Calls the body with the next rows, one for each value, and stamps them.
    fn visit<V, R: Into<Modified>>(
        &mut self,
        values: &mut Vec<V>,
        body: &mut impl FnMut(Q::Slices<'w>, &[V]) -> R,
    ) {
        if !values.is_empty() {
            let part = self.take(values.len());
            let rows = part.rows_in(self.chunk);
            let mut stamp = StampOnDrop::<Q>::new(self.cursor, self.chunk, Some(rows));
            stamp.modified = body(part.slices, values).into();
            values.clear();
        }
    }
}
