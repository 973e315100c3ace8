//! The iterator over a query's entities.

use super::filter::Filter;
use super::query_iter::QueryIter;
use super::query_type::is_by_row;
use super::some_rows::SomeRows;
use super::terms::Terms;

/// One pass over the entities of a query: yields references. See
/// [`Query::rows`](crate::Query::rows).
pub struct Rows<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q::ByRow, F>,
    chunk: SomeRows<<Q::ByRow as Terms>::Rows<'w>>,
}

impl<'w, Q: Terms, F: Filter> Rows<'w, Q, F> {
    #[inline]
    pub(super) fn new(iter: QueryIter<'w, Q::ByRow, F>) -> Self {
        Self { iter, chunk: SomeRows::all(Q::ByRow::rows(Q::ByRow::empty(), 0)) }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Rows<'w, Q, F> {
    type Item = Q::Row<'w>;

    #[inline]
    fn next(&mut self) -> Option<Q::Row<'w>> {
        let by_row = const { is_by_row::<Q::ByRow, F>() };
        loop {
            if let Some(row) = self.chunk.next(by_row) {
                return Some(row);
            }
            if !by_row {
                self.chunk = self.iter.next_rows()?;
            } else if !self.iter.next_part(&mut self.chunk) {
                return None;
            }
        }
    }

    // `for_each`, `sum` and the like run chunk by chunk, without a test per row for its end.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: G) -> B {
        let by_row = const { is_by_row::<Q::ByRow, F>() };
        let folded = self.chunk.fold(by_row, init, &mut f);
        self.iter.fold_rows(folded, |folded, chunk| chunk.fold(by_row, folded, &mut f))
    }
}

impl<Q: Terms, F: Filter> core::fmt::Debug for Rows<'_, Q, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}
