//! A flat column at a chosen place in its page.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use std::marker::PhantomData;

const LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;

/// A cache line, so that the allocator begins on one.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; LINE_BYTES]);

/// Values that begin at a chosen quarter of a page.
///
/// The allocator puts a large `Vec` 16 bytes after the beginning of a page, and two of them at the
/// same distance. That costs up to half again the time while the data is in the second-level cache,
/// and a limit has the best place there is.
pub(super) struct Column<T> {
    lines: Vec<Line>,
    start: usize,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Pod> Column<T> {
    /// A column of `values` that begins at the `nth` quarter of a page.
    pub(super) fn new(values: &[T], nth: usize) -> Self {
        let bytes: &[u8] = cast_slice(values);
        let room = bytes.len().div_ceil(LINE_BYTES) + 2 * PAGE_BYTES / LINE_BYTES;
        let mut lines = vec![Line::zeroed(); room];
        let behind = lines.as_ptr().addr() % PAGE_BYTES;
        let start = PAGE_BYTES - behind + nth * PAGE_BYTES / 4;
        let target: &mut [u8] = cast_slice_mut(&mut lines);
        target[start..][..bytes.len()].copy_from_slice(bytes);
        Self { lines, start, len: bytes.len(), of: PhantomData }
    }

    pub(super) fn read(&self) -> &[T] {
        let bytes: &[u8] = cast_slice(&self.lines);
        cast_slice(&bytes[self.start..][..self.len])
    }

    pub(super) fn write(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = cast_slice_mut(&mut self.lines);
        cast_slice_mut(&mut bytes[self.start..][..self.len])
    }
}
