//! The threads of the parallel loops in a system, if its schedule has chosen them.
//!
//! A stage whose systems run one after the other stays on the caller's thread, outside of the
//! schedule's own pool. A parallel loop in such a system asks here, so that it uses the threads of
//! the schedule and no others.

use core::cell::RefCell;
use std::sync::Arc;

use rayon::ThreadPool;

thread_local! {
    static CHOSEN: RefCell<Option<LoopThreads>> = const { RefCell::new(None) };
}

/// The threads that a schedule has chosen.
#[derive(Clone, Debug)]
pub(crate) enum LoopThreads {
    /// The calling thread alone.
    One,
    /// The threads of a pool.
    Pool(Arc<ThreadPool>),
}

impl LoopThreads {
    /// Calls `work`, and parallel loops that it begins on this thread use these threads.
    pub(crate) fn during<R>(self, work: impl FnOnce() -> R) -> R {
        /// Puts the outer choice back, also after a panic.
        struct Outer(Option<LoopThreads>);

        impl Drop for Outer {
            fn drop(&mut self) {
                CHOSEN.set(self.0.take());
            }
        }

        let _outer = Outer(CHOSEN.replace(Some(self)));
        work()
    }

    /// The choice for a loop that begins now; `None` if the pool around the thread is used.
    pub(super) fn chosen() -> Option<Self> {
        CHOSEN.with_borrow(Clone::clone)
    }

    /// The number of threads.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::One => 1,
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Calls `work` where its tasks run on these threads.
    pub(super) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn par_the_outer_choice_is_back_after_the_inner_one_and_after_a_panic() {
        let count = || LoopThreads::chosen().map(|chosen| chosen.count());
        assert_eq!(count(), None);
        LoopThreads::One.during(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
            let torn = catch_unwind(AssertUnwindSafe(|| {
                LoopThreads::Pool(Arc::new(pool)).during(|| {
                    assert_eq!(count(), Some(3));
                    panic!("halfway");
                });
            }));
            assert!(torn.is_err() && count() == Some(1));
        });
        assert_eq!(count(), None);
    }
}
