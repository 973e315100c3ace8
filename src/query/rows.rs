//! The iterator over a query's entities.

use super::filter::Filter;
use super::listed_rows::ListedRows;
use super::query_iter::QueryIter;
use super::query_type::is_by_row;
use super::some_rows::SomeRows;
use super::terms::Terms;

/// One pass over the entities of a query: yields references. See
/// [`Query::rows`](crate::Query::rows).
pub struct Rows<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q::ByRow, F>,
    chunk: SomeRows<RowsOf<'w, Q>>,
    /// For a query that chooses rows: those that follow.
    listed: ListedRows<RowsOf<'w, Q>>,
}

/// The rows of the slices of a pass over rows.
type RowsOf<'w, Q> = <<Q as Terms>::ByRow as Terms>::Rows<'w>;

#[inline(always)]
fn no_rows<'w, Q: Terms>() -> RowsOf<'w, Q> {
    Q::ByRow::rows(Q::ByRow::empty(), 0)
}

impl<'w, Q: Terms, F: Filter> Rows<'w, Q, F> {
    #[inline]
    pub(super) fn new(iter: QueryIter<'w, Q::ByRow, F>) -> Self {
        let [chunk, listed] = [(); 2].map(|()| no_rows::<Q>());
        Self { iter, chunk: SomeRows::all(chunk), listed: ListedRows::none(listed) }
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
                self.chunk.rows = self.iter.next_rows()?;
                continue;
            }
            if let Some(row) = self.listed.next() {
                return Some(row);
            }
            if !self.iter.next_part(&mut self.chunk, &mut self.listed) {
                return None;
            }
        }
    }

    // `for_each`, `sum` and the like run chunk by chunk, without a test per row for its end.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: G) -> B {
        let by_row = const { is_by_row::<Q::ByRow, F>() };
        if !by_row {
            let folded = self.chunk.rows.fold(init, &mut f);
            return self.iter.fold_rows(folded, |folded, rows| rows.fold(folded, &mut f));
        }
        let mut folded = init;
        loop {
            folded = self.chunk.fold(no_rows::<Q>(), folded, &mut f);
            while let Some(row) = self.listed.next() {
                folded = f(folded, row);
            }
            if !self.iter.next_part(&mut self.chunk, &mut self.listed) {
                return folded;
            }
        }
    }
}

impl<Q: Terms, F: Filter> core::fmt::Debug for Rows<'_, Q, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}
