//! The functions that `#[kernel]` accepts, in all shapes that a user may write, in a crate without
//! unsafe.
#![forbid(unsafe_code)]

use phalanx::kernel;
use std::ops::{AddAssign, Mul};

#[kernel]
fn nothing() {}

#[kernel]
fn doubled(rows: &mut [u32]) {
    for row in rows {
        *row *= 2;
    }
}

#[kernel]
fn longer<'a>(left: &'a [u32], right: &'a [u32]) -> &'a [u32] {
    if left.len() >= right.len() { left } else { right }
}

#[kernel]
fn countdown(mut from: u32, rows: &mut [u32]) -> u32 {
    for row in rows {
        *row = from;
        from -= 1;
    }
    from
}

#[kernel]
fn count_to<const N: usize>(rows: &[u32]) -> usize {
    rows.iter().filter(|&&row| (row as usize) < N).count()
}

#[kernel]
fn accumulate<'a, T: AddAssign<<T as Mul<T>>::Output> + Mul<T> + Copy, const N: usize>(
    rows: &'a mut [[T; N]],
    by: &[[T; N]],
) -> Option<&'a [T; N]>
where
    Vec<Vec<T>>: Clone,
{
    for (row, by) in rows.iter_mut().zip(by) {
        for (cell, by) in row.iter_mut().zip(by) {
            *cell += *by * *by;
        }
    }
    rows.first()
}

#[kernel]
fn calls_avx2(rows: &mut [u32]) {
    for row in rows {
        *row = avx2(*row);
    }
}

/// Every attribute that passes.
#[kernel]
#[doc(alias = "all")]
#[must_use]
#[inline]
#[cold]
#[track_caller]
#[cfg(not(any()))]
#[deprecated(note = "it says nothing")]
#[allow(clippy::allow_attributes, clippy::allow_attributes_without_reason)]
#[deny(unused_variables)]
#[warn(dead_code)]
#[rustfmt::skip]
fn attributed(n: usize) -> usize {
    n + 1
}

#[kernel]
#[cfg(any())]
#[must_use]
fn left_out<T>(nothing: T) -> Nothing where {}

#[kernel]
fn nested<T: From<Option<Option<u8>>>>(mut rows: Vec<T>) -> Vec<T> {
    rows.push(T::from(Some(None)));
    rows
}

#[test]
fn attributes_reach_the_function() {
    #[expect(deprecated, reason = "that it is, is what an attribute said")]
    let two = attributed(1);
    assert_eq!(two, 2);
}

/// A name that a shell uses too: the body must see this one.
fn avx2(row: u32) -> u32 {
    row + 2
}

struct Mixer;

impl Mixer {
    #[kernel]
    fn mix(rows: &mut [u32], with: &[u32]) {
        for (row, with) in rows.iter_mut().zip(with) {
            *row ^= with;
        }
    }
}

#[test]
fn plain_functions_lifetimes_and_mutable_arguments_work() {
    nothing();
    let mut rows = [1, 2, 3];
    doubled(&mut rows);
    assert_eq!(rows, [2, 4, 6]);
    assert_eq!(longer(&rows, &[1]), [2, 4, 6]);
    assert_eq!(countdown(9, &mut rows), 6);
    assert_eq!(rows, [9, 8, 7]);
}

#[test]
fn generic_types_constants_and_where_clauses_work() {
    assert_eq!(count_to::<8>(&[7, 8, 9, 0]), 2);
    let mut rows = [[1.0f32, 2.0], [3.0, 4.0]];
    let first = accumulate(&mut rows, &[[1.0, 1.0], [2.0, 2.0]]);
    assert_eq!(first, Some(&[2.0, 3.0]));
    assert_eq!(rows, [[2.0, 3.0], [7.0, 8.0]]);
    assert_eq!(nested::<Option<Option<u8>>>(vec![]), [Some(None)]);
}

#[test]
fn kernels_may_be_associated_functions() {
    let mut rows = [1, 2];
    Mixer::mix(&mut rows, &[1, 1]);
    assert_eq!(rows, [0, 3]);
}

#[test]
fn the_body_does_not_see_the_shells() {
    let mut rows = [1, 2];
    calls_avx2(&mut rows);
    assert_eq!(rows, [3, 4]);
}
