//! Several iterators in step.

use crate::tuples::for_tuples;

use super::some_rows::PickRow;

/// Several iterators in step. It ends when the first of them ends.
#[derive(Clone, Debug)]
pub struct InStep<T>(pub(super) T);

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: PickRow),*> PickRow for InStep<($($T,)*)> {
            #[inline(always)]
            fn pick(&mut self, row: usize, skip: usize) -> Option<Self::Item> {
                Some(($(self.0.$i.pick(row, skip)?,)*))
            }

            #[inline(always)]
            fn look_up(&mut self, rows: impl Iterator<Item = usize> + Clone) {
                $(self.0.$i.look_up(rows.clone());)*
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
    )*};
}

for_tuples!(tuples, 1..=12);
