//! Names in kernels: every name that `#[kernel]` uses itself, used by the caller.
#![forbid(unsafe_code)]
#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of the macro")]

use phalanx::kernel;

use crate::levels::equal_at_every_level;

/// Calls a macro with the names of all items, variables and fragments that `#[kernel]` writes or
/// reads, and with some names of crates and of the prelude.
macro_rules! for_each_name {
    ($check:ident) => {
        $check! {
            avx512 avx2 baseline __kernel_body __shells __kernel __core kernel attribute visibility
            name argument r#type body more rest generic parameter bound mutable token open new names
            head arguments generics done other level Level current Avx512 Avx2 Baseline core std
            alloc phalanx Vec Option
        }
    };
}

#[test]
fn an_argument_may_have_any_name() {
    macro_rules! check {
        ($($name:ident)*) => {$({
            #[kernel]
            fn first($name: &mut [u32], by: u32) {
                for row in $name {
                    *row += by;
                }
            }

            #[kernel]
            fn last(rows: &[u32], mut $name: u32) -> u32 {
                for row in rows {
                    $name += *row;
                }
                $name
            }

            #[kernel]
            fn of_any<T: Copy>($name: T) -> T {
                $name
            }
            let sum = equal_at_every_level(|| {
                let mut rows = [1, 2, 3];
                first(&mut rows, 4);
                last(&rows, of_any(100))
            });
            assert_eq!(sum, 118, "{}", stringify!($name));
        })*};
    }
    for_each_name!(check);
}

#[test]
fn all_names_of_shells_may_be_arguments_together() {
    #[kernel]
    fn weighed(baseline: &[u32], avx2: u32, avx512: u32, __kernel_body: u32) -> u32 {
        baseline.iter().map(|row| row * avx2 + avx512).sum::<u32>() - __kernel_body
    }
    assert_eq!(equal_at_every_level(|| weighed(&[1, 2, 3], 10, 1, 3)), 60);
}

#[test]
fn a_kernel_may_have_any_name() {
    macro_rules! check {
        ($($name:ident)*) => {$({
            #[kernel]
            fn $name(rows: &mut [u32]) -> u32 {
                for row in &mut *rows {
                    *row += 1;
                }
                rows[0]
            }
            let first = equal_at_every_level(|| $name(&mut [6, 7]));
            assert_eq!(first, 7, "{}", stringify!($name));
        })*};
    }
    for_each_name!(check);
}

#[test]
fn a_generic_type_and_a_lifetime_may_have_any_name() {
    macro_rules! check {
        ($($name:ident)*) => {$({
            #[kernel]
            fn least<$name: Copy + PartialOrd>(rows: &[$name], first: $name) -> $name
            where
                [$name]: ToOwned,
            {
                rows.iter().fold(first, |least, row| if *row < least { *row } else { least })
            }
            let least = equal_at_every_level(|| least(&[3u32, 2, 9], 5));
            assert_eq!(least, 2, "{}", stringify!($name));
        })*};
    }
    for_each_name!(check);

    #[kernel]
    fn longer<'avx2, 'baseline: 'avx2>(a: &'avx2 [u32], b: &'baseline [u32]) -> &'avx2 [u32] {
        if a.len() < b.len() { b } else { a }
    }
    assert_eq!(equal_at_every_level(|| longer(&[1], &[2, 3]).len()), 2);
}

/// The body sees the names of its module and its own names.
#[test]
fn a_body_may_use_any_name() {
    mod helpers {
        #[inline(always)]
        pub(super) fn avx2(row: u32) -> u32 {
            row + 1
        }
        pub(super) const fn baseline() -> u32 {
            10
        }
        pub(super) struct avx512(pub(super) u32);
    }
    use helpers::{avx2, avx512, baseline};

    #[kernel]
    fn run(rows: &[u32], limit: u32) -> u32 {
        let avx512(more) = avx512(100);
        let level = limit;
        let mut sum = 0;
        'rows: for row in rows {
            if *row > level {
                break 'rows;
            }
            sum += avx2(*row) + baseline() + more;
        }
        sum
    }
    assert_eq!(equal_at_every_level(|| run(&[1, 2, 9, 3], 5)), 225);
}
