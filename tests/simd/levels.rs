//! Every kernel and fold at every level of this machine: the same inputs, the same bits.
//!
//! The lint below is also a test: kernels need no unsafe code in the crate that writes them.
#![forbid(unsafe_code)]

use phalanx::prelude::*;
use phalanx::simd::fold;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use wide::{f32x8, i32x8};

/// Lengths around every vector width, with and without remainders, and around the accumulators.
const LENGTHS: std::ops::Range<usize> = 0..71;

/// The step between the lengths that are tried: Miri has one level and little time.
const LENGTH_STEP: usize = if cfg!(miri) { 35 } else { 1 };

/// Odd floats at every place of every vector: the palette and noise take turns by `seed`.
pub(crate) fn odd_floats(len: usize, seed: u32) -> Vec<f32> {
    const PALETTE: [u32; 12] = [
        0x0000_0000, // 0
        0x8000_0000, // -0
        0x7fc0_0000, // NaN
        0xffc1_2345, // another NaN
        0x7f80_0000, // infinity
        0xff80_0000, // -infinity
        0x0000_0001, // the least subnormal
        0x807f_ffff, // the greatest negative subnormal
        0x0080_0000, // the least normal
        0x7f7f_ffff, // the greatest
        0x3f80_0000, // 1
        0x3eaa_aaab, // a third
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..len)
        .map(|_| match next() % 4 {
            // Few odd ones, so that some sums stay finite; noise of all magnitudes; small numbers.
            0 if seed.is_multiple_of(2) => f32::from_bits(PALETTE[next() as usize % PALETTE.len()]),
            1 => f32::from_bits(next() & 0xbfff_ffff),
            _ => (next() % 2000) as f32 / 7.0 - 140.0,
        })
        .collect()
}

/// The bits of a float, with one NaN for all: Rust does not fix the sign and payload of a result.
pub(crate) fn bits(value: f32) -> u32 {
    if value.is_nan() { u32::MAX } else { value.to_bits() }
}

/// [`bits`] for a double.
pub(crate) fn bits64(value: f64) -> u64 {
    if value.is_nan() { u64::MAX } else { value.to_bits() }
}

/// Held by a test while the level of the process is its own.
static TURN: Mutex<()> = Mutex::new(());

/// Runs at each level in turn and compares with the first, which is the baseline.
///
/// Pinning concerns the whole process, so the tests of this file take turns. A failure of one must
/// not make the others fail.
pub(crate) fn equal_at_every_level<R: PartialEq + Debug>(run: impl Fn() -> R) -> R {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut expected = None;
    for level in Level::available() {
        Level::pin(level).expect("an available level is supported");
        assert_eq!(Level::current(), level, "the level is pinned");
        let result = run();
        match &expected {
            None => expected = Some(result),
            Some(expected) => assert_eq!(&result, expected, "{level} against baseline"),
        }
    }
    Level::unpin();
    expected.expect("the baseline is always available")
}

/// Asserts that the result of `run` for two slices is equal at every level, for every length and
/// both kinds of input.
fn equal_for_odd_floats<R: PartialEq + Debug>(run: impl Fn(&[f32], &[f32]) -> R) {
    for len in LENGTHS.step_by(LENGTH_STEP) {
        for seed in 1..7 {
            let (left, right) = (odd_floats(len, seed), odd_floats(len, seed + 100));
            equal_at_every_level(|| run(&left, &right));
        }
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

/// Rows made from the flat numbers, as a copy to write to.
fn rows(flat: &[f32]) -> Vec<Vec3> {
    flat.windows(3).map(|at| Vec3 { x: at[0], y: at[1], z: at[2] }).collect()
}

/// The scalar twin of `integrate`.
fn integrate_oracle(position: &mut [Vec3], velocity: &[Vec3], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

#[inline(always)]
fn softened(x: f32) -> f32 {
    if x > 1.0 { x.sqrt() } else { x / 3.0 }
}

#[kernel]
fn integrate(position: &mut [Vec3], velocity: &[Vec3], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

#[kernel]
fn attract(position: &[Vec3], velocity: &mut [Vec3], dt: f32) {
    for (p, v) in position.iter().zip(velocity) {
        let squared = p.x * p.x + p.y * p.y + p.z * p.z + 0.01;
        let pull = dt / (squared * squared.sqrt());
        v.x -= p.x * pull;
        v.y -= p.y * pull;
        v.z -= p.z * pull;
    }
}

#[kernel]
fn soften(target: &mut [f32], source: &[f32]) {
    for (target, source) in target.iter_mut().zip(source) {
        *target += softened(*source);
    }
}

#[kernel]
fn scale<T: std::ops::Mul<Output = T> + Copy>(target: &mut [T], by: T) {
    for row in target {
        *row = *row * by;
    }
}

#[kernel]
fn mix<const ROUNDS: usize>(rows: &mut [u32]) -> u32 {
    let mut all = 0;
    for row in rows {
        for _ in 0..ROUNDS {
            *row = (*row ^ (*row >> 15)).wrapping_mul(0x2c1b_3c6d);
        }
        all ^= *row;
    }
    all
}

#[kernel]
fn sequential_sum(values: &[f32]) -> f32 {
    values.iter().sum()
}

#[kernel]
fn capped(values: &mut [f32x8], limit: f32) -> f32 {
    let mut taken = f32x8::ZERO;
    for value in values {
        let kept = value.simd_gt(f32x8::splat(limit)).select(f32x8::splat(limit), *value);
        taken += *value - kept;
        *value = kept;
    }
    taken.reduce_add()
}

#[test]
fn a_kernel_over_structs_is_its_scalar_twin() {
    equal_for_odd_floats(|left, right| {
        let (mut position, mut expected, velocity) = (rows(left), rows(left), rows(right));
        integrate(&mut position, &velocity, 0.016);
        integrate_oracle(&mut expected, &velocity, 0.016);
        let found: Vec<u32> = scalars(&position).iter().copied().map(bits).collect();
        let expected: Vec<u32> = scalars(&expected).iter().copied().map(bits).collect();
        assert_eq!(found, expected);
        found
    });
}

#[test]
fn products_are_not_fused_with_sums() {
    // Fused, 1 + 2^-12 squared less its own rounded square is not 0.
    let x = 1.0 + f32::EPSILON * 2048.0;
    let one = [Vec3 { x, y: x, z: x }; 33];
    let rounded = Vec3 { x: -(x * x), y: -(x * x), z: -(x * x) };
    let found = equal_at_every_level(|| {
        let mut position = [rounded; 33];
        integrate(&mut position, &one, x);
        scalars::<f32>(&position).to_vec()
    });
    assert!(found.iter().all(|value| *value == 0.0));
}

#[test]
fn division_and_square_root_are_exact_at_every_level() {
    equal_for_odd_floats(|left, right| {
        let (position, mut velocity) = (rows(left), rows(right));
        attract(&position, &mut velocity, 0.016);
        scalars(&velocity).iter().copied().map(bits).collect::<Vec<_>>()
    });
}

#[test]
fn branches_and_helpers_agree() {
    equal_for_odd_floats(|left, right| {
        let mut target = left.to_vec();
        soften(&mut target, right);
        target.into_iter().map(bits).collect::<Vec<_>>()
    });
}

#[test]
fn generic_kernels_agree() {
    equal_for_odd_floats(|left, right| {
        let mut single = left.to_vec();
        scale(&mut single, right.first().copied().unwrap_or(1.0));
        let mut double: Vec<f64> = right.iter().map(|value| f64::from(*value)).collect();
        scale(&mut double, 1.0 / 3.0);
        let mut whole: Vec<u32> = left.iter().map(|value| value.to_bits()).collect();
        let mixed = mix::<3>(&mut whole);
        (
            single.into_iter().map(bits).collect::<Vec<_>>(),
            double.into_iter().map(bits64).collect::<Vec<_>>(),
            (whole, mixed),
        )
    });
}

#[test]
fn a_sum_written_as_a_loop_keeps_its_order() {
    equal_for_odd_floats(|left, _| {
        let found = bits(sequential_sum(left));
        assert_eq!(found, bits(left.iter().sum()));
        found
    });
}

#[test]
fn explicit_lanes_agree() {
    for seed in 1..9 {
        let values = odd_floats(8 * VECTOR_ROWS, seed);
        let (vectors, _) = values.as_chunks::<8>();
        let source: Vec<f32x8> = vectors.iter().copied().map(f32x8::new).collect();
        equal_at_every_level(|| {
            let mut values = source.clone();
            let taken = capped(lanes_mut::<f32x8>(&mut values), 3.0);
            let whole = lanes::<i32x8>(&values).len();
            let rest: Vec<u32> = values.iter().flat_map(|v| v.to_array()).map(bits).collect();
            (bits(taken), whole, rest)
        });
    }
}

#[test]
fn folds_of_floats_agree() {
    equal_for_odd_floats(|left, right| {
        (
            bits(fold::sum(left)),
            bits(fold::dot(left, right)),
            fold::min(left).map(bits),
            fold::max(left).map(bits),
        )
    });
}

#[test]
fn folds_of_doubles_agree() {
    equal_for_odd_floats(|left, right| {
        let left: Vec<f64> = left.iter().map(|value| f64::from(*value) / 3.0).collect();
        let right: Vec<f64> = right.iter().map(|value| f64::from(*value)).collect();
        (
            bits64(fold::sum(&left)),
            bits64(fold::dot(&left, &right)),
            fold::min(&left).map(bits64),
            fold::max(&left).map(bits64),
        )
    });
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "any bits will do as an input")]
fn folds_of_integers_are_those_of_the_iterators() {
    macro_rules! folds_of {
        ($($integer:ident)*) => { $(
            equal_for_odd_floats(|left, right| {
                let values: Vec<$integer> = left
                    .iter()
                    .zip(right)
                    .map(|(l, r)| (u64::from(l.to_bits()) << 31 ^ u64::from(r.to_bits())) as $integer)
                    .collect();
                let found = (fold::sum(&values), fold::min(&values), fold::max(&values));
                let sum = values.iter().fold(0, |sum: $integer, value| sum.wrapping_add(*value));
                let extremes = (values.iter().min().copied(), values.iter().max().copied());
                assert_eq!(found, (sum, extremes.0, extremes.1));
                found
            });
        )* };
    }
    folds_of!(i32 u32 i64 u64);
}

#[test]
fn long_folds_agree() {
    for len in [255, 256, 257, 1000, 4096] {
        let (left, right) = (odd_floats(len, 3), odd_floats(len, 5));
        equal_at_every_level(|| (bits(fold::sum(&left)), bits(fold::dot(&left, &right))));
    }
}

#[test]
fn the_current_level_is_no_error() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let level = Level::current();
    assert_eq!(Level::try_current(), Ok(level));
}

/// Runs the test above in a process of its own, since the level of this one is chosen.
#[cfg(not(miri))]
#[test]
fn a_kernel_before_try_current_panics_and_names_it() {
    let test = std::env::current_exe().expect("a test has a path");
    let mut child = std::process::Command::new(test);
    child.args(["--exact", "levels::the_current_level_is_no_error"]);
    assert!(child.status().expect("the child starts").success(), "with the level of this process");
    let output = child.env("PHALANX_LEVEL", "avx9").output().expect("the child starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!output.status.success(), "{text}");
    let wrong = "PHALANX_LEVEL=avx9: not a level: expected baseline, avx2 or avx512; ";
    assert!(text.contains(wrong) && text.contains("calls `Level::try_current` first"), "{text}");
}
