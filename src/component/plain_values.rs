//! The values of a sparse component of plain data as bytes.

use super::dense_values::DenseValues;
use super::plain::Plain;

/// The functions by which plain values are copied, written and read.
#[doc(hidden)]
#[derive(Debug)]
pub struct PlainValues<T> {
    pub(crate) bytes: fn(&[T]) -> &[u8],
    /// Reads as many values as given. `None` if the bytes are not that many values.
    pub(crate) read: fn(&[u8], usize) -> Option<Vec<T>>,
    /// Makes a vector a copy of some values.
    pub(crate) copy: fn(&[T], &mut DenseValues<T>),
}

impl<T: Plain> PlainValues<T> {
    pub(super) const fn new() -> Self {
        Self {
            bytes: |values| bytemuck::cast_slice(values),
            read,
            copy: |from, to| to.copy_from_plain(from),
        }
    }
}

fn read<T: Plain>(bytes: &[u8], len: usize) -> Option<Vec<T>> {
    if size_of::<T>() == 0 {
        return bytes.is_empty().then(|| vec![T::zeroed(); len]);
    }
    if len.checked_mul(size_of::<T>()) != Some(bytes.len()) {
        return None;
    }
    let values = bytes.chunks_exact(size_of::<T>());
    values.map(|value| bytemuck::checked::try_pod_read_unaligned(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_as_many_valid_values() {
        let numbers = PlainValues::<u32>::new();
        let bytes = (numbers.bytes)(&[7, 9]);
        assert_eq!((numbers.read)(bytes, 2), Some(vec![7, 9]));
        assert_eq!((numbers.read)(bytes, 1), None);
        assert_eq!((numbers.read)(&bytes[..7], 2), None);
        assert_eq!((numbers.read)(bytes, usize::MAX), None);
        let flags = PlainValues::<bool>::new();
        assert_eq!((flags.read)(&[1, 0], 2), Some(vec![true, false]));
        assert_eq!((flags.read)(&[1, 2], 2), None);
        let tags = PlainValues::<()>::new();
        assert_eq!((tags.bytes)(&[(); 3]), []);
        assert_eq!((tags.read)(&[], 3).map(|tags| tags.len()), Some(3));
        assert_eq!((tags.read)(&[0], 3), None);
    }
}
