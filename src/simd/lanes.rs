//! Two views of a column: flat scalars, and explicit vectors.
//!
//! A column of `Position { x, y, z }` is also a column of `f32`, three times as long, and, if it is
//! aligned and a whole number of vectors, a column of `F32x16`. Both views are slice casts that
//! `bytemuck` checks, without a copy.
//!
//! ```text
//! &[Position]   | x y z | x y z | x y z | x y z | x y z | x y z | x y z | x y z |
//! scalars       | x | y | z | x | y | z | x | …                            24 f32
//! lanes         | x y z x y z x y z x y z x y z x | y z x y z x y z …    1.5 F32x16
//! ```

use core::marker::PhantomData;

use bytemuck::Pod;
use wide::{
    f32x4, f32x8, f32x16, f64x2, f64x4, f64x8, i8x16, i8x32, i8x64, i16x8, i16x16, i16x32, i32x4,
    i32x8, i32x16, i64x2, i64x4, i64x8, u8x16, u8x32, u8x64, u16x8, u16x16, u16x32, u32x4, u32x8,
    u32x16, u64x2, u64x4, u64x8,
};

use super::vectors::{F32x16, F64x8, I32x16, U32x16};

/// A number that [`scalars`] can view a component as: `f32`, `f64` and the integers of 8 to 64
/// bits.
///
/// It cannot be implemented outside of this crate.
///
/// ```
/// fn total<S: phalanx::simd::Scalar + std::iter::Sum<S>>(rows: &[[S; 3]]) -> S
/// where
///     [S; 3]: phalanx::prelude::Pod,
/// {
///     phalanx::simd::scalars::<S>(rows).iter().copied().sum()
/// }
/// assert_eq!(total(&[[1, 2, 3], [4, 5, 6]]), 21);
/// ```
pub trait Scalar: Pod + Send + Sync + sealed::Sealed {}

/// A vector that [`lanes`] can view a column as: of [`vectors`](crate::simd::vectors), or of the
/// `wide` crate, `f32x4` to `u64x8`.
///
/// It cannot be implemented outside of this crate.
///
/// ```
/// use phalanx::simd::Lanes;
/// use phalanx::simd::vectors::F32x16;
/// use phalanx::wide::f32x8;
///
/// assert_eq!((<F32x16 as Lanes>::LEN, f32x8::LEN), (16, 8));
/// ```
pub trait Lanes: Pod + Send + Sync + sealed::Sealed {
    /// The type of one lane.
    type Scalar: Scalar;

    /// The number of lanes.
    const LEN: usize = size_of::<Self>() / size_of::<Self::Scalar>();
}

/// A trait that other crates cannot name and therefore not implement.
mod sealed {
    pub trait Sealed {}
}

macro_rules! scalar_types {
    ($($scalar:ident)*) => { $(
        impl sealed::Sealed for $scalar {}
        impl Scalar for $scalar {}
    )* };
}

macro_rules! lane_types {
    ($($scalar:ident: $($vector:ident)*;)*) => { $($(
        impl sealed::Sealed for $vector {}
        impl Lanes for $vector {
            type Scalar = $scalar;
        }
    )*)*

        /// A check of each type of vectors.
        #[cfg(test)]
        const OF_EACH: &[fn()] = &[$($(tests::assert_no_vectors::<$vector>),*),*];
    };
}

scalar_types! { f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 }
lane_types! {
    f32: F32x16 f32x4 f32x8 f32x16;
    f64: F64x8 f64x2 f64x4 f64x8;
    i8: i8x16 i8x32 i8x64;
    i16: i16x8 i16x16 i16x32;
    i32: I32x16 i32x4 i32x8 i32x16;
    i64: i64x2 i64x4 i64x8;
    u8: u8x16 u8x32 u8x64;
    u16: u16x8 u16x16 u16x32;
    u32: U32x16 u32x4 u32x8 u32x16;
    u64: u64x2 u64x4 u64x8;
}

/// A slice of structs as the flat slice of their scalars.
///
/// For arithmetic that is the same for all fields. LLVM does not vectorise a loop over
/// `struct { x, y, z }` at the default target, and does vectorise the flat one: 0.23 ns a row
/// against 0.74 at [`Level::Baseline`](crate::Level::Baseline) (Zen 5, 680 rows in L1). At the
/// wider levels both are vectorised.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[component]
/// struct Position { x: f32, y: f32, z: f32 }
///
/// let rows = [Position { x: 1.0, y: 2.0, z: 3.0 }; 2];
/// assert_eq!(scalars::<f32>(&rows), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
/// ```
///
/// A type with an alignment of 16 bytes or more, for registers, is a row of its floats too:
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C, align(16))]
/// struct Rotation([f32; 4]);
///
/// let mut rows = [Rotation([0.0, 0.0, 0.0, 1.0]); 3];
/// scalars_mut::<f32>(&mut rows).iter_mut().for_each(|lane| *lane *= 2.0);
/// assert_eq!(rows[2].0, [0.0, 0.0, 0.0, 2.0]);
/// ```
///
/// It is a view of the bytes: an integer field reads as the `f32` of the same bits. The size and
/// the alignment must fit, or it does not compile (`cargo build` reports it; `cargo check` does not
/// evaluate the check):
///
/// ```compile_fail,E0080
/// let rows = [[1u16; 3]; 4];
/// phalanx::simd::scalars::<f32>(&rows);
/// ```
///
/// ```compile_fail,E0080
/// let rows = [[1u8; 4]; 4];
/// phalanx::simd::scalars::<f32>(&rows);
/// ```
///
/// The alignment tells scalars apart as far as it differs. On x86-64 and AArch64 a `u64` is refused
/// as two `f32`; on i686 Linux, where its alignment is 4, it is not. A `u128` is aligned like a
/// register.
#[inline]
#[must_use]
pub fn scalars<S: Scalar>(slice: &[impl Pod]) -> &[S] {
    same(slice, const { assert_made_of::<S, _>() });
    bytemuck::cast_slice(slice)
}

/// The mutable form of [`scalars`].
///
/// ```
/// use phalanx::simd::scalars_mut;
///
/// let mut rows = [[1.0f32, 2.0, 3.0]; 2];
/// for scalar in scalars_mut::<f32>(&mut rows) {
///     *scalar *= 2.0;
/// }
/// assert_eq!(rows, [[2.0, 4.0, 6.0]; 2]);
/// ```
#[inline]
#[must_use]
pub fn scalars_mut<S: Scalar>(slice: &mut [impl Pod]) -> &mut [S] {
    same(slice, const { assert_made_of::<S, _>() });
    bytemuck::cast_slice_mut(slice)
}

/// A slice as vectors, of [`vectors`](crate::simd::vectors) or of the `wide` crate.
///
/// For code that LLVM does not vectorise by itself: a loop over sources for each row, masks and
/// selects over several statements, sums. Write the plain loop in a [`#[kernel]`](crate::kernel)
/// first and time both.
///
/// **In a kernel, use [`vectors`](crate::simd::vectors)**: `F32x16` is as wide as the level, in
/// every build. `wide` chooses its instructions at compile time, from the features of the build. In
/// a default build its `f32x8` is two SSE2 registers even inside the AVX2 copy of a kernel, two to
/// three times as long. It has operations that `vectors` lacks, for example shuffles and small
/// integers: build with `-C target-cpu=x86-64-v3` (or `native`) for these.
///
/// The rows must be a whole number of vectors. The slices of `.padded()` queries are, for vectors
/// of up to 16 lanes: they are a multiple of 16 rows, and so, with one scalar a row, of 16 scalars,
/// unless fewer than 16 rows fit a chunk. Take `u8x16` and `u16x16` there, not `u8x32`, which 16
/// rows do not fill. The rows past the live
/// ones are initialised, and values written there are never read.
///
/// A select with a mask, and a reduction:
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::simd::vectors::F32x16;
///
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[repr(C, align(64))]
/// struct Heat([f32; 16]);
///
/// /// Halves values above the limit. Returns the heat removed.
/// #[kernel]
/// fn cool(heat: &mut [F32x16], limit: f32) -> f32 {
///     let mut taken = F32x16::splat(0.0);
///     for heat in heat {
///         let too_hot = heat.simd_gt(F32x16::splat(limit));
///         let cooled = too_hot.select(*heat * 0.5, *heat);
///         taken += *heat - cooled;
///         *heat = cooled;
///     }
///     taken.reduce_add()
/// }
///
/// let mut rows = [Heat([1.0; 16]), Heat([8.0; 16])];
/// assert_eq!(cool(lanes_mut::<F32x16>(&mut rows), 2.0), 64.0);
/// assert_eq!(rows[1].0, [4.0; 16]);
/// ```
///
/// For a sum alone, use [`fold::sum`](crate::simd::fold::sum). Avoid `reduce_add` of `wide` where
/// results must not depend on the build: its order depends on the vector width.
///
/// An empty slice is no vectors, at any address.
///
/// # Panics
///
/// If the slice is not a whole number of vectors or does not start at a multiple of their size.
#[inline]
#[must_use]
pub fn lanes<L: Lanes>(slice: &[impl Pod]) -> &[L] {
    same(slice, const { assert_holds::<L, _>() });
    match bytemuck::try_cast_slice(slice) {
        Ok(lanes) => lanes,
        // `&[]` dangles at the alignment of the component, which may be less than a vector's.
        Err(_) if size_of_val(slice) == 0 => &[],
        Err(_) => refuse::<L>(size_of_val(slice), slice.as_ptr().addr()),
    }
}

/// The mutable form of [`lanes`].
///
/// ```
/// use phalanx::simd::lanes_mut;
/// use phalanx::wide::i32x4;
///
/// let mut vectors = [i32x4::splat(1); 2];
/// for vector in lanes_mut::<i32x4>(&mut vectors) {
///     *vector += 1;
/// }
/// assert_eq!(phalanx::simd::scalars::<i32>(&[vectors[1].to_array()]), [2; 4]);
/// ```
///
/// # Panics
///
/// As [`lanes`].
#[inline]
#[must_use]
pub fn lanes_mut<L: Lanes>(slice: &mut [impl Pod]) -> &mut [L] {
    same(slice, const { assert_holds::<L, _>() });
    let (bytes, address) = (size_of_val(slice), slice.as_ptr().addr());
    match bytemuck::try_cast_slice_mut(slice) {
        Ok(lanes) => lanes,
        Err(_) if bytes == 0 => &mut [],
        Err(_) => refuse::<L>(bytes, address),
    }
}

/// The least alignment that a component has for registers: the alignment of SSE.
const REGISTER_ALIGN_MIN: usize = 16;

/// A compile error for a component that does not consist of the scalars.
///
/// Evaluated in a constant of each public function, so that the error names the caller's line and,
/// among the function's parameters, the component.
const fn assert_made_of<S: Scalar, C: Pod>() -> PhantomData<C> {
    assert!(
        size_of::<C>().is_multiple_of(size_of::<S>()),
        "the component's size is not a multiple of the scalar's: it is not made of them"
    );
    // An alignment below 16 that differs comes from another scalar in it. One of 16 or more comes
    // from a register, or from integers of 128 bits, which cannot be told from one. Their bytes are
    // read as numbers.
    assert!(
        align_of::<C>() == align_of::<S>() || align_of::<C>() >= REGISTER_ALIGN_MIN,
        "the component is not aligned like the scalar: it is not made of them"
    );
    PhantomData
}

/// [`assert_made_of`] for vectors: a compile error if no number of the component's rows fills them.
///
/// The component may have a greater alignment than the scalar: the alignment of the vector.
const fn assert_holds<L: Lanes, C: Pod>() -> PhantomData<C> {
    assert!(
        size_of::<C>().is_multiple_of(size_of::<L::Scalar>()),
        "the component's size is not a multiple of a lane's: it is not made of them"
    );
    assert!(
        align_of::<C>() >= align_of::<L::Scalar>(),
        "the component is aligned below a lane: it is not made of them"
    );
    PhantomData
}

/// Connects an assertion to the component type of a slice: `impl Pod` has no name.
#[inline(always)]
const fn same<C>(_: &[C], _: PhantomData<C>) {}

/// The panic of [`lanes`] and [`lanes_mut`], out of line.
#[cold]
#[inline(never)]
#[track_caller]
fn refuse<L: Lanes>(bytes: usize, address: usize) -> ! {
    let vector = size_of::<L>();
    let name = std::any::type_name::<L>();
    let (rest, offset) = (bytes % vector, address % vector);
    panic!(
        "a slice of {bytes} bytes, {offset} past a multiple of {vector}, is not whole vectors of \
         {name}: {rest} bytes are left over; take the slices of a `.padded()` query, which are whole \
         vectors of up to 16 lanes where 16 rows fit a chunk"
    )
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    /// Eight rows of three floats on a line of their own: three whole `f32x8`.
    #[derive(Clone, Copy)]
    #[repr(C, align(64))]
    struct Aligned([[f32; 3]; 16]);

    fn counted() -> Aligned {
        Aligned(std::array::from_fn(|row| std::array::from_fn(|field| (row * 3 + field) as f32)))
    }

    #[test]
    fn scalars_are_in_row_order() {
        let rows = counted();
        let flat = scalars::<f32>(&rows.0);
        assert_eq!(flat.len(), 48);
        assert!(flat.iter().enumerate().all(|(i, value)| *value == i as f32));
        assert!(scalars::<f32>(&rows.0[..0]).is_empty());
    }

    #[test]
    fn a_type_aligned_for_registers_is_its_scalars() {
        let mut rows = [bytemuck::cast::<_, F32x16>([1.0f32; 16]); 2];
        let flat = scalars_mut::<f32>(&mut rows);
        assert_eq!(flat, [1.0; 32]);
        flat[31] = -1.0;
        assert_eq!(rows[1].to_array()[15], -1.0);
    }

    #[test]
    fn lanes_are_the_scalars_side_by_side() {
        let mut rows = counted();
        let vectors = lanes::<f32x8>(&rows.0);
        assert_eq!(vectors.len(), 6);
        let expected: [f32; 8] = std::array::from_fn(|lane| (8 + lane) as f32);
        assert_eq!(vectors[1].to_array(), expected);

        for vector in lanes_mut::<f32x16>(&mut rows.0) {
            *vector *= f32x16::splat(2.0);
        }
        assert_eq!(rows.0[15][2], 94.0);
        assert!(lanes::<f32x8>(&rows.0[..0]).is_empty());
    }

    #[test]
    fn a_vector_has_as_many_lanes_as_its_name_says() {
        assert_eq!((f32x4::LEN, f32x16::LEN, f64x8::LEN), (4, 16, 8));
        assert_eq!((i8x64::LEN, u16x8::LEN, u64x2::LEN), (64, 8, 2));
    }

    /// Slices without bytes at addresses at which no vector begins: slices of components of one to
    /// three scalars, and of components without scalars.
    pub(super) fn assert_no_vectors<L: Lanes>() {
        #[derive(Clone, Copy, Zeroable)]
        #[repr(C, align(64))]
        struct Line<S>([S; 3], [[S; 0]; 5]);

        let mut line: Line<L::Scalar> = Zeroable::zeroed();
        assert!(lanes::<L>(&line.0[1..1]).is_empty() && lanes::<L>(&line.1).is_empty());
        assert!(lanes_mut::<L>(&mut line.0[3..]).is_empty());
        assert!(lanes_mut::<L>(&mut line.1).is_empty());
        assert!(scalars::<L::Scalar>(&line.0[1..1]).is_empty());
        assert!(scalars::<L::Scalar>(&line.1).is_empty());
        assert!(scalars_mut::<L::Scalar>(&mut line.1).is_empty());
        // These dangle at the alignment of the component.
        assert!(lanes::<L>(&Vec::<[L::Scalar; 3]>::new()).is_empty());
        assert!(lanes_mut::<L>(&mut Vec::<[L::Scalar; 2]>::new()).is_empty());
        assert!(lanes::<L>(&Vec::<L>::new()).is_empty());
        assert!(scalars::<L::Scalar>(&Vec::<L>::new()).is_empty());
    }

    #[test]
    fn an_empty_slice_is_no_vectors_at_any_address() {
        assert!(OF_EACH.len() > 30, "all types");
        OF_EACH.iter().for_each(|check| check());
    }

    #[test]
    #[should_panic(expected = "4 bytes are left over; take the slices of a `.padded()` query")]
    fn a_slice_that_is_not_whole_vectors_is_refused() {
        let rows = counted();
        let _ = lanes::<f32x8>(&rows.0[..3]);
    }

    #[test]
    #[should_panic(
        expected = "a slice of 96 bytes, 16 past a multiple of 32, is not whole vectors"
    )]
    fn a_slice_that_starts_between_vectors_is_refused() {
        let mut rows = counted();
        let _ = lanes_mut::<f32x8>(&mut scalars_mut::<f32>(&mut rows.0)[4..28]);
    }
}
