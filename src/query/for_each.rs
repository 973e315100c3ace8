//! Loops over chunks; the body returns whether it modified the chunk.

use core::any::type_name;
use core::marker::PhantomData;

use crate::storage::RowMask;

use super::cursor::ChunkCursor;
use super::filter::Filter;
use super::query::Query;
use super::terms::Terms;

/// Whether the body of a chunk loop modified the chunk's `&mut` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Modified {
    /// It did, or may have: the columns get a new version. A body that returns `()` counts as this.
    #[default]
    Yes,
    /// It did not: the columns keep their versions, and change filters skip the chunk. Values of
    /// [sparse components](crate::sparse::SparseSlice) that were handed out stay marked as changed.
    No,
}

impl Modified {
    /// Whether one of two bodies modified its slices.
    pub(super) const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, Self::No) => Self::No,
            _ => Self::Yes,
        }
    }
}

impl From<()> for Modified {
    #[inline]
    fn from((): ()) -> Self {
        Self::Yes
    }
}

/// Whether a body returns `()`, so that it counts as [`Modified::Yes`] before it is called.
///
/// By the name, since a type parameter with lifetimes has no `TypeId`; only unit has this name.
#[inline]
fn is_unit<R>() -> bool {
    type_name::<R>() == type_name::<()>()
}

/// Stamps a chunk when it is dropped, also if the body panics: it may have written half of the
/// chunk before.
pub(super) struct StampOnDrop<'a, 'w, Q: Terms> {
    cursor: &'a mut ChunkCursor<'w>,
    chunk: usize,
    /// The rows that the body gets, if they are not all.
    rows: Option<RowMask<'w>>,
    pub(super) modified: Modified,
    terms: PhantomData<fn() -> Q>,
}

impl<'a, 'w, Q: Terms> StampOnDrop<'a, 'w, Q> {
    #[inline]
    pub(super) const fn new(
        cursor: &'a mut ChunkCursor<'w>,
        chunk: usize,
        rows: Option<RowMask<'w>>,
    ) -> Self {
        Self { cursor, chunk, rows, modified: Modified::Yes, terms: PhantomData }
    }
}

impl<Q: Terms> Drop for StampOnDrop<'_, '_, Q> {
    #[inline]
    fn drop(&mut self) {
        if self.modified == Modified::Yes {
            self.cursor.stamp::<Q>(self.chunk, self.rows);
        }
    }
}

/// # Passes that say whether they write
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Calls `body` with the slices of each chunk.
    ///
    /// Like a `for` loop over the query, but the body may return [`Modified::No`], and its `&mut`
    /// columns keep their versions; a [`SparseSlice`](crate::sparse::SparseSlice) marks the values
    /// that it hands out, whatever the body returns. (If the last expression of the body has
    /// another value, end it with a `;`.) If the body panics, the chunk counts as modified.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let before = world.version();
    /// world.query_mut::<&mut Health>().for_each_chunk(|health| {
    ///     let mut modified = Modified::No;
    ///     for h in health.iter_mut().filter(|h| h.0 > 1.0) {
    ///         h.0 = 1.0;
    ///         modified = Modified::Yes;
    ///     }
    ///     modified
    /// });
    /// assert_eq!(world.query::<&Health>().changed_since(before).iter().count(), 0);
    /// ```
    #[inline]
    pub fn for_each_chunk<R: Into<Modified>>(self, mut body: impl FnMut(Q::Slices<'w>) -> R) {
        let mut iter = self.into_iter();
        if is_unit::<R>() {
            return iter.for_each(|slices| _ = body(slices).into());
        }
        let (cursor, filter, slice_rows, sets) = iter.parts();
        while let Some(mut cut) = cursor.cut_next::<Q, F>(filter, slice_rows) {
            let mut parts = cut.parts::<Q, F>(sets);
            while let Some(part) = parts.next::<F>() {
                let rows = part.run_in::<Q, F>(cut.chunk);
                let mut stamp = StampOnDrop::<Q>::new(cursor, cut.chunk, rows);
                stamp.modified = body(part.slices).into();
            }
        }
    }
}
