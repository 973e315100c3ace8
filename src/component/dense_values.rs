//! The values of a sparse set: a vector that begins at a cache line.
//!
//! The allocator of glibc puts a large `Vec` 16 bytes after a page. A kernel that doubles 100,000
//! values of four floats took 1.30 times as long there with AVX2, and 1.46 times with AVX-512, and
//! one that only reads them 1.01 and 1.04 times. For it, values that are no plain data are cloned
//! one by one where a set is copied, and a set that grows is copied where a `Vec` might be moved by
//! pages.

use core::ops::{Deref, DerefMut};

use aligned_vec::{AVec, ConstAlign};

use crate::line::LINE_BYTES;

/// Values without gaps, from the beginning of a cache line.
///
/// Some calls of [`AVec`] are no safe ones in version 0.6.4. `extend_from_slice` copies the bits of
/// values that are cloned, so it is called for `Copy` values only. `shrink_to_fit` and
/// `into_boxed_slice` reallocate to no bytes, and do not look whether it fails: they are not used.
#[derive(Debug)]
pub struct DenseValues<T>(AVec<T, ConstAlign<LINE_BYTES>>);

impl<T> Default for DenseValues<T> {
    fn default() -> Self {
        Self(AVec::new(LINE_BYTES))
    }
}

impl<T> Deref for DenseValues<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for DenseValues<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for DenseValues<T> {
    fn from(values: Vec<T>) -> Self {
        let mut all = Self(AVec::with_capacity(LINE_BYTES, values.len()));
        values.into_iter().for_each(|value| all.push(value));
        all
    }
}

impl<T> DenseValues<T> {
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    #[inline]
    pub(crate) fn reserve(&mut self, values: usize) {
        self.0.reserve(values);
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        self.0.push(value);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Drops the values from a position on. Two destructors that panic end the process.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Takes a value. The last one takes its place.
    ///
    /// # Panics
    ///
    /// If there is no such value.
    #[inline]
    pub(crate) fn swap_remove(&mut self, at: usize) -> T {
        let last = self.0.len() - 1;
        self.0.swap(at, last);
        self.0.pop().expect("a value is at the position")
    }

    /// Moves all values of others to the end.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// The values, each moved out.
    pub(crate) fn into_values(mut self) -> impl ExactSizeIterator<Item = T> {
        self.0.reverse();
        let len = self.0.len();
        (0..len).map(move |_| self.0.pop().expect("as many values as before"))
    }

    /// Makes this a copy of some values. Uses the memory of the older ones, and what they own. If
    /// a clone panics, the copy has some of the values.
    pub(crate) fn copy_from(&mut self, values: &[T])
    where
        T: Clone,
    {
        self.0.truncate(values.len());
        let (known, new) = values.split_at(self.0.len());
        self.0.clone_from_slice(known);
        self.0.reserve(new.len());
        new.iter().for_each(|value| self.0.push(value.clone()));
    }

    /// [`DenseValues::copy_from`] of plain data: one `memcpy`.
    pub(crate) fn copy_from_plain(&mut self, values: &[T])
    where
        T: Copy,
    {
        self.0.truncate(0);
        self.0.extend_from_slice(values);
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        if self.0.capacity() > self.0.len() && size_of::<T>() > 0 {
            let mut fitting = Self(AVec::with_capacity(LINE_BYTES, self.0.len()));
            fitting.append(self);
            *self = fitting;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn is_aligned<T>(values: &DenseValues<T>) -> bool {
        values.as_ptr().addr().is_multiple_of(LINE_BYTES)
    }

    #[test]
    fn values_begin_at_a_line_after_each_change_of_memory() {
        let mut values = DenseValues::default();
        for i in 0..100_u32 {
            values.push(i);
            assert!(is_aligned(&values), "{i}");
        }
        assert_eq!((values.swap_remove(10), values[10], values.pop()), (10, 99, Some(98)));
        let mut other = DenseValues::from(vec![7; 3]);
        values.append(&mut other);
        assert_eq!((values.len(), other.len(), values[98..].to_vec()), (101, 0, vec![7; 3]));
        values.truncate(5);
        values.shrink();
        assert!(is_aligned(&values) && values.capacity() == 5);
        values.truncate(0);
        values.shrink();
        assert_eq!((values.capacity(), values.len()), (0, 0));
        values.push(1);
        assert!(is_aligned(&values) && values[..] == [1]);
    }

    #[test]
    fn values_of_any_size_and_alignment_are_dropped_once() {
        #[repr(align(256))]
        struct Wide(#[expect(dead_code, reason = "its destructor is what counts")] Arc<()>);

        let owner = Arc::new(());
        let mut wide = DenseValues::default();
        for left in (0..10).rev() {
            wide.push(Wide(Arc::clone(&owner)));
            wide.push(Wide(Arc::clone(&owner)));
            assert!(wide.as_ptr().addr().is_multiple_of(256), "{left}");
            drop(wide.swap_remove(0));
        }
        wide.shrink();
        assert_eq!((wide.len(), Arc::strong_count(&owner)), (10, 11));
        drop(wide);
        assert_eq!(Arc::strong_count(&owner), 1);
        let mut none = DenseValues::from(vec![(); 5]);
        none.shrink();
        none.push(());
        assert_eq!((none.len(), none.swap_remove(2)), (6, ()));
    }

    #[test]
    fn a_copy_has_the_values_whatever_it_had() {
        let texts = |len: usize| (0..len).map(|i| i.to_string()).collect::<Vec<_>>();
        let mut copy = DenseValues::default();
        for len in [3, 5, 2, 0, 4] {
            copy.copy_from(&texts(len));
            assert_eq!(copy.to_vec(), texts(len));
        }
        let mut copy = DenseValues::from(vec![7, 8]);
        for len in [3, 5, 2, 0, 4, 1000] {
            let numbers: Vec<_> = (0..len).collect();
            copy.copy_from_plain(&numbers);
            assert!(copy[..] == numbers && is_aligned(&copy), "{len}");
        }
        let mut none = DenseValues::default();
        none.copy_from_plain(&[(); 5]);
        assert_eq!(none.len(), 5);
    }
}
