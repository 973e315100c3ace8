//! The threads that share work: the calling thread, and helpers from a pool.
//!
//! The calling thread always takes part. It need not be woken, while the threads of a pool sleep
//! when there is no work; on two virtual cores of a Zen 4 server the first one takes 24 to 64 µs
//! to begin. If the caller waited meanwhile, two systems of 150 µs, in a frame that begins after
//! 1 ms of other work, would take 355 µs instead of 215, and a loop of 82 µs 137 instead of 65.
//!
//! Work ends when all helpers that were called have ended, also those that came too late to find
//! any. So a helper is called only if a thread of the pool is free: a [`Crew`] counts them.
//!
//! A schedule may choose the threads. The parallel loops in its systems ask here, so that they use
//! these threads and no others, also on the caller's thread.

use core::cell::RefCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use rayon::{Scope, ThreadPool};

thread_local! {
    static CHOSEN: RefCell<Option<Threads>> = const { RefCell::new(None) };
}

/// The global pool of rayon, for callers that are in no pool.
static GLOBAL: LazyLock<Arc<Crew>> =
    LazyLock::new(|| Arc::new(Crew::around(rayon::current_num_threads(), 0)));

/// The threads that work is shared among.
#[derive(Clone, Debug)]
pub(crate) enum Threads {
    /// The calling thread alone.
    One,
    /// The calling thread and helpers.
    Crew(Arc<Crew>),
}

/// The threads of a pool, and how many of them help.
#[derive(Debug)]
pub(crate) struct Crew {
    /// `None` for the pool around the calling thread.
    pool: Option<ThreadPool>,
    /// Threads of the pool that may be called.
    len: usize,
    called: AtomicUsize,
}

impl Crew {
    /// The threads of a pool that callers are not in. It has a thread for each that works, so that
    /// the work of a helper finds another one while the caller waits.
    pub(crate) fn of_pool(pool: ThreadPool) -> Self {
        Self { len: pool.current_num_threads(), pool: Some(pool), called: AtomicUsize::new(0) }
    }

    /// The threads of the pool around the calling thread, of which some are taken.
    const fn around(len: usize, called: usize) -> Self {
        Self { len, pool: None, called: AtomicUsize::new(called) }
    }

    fn free(&self) {
        self.called.fetch_sub(1, Ordering::Relaxed);
    }

    /// Takes a free thread.
    fn take(&self) -> bool {
        let more = |called| (called < self.len).then_some(called + 1);
        self.called.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// Calls helpers for some work, which lasts for `'s` at least.
pub(crate) struct Helpers<'h, 's> {
    scope: &'h Scope<'s>,
    crew: Arc<Crew>,
}

impl<'s> Helpers<'_, 's> {
    /// Calls a helper for a job, unless all threads of the pool help already.
    pub(crate) fn call(&self, job: impl FnOnce(&Helpers<'_, 's>) + Send + 's) -> bool {
        /// Frees the thread, also after a panic.
        struct Free(Arc<Crew>);

        impl Drop for Free {
            fn drop(&mut self) {
                self.0.free();
            }
        }

        let is_free = self.crew.take();
        if is_free {
            let taken = Free(Arc::clone(&self.crew));
            self.scope.spawn(move |scope| {
                let crew = Arc::clone(&taken.0);
                let helpers = Helpers { scope, crew: Arc::clone(&crew) };
                Threads::Crew(crew).during(|| job(&helpers));
            });
        }
        is_free
    }
}

impl Threads {
    /// Calls `work`, and parallel work that it begins on this thread uses these threads.
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

    fn chosen() -> Option<Self> {
        CHOSEN.with_borrow(Clone::clone)
    }

    /// The number of threads that share work which begins now, with the calling one.
    pub(crate) fn count() -> usize {
        match Self::chosen() {
            Some(Self::One) => 1,
            Some(Self::Crew(crew)) => match &crew.pool {
                Some(pool) => pool.current_num_threads(),
                None => rayon::current_num_threads(),
            },
            None => rayon::current_num_threads(),
        }
    }

    /// Calls `work` on this thread, with helpers of the chosen threads, or if none are chosen, of
    /// the pool around this thread. Returns when the work and all helpers have ended.
    pub(crate) fn scope<'s, R>(work: impl FnOnce(&Helpers<'_, 's>) -> R) -> R {
        let is_pooled = rayon::current_thread_index().is_some();
        let (crew, is_taken) = match Self::chosen() {
            Some(Self::Crew(crew)) => (crew, false),
            _ if !is_pooled => (Arc::clone(&GLOBAL), false),
            _ => (Arc::new(Crew::around(rayon::current_num_threads(), 1)), true),
        };
        let begin = |scope: &Scope<'s>| {
            let result = work(&Helpers { scope, crew: Arc::clone(&crew) });
            // A thread of the pool helps others while it waits.
            if is_taken {
                crew.free();
            }
            result
        };
        match &crew.pool {
            Some(pool) => pool.in_place_scope(begin),
            None => rayon::in_place_scope(begin),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    use super::*;

    fn crew(threads: usize) -> Threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Threads::Crew(Arc::new(Crew::of_pool(pool.expect("threads"))))
    }

    #[test]
    fn par_the_outer_choice_is_back_after_the_inner_one_and_after_a_panic() {
        let count = || Threads::chosen().map(|_| Threads::count());
        assert_eq!(count(), None);
        Threads::One.during(|| {
            let torn = catch_unwind(AssertUnwindSafe(|| {
                crew(3).during(|| {
                    assert_eq!(count(), Some(3));
                    panic!("halfway");
                });
            }));
            assert!(torn.is_err() && count() == Some(1));
        });
        assert_eq!(count(), None);
    }

    #[test]
    fn par_no_more_helpers_are_called_than_threads_are_free() {
        crew(2).during(|| {
            for _ in 0..3 {
                let all = Barrier::new(3);
                Threads::scope(|helpers| {
                    let called = [(); 3].map(|()| helpers.call(|_| _ = all.wait()));
                    assert_eq!(called, [true, true, false]);
                    all.wait();
                });
            }
            // Helpers of outer work are not free for inner work, and those that panic are.
            let torn = catch_unwind(AssertUnwindSafe(|| {
                Threads::scope(|helpers| {
                    helpers.call(|_| {
                        let inner =
                            |helpers: &Helpers<'_, '_>| [(); 2].map(|()| helpers.call(|_| ()));
                        assert_eq!(Threads::scope(inner), [true, false], "of two, one is here");
                        panic!("halfway");
                    })
                });
            }));
            assert!(torn.is_err());
            assert!(Threads::scope(|helpers| helpers.call(|_| ()) && helpers.call(|_| ())));
        });
    }
}
