//! A pass over the rows for whose entities a value is found, with slices of these values.
//!
//! ```text
//!  rows of a chunk    a  b  c  d  e  f  g
//!  values             A  B  C     E     G
//!  calls             [a  b  c]   [e]   [g]      beside [A B C], [E], [G]
//! ```
//!
//! Values are collected in one buffer, which has room for the rows of the longest part of a chunk.
//! Another one has the entities that have the values, so that the loop that waits for memory does
//! little else, and the processor has the reads of more rows in flight. (A trial of both forms as
//! the code of a system, 100,000 targets in random order: 12.5 ns a row and not 15.9.)
//!
//! Only rows that a body gets are stamped.

use crate::component::ConstText;
use crate::entity::Entity;
use crate::storage::SliceRows;

use super::cursor::ChunkCursor;
use super::cut_chunk::ChunkPart;
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
                    a value per chunk: write it in a pass of its own";
        panic!("{}", ConstText::of(&[text]).as_str());
    }
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of rows that follow each other, and the values of their
    /// entities. Rows without a value are left out.
    ///
    /// `link` names the entity with the value of a row, and `find` has the value. All rows of a
    /// part of a chunk are linked before the first value is read.
    pub(crate) fn for_each_found<V, R: Into<Modified>>(
        self,
        mut link: impl FnMut(Entity) -> Entity,
        mut find: impl FnMut(Entity) -> Option<V>,
        mut body: impl FnMut(Q::Slices<'w>, &[V]) -> R,
    ) {
        let mut iter = QueryIter::<Q, F>::new(self.borrow, self.held, self.filter, SliceRows::Live);
        let (cursor, filter, slice_rows, sets) = iter.parts();
        let (mut linked, mut values) = (Vec::new(), Vec::new());
        while let Some(mut cut) = cursor.cut_next::<Q, F>(filter, slice_rows) {
            let (chunk, entities) = (cut.chunk, cut.rows.entities());
            let mut parts = cut.parts::<Q, F>(sets);
            while let Some(part) = parts.next::<F>() {
                let entities = &entities[part.rows.clone()];
                linked.clear();
                linked.extend(entities.iter().map(|&entity| link(entity)));
                values.reserve(entities.len());
                let mut run = FoundRun::<Q> { cursor, chunk, part };
                for &entity in &linked {
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
