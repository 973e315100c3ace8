//! The sparse components of many bundles: a list for each component.
//!
//! ```text
//!  bundles   (Name a, ChildOf 7v1)   (Name b, ChildOf 7v1)   (Name c, ChildOf 9v1)
//!  lists     │ a │ b │ c │   │ 7v1 │ 7v1 │ 9v1 │
//! ```
//!
//! A set takes a whole list in one call, which finds the set once, reserves memory once, and files
//! neighbours of one target together.

use crate::tuples::for_tuples;

use super::dense_values::DenseValues;
use super::sparse_component::SparseComponent;

/// The lists of the components of a bundle, all of one length.
#[doc(hidden)]
pub trait SparseLists: Default + Send + Sync + 'static {
    /// Reserves memory for more values, at most 1 MiB a list. Fewer values may come.
    fn reserve(&mut self, values: usize);
    /// Passes each list to `reader`.
    fn read(&self, reader: &mut impl ListReader);
    /// Passes each list to `sink`.
    fn put(self, sink: &mut impl ListSink);
}

/// Reads the lists of sparse components.
#[doc(hidden)]
pub trait ListReader {
    fn read_list<S: SparseComponent>(&mut self, values: &DenseValues<S>);
}

/// Takes the lists of sparse components.
#[doc(hidden)]
pub trait ListSink {
    fn put_list<S: SparseComponent>(&mut self, values: DenseValues<S>);
}

impl<S: SparseComponent> SparseLists for DenseValues<S> {
    fn reserve(&mut self, values: usize) {
        const RESERVED_BYTES_MAX: usize = 1 << 20;
        let values_max =
            RESERVED_BYTES_MAX / const { if size_of::<S>() == 0 { 1 } else { size_of::<S>() } };
        Self::reserve(self, values.min(values_max));
    }

    fn read(&self, reader: &mut impl ListReader) {
        reader.read_list(self);
    }

    fn put(self, sink: &mut impl ListSink) {
        sink.put_list(self);
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident $i:tt),*))*) => {$(
        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of its parameters")]
        #[allow(unused_variables, clippy::unused_unit, reason = "the empty tuple has no lists")]
        impl<$($T: SparseLists),*> SparseLists for ($($T,)*) {
            fn reserve(&mut self, values: usize) {
                $(self.$i.reserve(values);)*
            }

            fn read(&self, reader: &mut impl ListReader) {
                $(self.$i.read(reader);)*
            }

            fn put(self, sink: &mut impl ListSink) {
                $(self.$i.put(sink);)*
            }
        }
    )*};
}

for_tuples!(tuples, 0..=12);
