//! The components that filters name.

use crate::component::{
    AnyComponent, ColumnVisitor, Component, Shape as _, SparseComponent, SparseVisitor,
};
use crate::store::RequirementsBuilder;
use crate::tuples::for_tuples;

mod sealed {
    /// Seals `ComponentTuple`.
    pub trait Components {}
}

/// Adds the columns of a component, or a sparse component, to the requirements of a query.
pub(super) enum Named<'a, 'r> {
    With(&'a mut RequirementsBuilder<'r>),
    Without(&'a mut RequirementsBuilder<'r>),
    Watched(&'a mut RequirementsBuilder<'r>),
    /// An alternative, represented by the first column.
    Or(Option<&'a mut RequirementsBuilder<'r>>),
}

impl ColumnVisitor for Named<'_, '_> {
    fn visit<C: Component>(&mut self) {
        match self {
            Self::With(builder) => builder.with::<C>(),
            Self::Without(builder) => builder.without::<C>(),
            Self::Watched(builder) => builder.watch::<C>(),
            Self::Or(first) => {
                if let Some(builder) = first.take() {
                    builder.or::<C>();
                }
            }
        }
    }
}

impl SparseVisitor for Named<'_, '_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        match self {
            Self::With(builder) => builder.with_sparse::<S>(),
            Self::Without(builder) => builder.without_sparse::<S>(),
            Self::Watched(_) => unreachable!("a sparse component has no stamps"),
            Self::Or(first) => {
                if let Some(builder) = first.take() {
                    builder.or_sparse::<S>();
                }
            }
        }
    }
}

/// A tuple of one to eight components, for [`AnyOf`](crate::AnyOf).
pub trait ComponentTuple: sealed::Components {
    /// Whether any of them is enableable.
    #[doc(hidden)]
    const ENABLEABLE: bool;
    /// Whether any of them is sparse.
    #[doc(hidden)]
    const SPARSE: bool;
    #[doc(hidden)]
    fn name_all(builder: &mut RequirementsBuilder<'_>);
}

/// Implements [`ComponentTuple`] for tuples.
macro_rules! component_tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: AnyComponent),*> sealed::Components for ($($T,)*) {}
        impl<$($T: AnyComponent),*> ComponentTuple for ($($T,)*) {
            const ENABLEABLE: bool = false $(|| $T::Shape::ENABLEABLE)*;
            const SPARSE: bool = false $(|| $T::Shape::SPARSE)*;

            fn name_all(builder: &mut RequirementsBuilder<'_>) {
                $($T::Shape::visit_all(&mut Named::Or(Some(builder)));)*
            }
        }
    )*};
}

for_tuples!(component_tuples, 1..=8);
