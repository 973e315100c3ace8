//! SIMD: kernels compiled once for each instruction set, folds, and vector views of columns.
//!
//! [`#[kernel]`](macro@crate::kernel) compiles a function once for each [`Level`]. [`mod@fold`] has
//! reductions; [`scalars`] and [`lanes()`] are views of columns as numbers and as vectors, and
//! [`vectors`] has vectors and masks that follow the level. [`overwrite()`] stores rows past the
//! caches if they are written and not read.
//!
//! # Why kernels are functions and not closures
//!
//! A query produces slices; a kernel computes on them. The kernel could have been a closure given
//! to the query, as in other libraries. It is a function, made by [`#[kernel]`](crate::kernel), for
//! three reasons.
//!
//! 1. **Instruction sets belong to functions.** `#[target_feature]` is an attribute of a function,
//!    and LLVM inlines code into a function of more features, never of fewer. A closure is compiled
//!    for the baseline; it runs at full width only if the optimiser inlines it completely into a
//!    function that has the features. If it does not, there is no warning and the loop runs at
//!    SSE2. A body of six columns in a tuple closure took 0.34 ns a row at every level, where
//!    `#[kernel]` took 0.22 at AVX2; a long body 47.8 ns, where `#[kernel]` took 24.1 at AVX2 and
//!    19.1 at AVX-512 (Zen 4).
//! 2. **No-alias facts belong to parameters.** That `&mut [Position]` and `&[Velocity]` do not
//!    overlap is passed to LLVM as an attribute of a function's parameters. Slices in a tuple or in
//!    a captured environment have lost it, and the loop gets run-time overlap checks and a scalar
//!    copy of itself as a fallback, or is not vectorised at all.
//! 3. **A function has a name.** It can be read, tested, timed and looked up in a profile or in
//!    the assembly without the query: `integrate::avx2` is a symbol.
//!
//! The cost is one relaxed load, a predictable branch and a call for each chunk: 1 to 3 ns, which
//! cannot be measured from 128 rows on.
//!
//! # Kernels over a whole query
//!
//! A kernel may take a query, and choose the level once a pass: `#[kernel] fn scale(data:
//! Query<&mut Data>)`, with the loop over chunks inside. Nanoseconds a row of builds without and
//! with LTO (Zen 4, AVX-512; one number if they agree):
//!
//! | rows in each archetype | 26 of 20 | 1,000 of 20 | 100,000 |
//! | --- | --- | --- | --- |
//! | one float: a kernel for each slice, by `for` | 0.23 | 0.32 | 0.05 |
//! | … a kernel for each slice, by `for_each` | 0.21, 0.20 | 0.25 | 0.05 |
//! | … a kernel over the query, by `for` | 0.28 to 0.45, 0.25 | 0.29 | 0.05 |
//! | … a kernel over the query, by `for_each` | 0.20 | 0.24 | 0.09 |
//! | three floats of two columns: a kernel for each slice | 0.35, 0.37 | 0.56 | 0.31 |
//! | … a kernel over the query, by `for` | 0.41, 0.39 | 0.57 | 0.31 |
//! | … a kernel over the query, by `for_each` | 1.2 | 2.0 | 1.1 |
//!
//! So it is correct, and not recommended: the two reasons above apply to it. Code between the
//! chunks, such as `fold`, has no features of its own, and a closure that stays a call from there
//! runs at the baseline; slices that come from an iterator may overlap as far as LLVM knows. With
//! `fold` always inlined the float by `for_each` took 0.19, but the three floats still 1.2.
//! Functions over slices lose at no size. `query.into_iter().for_each(kernel)` saves a tenth in
//! archetypes of a few rows, because the cursor stays in registers.
//!
//! # The three layers
//!
//! ```text
//! Level::current()            which instruction set       one atomic load
//!        |
//! shells of #[kernel]         baseline | avx2 | avx512    #[target_feature], slice parameters
//!        |
//! the body                    written once                #[inline(always)] into each shell
//! ```
//!
//! All levels give the same bits. Rust does not contract `a * b + c` into a fused multiply-add, and
//! the optimiser may not reorder float arithmetic; so a wider level does the same operations on
//! more rows at a time. This is also why a float reduction is never vectorised automatically, and
//! why [`fold`] exists: it defines an order of additions that vectors can follow.
//!
//! # Choosing a tool for a loop
//!
//! | the loop | write |
//! | --- | --- |
//! | field by field over rows | the plain loop over slices of structs, in a `#[kernel]` |
//! | the same arithmetic on every field | [`scalars`] and the plain loop: full width also at baseline |
//! | a sum, a minimum, a maximum, a dot product | [`fold`] |
//! | a loop in a loop, masks, loops that LLVM does not vectorise | [`lanes()`] and [`vectors`] |
//! | shuffles, and integers of 8 or 16 bits | [`lanes()`] and `wide`, in a build with `-C target-cpu`; over padded rows `u8x16` and `u16x16` |

// | file | holds |
// | --- | --- |
// | `kernel` | the attribute |
// | `level`, `current_level`, `level_error` | instruction sets, the choice, and its errors |
// | `fold` | reductions |
// | `lanes` | views of columns |
// | `vectors` | vectors and masks |
// | `overwrite` | stores past the caches |

mod current_level;
pub mod fold;
mod kernel;
mod lanes;
mod level;
mod level_error;
mod overwrite;
pub mod vectors;

pub use kernel::kernel;
pub use lanes::{Lanes, Scalar, lanes, lanes_mut, scalars, scalars_mut};
pub use level::{Level, ParseLevelError};
pub use level_error::{LevelError, UnsupportedLevel};
pub use overwrite::{Stores, overwrite};
