//! A part of a sparse set, to be divided into blocks and among threads.

use crate::entity::Entity;
use crate::line::VECTOR_ROWS;
use crate::query::Job;

/// A slice of values, for reading or for writing.
pub(super) trait ValueSlice: Default + Send {
    /// The bytes of a value.
    const VALUE_BYTES: usize;

    /// Divides the slice in two.
    fn split_at(self, len: usize) -> (Self, Self);
}

impl<S: Sync> ValueSlice for &[S] {
    const VALUE_BYTES: usize = size_of::<S>();

    #[inline]
    fn split_at(self, len: usize) -> (Self, Self) {
        self.split_at(len)
    }
}

impl<S: Send> ValueSlice for &mut [S] {
    const VALUE_BYTES: usize = size_of::<S>();

    #[inline]
    fn split_at(self, len: usize) -> (Self, Self) {
        self.split_at_mut(len)
    }
}

/// Neighbours in a set: as many entities as values.
#[derive(Debug, Default)]
pub(super) struct ValuePart<'s, V> {
    pub(super) entities: &'s [Entity],
    pub(super) values: V,
    /// The position of the first value in the set.
    pub(super) position: usize,
}

impl<V: ValueSlice> ValuePart<'_, V> {
    /// Cuts the first values off.
    #[inline]
    pub(super) fn take_first(&mut self, len: usize) -> Self {
        let (entities, rest) = self.entities.split_at(len);
        let (values, rest_values) = core::mem::take(&mut self.values).split_at(len);
        let first = Self { entities, values, position: self.position };
        *self = Self { entities: rest, values: rest_values, position: self.position + len };
        first
    }
}

impl<V: ValueSlice> Job for ValuePart<'_, V> {
    fn rows(&self) -> usize {
        self.entities.len()
    }

    fn row_bytes(&self) -> usize {
        size_of::<Entity>() + V::VALUE_BYTES
    }

    fn split_off(&mut self, rows: usize) -> Option<Self> {
        let rows = rows.max(1).next_multiple_of(VECTOR_ROWS);
        (rows < self.entities.len()).then(|| self.take_first(rows))
    }
}
