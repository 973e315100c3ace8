//! Several iterators in step.

use crate::tuples::for_tuples;

/// Several iterators in step. It ends when the first of them ends.
#[derive(Clone, Debug)]
pub struct InStep<T>(pub(super) T);

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
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
