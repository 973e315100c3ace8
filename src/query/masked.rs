//! The iterator over whole chunks, with a mask of the rows that a query sees.

use core::fmt;

use crate::storage::RowMask;

use super::filter::Filter;
use super::query::Query;
use super::query_iter::QueryIter;
use super::query_type::is_by_row;
use super::terms::Terms;

/// # Whole chunks with masks
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Iterates over whole chunks in which some rows may be [disabled](crate::World::set_enabled):
    /// a [`RowMask`](crate::rows::RowMask) of the rows that the query sees, and the slices of all
    /// rows.
    ///
    /// For kernels that compute all lanes and blend, where runs of enabled rows are short. A kernel
    /// must leave the values of the other rows as they are. A chunk without visible rows is
    /// skipped.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| Health(i as f32)));
    /// world.query_mut::<EnabledMut<Health>>().iter_mut().for_each(|mut all| all.assign(|i| i % 3 == 0));
    /// for (mask, healths) in world.query_mut::<&mut Health>().masked() {
    ///     for (i, health) in healths.iter_mut().enumerate() {
    ///         health.0 = if mask.get(i) { health.0 + 1.0 } else { health.0 };
    ///     }
    /// }
    /// assert_eq!(world.query::<&Health>().rows().next().unwrap().0, 1.0);
    /// ```
    #[inline]
    pub fn masked(self) -> Masked<'w, Q, F> {
        Masked::new(QueryIter::new(self.borrow, self.held, self.filter, self.slice_rows))
    }
}

/// One pass over whole chunks, each with a mask of the rows that the query sees. See
/// [`Query::masked`](crate::Query::masked).
#[must_use = "iterators are lazy"]
pub struct Masked<'w, Q: Terms, F: Filter = ()> {
    iter: QueryIter<'w, Q, F>,
}

impl<'w, Q: Terms, F: Filter> Masked<'w, Q, F> {
    pub(super) const fn new(iter: QueryIter<'w, Q, F>) -> Self {
        Self { iter }
    }

    /// Rounds the slices up to whole vectors of [`VECTOR_ROWS`](crate::VECTOR_ROWS) rows, as
    /// [`Query::padded`](crate::Query::padded) does. The mask has the live rows only.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..20).map(|_| Health(1.0)));
    /// let (mask, healths) = world.query::<&Health>().masked().padded().next().unwrap();
    /// assert_eq!((mask.len(), healths.len()), (20, 32));
    /// assert_eq!(mask.words().next(), Some((1 << 20) - 1));
    /// ```
    pub const fn padded(mut self) -> Self {
        self.iter.set_padded();
        self
    }
}

impl<'w, Q: Terms, F: Filter> Iterator for Masked<'w, Q, F> {
    type Item = (RowMask<'w>, Q::Slices<'w>);

    fn next(&mut self) -> Option<Self::Item> {
        let (cursor, filter, slice_rows, sets) = self.iter.parts();
        let mut cut = cursor.cut_next::<Q, F>(filter, slice_rows)?;
        // A term may switch bits of rows that are not seen, so all rows are stamped. Otherwise rows
        // that are not seen keep their values and bits.
        let rows = cut.some_rows::<Q, F>().filter(|_| !Q::SWITCHES);
        cursor.stamp::<Q>(cut.chunk, rows);
        let mask = match is_by_row::<Q, F>() {
            true => cut.seen,
            false => RowMask::all_of(0, u32::try_from(cut.columns.live()).unwrap_or(u32::MAX)),
        };
        Some((mask, Q::cut(&mut cut.columns, cut.rows, sets)))
    }
}

impl<Q: Terms, F: Filter> fmt::Debug for Masked<'_, Q, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}
