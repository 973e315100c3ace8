//! A flat array at a chosen address: the columns of the limits, and of the parts of the report.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use memmap2::MmapMut;

const PAGE_BYTES: usize = 4096;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A flat array at a chosen place in its page.
///
/// The allocator puts a large `Vec` 16 bytes after the beginning of a page, and two of them at the
/// same distance: `p += v * dt` over 10,000 rows took 0.20 ns a row there, 0.14 from the beginning
/// of a page, and 0.12 with the second column a quarter of a page further (Zen 5, AVX2). A limit
/// has the best of these, and huge pages where phalanx would have them.
pub(crate) struct Column<T> {
    memory: MmapMut,
    start: usize,
    len: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Pod> Column<T> {
    /// A column of `values` that begins at the `nth` quarter of a page.
    pub(crate) fn new(values: &[T], nth: usize) -> Self {
        let bytes: &[u8] = cast_slice(values);
        let align = if bytes.len() < HUGE_PAGE_BYTES { PAGE_BYTES } else { HUGE_PAGE_BYTES };
        let room = bytes.len() + align + PAGE_BYTES;
        let mut memory = MmapMut::map_anon(room).expect("the limit has no memory");
        #[cfg(target_os = "linux")]
        if align == HUGE_PAGE_BYTES {
            // A system without huge pages refuses; phalanx has none there either.
            let _ = memory.advise(memmap2::Advice::HugePage);
        }
        let start = memory.as_ptr().align_offset(align) + nth * PAGE_BYTES / 4;
        memory[start..][..bytes.len()].copy_from_slice(bytes);
        Self { memory, start, len: bytes.len(), of: std::marker::PhantomData }
    }

    /// The values, or the scalars they consist of.
    pub(crate) fn read<S: Pod>(&self) -> &[S] {
        cast_slice(&self.memory[self.start..][..self.len])
    }

    /// The values, or the scalars they consist of, for writing.
    pub(crate) fn write<S: Pod>(&mut self) -> &mut [S] {
        cast_slice_mut(&mut self.memory[self.start..][..self.len])
    }
}
