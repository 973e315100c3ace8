//! Some columns of a chunk as bytes, for readers and writers that do not know the types.

use crate::component::{Component, Values};

/// The bytes of the cells of one column in rows that follow each other. Only values of the column
/// are written.
#[derive(Debug)]
pub(crate) struct ColumnBytes<'w> {
    bytes: RowBytes<'w>,
    size: usize,
    values: Values,
}

/// Bytes that may be written, or only read because other code reads them at the same time.
#[derive(Debug)]
enum RowBytes<'w> {
    Exclusive(&'w mut [u8]),
    Shared(&'w [u8]),
}

impl RowBytes<'_> {
    const fn exclusive(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Exclusive(bytes) => Some(bytes),
            Self::Shared(_) => None,
        }
    }
}

impl<'w> ColumnBytes<'w> {
    /// `bytes` are values of a column, of `size` bytes each.
    pub(super) const fn new(bytes: &'w mut [u8], size: usize, values: Values) -> Self {
        Self { bytes: RowBytes::Exclusive(bytes), size, values }
    }

    /// The same for reading only.
    pub(crate) const fn shared(bytes: &'w [u8], size: usize, values: Values) -> Self {
        Self { bytes: RowBytes::Shared(bytes), size, values }
    }

    /// The bytes of all rows.
    pub(crate) const fn bytes(&self) -> &[u8] {
        match &self.bytes {
            RowBytes::Exclusive(bytes) => bytes,
            RowBytes::Shared(bytes) => bytes,
        }
    }

    /// The bytes of all rows, for writing, if any bytes are values of the column.
    pub(crate) const fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        if self.values.is_any() { self.bytes.exclusive() } else { None }
    }

    /// Overwrites the bytes of one row, if they are a value of the column.
    ///
    /// # Panics
    ///
    /// If the row does not exist, its cell has another number of bytes, or the column may only be
    /// read.
    pub(crate) fn set(&mut self, row: usize, bytes: &[u8]) -> bool {
        let is_value = self.values.accept(bytes);
        if self.size > 0 {
            let cells = self.bytes.exclusive().expect("the column may only be read");
            let cell = cells.chunks_exact_mut(self.size).nth(row);
            let cell = cell.expect("the chunk has fewer rows");
            if is_value {
                cell.copy_from_slice(bytes);
            }
        }
        is_value
    }

    /// The values, if they can be read as those of `C`.
    pub(crate) fn cells<C: Component>(&self) -> Option<&[C]> {
        if self.size == 0 {
            return None;
        }
        bytemuck::checked::try_cast_slice(self.bytes()).ok()
    }

    /// The values for writing, if they are those of `C`, or any bytes are values of both.
    pub(crate) fn cells_mut<C: Component>(&mut self) -> Option<&mut [C]> {
        if self.size == 0 || !self.values.are_of::<C>() {
            return None;
        }
        bytemuck::checked::try_cast_slice_mut(self.bytes.exclusive()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C)]
    struct Pair(u8, u8);
    #[derive(
        Clone,
        Copy,
        bytemuck::Zeroable,
        bytemuck::NoUninit,
        Debug,
        PartialEq,
        bytemuck::CheckedBitPattern,
    )]
    #[repr(C)]
    struct Flag(bool);
    crate::impl_component!(Pair, Flag);

    #[test]
    fn any_bytes_of_a_plain_column_are_written() {
        let mut bytes = [1, 2, 3, 4];
        let mut column = ColumnBytes::new(&mut bytes, 2, Values::of::<Pair>());
        assert_eq!(column.cells::<Pair>(), Some(&[Pair(1, 2), Pair(3, 4)][..]));
        assert!(column.set(1, &[7, 8]));
        column.cells_mut::<Pair>().expect("of this type")[0].0 = 9;
        column.bytes_mut().expect("any bytes are values")[1] = 6;
        assert_eq!(column.bytes(), [9, 6, 7, 8]);
        assert_eq!(column.cells::<Flag>(), None);
        assert_eq!(column.cells_mut::<Flag>(), None);
    }

    #[test]
    fn a_shared_column_is_read_only() {
        let mut column = ColumnBytes::shared(&[1, 2, 3, 4], 2, Values::of::<Pair>());
        assert_eq!(column.cells::<Pair>(), Some(&[Pair(1, 2), Pair(3, 4)][..]));
        assert!(column.bytes_mut().is_none() && column.cells_mut::<Pair>().is_none());
        assert_eq!(column.bytes(), [1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "the column may only be read")]
    fn a_shared_column_is_not_written() {
        ColumnBytes::shared(&[1, 2], 2, Values::of::<Pair>()).set(0, &[3, 4]);
    }

    #[test]
    fn only_values_of_a_checked_column_are_written() {
        let mut bytes = [0, 1];
        let mut column = ColumnBytes::new(&mut bytes, 1, Values::of::<Flag>());
        assert!(column.bytes_mut().is_none() && column.cells_mut::<Pair>().is_none());
        assert!(!column.set(0, &[2]) && column.set(0, &[1]));
        assert_eq!(column.cells_mut::<Flag>(), Some(&mut [Flag(true), Flag(true)][..]));
    }
}
