//! The limit: the loops of the workloads over flat slices of `f32`, compiled for AVX2.
//!
//! No part of phalanx is used here, not even `#[kernel]`: a limit must not depend on the code that
//! it is compared with. On a machine without AVX2, the limit has the features of the build.

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

    /// Halves the values above the threshold, adds one to the others.
    fn halve_or_add(data: &mut [f32], threshold: f32) {
        for d in data {
            *d = if *d > threshold { *d * 0.5 } else { *d + 1.0 };
        }
    }

    /// The number of rows of three floats with a first float above the threshold.
    fn count_above(data: &[[f32; 3]], threshold: f32) -> u32 {
        data.iter().map(|d| u32::from(d[0] > threshold)).sum()
    }

    /// Raises smaller values to the least one.
    fn at_least(out: &mut [f32], data: &[f32], least: f32) {
        for (out, d) in out.iter_mut().zip(data) {
            *out = d.max(least);
        }
    }

    /// The lengths of vectors with their parts in separate slices.
    fn length(out: &mut [f32], x: &[f32], y: &[f32], z: &[f32]) {
        for (((out, x), y), z) in out.iter_mut().zip(x).zip(y).zip(z) {
            *out = (x * x + y * y + z * z).sqrt();
        }
    }

    /// Pulls every velocity towards the origin.
    fn pull(velocities: &mut [[f32; 3]], positions: &[[f32; 3]]) {
        for (v, p) in velocities.iter_mut().zip(positions) {
            *v = super::bodies::pulled(*v, *p);
        }
    }

    /// The pull of the sources at each row, added in their order.
    fn pull_from(heat: &[f32], flow: &mut [f32], sources: &[f32]) {
        for (h, f) in heat.iter().zip(flow) {
            *f = sources.iter().map(|source| super::bodies::pull(source - h)).sum();
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
        super::bodies::next_cells(alive, north, here, south);
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
