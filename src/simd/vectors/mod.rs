//! Vectors and masks that are as wide as the kernel around them, in every build.
//!
//! [`F32x16`], [`F64x8`], [`I32x16`] and [`U32x16`] are one cache line each. In a
//! [`#[kernel]`](crate::kernel) they are four registers at the baseline, two at AVX2 and one at
//! AVX-512, without `target-cpu`. [`lanes`](crate::simd::lanes()) shows a column as vectors of
//! them.
//!
//! # When
//!
//! Write the plain loop first: where LLVM vectorises it, vectors are not faster. It does not
//! vectorise these:
//!
//! - a loop over rows with another loop in it, such as one over sources of a force;
//! - a sum in an order other than the order of the rows ([`fold`](mod@crate::simd::fold) has such
//!   sums of one column);
//! - a step that is left out if no row of a vector needs it.
//!
//! All three in one kernel: rows near a few sources; their number is known at run time.
//!
//! ```
//! use phalanx::prelude::*;
//! use phalanx::simd::vectors::F32x16;
//!
//! #[component]
//! struct Place(f32);
//! #[component]
//! struct Pull(f32);
//!
//! /// Adds what each source pulls at the rows. Returns the sum of the pulls.
//! #[kernel]
//! fn attract(place: &[F32x16], pull: &mut [F32x16], sources: &[f32]) -> f32 {
//!     let mut sum = F32x16::splat(0.0);
//!     for (place, pull) in place.iter().zip(pull) {
//!         for source in sources {
//!             let distance = F32x16::splat(*source) - *place;
//!             let squared = distance * distance + 0.01;
//!             let is_near = squared.simd_lt(F32x16::splat(4.0));
//!             if is_near.any() {
//!                 let added = distance / (squared * squared.sqrt());
//!                 *pull += is_near.select(added, F32x16::splat(0.0));
//!             }
//!         }
//!         sum += *pull;
//!     }
//!     sum.reduce_add()
//! }
//!
//! let mut world = World::new();
//! world.spawn_batch((0..100).map(|i| (Place(i as f32), Pull(0.0))));
//! for (place, pull) in world.query_mut::<(&Place, &mut Pull)>().padded() {
//!     attract(lanes(place), lanes_mut(pull), &[3.5, 10.5]);
//! }
//! assert_eq!(world.query::<&Pull>().rows().filter(|pull| pull.0 != 0.0).count(), 8);
//! ```
//!
//! Nanoseconds a row, medians of five runs on a Zen 5 that other programs used at the same time.
//! The force is of eight sources; the last column is a build with `-C target-cpu=x86-64-v3`:
//!
//! | | baseline | AVX2 | AVX-512 | AVX2, v3 build |
//! | --- | --- | --- | --- | --- |
//! | the force, plain loop | 21.2 | 20.9 | 21.0 | 18.5 |
//! | … `F32x16` | 7.7 | 2.66 | 1.32 | 2.46 |
//! | … `wide::f32x8` | 6.4 | 5.2 | 5.1 | 2.52 |
//! | two masks, three selects, plain loop | 0.43 | 0.13 | 0.11 | 0.10 |
//! | … `F32x16` | 0.49 | 0.14 | 0.10 | 0.10 |
//! | … `wide::f32x8` | 0.48 | 0.42 | 0.31 | 0.11 |
//!
//! # The same bits at every level
//!
//! Each operation is the scalar operation, lane by lane. Multiplication is never fused with
//! addition, reciprocals are not estimated, and the only rounding to integers is the rounding of
//! `as`: SSE2 has no instruction for `floor`, and a call for each lane costs more than the rest of
//! a kernel.
//!
//! | operation | for NaN, zeros and overflow |
//! | --- | --- |
//! | `+ - * /`, `sqrt` | as for scalars; the sign and the payload of a NaN are not defined |
//! | `simd_eq`, `simd_lt`, … | false for NaN, but `simd_ne`; `-0.0` equals `0.0` |
//! | `min`, `max` | the second, if one is NaN or both are zeros |
//! | `select` | all bits of the chosen lane |
//! | `abs`, unary `-` | change the sign only |
//! | integers | wrap around |
//! | subnormals | kept, never flushed to zero |
//!
//! # Why a register type and scalar code
//!
//! `#[target_feature]` belongs to functions, and the functions of vectors in `core::arch` each
//! require their own. A vector that is as wide as the kernel around it needs operations that name
//! no instruction set, and Rust has these for scalars only. LLVM joins equal scalar operations of
//! neighbours to one vector operation, where it finds them. Four forms were tried:
//!
//! - `[f32; 16]` with loops, masks as `bool` or as words, aligned or not: held as sixteen scalars;
//!   LLVM often joins only four of them, or none. A select took 0.19 ns at AVX2 and 0.55 at
//!   AVX-512, where the plain loop takes 0.04 and 0.02.
//! - Four SSE registers: never joined. That is also `wide` in a default build.
//! - The type `__m512`, read and written as an array: the value is one vector for LLVM, and the
//!   scalar operations between its ends are joined at the width of the level. A type is not an
//!   instruction, so SSE2 splits it.
//! - The same with the lanes written out in place of a loop, which is unrolled too late: 1.17 ns in
//!   place of 1.85 for the force at AVX-512, 2.4 in place of 3.3 at AVX2.
//!
//! This module has the last form. `tests/simd/codegen.rs` holds it to full registers.
//!
//! Outside of x86-64 the vectors are arrays. Kernels have one level there; prefer `wide`, which has
//! NEON, for loops that LLVM does not vectorise.

// | file | holds |
// | --- | --- |
// | `register` | the types of the vectors and masks, and their storage |
// | `elementwise` | one function applied to all lanes, written out |
// | `arithmetic` | operators, comparisons, extremes and reductions of all vectors |
// | `floats`, `integers` | the operations of vectors of floats only, and of integers only |
// | `mask` | choices, logic, and tests of all lanes together |

mod arithmetic;
mod elementwise;
mod floats;
mod integers;
mod mask;
mod register;

pub use register::{F32x16, F64x8, I32x16, Mask8, Mask16, U32x16};
