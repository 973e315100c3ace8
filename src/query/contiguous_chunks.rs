//! The iterator over a query's contiguous_chunks.

use core::fmt;

use super::filter::Filter;
use super::query_iter::QueryIter;
use super::terms::Terms;

/// An iterator over the chunks of a query. Chunks that follow each other in memory are one slice.
/// Made by [`Query::contiguous_chunks`](super::query::Query::contiguous_chunks).
#[must_use = "iterators are lazy"]
pub struct ContiguousChunks<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q, F>,
}

impl<'w, Q: Terms, F: Filter> ContiguousChunks<'w, Q, F> {
    pub(super) const fn new(iter: QueryIter<'w, Q, F>) -> Self {
        Self { iter }
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for ContiguousChunks<'w, Q, F> {
    type Item = Q::Slices<'w>;

    fn next(&mut self) -> Option<Q::Slices<'w>> {
        self.iter.next_extent()
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for ContiguousChunks<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContiguousChunks").finish_non_exhaustive()
    }
}
