//! Huge pages: larger pages of the system, for memory that is streamed through.

#![cfg_attr(
    all(target_os = "linux", not(miri)),
    expect(unsafe_code, reason = "a call of the system")
)]

use core::ptr::NonNull;

/// The size and alignment of a huge page, on machines that have them.
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Advises the system to use huge pages for an allocation.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn advise_huge_pages(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the range is one allocation of this process, and this advice does not change its
    // contents.
    let refused = unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
    // A system without huge pages refuses. In this case the slab has ordinary pages.
    let _ = refused;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) const fn advise_huge_pages(_base: NonNull<u8>, _bytes: usize) {}
