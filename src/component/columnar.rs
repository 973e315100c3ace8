//! The types that a query can name: a component, which is a column, or a split component, which is
//! several.

use core::marker::PhantomData;

use super::Component;
use super::split_component::{ColumnVisitor, Parts, SplitComponent};

/// A component, or a [split component](crate::component#split-components): the terms `&C` and `&mut
/// C` and the filters of a query can name it.
///
/// A component is one column, and a term of it is a slice. A split component is a column for each
/// field, and a term of it is a struct of slices. Both are defined by
/// [`#[component]`](crate::component). Code for all components has the bound
/// [`Component`], under which a term is known to be a slice.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Mass(f32);
/// # #[component(split)] struct Position { x: f32, y: f32 }
/// fn count<C: phalanx::Columnar>(world: &World) -> usize {
///     world.query::<()>().with::<C>().count_rows()
/// }
/// let mut world = World::new();
/// world.spawn((Mass(1.0), Position { x: 1.0, y: 2.0 }));
/// assert_eq!((count::<Mass>(&world), count::<Position>(&world)), (1, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "define it as one: `#[component] struct Name {{ field: f32 }}`",
    note = "an existing type derives `Clone, Copy, Pod, Zeroable` with `#[repr(C)]` and `#[bytemuck(crate = \"phalanx::bytemuck\")]`, and is named in `impl_component!({Self})`"
)]
pub trait Columnar: Copy + Send + Sync + 'static {
    /// [`Whole`] or [`Split`].
    #[doc(hidden)]
    type Shape: Shape;
}

#[diagnostic::do_not_recommend]
impl<C: Component> Columnar for C {
    type Shape = Whole<C>;
}

/// A component is one column.
#[doc(hidden)]
#[derive(Debug)]
pub struct Whole<C>(PhantomData<C>);

/// A split component is a column for each field.
#[doc(hidden)]
#[derive(Debug)]
pub struct Split<S>(PhantomData<S>);

/// The columns of a component. The floors above add their own operations.
#[doc(hidden)]
pub trait Shape: 'static {
    /// The number of columns.
    const COLUMNS: usize;
    /// Whether rows have an enable bit for the component.
    const ENABLEABLE: bool;
    /// Passes the component type of each column to `visitor`.
    fn visit(visitor: &mut impl ColumnVisitor);
}

impl<C: Component> Shape for Whole<C> {
    const COLUMNS: usize = 1;
    const ENABLEABLE: bool = C::ENABLEABLE;

    #[inline]
    fn visit(visitor: &mut impl ColumnVisitor) {
        visitor.visit::<C>();
    }
}

impl<S: SplitComponent> Shape for Split<S> {
    const COLUMNS: usize = S::Parts::COLUMNS;
    const ENABLEABLE: bool = false;

    #[inline]
    fn visit(visitor: &mut impl ColumnVisitor) {
        S::Parts::visit(visitor);
    }
}
