//! The operations of vectors of every scalar: operators, comparisons, extremes and reductions.

use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

use super::elementwise::{eight, sixteen};
use super::register::{F32x16, F64x8, I32x16, Mask8, Mask16, U32x16};

macro_rules! vectors {
    ($(
        $vector:ident of [$scalar:ident; $len:literal] by $lanes:ident, $mask:ident of $word:ident,
        $zero:literal $add:path, $sub:path, $mul:path;
    )*) => { $(
        impl $vector {
            /// All lanes are `value`.
            #[inline(always)]
            #[must_use]
            pub fn splat(value: $scalar) -> Self {
                Self::from_array([value; $len])
            }

            /// The lesser of two lanes: `if a < b { a } else { b }`, one instruction for floats.
            ///
            /// So the result is `other` where either is NaN, and where both are zero, of whatever
            /// sign.
            #[inline(always)]
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                self.zip(other, |a, b| if a < b { a } else { b })
            }

            /// The greater of two lanes: `if a > b { a } else { b }`, one instruction for floats.
            ///
            /// So the result is `other` where either is NaN, and where both are zero, of whatever
            /// sign.
            #[inline(always)]
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                self.zip(other, |a, b| if a > b { a } else { b })
            }

            /// The sum of all lanes: lane `i` plus lane `i + LEN / 2`, and so on with the halves.
            ///
            /// It is the end of the tree of [`fold`](mod@crate::simd::fold), equal at every level.
            /// Keep sums in a vector and add the lanes once, after the loop.
            #[inline(always)]
            #[must_use]
            pub fn reduce_add(self) -> $scalar {
                $lanes::reduce(self.to_array(), $add)
            }

            /// The least lane, by [`min`](Self::min) of the halves.
            #[inline(always)]
            #[must_use]
            pub fn reduce_min(self) -> $scalar {
                $lanes::reduce(self.to_array(), |a, b| if a < b { a } else { b })
            }

            /// The greatest lane, by [`max`](Self::max) of the halves.
            #[inline(always)]
            #[must_use]
            pub fn reduce_max(self) -> $scalar {
                $lanes::reduce(self.to_array(), |a, b| if a > b { a } else { b })
            }

            vectors! { @comparison $mask $word $lanes simd_eq == "equal" }
            vectors! { @comparison $mask $word $lanes simd_ne != "not equal" }
            vectors! { @comparison $mask $word $lanes simd_lt < "less" }
            vectors! { @comparison $mask $word $lanes simd_le <= "less or equal" }
            vectors! { @comparison $mask $word $lanes simd_gt > "greater" }
            vectors! { @comparison $mask $word $lanes simd_ge >= "greater or equal" }

            #[inline(always)]
            pub(super) fn zip(self, other: Self, f: impl Fn($scalar, $scalar) -> $scalar) -> Self {
                Self::from_array($lanes::zip(self.to_array(), other.to_array(), f))
            }

            #[inline(always)]
            pub(super) fn map(self, f: impl Fn($scalar) -> $scalar) -> Self {
                Self::from_array($lanes::map(self.to_array(), f))
            }
        }

        operators! { $vector $scalar Add add AddAssign add_assign $add }
        operators! { $vector $scalar Sub sub SubAssign sub_assign $sub }
        operators! { $vector $scalar Mul mul MulAssign mul_assign $mul }

        impl Default for $vector {
            #[inline(always)]
            fn default() -> Self {
                Self::splat($zero)
            }
        }

        impl fmt::Debug for $vector {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($vector)).field(&self.to_array()).finish()
            }
        }

        impl PartialEq for $vector {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }
    )* };
    (@comparison $mask:ident $word:ident $lanes:ident $name:ident $sign:tt $words:literal) => {
        #[doc = concat!("Which lanes are ", $words, " to those of `other`, or than those.")]
        ///
        /// A comparison with NaN is false, except for `simd_ne`.
        #[inline(always)]
        #[must_use]
        pub fn $name(self, other: Self) -> $mask {
            let (a, b) = (self.to_array(), other.to_array());
            let lanes = $lanes::zip(a, b, |a, b| if a $sign b { $word::MAX } else { 0 });
            $mask::from_array(lanes)
        }
    };
}

/// An operator of two vectors, of a vector and a scalar, and its forms that assign.
macro_rules! operators {
    ($vector:ident $scalar:ident $operator:ident $name:ident $assign:ident $assign_name:ident $f:path) => {
        impl $operator for $vector {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                self.zip(other, $f)
            }
        }

        impl $operator<$scalar> for $vector {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: $scalar) -> Self {
                self.zip(Self::splat(other), $f)
            }
        }

        impl $assign for $vector {
            #[inline(always)]
            fn $assign_name(&mut self, other: Self) {
                *self = self.zip(other, $f);
            }
        }

        impl $assign<$scalar> for $vector {
            #[inline(always)]
            fn $assign_name(&mut self, other: $scalar) {
                *self = self.zip(Self::splat(other), $f);
            }
        }
    };
}

vectors! {
    F32x16 of [f32; 16] by sixteen, Mask16 of u32, 0.0 f32::add, f32::sub, f32::mul;
    F64x8 of [f64; 8] by eight, Mask8 of u64, 0.0 f64::add, f64::sub, f64::mul;
    I32x16 of [i32; 16] by sixteen, Mask16 of u32, 0
        i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul;
    U32x16 of [u32; 16] by sixteen, Mask16 of u32, 0
        u32::wrapping_add, u32::wrapping_sub, u32::wrapping_mul;
}

// Integers are not divided: no level has an instruction for it.
operators! { F32x16 f32 Div div DivAssign div_assign f32::div }
operators! { F64x8 f64 Div div DivAssign div_assign f64::div }
