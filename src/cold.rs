//! Calls that a loop hardly ever makes, and that leave its sums in their registers.
//!
//! By the convention of x86-64 outside of Windows a call may change all vector registers. If a loop
//! has a call on any of its ways, a sum that it keeps in such a register is stored and loaded in
//! each turn, also in turns without the call: every addition waits for a store. `win64` is the
//! convention whose calls keep the registers `xmm6` to `xmm15`, for numbers and vectors of 128
//! bits, and Rust has it on every system. The function itself saves those that it changes, which
//! costs only those who call it. On other processors the usual convention keeps some (AArch64: the
//! lower halves of `v8` to `v15`).
//!
//! A panic in such a function ends the process. Its frame cannot be unwound: the unwinders of other
//! systems than Windows do not restore the registers that `win64` keeps and the usual convention
//! does not, so `win64-unwind` gave the callers wrong registers. Only a defect of this crate is a
//! panic there.
//!
//! A sum of 1,000,000 values, each looked up by its entity in random order in a release build
//! without LTO (Zen 4, other programs beside): 4.2 to 7.9 ns a value with a usual call for far
//! slots, which is never made there, and 3.2 to 3.5 with this one.

/// Defines functions that are cold, are not inlined, and keep vector registers of their callers.
/// They must not panic.
macro_rules! cold_fn {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident [$($generics:tt)*] ($($argument:ident: $type:ty),* $(,)?)
            -> $result:ty $body:block
    )*) => { $(
        $(#[$attribute])*
        #[cfg(target_arch = "x86_64")]
        #[cold]
        #[inline(never)]
        #[allow(improper_ctypes_definitions, reason = "caller and function are both of this crate")]
        $visibility extern "win64" fn $name<$($generics)*>($($argument: $type),*)
            -> $result $body

        $(#[$attribute])*
        #[cfg(not(target_arch = "x86_64"))]
        #[cold]
        #[inline(never)]
        $visibility fn $name<$($generics)*>($($argument: $type),*) -> $result $body
    )* };
}

pub(crate) use cold_fn;
