//! Several iterators in step: as a tuple, and as pairs of pairs.
//!
//! An iterator over a slice has a count of its own, so that a tuple of them takes a comparison, a
//! load and a store for each slice and row. The standard library knows that two slices in step end
//! together: pairs of pairs of them have one count, whatever their number. But no row of one slice
//! alone can be taken from pairs, as a pass over some rows does.

use core::fmt;
use core::iter::{Zip, zip};
use core::marker::PhantomData;

use crate::tuples::for_tuples;

use super::known_positions::KnownPositions;
use super::some_rows::PickRow;

/// Several iterators in step. It ends when the first of them ends.
#[derive(Clone, Debug)]
pub struct InStep<T>(pub(super) T);

/// The iterators of a tuple `T` over all rows, as pairs of pairs `P`.
pub struct InPairs<T, P> {
    pairs: P,
    tuple: PhantomData<fn() -> T>,
}

/// The type of pairs of pairs.
macro_rules! pairs_type {
    ($T:ident) => { <$T as PickRow>::Whole };
    ($T:ident $($Rest:ident)+) => { Zip<<$T as PickRow>::Whole, pairs_type!($($Rest)+)> };
}

/// Iterators as pairs of pairs.
macro_rules! pairs {
    ($t:ident) => { $t.whole() };
    ($t:ident $($rest:ident)+) => { zip($t.whole(), pairs!($($rest)+)) };
}

/// The pattern of an item of pairs of pairs.
macro_rules! items {
    ($t:ident) => { $t };
    ($t:ident $($rest:ident)+) => { ($t, items!($($rest)+)) };
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: PickRow),*> PickRow for InStep<($($T,)*)> {
            type Whole = InPairs<($($T,)*), pairs_type!($($T)*)>;

            #[inline(always)]
            fn whole(self) -> Self::Whole {
                let ($($t,)*) = self.0;
                InPairs { pairs: pairs!($($t)*), tuple: PhantomData }
            }

            #[inline(always)]
            fn pick(&mut self, row: usize, skip: usize) -> Option<Self::Item> {
                Some(($(self.0.$i.pick(row, skip)?,)*))
            }

            #[inline(always)]
            fn look_up(
                &mut self,
                rows: impl Iterator<Item = usize> + Clone,
                known: Option<&KnownPositions>,
            ) {
                $(self.0.$i.look_up(rows.clone(), known);)*
            }

            #[inline(always)]
            fn next_listed(&mut self, place: usize, skip: usize) -> Option<Self::Item> {
                Some(($(self.0.$i.next_listed(place, skip)?,)*))
            }

            #[inline(always)]
            fn after(&mut self, skip: usize) -> Option<Self::Item> {
                Some(($(self.0.$i.after(skip)?,)*))
            }
        }

        impl<$($T: Iterator),*> Iterator for InStep<($($T,)*)> {
            type Item = ($($T::Item,)*);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                Some(($(self.0.$i.next()?,)*))
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.0.size_hint()
            }
        }

        impl<$($T: PickRow),*> Iterator for InPairs<($($T,)*), pairs_type!($($T)*)> {
            type Item = ($($T::Item,)*);

            #[inline(always)]
            fn next(&mut self) -> Option<Self::Item> {
                self.pairs.next().map(|items!($($t)*)| ($($t,)*))
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.pairs.size_hint()
            }
        }
    )*};
}

for_tuples!(tuples, 1..=12);

impl<T, P> fmt::Debug for InPairs<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPairs").finish_non_exhaustive()
    }
}
