//! A hint to load a cache line before it is needed.

#![cfg_attr(
    all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)),
    expect(unsafe_code, reason = "the instruction is a function of the processor's module")
)]

/// Asks the processor to load the line at `address`, which may be any address at all: a hint never
/// fails. Has no effect if the processor lacks such an instruction.
///
/// For addresses that the hardware cannot predict: the rows of a list of entities. It loads
/// consecutive memory by itself.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch changes only the contents of caches, and an address without memory is
        // ignored (Intel's manual, volume 2, PREFETCHh).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as on x86-64 (Arm's reference manual, PRFM).
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{}]", in(reg) address,
            options(nostack, readonly, preserves_flags),
        );
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}
