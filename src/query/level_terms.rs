//! The terms of a pass by levels: the values that go from parents to children, and the rest.

use crate::component::Component;

use super::term::Term;
use super::terms::Terms;

/// The terms of [`propagate`](crate::sparse::Relation::propagate): a tuple that begins with
/// `&mut G`, the values that go from parents to children, and has up to seven other terms.
///
/// The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query by levels of `{G}`",
    note = "it is a tuple that begins with `&mut {G}`: `(&mut {G}, &Offset)`, `(&mut {G},)`"
)]
pub trait LevelTerms<G: Component>: Terms + sealed::Sealed<G> {
    /// The slices of the other terms: the slice of the only one, or a tuple.
    type Others<'w>;

    /// Takes the slice of the first term apart.
    #[doc(hidden)]
    fn first<'w>(slices: Self::Slices<'w>) -> (&'w mut [G], Self::Others<'w>);
}

mod sealed {
    pub trait Sealed<G> {}
}

/// The slices of the other terms.
macro_rules! slices_of {
    ($w:lifetime) => { () };
    ($w:lifetime $T:ident) => { <$T as Term>::Slice<$w> };
    ($w:lifetime $($T:ident)+) => { ($(<$T as Term>::Slice<$w>),+) };
}

macro_rules! by_level {
    ($(($($T:ident $t:ident),*))*) => {$(
        impl<G: Component, $($T: Term),*> sealed::Sealed<G> for (&mut G, $($T,)*) {}
        impl<G: Component, $($T: Term),*> LevelTerms<G> for (&mut G, $($T,)*) {
            type Others<'w> = slices_of!('w $($T)*);

            #[inline(always)]
            fn first<'w>((first, $($t,)*): Self::Slices<'w>) -> (&'w mut [G], Self::Others<'w>) {
                (first, ($($t),*))
            }
        }
    )*};
}

by_level! {
    ()
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, H h)
    (A a, B b, C c, D d, E e, H h, I i)
}
