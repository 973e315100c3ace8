//! Several rows of a query at a time.

use core::fmt;

use super::filter::Filter;
use super::rows::Rows;
use super::terms::Terms;

impl<'w, Q: Terms, F: Filter> Rows<'w, Q, F> {
    /// Every choice of `N` different rows, each once and in the order of the rows: all pairs, all
    /// triples. Of `n` rows there are `n · (n - 1) / 2` pairs.
    ///
    /// The convenient form, row by row: it first lists the references of all rows. If all pairs are
    /// the main work, as in an n-body simulation, copy the data of a pair to an array, by
    /// [`gather`](crate::chunks::Copies::gather) or [`rows`](crate::Query::rows), and let a kernel
    /// go over slices: it is vectorised. Rows are read only; write results in a second pass.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch([Position(1.0), Position(4.0), Position(6.0)]);
    /// let pairs = world.query::<&Position>().rows().combinations();
    /// let distances: Vec<f32> = pairs.map(|[a, b]| b.0 - a.0).collect();
    /// assert_eq!(distances, [3.0, 5.0, 2.0]);
    /// ```
    pub fn combinations<const N: usize>(self) -> Combinations<Q::Row<'w>, N>
    where
        Q::Row<'w>: Copy,
    {
        Combinations { rows: self.collect(), next: Some(core::array::from_fn(|i| i)) }
    }
}

/// Every choice of `N` different rows of a query. See
/// [`Rows::combinations`].
#[derive(Clone)]
pub struct Combinations<R, const N: usize> {
    rows: Vec<R>,
    /// The indices of the next choice, which ascend. They may be past the end.
    next: Option<[usize; N]>,
}

impl<R, const N: usize> Combinations<R, N> {
    /// The choice after `at`: the last index that can advance does, and the later ones follow it.
    fn after(&self, mut at: [usize; N]) -> Option<[usize; N]> {
        let len = self.rows.len();
        let i = (0..N).rev().find(|&i| at[i] + N - i < len)?;
        at[i] += 1;
        for later in i + 1..N {
            at[later] = at[later - 1] + 1;
        }
        Some(at)
    }
}

impl<R: Copy, const N: usize> Iterator for Combinations<R, N> {
    type Item = [R; N];

    #[inline]
    fn next(&mut self) -> Option<[R; N]> {
        let at = self.next.filter(|_| N <= self.rows.len())?;
        self.next = self.after(at);
        Some(at.map(|i| self.rows[i]))
    }
}

impl<R, const N: usize> fmt::Debug for Combinations<R, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combinations")
            .field("rows", &self.rows.len())
            .field("of", &N)
            .finish_non_exhaustive()
    }
}
