//! One function applied to all lanes, written out.
//!
//! Neither a loop nor `array::from_fn`: LLVM unrolls both before it considers inlining, and by that
//! time they are too long. Written out and `#[inline(always)]`, the lanes are in the kernel from
//! the start, where the pass that joins equal operations of neighbours finds all of them.

macro_rules! elementwise {
    ($module:ident, $len:literal: $($lane:literal)*) => {
        pub(super) mod $module {
            #[inline(always)]
            pub(in super::super) fn map<A: Copy, R>(a: [A; $len], f: impl Fn(A) -> R) -> [R; $len] {
                [$(f(a[$lane])),*]
            }

            #[inline(always)]
            pub(in super::super) fn zip<A: Copy, B: Copy, R>(
                a: [A; $len],
                b: [B; $len],
                f: impl Fn(A, B) -> R,
            ) -> [R; $len] {
                [$(f(a[$lane], b[$lane])),*]
            }

            #[inline(always)]
            pub(in super::super) fn zip3<A: Copy, B: Copy, C: Copy, R>(
                a: [A; $len],
                b: [B; $len],
                c: [C; $len],
                f: impl Fn(A, B, C) -> R,
            ) -> [R; $len] {
                [$(f(a[$lane], b[$lane], c[$lane])),*]
            }

            /// Joins the upper half with the lower half until one is left: the tree of `fold`.
            #[inline(always)]
            pub(in super::super) fn reduce<A: Copy>(mut a: [A; $len], f: impl Fn(A, A) -> A) -> A {
                let mut half = $len / 2;
                while half > 0 {
                    for i in 0..half {
                        a[i] = f(a[i], a[i + half]);
                    }
                    half /= 2;
                }
                a[0]
            }
        }
    };
}

elementwise! { eight, 8: 0 1 2 3 4 5 6 7 }
elementwise! { sixteen, 16: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 }
