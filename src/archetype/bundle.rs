//! The trait [`Bundle`]: components of both kinds, taken apart by kind.
//!
//! ```text
//!  (Position, (Name, Health))  ──►  columns (Position, ((), Health))    rows of chunks
//!                              └─►  sparse  ((), (Name, ()))            sets by entity
//! ```
//!
//! A bundle of columns is its own part of columns, so that a call with one is the same code as a
//! call with this part alone.

use crate::component::{
    AnyComponent, Component, ConstText, Gone, InSet, Names, ONE_NAME, SparseBundle,
    SparseComponent, Split, SplitComponent, Whole,
};
use crate::tuples::for_tuples;

use super::column_bundle::ColumnBundle;

/// One component, or a tuple of up to twelve bundles.
///
/// Components of chunks and [sparse](crate::component#sparse-components) ones mix. Calls that make
/// room for rows, or write rows from slices, take a
/// [`ColumnBundle`](crate::chunks::ColumnBundle), which has none of the latter.
///
/// `()` is the empty bundle, tuples nest, and the order of components does not matter:
/// `(A, (B, C))` and `(C, A, B)` have the same archetype. A bundle that names a component twice
/// does not compile (`cargo build` reports it; `cargo check` does not evaluate the check). The
/// trait is sealed; a type becomes a bundle by being a [`Component`].
///
/// ```
/// # use phalanx::prelude::*;
/// #[component]
/// struct Position { x: f32, y: f32 }
/// #[component]
/// struct Velocity { x: f32, y: f32 }
/// #[component]
/// struct Frozen;
/// let mut world = World::new();
/// world.spawn(());
/// world.spawn(Position::default());
/// world.spawn((Frozen, (Position::default(), Velocity::default())));
/// ```
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// World::new().spawn((Health(1.0), Health(2.0))); // a component is named twice
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bundle",
    note = "a bundle is a component or a tuple of up to twelve bundles: each type in it must have `#[component]` or be named in `impl_component!`",
    note = "of a relation to many, `#[relation(many)] struct Likes {{ weight: f32 }}`, a bundle has pairs, `Likes {{ weight: 0.5 }}.of(target)`, and names all of them as `Targets<Likes>`"
)]
pub trait Bundle: Send + Sync + 'static + sealed::Sealed {
    #[doc(hidden)]
    const NAMES: Names;
    /// The components of chunks.
    #[doc(hidden)]
    type Columns: ColumnBundle;
    /// The sparse components.
    #[doc(hidden)]
    type Sparse: SparseBundle;
    #[doc(hidden)]
    fn split(self) -> (Self::Columns, Self::Sparse);
    #[doc(hidden)]
    fn join(columns: Self::Columns, sparse: Self::Sparse) -> Self;
}

/// A compile error for a bundle that names a component twice, or [`Gone`].
///
/// Evaluated in a constant of each public function, so that the error names the caller's line.
/// Internal functions do not evaluate it again, so that the error is reported once.
pub(crate) const fn assert_distinct(names: Names) {
    if let Some(name) = names.repeated() {
        let text = ["this bundle names the component `", name, "` twice: drop one", ONE_NAME];
        panic!("{}", ConstText::of(&text).as_str());
    }
    assert!(
        !names.has(Gone::NAME),
        "this bundle names `Gone`, which the world gives to entities that are despawned: use `despawn`, \
         and remove the cleanup components"
    );
}

/// A compile error for a bundle with a relation, which a call for many entities cannot insert.
/// Evaluated like [`assert_distinct`].
pub(crate) const fn assert_no_relations<B: Bundle>() {
    assert!(
        !B::Sparse::HAS_RELATIONS,
        "a relation may be refused for each source: insert it entity by entity, \
         `world.insert(source, ChildOf::of(target))` or `commands.insert(source, …)`"
    );
}

mod sealed {
    /// Seals `Bundle`. Components of other crates implement it too, so no other code relies on it.
    pub trait Sealed {}
}

impl<C: AnyComponent<Shape: BundleShape<C>>> sealed::Sealed for C {}

impl<C: AnyComponent<Shape: BundleShape<C>>> Bundle for C {
    const NAMES: Names = C::Shape::NAMES;
    type Columns = <C::Shape as BundleShape<C>>::Columns;
    type Sparse = <C::Shape as BundleShape<C>>::Sparse;

    #[inline(always)]
    fn split(self) -> (Self::Columns, Self::Sparse) {
        C::Shape::split(self)
    }

    #[inline(always)]
    fn join(columns: Self::Columns, sparse: Self::Sparse) -> Self {
        C::Shape::join(columns, sparse)
    }
}

/// The kind of a component in a bundle. See [`Bundle`]. Only relations to many lack it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{C}` is a relation to many, and a bundle has its pairs as `Targets<{C}>`",
    label = "not a bundle",
    note = "pairs are inserted by `.of(target)`, as in `world.insert(source, Likes {{ weight: 0.5 }}.of(target))`, or as a list, `Targets::from([(target, value)])`",
    note = "calls that take no value name all pairs of a source: `world.remove::<Targets<{C}>>(source)`, `world.register::<Targets<{C}>>()`"
)]
pub trait BundleShape<C> {
    const NAMES: Names;
    type Columns: ColumnBundle;
    type Sparse: SparseBundle;
    fn split(value: C) -> (Self::Columns, Self::Sparse);
    fn join(columns: Self::Columns, sparse: Self::Sparse) -> C;
}

impl<C: Component> BundleShape<C> for Whole<C> {
    const NAMES: Names = <C as ColumnBundle>::NAMES;
    type Columns = C;
    type Sparse = ();

    #[inline(always)]
    fn split(value: C) -> (C, ()) {
        (value, ())
    }

    #[inline(always)]
    fn join(columns: C, (): ()) -> C {
        columns
    }
}

impl<S: SplitComponent + ColumnBundle> BundleShape<S> for Split<S> {
    const NAMES: Names = <S as ColumnBundle>::NAMES;
    type Columns = S;
    type Sparse = ();

    #[inline(always)]
    fn split(value: S) -> (S, ()) {
        (value, ())
    }

    #[inline(always)]
    fn join(columns: S, (): ()) -> S {
        columns
    }
}

impl<S: SparseComponent> BundleShape<S> for InSet<S> {
    const NAMES: Names = <S as SparseBundle>::NAMES;
    type Columns = ();
    type Sparse = S;

    #[inline(always)]
    fn split(value: S) -> ((), S) {
        ((), value)
    }

    #[inline(always)]
    fn join((): (), sparse: S) -> S {
        sparse
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: sealed::Sealed),*> sealed::Sealed for ($($T,)*) {}

        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of its parameters")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($T: Bundle),*> Bundle for ($($T,)*) {
            const NAMES: Names = Names::of_all(&[$($T::NAMES),*]);
            type Columns = ($($T::Columns,)*);
            type Sparse = ($($T::Sparse,)*);

            #[inline(always)]
            fn split(self) -> (Self::Columns, Self::Sparse) {
                let ($($t,)*) = self;
                $(let $t = $t.split();)*
                (($($t.0,)*), ($($t.1,)*))
            }

            #[inline(always)]
            fn join(columns: Self::Columns, sparse: Self::Sparse) -> Self {
                ($($T::join(columns.$i, sparse.$i),)*)
            }
        }
    )*};
}

for_tuples!(tuples, 0..=12);
