//! The kinds of components: a component is a column, a split component several, and a sparse one
//! lies beside the chunks.

use core::marker::PhantomData;

use super::Component;
use super::sparse_bundle::SparseVisitor;
use super::sparse_component::SparseComponent;
use super::split_component::{ColumnVisitor, Parts, SplitComponent};

/// A component of any kind: of one column, [split](crate::component#split-components), or
/// [sparse](crate::component#sparse-components). [`#[component]`](crate::component) implements it.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Mass(f32);
/// # #[component(sparse)] struct Name(String);
/// fn owners<C: phalanx::AnyComponent>(world: &World, entities: &[Entity]) -> usize {
///     entities.iter().filter(|&&entity| world.has::<C>(entity)).count()
/// }
/// let mut world = World::new();
/// let entities = [world.spawn((Mass(1.0), Name("Ada".to_owned()))), world.spawn(Mass(2.0))];
/// assert_eq!(owners::<Mass>(&world, &entities), 2);
/// assert_eq!(owners::<Name>(&world, &entities), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "define it as one: `#[component] struct Name {{ field: f32 }}`, or `#[component(sparse)]` for a type that is not plain data",
    note = "an existing type derives `Clone, Copy, Pod, Zeroable` with `#[repr(C)]` and `#[bytemuck(crate = \"phalanx::bytemuck\")]`, and is named in `impl_component!({Self})`"
)]
pub trait AnyComponent: Send + Sync + 'static {
    /// [`Whole`], [`Split`] or [`InSet`].
    #[doc(hidden)]
    type Shape: Shape;
}

#[diagnostic::do_not_recommend]
impl<C: Component> AnyComponent for C {
    type Shape = Whole<C>;
}

/// A component, or a [split component](crate::component#split-components): all filters of a query
/// can name it.
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
///     world.query::<()>().filter_since::<Changed<C>>(Version::NEVER).count_rows()
/// }
/// let mut world = World::new();
/// world.spawn((Mass(1.0), Position { x: 1.0, y: 2.0 }));
/// assert_eq!((count::<Mass>(&world), count::<Position>(&world)), (1, 1));
/// ```
pub trait Columnar: AnyComponent<Shape: InColumns<Self>> {}

impl<C: AnyComponent<Shape: InColumns<C>>> Columnar for C {}

/// A component is one column.
#[doc(hidden)]
#[derive(Debug)]
pub struct Whole<C>(PhantomData<C>);

/// A split component is a column for each field.
#[doc(hidden)]
#[derive(Debug)]
pub struct Split<S>(PhantomData<S>);

/// A sparse component is a value beside the chunks.
#[doc(hidden)]
#[derive(Debug)]
pub struct InSet<S>(PhantomData<S>);

/// The place of a component. The floors above add their own operations.
#[doc(hidden)]
pub trait Shape: 'static {
    /// Whether rows have an enable bit for the component.
    const ENABLEABLE: bool = false;
    /// Whether it is a value beside the chunks, so that rows have a bit for it.
    const SPARSE: bool = false;
    /// Passes the component type of each column to `visitor`, or the sparse component.
    fn visit_all(visitor: &mut (impl ColumnVisitor + SparseVisitor));
}

/// The columns of a component.
#[doc(hidden)]
pub trait ColumnarShape: Shape {
    /// The number of columns.
    const COLUMNS: usize;
    /// Passes the component type of each column to `visitor`.
    fn visit(visitor: &mut impl ColumnVisitor);
}

/// The shape of a component `C` that is in columns. It names `C` in compile errors.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{C}` is sparse, and this wants a component in columns",
    label = "a sparse component is in no column",
    note = "`Lookup` and the calls that write many rows at once are not for it",
    note = "a query has terms of it, `&{C}` and `&mut {C}`, and chooses rows by it: `With<{C}>`, `Without<{C}>`, `AnyOf`, `Or` and `Not`",
    note = "the parameters `Sparse<{C}>` and `SparseMut<{C}>` of a system have its values by entity, and so have `world.sparse::<{C}>()` and `world.sparse_mut::<{C}>()`"
)]
pub trait InColumns<C: ?Sized>: ColumnarShape {}

impl<C: Component> InColumns<C> for Whole<C> {}
impl<S: SplitComponent> InColumns<S> for Split<S> {}

impl<C: Component> Shape for Whole<C> {
    const ENABLEABLE: bool = C::ENABLEABLE;

    #[inline]
    fn visit_all(visitor: &mut (impl ColumnVisitor + SparseVisitor)) {
        <Self as ColumnarShape>::visit(visitor);
    }
}

impl<C: Component> ColumnarShape for Whole<C> {
    const COLUMNS: usize = 1;

    #[inline]
    fn visit(visitor: &mut impl ColumnVisitor) {
        visitor.visit::<C>();
    }
}

impl<S: SplitComponent> Shape for Split<S> {
    #[inline]
    fn visit_all(visitor: &mut (impl ColumnVisitor + SparseVisitor)) {
        <Self as ColumnarShape>::visit(visitor);
    }
}

impl<S: SparseComponent> Shape for InSet<S> {
    const SPARSE: bool = true;

    #[inline]
    fn visit_all(visitor: &mut (impl ColumnVisitor + SparseVisitor)) {
        visitor.visit_sparse::<S>();
    }
}

impl<S: SplitComponent> ColumnarShape for Split<S> {
    const COLUMNS: usize = S::Parts::COLUMNS;

    #[inline]
    fn visit(visitor: &mut impl ColumnVisitor) {
        S::Parts::visit(visitor);
    }
}
