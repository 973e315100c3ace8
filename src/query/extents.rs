//! The iterator over a query's extents.

use core::fmt;

use super::filter::Filter;
use super::query_iter::QueryIter;
use super::terms::Terms;

/// An iterator over the chunks of a query. Chunks that follow each other in memory are one slice.
/// Made by [`Query::extents`](super::query::Query::extents).
#[must_use = "iterators are lazy"]
pub struct Extents<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q, F>,
}

impl<'w, Q: Terms, F: Filter> Extents<'w, Q, F> {
    pub(super) const fn new(iter: QueryIter<'w, Q, F>) -> Self {
        Self { iter }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Extents<'w, Q, F> {
    type Item = Q::Slices<'w>;

    fn next(&mut self) -> Option<Q::Slices<'w>> {
        self.iter.next_extent()
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for Extents<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extents").finish_non_exhaustive()
    }
}
