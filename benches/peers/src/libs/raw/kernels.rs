//! The loops, each compiled for the instruction sets that a processor may have.

use super::{Position, Tally, Velocity};
use crate::data::{DT, heavy};
use crate::forms::struct_loops;
use bytemuck::{cast_slice, cast_slice_mut};
use glam::Mat4;

struct_loops! {}

#[inline(always)]
pub(super) fn add_flat(p: &mut [Position], v: &[Velocity]) {
    let (p, v): (&mut [f32], &[f32]) = (cast_slice_mut(p), cast_slice(v));
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v;
    }
}

#[inline(always)]
pub(super) fn add_dt_flat(p: &mut [Position], v: &[Velocity]) {
    let (p, v): (&mut [f32], &[f32]) = (cast_slice_mut(p), cast_slice(v));
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v * DT;
    }
}

#[inline(always)]
pub(super) fn sum_flat(tallies: &[Tally]) -> u32 {
    cast_slice(tallies).iter().fold(0, |sum: u32, &count: &u32| sum.wrapping_add(count))
}

/// The sum of all `x`, in eight running lanes.
#[inline(always)]
pub(super) fn sum_x(positions: &[Position]) -> f32 {
    let mut lanes = [0.0; 8];
    let (blocks, rest) = positions.as_chunks::<8>();
    for block in blocks {
        for (lane, p) in lanes.iter_mut().zip(block) {
            *lane += p.x;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|p| p.x).sum::<f32>()
}

/// The sum of the `x` of the first row and of each row that is `stride` after one of them.
#[inline(always)]
pub(super) fn sum_x_apart(positions: &[Position], stride: usize) -> f32 {
    let mut lanes = [0.0; 8];
    for block in positions.chunks(stride * lanes.len()) {
        for (lane, p) in lanes.iter_mut().zip(block.iter().step_by(stride)) {
            *lane += p.x;
        }
    }
    lanes.iter().sum()
}

#[inline(always)]
pub(super) fn double(data: &mut [f32]) {
    for d in data {
        *d *= 2.0;
    }
}

#[inline(always)]
pub(super) fn invert(matrices: &mut [Mat4]) {
    matrices.iter_mut().for_each(heavy);
}

#[inline(always)]
pub(super) fn swap(a: &mut [f32], b: &mut [f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        std::mem::swap(a, b);
    }
}

/// The loops at one instruction set.
pub(super) struct Kernels {
    pub(super) name: &'static str,
    pub(super) add: unsafe fn(&mut [Position], &[Velocity]),
    pub(super) add_flat: unsafe fn(&mut [Position], &[Velocity]),
    pub(super) add_dt: unsafe fn(&mut [Position], &[Velocity]),
    pub(super) add_dt_flat: unsafe fn(&mut [Position], &[Velocity]),
    pub(super) sum: unsafe fn(&[Tally]) -> u32,
    pub(super) sum_flat: unsafe fn(&[Tally]) -> u32,
    pub(super) sum_x: unsafe fn(&[Position]) -> f32,
    pub(super) sum_x_apart: unsafe fn(&[Position], usize) -> f32,
    pub(super) double: unsafe fn(&mut [f32]),
    pub(super) invert: unsafe fn(&mut [Mat4]),
    pub(super) swap: unsafe fn(&mut [f32], &mut [f32]),
}

macro_rules! level {
    ($level:ident, $features:literal) => {
        #[cfg(target_arch = "x86_64")]
        mod $level {
            use super::*;

            level! { $features
                add(p: &mut [Position], v: &[Velocity]) = add_structs;
                add_flat(p: &mut [Position], v: &[Velocity]) = add_flat;
                add_dt(p: &mut [Position], v: &[Velocity]) = add_dt_structs;
                add_dt_flat(p: &mut [Position], v: &[Velocity]) = add_dt_flat;
                sum(tallies: &[Tally]) -> u32 = sum_structs;
                sum_flat(tallies: &[Tally]) -> u32 = sum_flat;
                sum_x(positions: &[Position]) -> f32 = sum_x;
                sum_x_apart(positions: &[Position], stride: usize) -> f32 = sum_x_apart;
                double(data: &mut [f32]) = double;
                invert(matrices: &mut [Mat4]) = invert;
                swap(a: &mut [f32], b: &mut [f32]) = swap;
            }

            pub(super) const KERNELS: Kernels = Kernels {
                name: stringify!($level),
                add,
                add_flat,
                add_dt,
                add_dt_flat,
                sum,
                sum_flat,
                sum_x,
                sum_x_apart,
                double,
                invert,
                swap,
            };
        }
    };
    ($features:literal $($name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? = $body:ident;)*) => { $(
        #[target_feature(enable = $features)]
        fn $name($($argument: $type),*) $(-> $out)? {
            super::$body($($argument),*)
        }
    )* };
}
level!(avx2, "avx2,fma");
level!(avx512, "avx512f,avx512vl,avx512dq,avx512bw");

/// The kernels that this processor can run, beyond the build's own target.
pub(super) fn kernels() -> Vec<Kernels> {
    let mut found = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            found.push(avx2::KERNELS);
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
        {
            found.push(avx512::KERNELS);
        }
    }
    found
}
