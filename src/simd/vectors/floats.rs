//! The operations of vectors of floats only.

use core::ops::Neg;

use super::elementwise::sixteen;
use super::register::{F32x16, F64x8, I32x16, U32x16};

macro_rules! floats {
    ($($vector:ident of $scalar:ident;)*) => { $(
        impl $vector {
            /// The square roots, exactly rounded; of a negative lane, NaN.
            #[inline(always)]
            #[must_use]
            pub fn sqrt(self) -> Self {
                self.map($scalar::sqrt)
            }

            /// The magnitudes: all lanes with a positive sign, NaNs also.
            #[inline(always)]
            #[must_use]
            pub fn abs(self) -> Self {
                self.map($scalar::abs)
            }
        }

        impl Neg for $vector {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                self.map($scalar::neg)
            }
        }
    )* };
}

floats! { F32x16 of f32; F64x8 of f64; }

impl F32x16 {
    /// The bits of each lane.
    ///
    /// ```
    /// use phalanx::simd::vectors::F32x16;
    ///
    /// let x = F32x16::splat(-2.5);
    /// assert_eq!((x.to_bits() >> 31).to_array(), [1; 16]);
    /// assert_eq!(F32x16::from_bits(x.to_bits()), x);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn to_bits(self) -> U32x16 {
        U32x16::from_array(sixteen::map(self.to_array(), f32::to_bits))
    }

    /// The floats of these bits.
    #[inline(always)]
    #[must_use]
    pub fn from_bits(bits: U32x16) -> Self {
        Self::from_array(sixteen::map(bits.to_array(), f32::from_bits))
    }

    /// Each lane rounded towards zero, by `as`: beyond `i32` its nearest value, and 0 for NaN.
    ///
    /// ```
    /// use phalanx::simd::vectors::{F32x16, I32x16};
    ///
    /// assert_eq!(F32x16::splat(-2.9).to_i32(), I32x16::splat(-2));
    /// assert_eq!(F32x16::splat(1e30).to_i32(), I32x16::splat(i32::MAX));
    /// ```
    #[inline(always)]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it is what the documentation says")]
    pub fn to_i32(self) -> I32x16 {
        I32x16::from_array(sixteen::map(self.to_array(), |lane| lane as i32))
    }
}

/// The nearest floats.
impl From<I32x16> for F32x16 {
    #[inline(always)]
    fn from(integers: I32x16) -> Self {
        Self::from_array(sixteen::map(integers.to_array(), |lane| lane as f32))
    }
}
