//! Numbers that identify something in the whole process: a world, a list of chunks, a lock.
//!
//! A thread takes about a thousand of them at once from the shared counter, since an atomic
//! addition takes some twenty cycles on x86-64. An empty world needs three numbers, and an
//! archetype two.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers that a thread takes at once.
const TAKEN: u64 = 1 << 10;

/// A number that no other call returns, in any thread. Never zero.
#[inline]
pub(crate) fn unique_number() -> u64 {
    thread_local! {
        /// The next number of this thread. A multiple of [`TAKEN`] if it has none left.
        static NEXT: Cell<u64> = const { Cell::new(0) };
    }
    let number = match NEXT.get() {
        used_up if used_up.is_multiple_of(TAKEN) => take(),
        number => number,
    };
    NEXT.set(number + 1);
    number
}

/// The first of more numbers for this thread.
#[cold]
fn take() -> u64 {
    // The counter ends after 2⁵⁴ threads. With one in each microsecond that takes 571 years.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(TAKEN, Ordering::Relaxed) + 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    #[test]
    fn no_two_calls_of_any_threads_return_one_number() {
        let own = || (0..3 * TAKEN).map(|_| unique_number()).collect::<Vec<_>>();
        let mut all = own();
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(own)).collect();
        threads
            .into_iter()
            .for_each(|thread| all.extend(thread.join().expect("it does not panic")));
        let distinct: HashSet<_> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(!distinct.contains(&0), "zero means no number");
    }
}
