//! Split components: a column for each field.
//!
//! ```text
//! component Position       x y z | x y z | x y z | …           one column of 12 bytes a row
//!
//! split Position           x | x | x | x | …                   three columns of 4 bytes a row:
//!                          y | y | y | y | …                   `FieldOf<Position, 0, f32>`, …,
//!                          z | z | z | z | …                   each a component of its own
//! ```
//!
//! The columns are ordinary ones, so that all code below the types of queries and bundles is
//! independent of it: rows move, chunks are laid out and versions are kept as for a tuple of three
//! components. [`#[component]`](crate::component) implements [`SplitComponent`], which translates
//! between the struct, the tuple of its fields as components ([`Parts`]) and the structs of slices.

#![expect(
    unsafe_code,
    reason = "a field is plain data if its type is, and taking it out of its struct is a move"
)]

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use bytemuck::{Pod, TransparentWrapper, Zeroable};

use super::about::About;
use super::component::{Component, ComponentHint};
use crate::tuples::for_tuples;

/// A struct that is stored as a column for each field. [`#[component]`](crate::component)
/// implements it for the structs with `#[component(split)]`.
///
/// # Safety
///
/// The functions must only move fields and never panic: storage calls them while a row is half
/// written.
#[doc(hidden)]
pub unsafe trait SplitComponent: Copy + Send + Sync + 'static {
    /// The fields, as components.
    type Parts: Parts;
    /// A slice for each field.
    type Slices<'w>: Copy;
    /// A writable slice for each field.
    type SlicesMut<'w>;
    /// The name of the struct.
    const NAME: &'static str;
    /// The names of the columns: the name of the struct, a dot, and the name of the field.
    const NAMES: &'static [&'static str];
    /// The facts that the columns tell about themselves.
    const ABOUT: &'static [About];
    /// See [`Component::HIDDEN`].
    const HIDDEN: bool = false;
    /// See [`Component::CLEANUP`].
    const CLEANUP: bool = false;
    /// The hints of the columns' ids.
    fn hints() -> &'static [ComponentHint];
    /// The fields of a value.
    fn into_parts(self) -> Self::Parts;
    /// The value that has these fields.
    fn from_parts(parts: Self::Parts) -> Self;
    /// Names the slices by their fields.
    fn slices<'w>(parts: <Self::Parts as Parts>::Slices<'w>) -> Self::Slices<'w>;
    /// Names the writable slices by their fields.
    fn slices_mut<'w>(parts: <Self::Parts as Parts>::SlicesMut<'w>) -> Self::SlicesMut<'w>;
    /// The slices as a tuple.
    fn parts_of<'w>(slices: Self::Slices<'w>) -> <Self::Parts as Parts>::Slices<'w>;
    /// The writable slices as a tuple.
    fn parts_of_mut<'w>(slices: Self::SlicesMut<'w>) -> <Self::Parts as Parts>::SlicesMut<'w>;
}

/// The type of a field of a split component.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the field of a split component",
    label = "not a type of numbers",
    note = "each field of a `#[component(split)]` struct is a column, and `Pod`: a number, an array of numbers, an `Entity`, or a struct that `#[component]` defines of these; leave `#[component(split)]` out, or make a component of this field alone"
)]
pub trait SplitField: Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: Pod + Send + Sync> SplitField for T {}

/// FieldOf `N` of the split component `S`, as a component: a `T`.
#[doc(hidden)]
#[derive(TransparentWrapper)]
#[repr(transparent)]
#[transparent(T)]
pub struct FieldOf<S, const N: usize, T>(T, PhantomData<fn(S) -> S>);

// SAFETY: the struct is its field, since the marker has no bytes.
unsafe impl<S, const N: usize, T: Zeroable> Zeroable for FieldOf<S, N, T> {}
// SAFETY: the struct is its field, since the marker has no bytes.
unsafe impl<S: 'static, const N: usize, T: Pod> Pod for FieldOf<S, N, T> {}

impl<S, const N: usize, T: Copy> FieldOf<S, N, T> {
    /// The field as a component.
    #[inline(always)]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(value, PhantomData)
    }

    /// The value.
    #[inline(always)]
    #[must_use]
    pub const fn get(self) -> T {
        self.0
    }
}

impl<S, const N: usize, T: Copy> Clone for FieldOf<S, N, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, const N: usize, T: Copy> Copy for FieldOf<S, N, T> {}

impl<S, const N: usize, T: fmt::Debug> fmt::Debug for FieldOf<S, N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: SplitComponent, const N: usize, T: SplitField> Component for FieldOf<S, N, T> {
    const NAME: &'static str = S::NAMES[N];
    const HIDDEN: bool = S::HIDDEN;
    const CLEANUP: bool = S::CLEANUP;

    #[inline]
    fn hint() -> Option<&'static ComponentHint> {
        S::hints().get(N)
    }

    fn about() -> About {
        S::ABOUT[N].in_columns(S::NAMES)
    }
}

/// The fields of a split component, as a tuple of components.
#[doc(hidden)]
pub trait Parts: Copy + Send + Sync + sealed::Sealed + 'static {
    /// A slice for each field.
    type Slices<'w>: Copy;
    /// A writable slice for each field.
    type SlicesMut<'w>;
    /// A reference to each field of a row.
    type Cells<'w>;
    /// A writable reference to each field of a row.
    type CellsMut<'w>;
    /// The number of columns.
    const COLUMNS: usize;
    /// Passes the type of each column to `visitor`.
    fn visit(visitor: &mut impl ColumnVisitor);
    /// The values of a row.
    fn read(cells: Self::Cells<'_>) -> Self;
    /// The values of a writable row.
    fn read_mut(cells: &Self::CellsMut<'_>) -> Self;
    /// Overwrites a row.
    fn write(self, cells: &mut Self::CellsMut<'_>);
}

mod sealed {
    /// Seals `Parts`: the visited columns are the accessed ones.
    pub trait Sealed {}
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: Component),*> sealed::Sealed for ($($T,)*) {}
        impl<$($T: Component),*> Parts for ($($T,)*) {
            type Slices<'w> = ($(&'w [$T],)*);
            type SlicesMut<'w> = ($(&'w mut [$T],)*);
            type Cells<'w> = ($(&'w $T,)*);
            type CellsMut<'w> = ($(&'w mut $T,)*);
            const COLUMNS: usize = [$($i),*].len();

            #[inline]
            fn visit(visitor: &mut impl ColumnVisitor) {
                $(visitor.visit::<$T>();)*
            }

            #[inline]
            fn read(cells: Self::Cells<'_>) -> Self {
                ($(*cells.$i,)*)
            }

            #[inline]
            fn read_mut(cells: &Self::CellsMut<'_>) -> Self {
                ($(*cells.$i,)*)
            }

            #[inline]
            fn write(self, cells: &mut Self::CellsMut<'_>) {
                $(*cells.$i = self.$i;)*
            }
        }
    )*};
}

for_tuples!(tuples, 1..=12);

/// A row of a [split component](crate::component#split-components), for writing.
///
/// It is a copy of the row's fields, which are written back when this is dropped.
///
/// ```
/// # use phalanx::prelude::*;
/// #[component(split)]
/// struct Position { x: f32, y: f32 }
/// let mut world = World::new();
/// let entity = world.spawn(Position { x: 1.0, y: 2.0 });
/// world.get_mut::<Position>(entity)?.x += 10.0;
/// for mut position in world.query_mut::<&mut Position>().rows() {
///     position.y = position.x;
/// }
/// assert_eq!(world.get::<Position>(entity)?.y, 11.0);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct SplitMut<'w, S: SplitComponent> {
    value: S,
    cells: <S::Parts as Parts>::CellsMut<'w>,
}

impl<'w, S: SplitComponent> SplitMut<'w, S> {
    #[inline]
    pub(crate) fn new(cells: <S::Parts as Parts>::CellsMut<'w>) -> Self {
        Self { value: S::from_parts(S::Parts::read_mut(&cells)), cells }
    }
}

impl<S: SplitComponent> Deref for SplitMut<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.value
    }
}

impl<S: SplitComponent> DerefMut for SplitMut<'_, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        &mut self.value
    }
}

impl<S: SplitComponent> Drop for SplitMut<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.value.into_parts().write(&mut self.cells);
    }
}

impl<S: SplitComponent + fmt::Debug> fmt::Debug for SplitMut<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A visit of the component types of columns, which closures cannot make: they are not generic.
#[doc(hidden)]
pub trait ColumnVisitor {
    /// The next column.
    fn visit<C: Component>(&mut self);
}
