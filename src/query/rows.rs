//! The iterator over a query's entities.

use super::filter::Filter;
use super::query_iter::QueryIter;
use super::terms::Terms;

/// One pass over the entities of a query: yields references. See
/// [`Query::rows`](crate::Query::rows).
pub struct Rows<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q::ByRow, F>,
    chunk: Option<<Q::ByRow as Terms>::Rows<'w>>,
}

impl<'w, Q: Terms, F: Filter> Rows<'w, Q, F> {
    #[inline]
    pub(super) const fn new(iter: QueryIter<'w, Q::ByRow, F>) -> Self {
        Self { iter, chunk: None }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Rows<'w, Q, F> {
    type Item = Q::Row<'w>;

    #[inline]
    fn next(&mut self) -> Option<Q::Row<'w>> {
        loop {
            if let Some(row) = self.chunk.as_mut().and_then(Iterator::next) {
                return Some(row);
            }
            self.chunk = Some(self.iter.next_rows()?);
        }
    }

    // `for_each`, `sum` and the like run chunk by chunk, without a test per row for its end.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: G) -> B {
        let mut folded = init;
        if let Some(chunk) = self.chunk.take() {
            folded = chunk.fold(folded, &mut f);
        }
        self.iter.fold_rows(folded, |folded, chunk| chunk.fold(folded, &mut f))
    }
}

impl<Q: Terms, F: Filter> core::fmt::Debug for Rows<'_, Q, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}
