//! Functions that only the attribute `#[kernel]` accepts, and functions that it refuses.
#![forbid(unsafe_code)]

use std::ops::AddAssign;
use std::panic::Location;

use phalanx::kernel;

use crate::levels::equal_at_every_level;

/// Arguments of a kernel are patterns, and may have types without names.
#[kernel]
#[must_use]
pub fn total<'a, T, const N: usize>(
    rows: impl IntoIterator<Item = &'a [T; N]>,
    &first: &T,
    (mut sum, _): (T, &str),
    map: impl Fn(T) -> T,
) -> T
where
    T: AddAssign + Copy + 'a,
{
    sum += first;
    for row in rows {
        for &cell in row {
            sum += map(cell);
        }
    }
    sum
}

struct Mixer<T>(T);

impl Mixer<u32> {
    /// A kernel without `self`.
    #[kernel]
    fn mix(rows: &mut [u32], _: (), baseline: u32) {
        for row in rows {
            *row ^= baseline;
        }
    }
}

macro_rules! scalings {
    ($($name:ident: $type:ty, $by:expr;)*) => {$(
        #[kernel]
        fn $name(rows: &mut [$type]) {
            for row in rows {
                *row *= $by;
            }
        }
    )*};
}

scalings! { by_two: u32, 2; by_half: f32, 0.5; }

#[test]
fn patterns_and_types_without_names_are_arguments() {
    let sum =
        equal_at_every_level(|| total(&[[1_u32, 2], [3, 4]], &100, (1000, "all"), |cell| cell * 2));
    assert_eq!(sum, 1120);
    let mut rows = [1, 2];
    Mixer::mix(&mut rows, (), 3);
    assert_eq!((rows, Mixer(5).0), ([2, 1], 5));
}

#[test]
fn a_macro_writes_kernels() {
    let (mut whole, mut real) = ([1, 2], [1.0, 2.0]);
    by_two(&mut whole);
    by_half(&mut real);
    assert_eq!((whole, real), ([2, 4], [0.5, 1.0]));
}

#[test]
fn a_kernel_in_a_function_is_a_function() {
    #[kernel]
    fn inner(rows: &[u32]) -> u32 {
        rows.iter().sum()
    }
    assert_eq!(equal_at_every_level(|| inner(&[1, 2, 3])), 6);
}

macro_rules! with_bodies {
    ($($name:ident($rows:ident) $body:block)*) => {$(
        #[kernel]
        fn $name($rows: &mut [u32]) $body
    )*};
}

with_bodies! {
    add_one(rows) {
        for row in rows {
            *row += 1;
        }
    }
    clear(rows) { rows.fill(0) }
}

#[test]
fn a_body_may_be_a_block_that_a_macro_captured() {
    let mut rows = [1, 2];
    add_one(&mut rows);
    assert_eq!(rows, [2, 3]);
    clear(&mut rows);
    assert_eq!(rows, [0, 0]);
}

/// Adds what two arguments hold, of which one has a name of the macro's own.
#[kernel]
fn named_like_the_macro(__argument_1: u32, (left, right): (u32, u32)) -> u32 {
    __argument_1 + left + right
}

#[test]
fn an_argument_may_have_the_name_of_one_without_a_name() {
    assert_eq!(equal_at_every_level(|| named_like_the_macro(1, (2, 3))), 6);
}

#[kernel]
#[track_caller]
fn lines_of_the_caller<const N: usize>() -> [u32; N] {
    [Location::caller().line(); N]
}

#[kernel]
fn line_of_the_kernel() -> u32 {
    Location::caller().line()
}

#[test]
fn a_tracked_kernel_knows_its_caller() {
    equal_at_every_level(|| {
        let (lines, here) = (lines_of_the_caller::<2>(), line!());
        assert_eq!(lines, [here; 2], "at the line of the call");
        assert_ne!(line_of_the_kernel(), line!(), "without the attribute");
    });
}
