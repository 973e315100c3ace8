//! Some columns of a chunk as bytes, for readers and writers that do not know the types.

use crate::component::{Component, Values};

/// The bytes of the cells of one column in rows that follow each other. Only values of the column
/// are written.
#[derive(Debug)]
pub(crate) struct ColumnBytes<'w> {
    bytes: &'w mut [u8],
    size: usize,
    values: Values,
}

impl<'w> ColumnBytes<'w> {
    /// `bytes` are values of a column, of `size` bytes each.
    pub(super) const fn new(bytes: &'w mut [u8], size: usize, values: Values) -> Self {
        Self { bytes, size, values }
    }

    /// The bytes of all rows.
    pub(crate) const fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The bytes of all rows, for writing, if any bytes are values of the column.
    pub(crate) const fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        if self.values.is_any() { Some(self.bytes) } else { None }
    }

    /// Overwrites the bytes of one row, if they are a value of the column.
    ///
    /// # Panics
    ///
    /// If the row does not exist, or its cell has another number of bytes.
    pub(crate) fn set(&mut self, row: usize, bytes: &[u8]) -> bool {
        let is_value = self.values.accept(bytes);
        if self.size > 0 {
            let cell = self.bytes.chunks_exact_mut(self.size).nth(row);
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
        bytemuck::checked::try_cast_slice(self.bytes).ok()
    }

    /// The values for writing, if they are those of `C`, or any bytes are values of both.
    pub(crate) fn cells_mut<C: Component>(&mut self) -> Option<&mut [C]> {
        if self.size == 0 || !self.values.are_of::<C>() {
            return None;
        }
        bytemuck::checked::try_cast_slice_mut(self.bytes).ok()
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
    fn only_values_of_a_checked_column_are_written() {
        let mut bytes = [0, 1];
        let mut column = ColumnBytes::new(&mut bytes, 1, Values::of::<Flag>());
        assert!(column.bytes_mut().is_none() && column.cells_mut::<Pair>().is_none());
        assert!(!column.set(0, &[2]) && column.set(0, &[1]));
        assert_eq!(column.cells_mut::<Flag>(), Some(&mut [Flag(true), Flag(true)][..]));
    }
}
