//! The sparse components of a bundle: none, one, or a tuple.
//!
//! The sets are above this floor, so a bundle hands its components, one by one, to visitors. The
//! components of many bundles are handed over in [lists](super::sparse_lists).

use crate::tuples::for_tuples;

use super::dense_values::DenseValues;
use super::names::Names;
use super::sparse_component::SparseComponent;
use super::sparse_lists::SparseLists;

/// Sparse components of a bundle: none, one, or a tuple.
#[doc(hidden)]
pub trait SparseBundle: Send + Sync + 'static + sealed::Sealed {
    /// The number of components.
    const LEN: usize;
    const IS_EMPTY: bool = Self::LEN == 0;
    /// Whether one of them is a relation.
    const HAS_RELATIONS: bool;
    /// Whether the values of one of them outlive the despawn of their entities.
    const HAS_CLEANUP: bool;
    const NAMES: Names;
    /// The components of many such bundles.
    type Lists: SparseLists;
    /// Passes the type of each component to `visitor`.
    fn visit(visitor: &mut impl SparseVisitor);
    /// Passes a reference to each component to `reader`.
    fn read(&self, reader: &mut impl SparseReader);
    /// Passes each component to `sink`.
    fn put(self, sink: &mut impl SparseSink);
    /// Moves each component to the end of its list.
    fn push_to(self, lists: &mut Self::Lists);
    /// Takes each component from `source`. `None` if the source lacks one.
    fn take(source: &mut impl SparseSource) -> Option<Self>
    where
        Self: Sized;
}

mod sealed {
    /// Seals `SparseBundle`.
    pub trait Sealed {}
}

/// Visits the types of sparse components.
#[doc(hidden)]
pub trait SparseVisitor {
    fn visit_sparse<S: SparseComponent>(&mut self);
}

/// Reads the values of sparse components.
#[doc(hidden)]
pub trait SparseReader {
    fn read<S: SparseComponent>(&mut self, value: &S);
}

/// Takes the values of sparse components.
#[doc(hidden)]
pub trait SparseSink {
    fn put<S: SparseComponent>(&mut self, value: S);
}

/// Has the values of sparse components.
#[doc(hidden)]
pub trait SparseSource {
    fn take<S: SparseComponent>(&mut self) -> Option<S>;
}

impl<S: SparseComponent> sealed::Sealed for S {}
impl<S: SparseComponent> SparseBundle for S {
    const LEN: usize = 1;
    const HAS_RELATIONS: bool = S::RELATION.is_some() || S::PAIRS.is_some();
    const HAS_CLEANUP: bool = S::CLEANUP;
    const NAMES: Names = Names::of_one(S::NAME);
    type Lists = DenseValues<S>;

    #[inline(always)]
    fn visit(visitor: &mut impl SparseVisitor) {
        visitor.visit_sparse::<S>();
    }

    #[inline(always)]
    fn read(&self, reader: &mut impl SparseReader) {
        reader.read(self);
    }

    #[inline(always)]
    fn put(self, sink: &mut impl SparseSink) {
        sink.put(self);
    }

    #[inline(always)]
    fn push_to(self, lists: &mut DenseValues<S>) {
        lists.push(self);
    }

    #[inline(always)]
    fn take(source: &mut impl SparseSource) -> Option<Self> {
        source.take()
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        impl<$($T: sealed::Sealed),*> sealed::Sealed for ($($T,)*) {}

        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of its parameters")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no parts")]
        impl<$($T: SparseBundle),*> SparseBundle for ($($T,)*) {
            const LEN: usize = 0 $(+ $T::LEN)*;
            const HAS_RELATIONS: bool = false $(|| $T::HAS_RELATIONS)*;
            const HAS_CLEANUP: bool = false $(|| $T::HAS_CLEANUP)*;
            const NAMES: Names = Names::of_all(&[$($T::NAMES),*]);
            type Lists = ($($T::Lists,)*);

            #[inline]
            fn visit(visitor: &mut impl SparseVisitor) {
                $($T::visit(visitor);)*
            }

            #[inline]
            fn read(&self, reader: &mut impl SparseReader) {
                $(self.$i.read(reader);)*
            }

            #[inline]
            fn put(self, sink: &mut impl SparseSink) {
                $(self.$i.put(sink);)*
            }

            #[inline]
            fn push_to(self, lists: &mut Self::Lists) {
                $(self.$i.push_to(&mut lists.$i);)*
            }

            #[inline]
            fn take(source: &mut impl SparseSource) -> Option<Self> {
                Some(($($T::take(source)?,)*))
            }
        }
    )*};
}

for_tuples!(tuples, 0..=12);
