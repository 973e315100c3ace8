//! Rows that are written and not read, past the caches if that pays.
//!
//! A store to a line that is in no cache first loads the line, although every byte of it is about
//! to be overwritten. A *streaming* store writes whole lines to memory instead, which saves a third
//! of the traffic of a pass with one column read and one written. Such a pass over 16 million rows
//! took 0.19 to 0.20 ns a row instead of 0.24 to 0.25 (Zen 5). Where the columns fit the last-level
//! cache it takes 1.5 times as long as one with plain stores, and many times in the first level. So
//! it is the caller's choice.
//!
//! The compiler does not make streaming stores of a kernel's loop. The kernel writes a small block
//! that stays in the first-level cache, and whole lines of it are copied from there:
//!
//! ```text
//!  input column ──► kernel ──► block in the cache ──► streaming stores ──► output column
//! ```

#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(
        unsafe_code,
        reason = "streaming stores: 1.2 times as fast where columns exceed the caches"
    )
)]

use core::ops::Range;

use bytemuck::{Pod, Zeroable, cast_slice_mut};

use crate::line::{LINE_BYTES, VECTOR_ROWS};

/// The most bytes that a kernel writes before they are stored.
const BLOCK_BYTES: usize = 2048;

/// The bytes that a kernel writes before they are stored, in whole vectors of rows. With more bytes
/// the processor alternates between long phases of reading and of writing: a pass over 64 million
/// floats took 0.165 ns a float with 256 bytes, 0.178 with 512, 0.208 with 4,096, and 0.223 with
/// plain stores (Zen 5). With fewer bytes the calls of the kernel take noticeable time.
const BLOCK_BYTES_WANTED: usize = 512;

/// The way in which [`overwrite`] stores rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stores {
    /// Through the caches, as every other store.
    #[default]
    Cached,
    /// Past the caches, by streaming stores.
    Streaming,
}

/// A block, on a line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct BlockBuffer([u8; BLOCK_BYTES]);

/// Overwrites all rows of a slice: calls `write` with a range of rows, and with a slice for their
/// values, until all rows are written. The slice has unspecified values before.
///
/// [`Stores::Streaming`] pays where a pass reads and writes more than the last-level cache has, and
/// the written rows are not read soon. It is slower everywhere else, and for short slices: the end
/// of a call waits for its stores, so iterate over
/// [`contiguous_chunks`](crate::Query::contiguous_chunks), as here. It has no effect on processors
/// other than x86-64, and for rows of more than 128 bytes. The values are the same in any case.
///
/// # Panics
///
/// If `write` panics. Rows of earlier ranges have new values, the others old or new ones.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::simd::{Stores, overwrite};
///
/// #[component]
/// struct Force(f32);
/// #[component]
/// struct Stretch(f32);
///
/// #[kernel]
/// fn springs(forces: &mut [Force], stretches: &[Stretch], stiffness: f32) {
///     for (force, stretch) in forces.iter_mut().zip(stretches) {
///         force.0 = -stiffness * stretch.0;
///     }
/// }
///
/// let mut world = World::new();
/// world.spawn_batch((0..5_000u16).map(|i| (Force(0.0), Stretch(f32::from(i)))));
/// for (forces, stretches) in world.query_mut::<(&mut Force, &Stretch)>().contiguous_chunks() {
///     overwrite(forces, Stores::Streaming, |range, forces| springs(forces, &stretches[range], 2.0));
/// }
/// assert!(world.query::<(&Force, &Stretch)>().rows().all(|(f, s)| f.0 == -2.0 * s.0));
/// ```
#[inline]
pub fn overwrite<T: Pod>(
    rows: &mut [T],
    stores: Stores,
    mut write: impl FnMut(Range<usize>, &mut [T]),
) {
    let fits =
        (1..=BLOCK_BYTES / VECTOR_ROWS).contains(&size_of::<T>()) && align_of::<T>() <= LINE_BYTES;
    if stores == Stores::Cached || !fits {
        return write(0..rows.len(), rows);
    }
    let _fence = Fence;
    let mut block = BlockBuffer::zeroed();
    // Whole vectors of rows are whole lines if the size is a multiple of four.
    let block_rows = (BLOCK_BYTES_WANTED / size_of::<T>() / VECTOR_ROWS).max(1) * VECTOR_ROWS;
    let mut start = 0;
    while start < rows.len() {
        let range = start..(start + block_rows).min(rows.len());
        let bytes = &mut block.0[..range.len() * size_of::<T>()];
        write(range.clone(), cast_slice_mut(bytes));
        stream(cast_slice_mut(&mut rows[range.clone()]), bytes);
        start = range.end;
    }
}

/// Orders streaming stores before all later stores, also if a kernel panics.
struct Fence;

impl Drop for Fence {
    #[inline]
    fn drop(&mut self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every x86-64 processor has SSE.
        unsafe {
            core::arch::x86_64::_mm_sfence();
        }
    }
}

/// Copies bytes, whole lines of the target by streaming stores. A [`Fence`] must follow.
///
/// # Panics
///
/// If the slices differ in length.
#[inline]
fn stream(target: &mut [u8], source: &[u8]) {
    assert!(target.len() == source.len(), "a block differs from its rows in length");
    let before = target.as_ptr().align_offset(LINE_BYTES).min(target.len());
    let (first, target) = target.split_at_mut(before);
    let (first_source, source) = source.split_at(before);
    first.copy_from_slice(first_source);
    let (lines, rest) = target.as_chunks_mut::<LINE_BYTES>();
    let (source_lines, source_rest) = source.as_chunks::<LINE_BYTES>();
    for (line, source) in lines.iter_mut().zip(source_lines) {
        stream_line(line, source);
    }
    rest.copy_from_slice(source_rest);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn stream_line(line: &mut [u8; LINE_BYTES], source: &[u8; LINE_BYTES]) {
    use core::arch::x86_64::{__m128i, _mm_stream_si128};

    let (parts, _) = line.as_chunks_mut::<16>();
    for (part, source) in parts.iter_mut().zip(source.as_chunks::<16>().0) {
        let value: __m128i = bytemuck::cast(*source);
        let part: *mut __m128i = part.as_mut_ptr().cast();
        debug_assert!(part.is_aligned(), "a line is not aligned");
        // SAFETY: the part is 16 bytes that are borrowed exclusively, and aligned to 16, since the
        // line is one in memory. All other accesses follow the fence of `overwrite`.
        unsafe { _mm_stream_si128(part, value) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn stream_line(line: &mut [u8; LINE_BYTES], source: &[u8; LINE_BYTES]) {
    *line = *source;
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn value(i: usize) -> [u8; 3] {
        let [low, high, ..] = i.to_le_bytes();
        [low, high, 9]
    }

    /// Lengths around the lengths of lines and blocks, every start in a line, and the bytes around
    /// them.
    #[test]
    fn all_rows_are_written_and_no_other_byte() {
        let lens =
            if cfg!(miri) { vec![0, 1, 70] } else { vec![0, 1, 5, 63, 64, 65, 1_365, 5_000] };
        for len in lens {
            for start in 0..if cfg!(miri) { 3 } else { 70 } {
                for stores in [Stores::Cached, Stores::Streaming] {
                    let mut rows = vec![[7_u8; 3]; start + len + 40];
                    let mut covered = 0..0;
                    overwrite(&mut rows[start..][..len], stores, |range, rows| {
                        assert_eq!((range.start, range.len()), (covered.end, rows.len()));
                        covered = 0..range.end;
                        range.zip(rows).for_each(|(i, row)| *row = value(i));
                    });
                    assert_eq!(covered.end, len);
                    for (i, row) in rows.iter().enumerate() {
                        let is_in = (start..start + len).contains(&i);
                        let expected = if is_in { value(i - start) } else { [7; 3] };
                        assert_eq!(*row, expected, "row {i}, {start} + {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_any_size_and_alignment_are_written() {
        #[derive(Clone, Copy, Pod, Zeroable)]
        #[repr(C, align(128))]
        struct Aligned([u8; 128]);
        let mut empty = [[0_u8; 0]; 9];
        overwrite(&mut empty, Stores::Streaming, |range, rows| assert_eq!(range.len(), rows.len()));
        let mut large = vec![[0_u64; 100]; 20];
        overwrite(&mut large, Stores::Streaming, |_, rows| rows.fill([5; 100]));
        assert!(large.iter().all(|row| row == &[5; 100]));
        let mut aligned = vec![Aligned([0; 128]); 20];
        overwrite(&mut aligned, Stores::Streaming, |_, rows| rows.fill(Aligned([6; 128])));
        assert!(aligned.iter().all(|row| row.0 == [6; 128]));
        let mut lines = vec![[0_u64; 16]; 100];
        overwrite(&mut lines, Stores::Streaming, |_, rows| rows.fill([8; 16]));
        assert!(lines.iter().all(|row| row == &[8; 16]));
    }

    #[test]
    fn a_panic_leaves_the_rows_before_it_written() {
        let mut rows = vec![1_u32; 10_000];
        let write = |range: Range<usize>, rows: &mut [u32]| {
            assert!(range.start < 5_000, "too far");
            rows.fill(2);
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            overwrite(&mut rows, Stores::Streaming, write);
        }));
        assert!(outcome.is_err(), "it panics");
        assert!(rows[..4_992].iter().all(|&row| row == 2), "the blocks before");
        assert!(rows[9_000..].iter().all(|&row| row == 1), "the blocks after");
    }
}
