//! Vectors and masks against their scalar twins, at every level of this machine: equal bits.
#![forbid(unsafe_code)]

use phalanx::Component;
use phalanx::prelude::*;
use phalanx::simd::vectors::{F32x16, F64x8, I32x16, Mask16, U32x16};
use phalanx::wide::{i16x16, i16x32, u8x16, u8x32};

use crate::levels::{bits, bits64, equal_at_every_level, odd_floats};

/// Enough rows for each odd float to meet each.
const ROWS: usize = if cfg!(miri) { 16 * 4 } else { 16 * 64 };

const SEEDS: std::ops::Range<u32> = if cfg!(miri) { 2..3 } else { 1..7 };

type Column<T> = Vec<T>;

fn singles(flat: &[f32]) -> Column<F32x16> {
    flat.as_chunks().0.iter().copied().map(F32x16::from_array).collect()
}

fn doubles(flat: &[f32]) -> Column<F64x8> {
    let flat: Vec<f64> = flat.iter().map(|lane| f64::from(*lane) / 3.0).collect();
    flat.as_chunks().0.iter().copied().map(F64x8::from_array).collect()
}

fn words(flat: &[f32]) -> Column<U32x16> {
    singles(flat).into_iter().map(F32x16::to_bits).collect()
}

/// Asserts that the result of `run` for two odd columns is equal at every level.
fn equal_for_columns<T, R: PartialEq + std::fmt::Debug>(
    column: impl Fn(&[f32]) -> Column<T>,
    run: impl Fn(&[T], &[T]) -> R,
) {
    for seed in SEEDS {
        let left = column(&odd_floats(ROWS, seed));
        let right = column(&odd_floats(ROWS, seed + 100));
        equal_at_every_level(|| run(&left, &right));
    }
}

/// A kernel of two columns. Its result has the lanes that `scalar` computes from their lanes.
macro_rules! twins {
    ($($name:ident: $vector:ident of $scalar:ident as $bits:path, $column:path,
        |$a:ident, $b:ident| $lanes:expr, $twin:expr;)*) => { $(
        #[test]
        fn $name() {
            #[kernel]
            fn run(left: &[$vector], right: &[$vector], results: &mut [$vector]) {
                for ((left, right), result) in left.iter().zip(right).zip(results) {
                    let ($a, $b) = (*left, *right);
                    *result = $lanes;
                }
            }
            equal_for_columns($column, |left, right| {
                let mut results = vec![$vector::default(); left.len()];
                run(left, right, &mut results);
                let (left, right) = (flat(left), flat(right));
                let found: Vec<_> = flat(&results).into_iter().map($bits).collect();
                let twin = |(a, b): (&$scalar, &$scalar)| -> $scalar { $twin(*a, *b) };
                let expected: Vec<_> = left.iter().zip(&right).map(twin).map($bits).collect();
                assert_eq!(found, expected);
                found
            });
        }
    )* };
}

/// The lanes of a column, in order.
fn flat<V: phalanx::simd::Lanes>(column: &[V]) -> Vec<V::Scalar> {
    scalars_of(column).to_vec()
}

/// A cast that `scalars` refuses, because vectors have a greater alignment than their lanes.
fn scalars_of<V: phalanx::simd::Lanes>(column: &[V]) -> &[V::Scalar] {
    bytemuck::cast_slice(column)
}

/// To an integer and back.
#[expect(clippy::cast_possible_truncation, reason = "it is what the vectors are compared with")]
fn whole(value: f32) -> f32 {
    (value as i32) as f32
}

/// As a `u32`, for [`twins`].
fn same(word: u32) -> u32 {
    word
}

twins! {
    sums_are_those_of_floats: F32x16 of f32 as bits, singles, |a, b| a + b, |a, b| a + b;
    differences_are_those_of_floats: F32x16 of f32 as bits, singles, |a, b| a - b, |a, b| a - b;
    products_are_not_fused: F32x16 of f32 as bits, singles, |a, b| a * b + a, |a, b| a * b + a;
    quotients_are_those_of_floats: F32x16 of f32 as bits, singles, |a, b| a / b, |a, b| a / b;
    square_roots_are_exact: F32x16 of f32 as bits, singles, |a, b| a.sqrt() - b.abs(),
        |a: f32, b: f32| a.sqrt() - b.abs();
    a_minimum_is_the_second_unless_the_first_is_less: F32x16 of f32 as f32::to_bits, singles,
        |a, b| a.min(b), |a, b| if a < b { a } else { b };
    a_maximum_is_the_second_unless_the_first_is_greater: F32x16 of f32 as f32::to_bits, singles,
        |a, b| a.max(b), |a, b| if a > b { a } else { b };
    a_select_keeps_all_bits: F32x16 of f32 as f32::to_bits, singles,
        |a, b| (a.simd_lt(b) | a.simd_eq(b)).select(-a, b), |a: f32, b| if a <= b { -a } else { b };
    a_comparison_with_nan_is_false: F32x16 of f32 as f32::to_bits, singles,
        |a, b| (a.simd_le(b) ^ a.simd_ge(b)).select(a, b),
        |a: f32, b: f32| if (a <= b) ^ (a >= b) { a } else { b };
    only_nan_differs_from_itself: F32x16 of f32 as f32::to_bits, singles,
        |a, b| (a.simd_ne(a) & !b.simd_gt(a)).select(b, a),
        |a: f32, b: f32| if a.is_nan() { b } else { a };
    floats_are_integers_and_back: F32x16 of f32 as f32::to_bits, singles,
        |a, b| F32x16::from(a.to_i32()) + F32x16::from((b * 0.5).to_i32()),
        |a: f32, b: f32| whole(a) + whole(b * 0.5);
    doubles_are_doubles: F64x8 of f64 as bits64, doubles,
        |a, b| a.simd_gt(b).select((a * a + b).abs().sqrt(), (-a).max(b) / (a - b)),
        |a: f64, b: f64| {
            if a > b { (a * a + b).abs().sqrt() } else { (if -a > b { -a } else { b }) / (a - b) }
        };
    words_wrap_around: U32x16 of u32 as same, words,
        |a, b| (((a ^ (b >> 15)) * b + !(a << 7) - (a & b)) | b).max(a.min(b)),
        |a: u32, b: u32| {
            let mixed = (a ^ (b >> 15)).wrapping_mul(b);
            let mixed = (mixed.wrapping_add(!(a << 7)).wrapping_sub(a & b)) | b;
            mixed.max(a.min(b))
        };
    signs_are_kept: U32x16 of u32 as same, words,
        |a, b| {
            let (a, b) = (a.cast_signed(), b.cast_signed());
            a.simd_lt(b).select(-(a >> 3), a - b).cast_unsigned()
        },
        |a: u32, b: u32| {
            let (a, b) = (a.cast_signed(), b.cast_signed());
            let signed = if a < b { (a >> 3).wrapping_neg() } else { a.wrapping_sub(b) };
            signed.cast_unsigned()
        };
}

/// The tree of the documentation, for any number of lanes.
fn tree<T: Copy>(mut lanes: Vec<T>, f: impl Fn(T, T) -> T) -> T {
    while lanes.len() > 1 {
        let (low, high) = lanes.split_at(lanes.len() / 2);
        lanes = low.iter().zip(high).map(|(a, b)| f(*a, *b)).collect();
    }
    lanes[0]
}

#[kernel]
fn reduced(column: &[F32x16]) -> Vec<[f32; 3]> {
    column.iter().map(|v| [v.reduce_add(), v.reduce_min(), v.reduce_max()]).collect()
}

#[kernel]
fn reduced_doubles(column: &[F64x8]) -> Vec<f64> {
    column.iter().map(|v| v.reduce_add()).collect()
}

#[kernel]
fn counted(column: &[F32x16], limit: f32) -> Vec<(usize, [bool; 3])> {
    let masks = column.iter().map(|v| v.simd_gt(F32x16::splat(limit)));
    masks.map(|mask| (mask.count(), [mask.any(), mask.all(), mask.none()])).collect()
}

#[test]
fn reductions_join_halves() {
    equal_for_columns(singles, |left, _| {
        let found = reduced(left);
        for (found, vector) in found.iter().zip(left) {
            let lanes = vector.to_array().to_vec();
            let sum = tree(lanes.clone(), |a, b| a + b);
            let least = tree(lanes.clone(), |a, b| if a < b { a } else { b });
            let greatest = tree(lanes, |a, b| if a > b { a } else { b });
            assert_eq!(found.map(bits), [sum, least, greatest].map(bits));
        }
        found.into_iter().map(|found| found.map(bits)).collect::<Vec<_>>()
    });
    equal_for_columns(doubles, |left, _| {
        let found: Vec<_> = reduced_doubles(left).into_iter().map(bits64).collect();
        let sum = |v: &F64x8| bits64(tree(v.to_array().to_vec(), |a, b| a + b));
        assert_eq!(found, left.iter().map(sum).collect::<Vec<_>>());
        found
    });
}

#[test]
fn masks_count_their_lanes() {
    equal_for_columns(singles, |left, _| {
        let found = counted(left, 3.0);
        for ((count, truths), vector) in found.iter().zip(left) {
            let is_above = vector.to_array().map(|lane| lane > 3.0);
            let expected = is_above.iter().filter(|lane| **lane).count();
            assert_eq!(
                (*count, *truths),
                (expected, [expected > 0, expected == 16, expected == 0])
            );
            assert_eq!(Mask16::from_bools(is_above), vector.simd_gt(F32x16::splat(3.0)));
        }
        found
    });
}

#[test]
fn columns_are_viewed_as_vectors() {
    #[component]
    struct Place {
        x: f32,
        y: f32,
        z: f32,
    }
    let mut world = World::new();
    world.spawn_batch((0..100).map(|i| (Place { x: i as f32, ..Default::default() },)));
    for place in world.query_mut::<&mut Place>().padded() {
        lanes_mut::<F32x16>(place).iter_mut().for_each(|vector| *vector *= 2.0);
    }
    let sum: f32 = world.query::<&Place>().iter().flatten().map(|place| place.x).sum();
    assert_eq!(sum, 9_900.0);
    let one = [I32x16::splat(7)];
    assert_eq!(lanes::<U32x16>(&one)[0].to_array(), [7; 16]);
}

#[test]
fn a_mask_of_bits_has_their_lanes() {
    #[kernel]
    fn masks(bits: &[u16], bools: &mut [[bool; 16]]) {
        for (bits, bools) in bits.iter().zip(bools) {
            *bools = Mask16::from_bits(*bits).to_bools();
        }
    }
    let bits: Vec<u16> = (0..u16::BITS).map(|i| 0x9E37_u16.rotate_left(i) ^ 1 << i).collect();
    equal_at_every_level(|| {
        let mut bools = vec![[false; 16]; bits.len()];
        masks(&bits, &mut bools);
        for (bits, bools) in bits.iter().zip(&bools) {
            assert_eq!(*bools, std::array::from_fn(|lane| bits >> lane & 1 == 1));
        }
        bools
    });
}

/// A world in which the slices of a padded query have 16 rows.
fn few_rows<C: Component>(row: C) -> World {
    let mut world = World::new();
    world.spawn_batch([row; 5]);
    world
}

#[test]
fn padded_rows_of_small_integers_are_vectors_of_sixteen_lanes() {
    #[component]
    struct Byte(u8);
    #[component]
    struct Pair(i16, i16);

    let mut bytes = few_rows(Byte(3));
    for rows in bytes.query_mut::<&mut Byte>().padded() {
        let [vector] = lanes_mut::<u8x16>(rows) else { panic!("16 rows are one vector") };
        *vector += u8x16::splat(1);
    }
    assert!(bytes.query::<&Byte>().rows().all(|row| row.0 == 4));
    let pairs = few_rows(Pair(1, 2));
    for rows in pairs.query::<&Pair>().padded() {
        assert_eq!((lanes::<i16x16>(rows).len(), lanes::<i16x32>(rows).len()), (2, 1));
    }
}

#[test]
#[should_panic(expected = "16 bytes are left over; take the slices of a `.padded()` query, which \
                           are whole vectors of up to 16 lanes")]
fn padded_rows_of_bytes_are_no_vectors_of_more_lanes() {
    #[component]
    struct Byte(u8);

    for rows in few_rows(Byte(3)).query::<&Byte>().padded() {
        let _ = lanes::<u8x32>(rows);
    }
}
