//! Values of components whose types are known only at run time.

use crate::storage::RowWriter;

/// The values of a bundle's components: the bytes of component `i` begin at `starts[i]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowValues<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) starts: &'a [usize],
}

impl RowValues<'_> {
    /// Writes the cells of the bundle in one row.
    #[inline]
    pub(super) fn put(self, row: &mut RowWriter<'_>) {
        for &start in self.starts {
            row.put_front(&self.bytes[start..]);
        }
    }
}
