//! The values that a component had before.

use core::fmt;
use core::ops::Deref;

use bytemuck::{Pod, TransparentWrapper, Zeroable};

use super::about::About;
use super::component::Component;
use super::const_text::ConstText;

/// The values that component `C` had before [`World::flip`](crate::World::flip): the second buffer
/// of a double-buffered component.
///
/// A kernel that computes each value from old values of several rows cannot write in place. With
/// two buffers it reads `&Previous<C>` and writes `&mut C`, in one pass, on several threads, and no
/// row is copied: `flip` exchanges the two columns. See there for an example.
///
/// It is a component of its own, named after `C`, which dereferences to a `C`. `C` is
/// [`Pod`](bytemuck::Pod), so [`scalars`](crate::simd::scalars) and [`lanes`](crate::simd::lanes())
/// view it as they do `C`.
#[derive(Clone, Copy, Default, PartialEq, Pod, TransparentWrapper, Zeroable)]
#[repr(transparent)]
pub struct Previous<C>(pub C);

impl<C> Previous<C> {
    /// The values of a column.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::Previous;
    /// # #[component] #[derive(Debug, PartialEq)] struct Heat(f32);
    /// let column = [Previous(Heat(1.0)), Previous(Heat(2.0))];
    /// assert_eq!(Previous::values(&column), [Heat(1.0), Heat(2.0)]);
    /// ```
    #[inline]
    #[must_use]
    pub fn values(column: &[Self]) -> &[C] {
        Self::peel_slice(column)
    }
}

impl<C> Deref for Previous<C> {
    type Target = C;

    #[inline]
    fn deref(&self) -> &C {
        &self.0
    }
}

impl<C: fmt::Debug> fmt::Debug for Previous<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Previous").field(&self.0).finish()
    }
}

impl<C: Component + Pod> Previous<C> {
    const TEXT: ConstText = {
        const SUFFIX: &str = " (previous)";
        let has_room = C::NAME.len() + SUFFIX.len() <= ConstText::LEN_MAX;
        assert!(has_room, "the name of a double-buffered component has more than 1,013 bytes");
        ConstText::of(&[C::NAME, SUFFIX])
    };
}

impl<C: Component + Pod> Component for Previous<C> {
    const NAME: &'static str = Self::TEXT.as_str();

    fn about() -> About {
        C::about().in_columns(&[])
    }
}
