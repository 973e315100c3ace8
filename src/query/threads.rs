//! The threads that share work: the calling thread, and those of a pool.
//!
//! The calling thread always takes part. It need not be woken, while the threads of a pool sleep
//! when there is no work; on two virtual cores of a Zen 4 server the first one takes 24 to 64 µs to
//! begin. If the caller waited meanwhile, two systems of 150 µs, in a frame that begins after 1 ms
//! of other work, would take 355 µs instead of 215, and a loop of 82 µs 137 µs instead of 65.
//!
//! A schedule may choose the threads. The parallel loops in its systems ask here, so that they use
//! these threads and no others, also on the caller's thread, which is outside of the pool.

use core::cell::RefCell;
use std::sync::Arc;

use rayon::{Scope, ThreadPool};

thread_local! {
    static CHOSEN: RefCell<Option<Threads>> = const { RefCell::new(None) };
}

/// The threads that a schedule has chosen for its systems and their loops.
#[derive(Clone, Debug)]
pub(crate) enum Threads {
    /// The calling thread alone.
    One,
    /// The calling thread, and the threads of a pool. One of these is left over for a loop when the
    /// caller waits.
    Pool(Arc<ThreadPool>),
}

impl Threads {
    /// Calls `work`, and parallel loops that it begins on this thread use these threads.
    pub(crate) fn during<R>(self, work: impl FnOnce() -> R) -> R {
        /// Puts the outer choice back, also after a panic.
        struct Outer(Option<Threads>);

        impl Drop for Outer {
            fn drop(&mut self) {
                CHOSEN.set(self.0.take());
            }
        }

        let _outer = Outer(CHOSEN.replace(Some(self)));
        work()
    }

    /// The choice for work that begins now; `None` if the pool around the thread is used.
    fn chosen() -> Option<Self> {
        CHOSEN.with_borrow(Clone::clone)
    }

    /// The number of threads that share work which begins now, with the calling one.
    pub(crate) fn count() -> usize {
        match Self::chosen() {
            Some(Self::One) => 1,
            Some(Self::Pool(pool)) => pool.current_num_threads(),
            None => rayon::current_num_threads(),
        }
    }

    /// Calls `work` on this thread. What it spawns runs on the chosen threads, or if none are
    /// chosen, on those of the pool around this thread. Returns when all has ended.
    pub(crate) fn scope<'s, R>(work: impl FnOnce(&Scope<'s>) -> R) -> R {
        match Self::chosen() {
            Some(Self::Pool(pool)) => pool.in_place_scope(work),
            Some(Self::One) | None => rayon::in_place_scope(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn par_the_outer_choice_is_back_after_the_inner_one_and_after_a_panic() {
        let count = || Threads::chosen().map(|_| Threads::count());
        assert_eq!(count(), None);
        Threads::One.during(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
            let torn = catch_unwind(AssertUnwindSafe(|| {
                Threads::Pool(Arc::new(pool)).during(|| {
                    assert_eq!(count(), Some(3));
                    panic!("halfway");
                });
            }));
            assert!(torn.is_err() && count() == Some(1));
        });
        assert_eq!(count(), None);
    }
}
