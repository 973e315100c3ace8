//! Sums, dot products, minima and maxima of slices, in a fixed order that vectors can follow.
//!
//! A float sum written as a loop is never vectorised: float addition is not associative, and the
//! optimiser must keep the sequential order of the loop. Each element therefore waits for the
//! latency of one addition: 0.45 ns, where [`sum`] takes 0.03 at the baseline, 0.018 at AVX2 and
//! 0.016 at AVX-512. The folds here define another order, one that every vector width can follow,
//! and so give **the same bits at every [`Level`](crate::Level)**:
//!
//! ```text
//! element      0    1    2   …   31  |  32   33   …            with 32 accumulators
//!              |    |    |        |  |   |    |
//! accumulator  0    1    2   …   31  |   0    1   …            element i goes to i % 32
//!
//! then         0 + 16, 1 + 17, … 15 + 31
//!              0 + 8,  1 + 9,  …  7 + 15
//!              0 + 4,  1 + 5,  2 + 6,  3 + 7
//!              0 + 2,  1 + 3
//!              0 + 1                                           the result
//! ```
//!
//! There are 32 accumulators for `f32` and 16 for `f64`, two cache lines of either. They start at
//! zero, and each takes its elements in ascending order. 16 of `f32` are one AVX-512 register, in
//! which every addition waits for the previous one: 1.6 times as long (Zen 5, 4,096 numbers in L1).
//! 64 do not fit into the registers of the baseline.
//!
//! The cost of a wide tree is that a slice shorter than the accumulators is all tail. Folds are for
//! columns; add a handful of numbers with a plain loop.
//!
//! **A fold over chunks adds the partial results in chunk order**: fold each slice of a query and
//! add the results in turn. So the bits of a total depend on where chunks begin, which depends on
//! the history of the world, but never on the level or on the number of threads.
//!
//! ```
//! use phalanx::simd::fold;
//!
//! let chunks = [vec![1.0f32; 672], vec![2.0; 672], vec![3.0; 5]];
//! let total: f32 = chunks.iter().map(|chunk| fold::sum(chunk)).sum();
//! assert_eq!(total, 672.0 + 1344.0 + 15.0);
//! ```
//!
//! Pass only live rows to a fold: the padding rows of a `.padded()` query would be counted.
//!
//! A result that is not a number is only guaranteed to be *a* NaN. Rust does not define the sign
//! and payload that an operation produces.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "the lint looks into the macros of its own crate, and `#[kernel]` is one"
    )
)]

use super::kernel::kernel;
use sealed::{FloatKernels, NumberKernels};

/// A number that [`sum`], [`min`] and [`max`] fold: `f32`, `f64`, `i32`, `u32`, `i64` or `u64`.
///
/// It cannot be implemented outside of this crate.
///
/// ```
/// fn total<T: phalanx::simd::fold::Number>(columns: [&[T]; 2]) -> [T; 2] {
///     columns.map(phalanx::simd::fold::sum)
/// }
/// assert_eq!(total([&[1, 2], &[3, 4]]), [3, 7]);
/// ```
pub trait Number: NumberKernels {}

/// A number that [`dot`] folds: `f32` or `f64`.
///
/// It cannot be implemented outside of this crate.
///
/// ```
/// fn length<T: phalanx::simd::fold::Float + Into<f64>>(vector: &[T]) -> f64 {
///     phalanx::simd::fold::dot(vector, vector).into().sqrt()
/// }
/// assert_eq!(length(&[3.0f32, 4.0]), 5.0);
/// ```
pub trait Float: Number + FloatKernels {}

/// The sum of all values, in the order drawn in the [module](self); 0 for an empty slice.
///
/// Integers wrap around on overflow. A sum of floats is never `-0.0`, because the accumulators
/// start at `+0.0`.
///
/// ```
/// use phalanx::simd::fold;
///
/// assert_eq!(fold::sum(&[0.5f32; 1_000]), 500.0);
/// assert_eq!(fold::sum(&[u32::MAX, 3]), 2);
/// assert_eq!(fold::sum::<f64>(&[]), 0.0);
/// ```
#[inline]
#[must_use]
pub fn sum<T: Number>(values: &[T]) -> T {
    T::sum(values)
}

/// The least value, or `None` if the slice contains no number.
///
/// NaNs are skipped. A zero is returned as `+0.0`, whatever zeros the slice contains. So the result
/// does not depend on the order of the rows, which a world does not guarantee.
///
/// ```
/// use phalanx::simd::fold;
///
/// assert_eq!(fold::min(&[2.0f32, f32::NAN, 1.0]), Some(1.0));
/// assert_eq!(fold::min(&[f64::NAN]), None);
/// assert_eq!(fold::min::<u32>(&[]), None);
/// ```
#[inline]
#[must_use]
pub fn min<T: Number>(values: &[T]) -> Option<T> {
    T::min(values)
}

/// The greatest value, or `None` if the slice contains no number.
///
/// NaNs are skipped and a zero is returned as `+0.0`, as in [`min`].
///
/// ```
/// use phalanx::simd::fold;
///
/// assert_eq!(fold::max(&[3, -7, 5]), Some(5));
/// assert_eq!(fold::max(&[f32::NEG_INFINITY, f32::NAN]), Some(f32::NEG_INFINITY));
/// ```
#[inline]
#[must_use]
pub fn max<T: Number>(values: &[T]) -> Option<T> {
    T::max(values)
}

/// The sum of the products of elements at equal indices, in the order drawn in the [module](self).
///
/// Each product is rounded before it is added: no level fuses multiplication and addition.
///
/// ```
/// use phalanx::simd::fold;
///
/// assert_eq!(fold::dot(&[1.0f32, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// ```
///
/// # Panics
///
/// If the slices are of different lengths.
#[inline]
#[must_use]
pub fn dot<T: Float>(left: &[T], right: &[T]) -> T {
    assert!(
        left.len() == right.len(),
        "fold::dot needs slices of one length, got {} and {}",
        left.len(),
        right.len()
    );
    T::dot(left, right)
}

/// The supertraits of the public traits, private so that other crates cannot implement these.
mod sealed {
    /// The kernels of every number.
    pub trait NumberKernels: Copy {
        fn sum(values: &[Self]) -> Self;
        fn min(values: &[Self]) -> Option<Self>;
        fn max(values: &[Self]) -> Option<Self>;
    }

    /// The kernels of floats only.
    pub trait FloatKernels: Copy {
        fn dot(left: &[Self], right: &[Self]) -> Self;
    }
}

/// The kernels are written out for each type and not generic, so that they are compiled in this
/// crate: generic ones would be compiled in the caller's crate, and be slow in its debug builds.
macro_rules! floats {
    ($($float:ident with $accumulators:literal)*) => { $(
        impl Number for $float {}
        impl Float for $float {}

        impl NumberKernels for $float {
            #[kernel]
            fn sum(values: &[$float]) -> $float {
                fold::<$float, $accumulators>(values, 0.0, |sum, value| sum + value)
            }
            #[kernel]
            fn min(values: &[$float]) -> Option<$float> {
                // A NaN never compares less, so no accumulator becomes one.
                let least = fold::<$float, $accumulators>(
                    values,
                    $float::INFINITY,
                    |least, value| if value < least { value } else { least },
                );
                let found = least < $float::INFINITY || values.contains(&least);
                found.then_some(least + 0.0)
            }
            #[kernel]
            fn max(values: &[$float]) -> Option<$float> {
                let greatest = fold::<$float, $accumulators>(
                    values,
                    $float::NEG_INFINITY,
                    |greatest, value| if value > greatest { value } else { greatest },
                );
                let found = greatest > $float::NEG_INFINITY || values.contains(&greatest);
                found.then_some(greatest + 0.0)
            }
        }

        impl FloatKernels for $float {
            #[kernel]
            fn dot(left: &[$float], right: &[$float]) -> $float {
                let zeros = [0.0; $accumulators];
                let (left, left_rest) = left.as_chunks::<$accumulators>();
                let (right, right_rest) = right.as_chunks::<$accumulators>();
                let left_tail = tail(left_rest, zeros);
                let right_tail = tail(right_rest, zeros);
                let mut sums = zeros;
                for (left, right) in left.iter().zip(right) {
                    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
                        *sum += left * right;
                    }
                }
                for ((sum, left), right) in sums.iter_mut().zip(left_tail).zip(right_tail) {
                    *sum += left * right;
                }
                tree(sums, |sum, value| sum + value)
            }
        }
    )* };
}

/// The order makes no difference for integers, so these are plain loops and LLVM chooses the order:
/// with explicit accumulators, it split the AVX-512 loop into gathers, which took twenty times as
/// long.
macro_rules! integers {
    ($($integer:ident)*) => { $(
        impl Number for $integer {}

        impl NumberKernels for $integer {
            #[kernel]
            fn sum(values: &[$integer]) -> $integer {
                values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
            }
            #[kernel]
            fn min(values: &[$integer]) -> Option<$integer> {
                let least = values.iter().fold($integer::MAX, |least, value| least.min(*value));
                (!values.is_empty()).then_some(least)
            }
            #[kernel]
            fn max(values: &[$integer]) -> Option<$integer> {
                let greatest = values.iter().fold($integer::MIN, |most, value| most.max(*value));
                (!values.is_empty()).then_some(greatest)
            }
        }
    )* };
}

floats! { f32 with 32 f64 with 16 }
integers! { i32 u32 i64 u64 }

/// Folds element `i` into accumulator `i % N`, and at the end the accumulators pairwise.
///
/// Every accumulator starts at `identity`, which also fills up the tail. It must leave every value
/// that an accumulator may have unchanged, to the bit. `+0.0` does so for sums, although `-0.0 +
/// 0.0` is `+0.0`, because an accumulator that starts at `+0.0` never becomes `-0.0`.
#[inline(always)]
fn fold<T: Copy, const N: usize>(values: &[T], identity: T, step: impl Fn(T, T) -> T + Copy) -> T {
    let (wholes, rest) = values.as_chunks::<N>();
    let tail = tail(rest, [identity; N]);
    let mut accumulators = [identity; N];
    for whole in wholes {
        for (accumulator, value) in accumulators.iter_mut().zip(whole) {
            *accumulator = step(*accumulator, *value);
        }
    }
    for (accumulator, value) in accumulators.iter_mut().zip(tail) {
        *accumulator = step(*accumulator, value);
    }
    tree(accumulators, step)
}

/// The last elements, filled up to `N`.
///
/// It is made before the loop over whole arrays and added after it. Adding the elements one by one
/// to the accumulators would index an array that is held in registers, and force it into memory.
#[inline(always)]
fn tail<T: Copy, const N: usize>(rest: &[T], mut filled: [T; N]) -> [T; N] {
    if !rest.is_empty() {
        filled[..rest.len()].copy_from_slice(rest);
    }
    filled
}

/// Folds the upper half of the accumulators into the lower half, until one is left.
#[inline(always)]
fn tree<T: Copy, const N: usize>(mut accumulators: [T; N], step: impl Fn(T, T) -> T) -> T {
    const { assert!(N.is_power_of_two(), "the tree halves the accumulators") };
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            accumulators[i] = step(accumulators[i], accumulators[i + half]);
        }
        half /= 2;
    }
    accumulators[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of additions drawn in the module's documentation, element by element.
    fn sum_oracle(values: impl Iterator<Item = f32>) -> f32 {
        let mut accumulators = [0.0; 32];
        for (i, value) in values.enumerate() {
            accumulators[i % 32] += value;
        }
        for half in [16, 8, 4, 2, 1] {
            for i in 0..half {
                accumulators[i] += accumulators[i + half];
            }
        }
        accumulators[0]
    }

    /// Numbers with a sum that depends on the order of additions.
    fn uneven(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i as f32 * 0.37).sin() * [1.0, 1e3, 1e-4, 1e7][i % 4]).collect()
    }

    #[test]
    fn sums_and_dot_products_add_in_the_documented_order() {
        for len in (0..200).step_by(if cfg!(miri) { 33 } else { 1 }) {
            let values = uneven(len);
            let sum_expected = sum_oracle(values.iter().copied());
            assert_eq!(sum(&values).to_bits(), sum_expected.to_bits(), "{len}");
            let dot_expected = sum_oracle(values.iter().map(|value| value * value));
            assert_eq!(dot(&values, &values).to_bits(), dot_expected.to_bits());
        }
    }

    #[test]
    fn an_empty_slice_sums_to_zero_and_has_no_minimum() {
        assert_eq!(sum::<f32>(&[]).to_bits(), 0.0f32.to_bits());
        assert_eq!(dot::<f64>(&[], &[]).to_bits(), 0.0f64.to_bits());
        assert_eq!(sum::<i64>(&[]), 0);
        assert_eq!((min::<f32>(&[]), max::<f32>(&[])), (None, None));
        assert_eq!((min::<u64>(&[]), max::<i32>(&[])), (None, None));
    }

    #[test]
    fn a_sum_of_negative_zeros_is_positive_zero() {
        assert_eq!(sum(&[-0.0f32; 70]).to_bits(), 0);
        assert_eq!(sum(&[-0.0f64; 3]).to_bits(), 0);
    }

    #[test]
    fn integers_wrap_around() {
        assert_eq!(sum(&[i32::MAX, 1]), i32::MIN);
        assert_eq!(sum(&[u64::MAX; 3]), u64::MAX - 2);
    }

    #[test]
    fn minimum_and_maximum_skip_nan_at_every_index() {
        for len in [1, 31, 32, 33, 70] {
            let step = if cfg!(miri) { 13 } else { 1 };
            for number_at in (0..len).step_by(step) {
                let mut values = vec![f32::NAN; len];
                assert_eq!((min(&values), max(&values)), (None, None));
                values[number_at] = 7.0;
                assert_eq!((min(&values), max(&values)), (Some(7.0), Some(7.0)));
            }
        }
    }

    #[test]
    fn infinities_are_numbers() {
        let infinity = f64::INFINITY;
        assert_eq!(min(&[f64::NAN, infinity]), Some(infinity));
        assert_eq!(max(&[-infinity, f64::NAN]), Some(-infinity));
        assert_eq!(min(&[infinity, -infinity]), Some(-infinity));
        assert_eq!(sum(&[infinity, 1.0]), infinity);
        assert!(sum(&[infinity, -infinity]).is_nan());
    }

    #[test]
    fn a_minimum_or_maximum_of_zero_is_positive_in_any_order() {
        for values in [[0.0f32, -0.0], [-0.0, 0.0], [-0.0, -0.0]] {
            assert_eq!(min(&values).map(f32::to_bits), Some(0));
            assert_eq!(max(&values).map(f32::to_bits), Some(0));
        }
    }

    #[test]
    fn minimum_and_maximum_of_integers_are_those_of_the_iterator() {
        let values: Vec<i64> = (0..100).map(|i| (i * 7919) % 101 - 50).collect();
        for len in [1, 2, 15, 16, 17, 31, 33, 64, 99] {
            let values = &values[..len];
            assert_eq!(min(values), values.iter().min().copied());
            assert_eq!(max(values), values.iter().max().copied());
        }
    }

    #[test]
    #[should_panic(expected = "fold::dot needs slices of one length, got 2 and 1")]
    fn a_dot_product_of_unequal_lengths_is_refused() {
        let _ = dot(&[1.0f32, 2.0], &[1.0]);
    }
}
