//! The iterator over a query's chunks.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use super::chunk_run::ChunkRun;
use super::cursor::{ChunkCursor, YieldRows, YieldSlices};
use super::filter::Filter;
use super::listed_rows::ListedRows;
use super::open_filter::OpenFilter;
use super::some_rows::SomeRows;
use super::terms::{BorrowOf, HeldOf, OpenOf, Terms};
use crate::entity::Directory;
use crate::storage::{RowMask, SliceRows};

/// Makes a type invariant in `T`, without holding one.
pub(super) type Invariant<T> = PhantomData<fn(T) -> T>;

/// One pass over the chunks of a [`Query`](crate::Query): yields the slices of its columns.
///
/// Made by iterating over a query: `for (p, v) in &mut query`, [`Query::iter`](crate::Query::iter).
/// The pass begins with the creation of the iterator: from that moment the world's clock shows the
/// version that the pass writes.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|_| Health(1.0)));
/// let longest = world.query::<&Health>().iter().map(|health| health.len()).max();
/// assert_eq!(longest, Some(4096), "rows of four bytes in a chunk of 16 KiB");
/// ```
#[must_use = "iterators are lazy"]
pub struct QueryIter<'w, Q: Terms, F: Filter = ()> {
    cursor: ChunkCursor<'w>,
    run: ChunkRun<'w, Q>,
    filter: OpenFilter<'w, F>,
    slice_rows: SliceRows,
    sets: OpenOf<'w, Q>,
    types: Invariant<(Q, F)>,
}

impl<'w, Q: Terms, F: Filter> QueryIter<'w, Q, F> {
    #[inline]
    pub(super) fn new(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> Self {
        Self::with_directory(borrow, held, filter, slice_rows).0
    }

    /// The iterator, and the directory of its entities.
    #[inline(always)]
    pub(super) fn with_directory(
        borrow: BorrowOf<'w, Q>,
        held: HeldOf<'w, Q>,
        filter: OpenFilter<'w, F>,
        slice_rows: SliceRows,
    ) -> (Self, &'w Directory) {
        let (cursor, sets, filter, directory) =
            ChunkCursor::new::<Q, F>(borrow, held, filter, slice_rows);
        let run = ChunkRun::empty();
        (Self { cursor, run, filter, slice_rows, sets, types: PhantomData }, directory)
    }

    /// The cursor, the chunks that it took last, and the arguments of its methods.
    #[inline]
    pub(super) const fn walk_parts(
        &mut self,
    ) -> (&mut ChunkCursor<'w>, &mut ChunkRun<'w, Q>, OpenFilter<'w, F>, OpenOf<'w, Q>) {
        (&mut self.cursor, &mut self.run, self.filter, self.sets)
    }

    /// Rounds the slices up to whole vectors, before the first is taken.
    pub(super) const fn set_padded(&mut self) {
        self.slice_rows = SliceRows::Padded;
    }

    /// The cursor, and the arguments of its methods.
    #[inline]
    pub(super) const fn parts(
        &mut self,
    ) -> (&mut ChunkCursor<'w>, &OpenFilter<'w, F>, SliceRows, OpenOf<'w, Q>) {
        (&mut self.cursor, &self.filter, self.slice_rows, self.sets)
    }

    /// The slices of the next chunks that follow each other in memory.
    pub(super) fn next_extent(&mut self) -> Option<Q::Slices<'w>> {
        let Self { cursor, run, filter, slice_rows, sets, .. } = self;
        cursor.next_extent(run, filter, *slice_rows, *sets)
    }

    /// Replaces rows by the next ones of a query that chooses rows. False at the end.
    #[inline(never)]
    pub(super) fn next_part(
        &mut self,
        rows: &mut SomeRows<Q::Rows<'w>>,
        listed: &mut ListedRows<Q::Rows<'w>>,
    ) -> bool {
        loop {
            if self.run.next_part(rows, listed, self.cursor.now()) {
                return true;
            }
            let Self { run, filter, slice_rows, sets, .. } = self;
            if !self.cursor.next_run::<Q, F, false>(run, *filter, *slice_rows, *sets) {
                return false;
            }
        }
    }

    /// The rows of the next chunk.
    #[inline]
    pub(super) fn next_rows(&mut self) -> Option<Q::Rows<'w>> {
        self.cursor.next::<Q, F, YieldRows>(&mut self.run, &self.filter, self.slice_rows, self.sets)
    }

    /// Calls `f` with the slices of each part of a chunk that a pass visits, and with a function
    /// that stamps rows of that chunk. Others are not stamped. Leaves out the chunks for which
    /// `is_wanted`, called in the order of the pass, is false.
    pub(super) fn for_each_unstamped(
        mut self,
        mut is_wanted: impl FnMut() -> bool,
        mut f: impl FnMut(Q::Slices<'w>, &mut dyn FnMut(Range<u32>)),
    ) {
        let Self { cursor, filter, slice_rows, sets, .. } = &mut self;
        while let Some(mut cut) = cursor.cut_wanted::<Q, F>(filter, *slice_rows, &mut is_wanted) {
            let (chunk, mut parts) = (cut.chunk, cut.parts::<Q, F>(*sets));
            while let Some(part) = parts.next::<F>() {
                f(part.slices, &mut |rows| {
                    cursor.stamp::<Q>(chunk, Some(RowMask::run_in(chunk, rows)));
                });
            }
        }
    }

    /// Folds over the rows of each remaining chunk.
    #[inline]
    pub(super) fn fold_rows<B>(&mut self, init: B, f: impl FnMut(B, Q::Rows<'w>) -> B) -> B {
        let Self { cursor, run, filter, slice_rows, sets, .. } = self;
        cursor.fold::<Q, F, YieldRows, B>(run, filter, (*slice_rows, *sets), init, f)
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for QueryIter<'w, Q, F> {
    type Item = Q::Slices<'w>;

    #[inline]
    fn next(&mut self) -> Option<Q::Slices<'w>> {
        self.cursor.next::<Q, F, YieldSlices>(
            &mut self.run,
            &self.filter,
            self.slice_rows,
            self.sets,
        )
    }

    // `for_each`, `sum` and the like keep the cursor in registers.
    #[inline]
    fn fold<B, G: FnMut(B, Self::Item) -> B>(mut self, init: B, f: G) -> B {
        let Self { cursor, run, filter, slice_rows, sets, .. } = &mut self;
        cursor.fold::<Q, F, YieldSlices, B>(run, filter, (*slice_rows, *sets), init, f)
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for QueryIter<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryIter")
            .field("terms", &core::any::type_name::<Q>())
            .field("filter", &core::any::type_name::<F>())
            .finish_non_exhaustive()
    }
}
