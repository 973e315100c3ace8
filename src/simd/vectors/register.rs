//! The types of the vectors, and their storage: the one file that knows the register.

use bytemuck::{Pod, Zeroable, cast};

/// The types that LLVM holds in registers, or splits into the registers that the level has.
///
/// No instruction of AVX-512 is named with them: they are only types, and a build for SSE2 splits
/// each into four registers.
#[cfg(target_arch = "x86_64")]
mod storage {
    pub(super) use core::arch::x86_64::{
        __m512 as Singles, __m512d as Doubles, __m512i as Integers,
    };
}

/// Plain arrays, where kernels have one level.
#[cfg(not(target_arch = "x86_64"))]
mod storage {
    use bytemuck::{Pod, Zeroable};

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C, align(64))]
    pub(super) struct Singles([f32; 16]);

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C, align(64))]
    pub(super) struct Doubles([f64; 8]);

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C, align(64))]
    pub(super) struct Integers([u64; 8]);
}

macro_rules! registers {
    ($(
        $(#[$attribute:meta])*
        $vector:ident($storage:ident), $visibility:vis from [$scalar:ident; $len:literal];
    )*) => { $(
        $(#[$attribute])*
        #[repr(transparent)]
        pub struct $vector(storage::$storage);

        impl $vector {
            /// The number of lanes.
            pub const LEN: usize = $len;

            /// The vector with element `i` in lane `i`.
            #[inline(always)]
            #[must_use]
            $visibility fn from_array(array: [$scalar; $len]) -> Self {
                Self(cast(array))
            }

            /// The lanes, in order.
            #[inline(always)]
            #[must_use]
            $visibility fn to_array(self) -> [$scalar; $len] {
                cast(self.0)
            }
        }
    )* };
}

registers! {
    /// Sixteen `f32`, as wide as the kernel around them: 4, 2 or 1 registers.
    ///
    /// ```
    /// use phalanx::simd::vectors::F32x16;
    ///
    /// let rising = F32x16::from_array(std::array::from_fn(|lane| lane as f32));
    /// let root = (rising * rising).sqrt();
    /// assert_eq!(root, rising);
    /// assert_eq!((rising + 1.0).reduce_add(), 136.0);
    /// ```
    #[derive(Clone, Copy, Pod, Zeroable)]
    F32x16(Singles), pub from [f32; 16];

    /// Eight `f64`, as wide as the kernel around them: 4, 2 or 1 registers.
    ///
    /// ```
    /// use phalanx::simd::vectors::F64x8;
    ///
    /// assert_eq!(F64x8::splat(9.0).sqrt().to_array(), [3.0; 8]);
    /// ```
    #[derive(Clone, Copy, Pod, Zeroable)]
    F64x8(Doubles), pub from [f64; 8];

    /// Sixteen `i32`, as wide as the kernel around them: 4, 2 or 1 registers.
    ///
    /// ```
    /// use phalanx::simd::vectors::I32x16;
    ///
    /// assert_eq!((I32x16::splat(i32::MAX) + 1).to_array(), [i32::MIN; 16]);
    /// ```
    #[derive(Clone, Copy, Pod, Zeroable)]
    I32x16(Integers), pub from [i32; 16];

    /// Sixteen `u32`, as wide as the kernel around them: 4, 2 or 1 registers.
    ///
    /// ```
    /// use phalanx::simd::vectors::U32x16;
    ///
    /// assert_eq!((U32x16::splat(0b1100) >> 2).to_array(), [0b11; 16]);
    /// ```
    #[derive(Clone, Copy, Pod, Zeroable)]
    U32x16(Integers), pub from [u32; 16];

    /// A yes or no for each of sixteen lanes, from a comparison of [`F32x16`], [`I32x16`] or
    /// [`U32x16`].
    ///
    /// A lane is a word of ones or of zeros, as comparisons of SSE2 and AVX2 have it; AVX-512 holds
    /// it in a mask register wherever LLVM sees that it may.
    ///
    /// ```
    /// use phalanx::simd::vectors::F32x16;
    ///
    /// let heat = F32x16::from_array(std::array::from_fn(|lane| lane as f32));
    /// let hot = heat.simd_gt(F32x16::splat(10.0));
    /// assert_eq!((hot.any(), hot.all(), hot.count()), (true, false, 5));
    /// assert_eq!(hot.select(F32x16::splat(0.0), heat).reduce_max(), 10.0);
    /// assert!((hot & !hot).none());
    /// ```
    #[derive(Clone, Copy)]
    Mask16(Integers), pub(super) from [u32; 16];

    /// A yes or no for each of eight lanes, from a comparison of [`F64x8`].
    ///
    /// ```
    /// use phalanx::simd::vectors::F64x8;
    ///
    /// let near = F64x8::splat(0.5).simd_lt(F64x8::splat(1.0));
    /// assert_eq!(near.to_bools(), [true; 8]);
    /// ```
    #[derive(Clone, Copy)]
    Mask8(Integers), pub(super) from [u64; 8];
}
