//! The attribute `#[kernel]`: one body, one function for each instruction set, a choice at each
//! call.
//!
//! The package `phalanx-macros` parses the function, and `__kernel!` writes the expansion. For
//! `fn scale(rows: &mut [f32], by: f32) { … }` it is, with the reason for each part:
//!
//! ```text
//! #[inline]                                     the choice is inlined where the kernel is called
//! fn scale(rows: &mut [f32], by: f32) {
//!     let __shells = {
//!         #[inline(always)]
//!         fn __kernel_body(rows: &mut [f32], by: f32) { … }     written, and type-checked, once
//!         {
//!             #[target_feature(enable = "avx512f,…")]            a real function, so that the
//!             fn avx512(rows: &mut [f32], by: f32) {             slices are parameters and keep
//!                 __kernel_body(rows, by)                        their no-alias facts
//!             }
//!             …
//!             (avx512, avx2, baseline)
//!         }
//!     };
//!     match Level::current() {
//!         Avx512 => unsafe { (__shells.0)(rows, by) }
//!         Avx2   => …
//!         _      => …
//!     }
//! }
//! ```
//!
//! - The body is one `#[inline(always)]` function, not three copies. Copies gave the same assembly
//!   and every error message three times. The function also keeps closures in the body at the
//!   baseline's features, so they may be inlined into anything; a closure inside a
//!   `#[target_feature]` function inherits the features, and so cannot be inlined into an iterator
//!   adaptor, which has none.
//! - The shells are in a block without the body: a body may call a function `avx2` of its own
//!   module. That block names no argument, because an item of a block hides an argument of its
//!   name: it hands the functions out, each with a type of its own, so that calls are direct.
//!   Variables of a macro differ from variables of its caller, so `__shells` hides no argument
//!   either. Generic parameters have no such protection: a constant may not be called like a shell.
//! - They are `#[inline(never)]`: the wide ones could not be inlined anyway, and the narrow one
//!   should not fill the call site with a loop that seldom runs. This also keeps the three symbols.
//! - The `unsafe` block is in this crate's macro, and contains no tokens of the user except names
//!   of arguments. Lints do not apply to macros of other crates, so a crate with
//!   `#![forbid(unsafe_code)]` may use it.
//! - The shells are called with the *names* of the generic parameters (`avx2::<T, N>(…)`),
//!   because a constant that occurs in no argument could not be inferred. Lifetimes and the types
//!   of `impl Trait` are always inferred.
//! - `#[track_caller]` is an attribute of the body and the shells as well. Otherwise the caller of
//!   the body would be a shell. A call of a shell by its type tracks, a call by a pointer does not.

/// Compiles a function once for each instruction set and chooses at the call.
///
/// ```
/// use phalanx::kernel;
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq)]
/// struct Position { x: f32, y: f32, z: f32 }
/// #[derive(Clone, Copy, Debug, Default, PartialEq)]
/// struct Velocity { x: f32, y: f32, z: f32 }
///
/// /// One Euler step.
/// #[kernel]
/// pub fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
///     for (p, v) in position.iter_mut().zip(velocity) {
///         p.x += v.x * dt;
///         p.y += v.y * dt;
///         p.z += v.z * dt;
///     }
/// }
///
/// let mut position = [Position::default(); 100];
/// let velocity = [Velocity { x: 1.0, y: 2.0, z: 3.0 }; 100];
/// integrate(&mut position, &velocity, 0.5);
/// assert_eq!(position[99], Position { x: 0.5, y: 1.0, z: 1.5 });
/// ```
///
/// The result is an ordinary safe function of the same name and signature. It reads
/// [`Level::current`](crate::Level::current) and calls the copy that was compiled for that level: 1
/// to 3 ns, once a chunk. Outside of x86-64 it is the plain function.
///
/// # Why a function
///
/// Instruction sets belong to functions, and so do the no-alias facts of slices that let LLVM
/// vectorise without overlap checks. Give each column its own parameter: slices in a tuple or in a
/// struct lose those facts. The loop belongs inside: a kernel for one row would choose the
/// instruction set at every row.
///
/// # Syntax
///
/// A function is `visibility fn name<generics>(name: Type, …) -> Type where … { body }`.
/// Arguments may be patterns and `impl Trait`. Generic types, constants and lifetimes work, with
/// their bounds:
///
/// ```
/// # use phalanx::kernel;
/// use std::ops::Mul;
///
/// #[kernel]
/// pub fn scale<T: Mul<Output = T> + Copy>(rows: &mut [T], by: T) {
///     for row in rows {
///         *row = *row * by;
///     }
/// }
///
/// /// The number of rows that end with `N` zeros.
/// #[kernel]
/// #[must_use]
/// pub fn zero_tails<const N: usize>(rows: &[u32]) -> usize {
///     rows.iter().filter(|row| row.trailing_zeros() as usize >= N).count()
/// }
///
/// let mut rows = [1.0, 2.0, 3.0];
/// scale(&mut rows, 2.0);
/// assert_eq!(rows, [2.0, 4.0, 6.0]);
/// assert_eq!(zero_tails::<3>(&[8, 4, 16]), 2);
/// ```
///
/// `self`, `const`, `async` and `unsafe` are not supported, and the return type must be a named
/// one. Functions, arguments and generic types may have any name. A constant in the signature, a
/// generic one or the length of an array, may not be called `baseline`, `avx2` or `avx512`, which
/// are the names of the copies. Attributes are documentation, `cfg`, lint levels, `must_use`,
/// `deprecated`, `inline`, `cold` and `track_caller`, with which a panic names the caller of the
/// kernel.
///
/// ```compile_fail
/// #[phalanx::kernel]
/// fn tails<const avx2: usize>(rows: &[u32]) -> usize { rows.len() / avx2 }
/// ```
///
/// # Helper functions
///
/// Functions that a kernel calls must be inlined, or they run at the baseline: mark helpers
/// `#[inline(always)]`. A kernel may call another kernel, but that call chooses the level again,
/// and the inner loop is not fused with the outer one; prefer a helper.
///
/// ```
/// # use phalanx::kernel;
/// #[inline(always)]
/// fn clamped(x: f32) -> f32 {
///     if x > 1.0 { 1.0 } else { x }
/// }
///
/// #[kernel]
/// fn clamp_all(rows: &mut [f32]) {
///     for row in rows {
///         *row = clamped(*row);
///     }
/// }
/// # let mut rows = [0.5, 2.0];
/// # clamp_all(&mut rows);
/// # assert_eq!(rows, [0.5, 1.0]);
/// ```
///
/// # Checking vectorisation
///
/// Each copy is a symbol: `integrate::baseline`, `integrate::avx2`, `integrate::avx512`. Inspect it
/// with `cargo asm`, `objdump -d` or `perf annotate`. Good signs are `ymm` (or `zmm`) registers in
/// instructions that end in `ps` or `pd` (packed, not the scalar `ss` and `sd`), and no `call`
/// inside the loop. Or time `Level::pin(Level::Baseline)` against the default.
///
/// The most frequent obstacles: a `panic!` in the loop (use `zip`, not `[i]`), a float sum (use
/// [`fold`](crate::simd::fold)), an early `return` or `break`, a call to a function that was not
/// inlined (`f32::sin` and its like are library calls). A kernel that writes some fields of a
/// struct and not others becomes a scatter at AVX-512: split the component, or write all fields.
///
/// # Safety without `unsafe`
///
/// The one `unsafe` call, of a function with `#[target_feature]`, is in the macro, and crates that
/// forbid unsafe code may use it. The body is outside of that block: unsafe code in a body needs
/// its own.
///
/// ```
/// #![forbid(unsafe_code)]
///
/// #[phalanx::kernel]
/// fn negate(rows: &mut [i32]) {
///     for row in rows {
///         *row = -*row;
///     }
/// }
/// # let mut rows = [1, -2];
/// # negate(&mut rows);
/// # assert_eq!(rows, [-1, 2]);
/// ```
///
/// ```compile_fail,E0133
/// #[phalanx::kernel]
/// fn first(rows: &[f32]) -> f32 {
///     *rows.get_unchecked(0)
/// }
/// ```
pub use phalanx_macros::kernel;

/// The functions that `#[kernel]` writes.
///
/// Its parts are the attributes, the visibility and the name; `track_caller`, if it is one of the
/// attributes; the generic parameters as written, and their names; for each argument the pattern,
/// the name and the type; the rest of the signature, and the body.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    (
        @function { [$($attribute:tt)*] [$($visibility:tt)*] $name:ident }
        [$($track:tt)*] [$($generic:tt)*] [$($parameter:ident)*]
        [$({ [$($pattern:tt)*] $argument:ident : $type:ty })*]
        [$($return:tt)*] [$($bound:tt)*] { $($body:tt)* }
    ) => {
        $($attribute)*
        $($track)*
        #[inline]
        $($visibility)* fn $name<$($generic)*>($($argument: $type),*) $($return)* $($bound)* {
            let __shells = {
                $($track)*
                #[inline(always)]
                fn __kernel_body<$($generic)*>($($($pattern)*: $type),*) $($return)*
                $($bound)* {
                    $($body)*
                }

                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
                    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
                    #[inline(never)]
                    $($track)*
                    fn avx512<$($generic)*>($($argument: $type),*) $($return)* $($bound)* {
                        __kernel_body::<$($parameter),*>($($argument),*)
                    }

                    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c,movbe")]
                    #[inline(never)]
                    $($track)*
                    fn avx2<$($generic)*>($($argument: $type),*) $($return)* $($bound)* {
                        __kernel_body::<$($parameter),*>($($argument),*)
                    }

                    #[inline(never)]
                    $($track)*
                    fn baseline<$($generic)*>($($argument: $type),*) $($return)* $($bound)* {
                        __kernel_body::<$($parameter),*>($($argument),*)
                    }

                    (
                        avx512::<$($parameter),*>,
                        avx2::<$($parameter),*>,
                        baseline::<$($parameter),*>,
                    )
                }
                #[cfg(not(target_arch = "x86_64"))]
                {
                    (__kernel_body::<$($parameter),*>,)
                }
            };

            #[cfg(target_arch = "x86_64")]
            match $crate::Level::current() {
                // SAFETY: `Level::current` only returns levels that `Level::is_supported` has found
                // supported, and for this one it checks the features of the shell.
                $crate::Level::Avx512 => unsafe { (__shells.0)($($argument),*) },
                // SAFETY: `Level::current` has found the shell's features, as for AVX-512.
                $crate::Level::Avx2 => unsafe { (__shells.1)($($argument),*) },
                _ => (__shells.2)($($argument),*),
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                (__shells.0)($($argument),*)
            }
        }
    };
}
