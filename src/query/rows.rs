//! The iterator over a query's entities.

use core::hint::cold_path;

use crate::entity::Directory;

use super::begin_with_set::may_begin_with_set;
use super::filter::Filter;
use super::listed_rows::ListedRows;
use super::member_walk::MemberWalk;
use super::query_iter::QueryIter;
use super::query_type::is_by_row;
use super::some_rows::{PickRow, SomeRows};
use super::terms::Terms;

/// One pass over the entities of a query: yields references. See
/// [`Query::rows`](crate::Query::rows).
pub struct Rows<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q::ByRow, F>,
    /// For a query that does not choose rows: the rest of a chunk.
    whole: WholeOf<'w, Q>,
    /// For a query that requires a sparse component: the rows to visit, if they are few.
    walk: Option<MemberWalk>,
    /// The directory, until the first row is taken, for a query that requires a sparse component: a
    /// pass over all rows may begin with a larger set.
    directory: Option<&'w Directory>,
    /// For a query that chooses rows: the rest of a part of a chunk.
    part: SomeRows<RowsOf<'w, Q>>,
    /// For a query that chooses rows: the rows that follow.
    listed: ListedRows<RowsOf<'w, Q>>,
}

/// The rows of the slices of a pass over rows.
type RowsOf<'w, Q> = <<Q as Terms>::ByRow as Terms>::Rows<'w>;

/// The rows of whole slices.
type WholeOf<'w, Q> = <RowsOf<'w, Q> as PickRow>::Whole;

#[inline(always)]
fn no_rows<'w, Q: Terms>() -> RowsOf<'w, Q> {
    Q::ByRow::rows(Q::ByRow::empty(), 0)
}

impl<'w, Q: Terms, F: Filter> Rows<'w, Q, F> {
    const BY_ROW: bool = is_by_row::<Q::ByRow, F>();

    #[inline]
    pub(super) fn new((mut iter, directory): (QueryIter<'w, Q::ByRow, F>, &'w Directory)) -> Self {
        let walk = iter.begin_with_set(directory);
        let may_begin = may_begin_with_set::<Q::ByRow, F>() && walk.is_none();
        let directory = if may_begin { Some(directory) } else { None };
        let whole = no_rows::<Q>().whole();
        let [part, listed] = [(); 2].map(|()| no_rows::<Q>());
        let (part, listed) = (SomeRows::all(part), ListedRows::none(listed));
        Self { iter, whole, walk, directory, part, listed }
    }

    /// The number of members of the set that the pass begins with.
    #[cfg(test)]
    pub(crate) fn begun_with(&self) -> Option<usize> {
        self.walk.as_ref().map(MemberWalk::len)
    }

    /// [`Rows::begun_with`] of a pass over all rows.
    #[cfg(test)]
    pub(crate) fn all_begun_with(mut self) -> Option<usize> {
        self.begin_with_spread_set();
        self.begun_with()
    }

    /// Begins a pass over all rows, if none was taken, with a larger set.
    #[inline(always)]
    fn begin_with_spread_set(&mut self) {
        if may_begin_with_set::<Q::ByRow, F>()
            && let Some(directory) = self.directory.take()
        {
            self.walk = self.iter.begin_with_spread_set(directory);
        }
    }

    /// Goes to the next rows of a query that chooses rows: of one chunk, or of several if all of
    /// them will be taken (`ALL`). False at the end.
    #[inline(always)]
    fn next_part<const ALL: bool>(&mut self) -> bool {
        let Self { iter, walk, part, listed, directory, .. } = self;
        match walk {
            Some(walk) if may_begin_with_set::<Q::ByRow, F>() => {
                iter.next_members::<ALL>(walk, listed)
            }
            _ => {
                if may_begin_with_set::<Q::ByRow, F>() {
                    *directory = None;
                }
                iter.next_part(part, listed)
            }
        }
    }

    /// The rows of the next chunk, as a value: a loop over them has them in registers.
    ///
    /// A call, so that [`Rows::next`] is short enough to be a part of any loop. (As a call for each
    /// row, which it was in a program with two loops over one query, a row took twice as long.)
    #[inline(never)]
    fn next_whole(iter: &mut QueryIter<'w, Q::ByRow, F>) -> Option<WholeOf<'w, Q>> {
        Some(iter.next_rows()?.whole())
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Rows<'w, Q, F> {
    type Item = Q::Row<'w>;

    #[inline(always)]
    fn next(&mut self) -> Option<Q::Row<'w>> {
        loop {
            if !Self::BY_ROW {
                if let Some(row) = self.whole.next() {
                    return Some(row);
                }
                cold_path();
                self.whole = Self::next_whole(&mut self.iter)?;
                continue;
            }
            if let Some(row) = self.part.next() {
                return Some(row);
            }
            if let Some(row) = self.listed.next() {
                return Some(row);
            }
            if !self.next_part::<false>() {
                return None;
            }
        }
    }

    // `for_each`, `sum` and the like run chunk by chunk, without a test per row for its end.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: G) -> B {
        if !Self::BY_ROW {
            let folded = fold_whole(self.whole, init, &mut f);
            return self
                .iter
                .fold_rows(folded, |folded, rows| fold_whole(rows.whole(), folded, &mut f));
        }
        self.begin_with_spread_set();
        let mut folded = init;
        loop {
            folded = self.part.fold(no_rows::<Q>(), folded, &mut f);
            folded = self.listed.fold(no_rows::<Q>(), folded, &mut f);
            if !self.next_part::<true>() {
                return folded;
            }
        }
    }
}

/// Folds over the rows of a chunk.
///
/// A call, so that `f` is called in one place and is a part of its loop. (Where it was called in
/// two places, a long closure was a call for each row. So it was where the fold of the iterator got
/// `f` itself and not a closure around it.)
///
/// The fold of a slice counts its rows, so the compiler also unrolls loops without vectors: a loop
/// over the iterator took twice as long to write one field of a struct of 8 bytes.
#[inline(never)]
#[expect(clippy::redundant_closure, reason = "`f` itself would be a call for each row")]
fn fold_whole<I: Iterator, B>(rows: I, init: B, f: &mut impl FnMut(B, I::Item) -> B) -> B {
    rows.fold(init, |folded, row| f(folded, row))
}

impl<Q: Terms, F: Filter> core::fmt::Debug for Rows<'_, Q, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}
