//! The limit: the loops of the workloads over flat slices of `f32`, compiled for AVX2.
//!
//! Nothing of phalanx is used here, not even `kernel!`: a limit that is measured with the tools
//! of the measured proves nothing. Where the machine has no AVX2, the limit is what the build has.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use memmap2::MmapMut;

const PAGE_BYTES: usize = 4096;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A flat array in a place that is not left to luck.
///
/// The allocator puts a large `Vec` 16 bytes behind the beginning of a page, and two of them at
/// the same distance: `p += v * dt` over 10,000 rows took 0.20 ns a row there, 0.14 from the
/// beginning of a page, and 0.12 with the second column a quarter of a page further (Zen 5, AVX2).
/// A limit has the best of these, and huge pages where phalanx would have them.
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
            // A system without huge pages refuses, and phalanx has none either.
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

    /// The values, or the scalars they consist of, to be written.
    pub(crate) fn write<S: Pod>(&mut self) -> &mut [S] {
        cast_slice_mut(&mut self.memory[self.start..][..self.len])
    }
}

/// Compiles each body twice, for the build and for AVX2, behind one safe function.
macro_rules! limit {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($arg: $type),*) $(-> $out)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) $(-> $out)? {
                    body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "the limit has its own way to AVX2")]
                    // SAFETY: the processor was just asked for AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    )*};
}

limit! {
    /// `source += added`.
    fn add(source: &mut [f32], added: &[f32]) {
        for (s, a) in source.iter_mut().zip(added) {
            *s += *a;
        }
    }

    /// `source += added * factor`.
    fn add_scaled(source: &mut [f32], added: &[f32], factor: f32) {
        for (s, a) in source.iter_mut().zip(added) {
            *s += *a * factor;
        }
    }

    /// `data *= 2`.
    fn double(data: &mut [f32]) {
        for d in data {
            *d *= 2.0;
        }
    }

    /// Exchanges the two, value by value.
    fn swap(left: &mut [f32], right: &mut [f32]) {
        for (l, r) in left.iter_mut().zip(right) {
            std::mem::swap(l, r);
        }
    }

    /// Halves what is above the threshold, adds one to the rest.
    fn halve_or_add(data: &mut [f32], threshold: f32) {
        for d in data {
            *d = if *d > threshold { *d * 0.5 } else { *d + 1.0 };
        }
    }

    /// How many first floats of three are above the threshold.
    fn count_above(data: &[[f32; 3]], threshold: f32) -> u32 {
        data.iter().map(|d| u32::from(d[0] > threshold)).sum()
    }

    /// Pulls every velocity towards the origin.
    fn pull(velocities: &mut [[f32; 3]], positions: &[[f32; 3]]) {
        for (v, p) in velocities.iter_mut().zip(positions) {
            *v = super::levels::pulled(*v, *p);
        }
    }

    /// Inverts each matrix that many times, and moves it by one.
    fn invert(matrices: &mut [[f32; 16]], times: u32) {
        for matrix in matrices {
            *matrix = super::matrix::inverted_and_moved(*matrix, times);
        }
    }

    /// A generation of cells that lie side by side, from the three rows around them.
    fn next_generation(alive: &mut [u8], north: &[u8], here: &[u8], south: &[u8]) {
        super::life::next_cells(alive, north, here, south);
    }

    /// The sum, in 64 running lanes. The lanes are added as `f64`: exact for the integers summed
    /// here.
    fn sum(data: &[f32]) -> f64 {
        let mut lanes = [0f32; 64];
        let (blocks, rest) = data.as_chunks::<64>();
        for block in blocks {
            for (lane, d) in lanes.iter_mut().zip(block) {
                *lane += *d;
            }
        }
        lanes.iter().chain(rest).copied().map(f64::from).sum()
    }

    /// The sum of every third float, in eight running lanes.
    fn sum_x(data: &[[f32; 3]]) -> f32 {
        super::programs::changed::sum_x_lanes(data)
    }
}
