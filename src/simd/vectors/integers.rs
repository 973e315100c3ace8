//! The operations of vectors of integers only.

use core::ops::{
    BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Neg, Not, Shl, Shr,
};

use super::elementwise::sixteen;
use super::register::{I32x16, U32x16};

macro_rules! integers {
    ($($vector:ident of $scalar:ident;)*) => { $(
        integers! { @operator $vector BitAnd bitand BitAndAssign bitand_assign & }
        integers! { @operator $vector BitOr bitor BitOrAssign bitor_assign | }
        integers! { @operator $vector BitXor bitxor BitXorAssign bitxor_assign ^ }

        /// By `bits % 32`, as [`u32::wrapping_shl`].
        impl Shl<u32> for $vector {
            type Output = Self;

            #[inline(always)]
            fn shl(self, bits: u32) -> Self {
                self.map(|lane| lane.wrapping_shl(bits))
            }
        }

        /// By `bits % 32`, as [`u32::wrapping_shr`]; `i32` keeps its sign.
        impl Shr<u32> for $vector {
            type Output = Self;

            #[inline(always)]
            fn shr(self, bits: u32) -> Self {
                self.map(|lane| lane.wrapping_shr(bits))
            }
        }

        impl Not for $vector {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                self.map(|lane: $scalar| !lane)
            }
        }
    )* };
    (
        @operator $vector:ident
        $operator:ident $function:ident $assign:ident $assign_function:ident $sign:tt
    ) => {
        impl $operator for $vector {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.zip(other, |a, b| a $sign b)
            }
        }

        impl $assign for $vector {
            #[inline(always)]
            fn $assign_function(&mut self, other: Self) {
                *self = *self $sign other;
            }
        }
    };
}

integers! { I32x16 of i32; U32x16 of u32; }

/// Wraps around, as all arithmetic of integers here.
impl Neg for I32x16 {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.map(i32::wrapping_neg)
    }
}

impl I32x16 {
    /// The same bits as `u32`.
    #[inline(always)]
    #[must_use]
    pub fn cast_unsigned(self) -> U32x16 {
        U32x16::from_array(sixteen::map(self.to_array(), i32::cast_unsigned))
    }
}

impl U32x16 {
    /// The same bits as `i32`.
    #[inline(always)]
    #[must_use]
    pub fn cast_signed(self) -> I32x16 {
        I32x16::from_array(sixteen::map(self.to_array(), u32::cast_signed))
    }
}
