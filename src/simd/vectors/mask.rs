//! The operations of masks: choices, logic, and tests of all lanes together.

use core::fmt;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::elementwise::{eight, sixteen};
use super::register::{F32x16, F64x8, I32x16, Mask8, Mask16, U32x16};
use sealed::Select;

macro_rules! masks {
    ($($mask:ident of [$word:ident; $len:literal] by $lanes:ident, $bits:ident;)*) => { $(
        impl $mask {
            /// Lane `i` is bit `i`: a part of a word of a [`RowMask`](crate::rows::RowMask).
            ///
            /// ```
            #[doc = concat!("use phalanx::simd::vectors::", stringify!($mask), ";")]
            ///
            #[doc = concat!("let mask = ", stringify!($mask), "::from_bits(0b101);")]
            /// assert_eq!(mask.to_bools()[..4], [true, false, true, false]);
            /// ```
            #[inline(always)]
            #[must_use]
            pub fn from_bits(bits: $bits) -> Self {
                const LANES: [$word; $len] = {
                    let mut lanes = [1; $len];
                    let mut lane = 0;
                    while lane < $len {
                        lanes[lane] <<= lane;
                        lane += 1;
                    }
                    lanes
                };
                let all = $word::from(bits);
                Self::from_array($lanes::map(LANES, |lane| {
                    if all & lane != 0 { $word::MAX } else { 0 }
                }))
            }

            /// Lane `i` is element `i`.
            ///
            /// ```
            #[doc = concat!("use phalanx::simd::vectors::", stringify!($mask), ";")]
            ///
            #[doc = concat!("let mask = ", stringify!($mask), "::from_bools([true; ", $len, "]);")]
            /// assert!(mask.all());
            /// ```
            #[inline(always)]
            #[must_use]
            pub fn from_bools(bools: [bool; $len]) -> Self {
                Self::from_array($lanes::map(bools, |lane| if lane { $word::MAX } else { 0 }))
            }

            /// The lanes, in order.
            #[inline(always)]
            #[must_use]
            pub fn to_bools(self) -> [bool; $len] {
                $lanes::map(self.to_array(), |lane| lane != 0)
            }

            /// Whether any lane is true.
            #[inline(always)]
            #[must_use]
            pub fn any(self) -> bool {
                $lanes::reduce(self.to_array(), |a, b| a | b) != 0
            }

            /// Whether all lanes are true.
            #[inline(always)]
            #[must_use]
            pub fn all(self) -> bool {
                $lanes::reduce(self.to_array(), |a, b| a & b) != 0
            }

            /// Whether no lane is true.
            #[inline(always)]
            #[must_use]
            pub fn none(self) -> bool {
                !self.any()
            }

            /// The number of lanes that are true.
            #[inline(always)]
            #[must_use]
            pub fn count(self) -> usize {
                let ones = $lanes::map(self.to_array(), |lane| u32::from(lane != 0));
                $lanes::reduce(ones, |a, b| a + b) as usize
            }
        }

        masks! { @operator $mask $lanes BitAnd bitand BitAndAssign bitand_assign & }
        masks! { @operator $mask $lanes BitOr bitor BitOrAssign bitor_assign | }
        masks! { @operator $mask $lanes BitXor bitxor BitXorAssign bitxor_assign ^ }

        impl Not for $mask {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                Self::from_array($lanes::map(self.to_array(), |lane| !lane))
            }
        }

        impl fmt::Debug for $mask {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($mask)).field(&self.to_bools()).finish()
            }
        }

        impl PartialEq for $mask {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl Eq for $mask {}
    )* };
    (
        @operator $mask:ident $lanes:ident
        $operator:ident $function:ident $assign:ident $assign_function:ident $sign:tt
    ) => {
        impl $operator for $mask {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                let (a, b) = (self.to_array(), other.to_array());
                Self::from_array($lanes::zip(a, b, |a, b| a $sign b))
            }
        }

        impl $assign for $mask {
            #[inline(always)]
            fn $assign_function(&mut self, other: Self) {
                *self = *self $sign other;
            }
        }
    };
}

masks! {
    Mask16 of [u32; 16] by sixteen, u16;
    Mask8 of [u64; 8] by eight, u8;
}

/// A trait that other crates cannot name and therefore not implement.
mod sealed {
    /// A vector with lanes that the mask `M` chooses.
    pub trait Select<M>: Copy {
        fn select(mask: M, yes: Self, no: Self) -> Self;
    }
}

impl Mask16 {
    /// Lane by lane, `yes` where the mask is true and `no` elsewhere, with all bits of either.
    ///
    /// Both were computed. A lane that is not chosen has no effect, even if it is NaN or infinite.
    ///
    /// ```
    /// use phalanx::simd::vectors::F32x16;
    ///
    /// let x = F32x16::from_array(std::array::from_fn(|lane| lane as f32));
    /// let positive = x.simd_gt(F32x16::splat(0.0));
    /// assert_eq!(positive.select(x / x, F32x16::splat(0.0)).reduce_add(), 15.0);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn select<V: Select<Mask16>>(self, yes: V, no: V) -> V {
        V::select(self, yes, no)
    }
}

impl Mask8 {
    /// Lane by lane, `yes` where the mask is true and `no` elsewhere, as [`Mask16::select`].
    #[inline(always)]
    #[must_use]
    pub fn select<V: Select<Mask8>>(self, yes: V, no: V) -> V {
        V::select(self, yes, no)
    }
}

/// By bits and not by `if`: with one select inside another, LLVM keeps the masks in mask registers
/// at AVX-512, a quarter less time.
macro_rules! selects {
    ($($vector:ident by $mask:ident of $lanes:ident: $to_bits:expr, $from_bits:expr;)*) => { $(
        impl Select<$mask> for $vector {
            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                let (mask, yes, no) = (mask.to_array(), yes.to_array(), no.to_array());
                Self::from_array($lanes::zip3(mask, yes, no, |mask, yes, no| {
                    $from_bits((mask & $to_bits(yes)) | (!mask & $to_bits(no)))
                }))
            }
        }
    )* };
}

selects! {
    F32x16 by Mask16 of sixteen: f32::to_bits, f32::from_bits;
    F64x8 by Mask8 of eight: f64::to_bits, f64::from_bits;
    I32x16 by Mask16 of sixteen: i32::cast_unsigned, u32::cast_signed;
    U32x16 by Mask16 of sixteen: u32::from, u32::from;
}
