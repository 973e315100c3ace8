//! The first panic of several destructors.

use core::mem::needs_drop;

use std::thread::panicking;

use crate::component::{DenseValues, SparseComponent, SparseSink};
use crate::payload::Payload;

/// The first panic of work that continues after it.
#[derive(Debug, Default)]
pub(crate) struct FirstPanic(Option<Payload>);

impl FirstPanic {
    /// Calls `work` until it returns. A call that panics must leave less work.
    pub(crate) fn catch(&mut self, mut work: impl FnMut()) {
        while let Err(panic) = Payload::catch(&mut work) {
            self.0.get_or_insert(panic);
        }
    }

    /// Calls `work` once. `None` if it panics.
    pub(crate) fn call<R>(&mut self, work: impl FnOnce() -> R) -> Option<R> {
        match Payload::catch(work) {
            Ok(returned) => Some(returned),
            Err(panic) => {
                self.0.get_or_insert(panic);
                None
            }
        }
    }

    /// Drops the values from a position on, in their order. O(1) if they have no destructors.
    pub(super) fn drop_from<T>(&mut self, values: &mut DenseValues<T>, first: usize) {
        let Some(rest) = values.get_mut(first..) else { return };
        if !needs_drop::<T>() {
            return values.truncate(first);
        }
        rest.reverse();
        self.catch(|| {
            while values.len() > first {
                drop(values.pop());
            }
        });
    }

    /// Resumes the panic, if there was one.
    #[inline]
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            panic.resume();
        }
    }

    /// Resumes the panic in a destructor, unless the destructor runs because of another panic: a
    /// second one would end the process.
    pub(crate) fn resume_from_drop(self) {
        if !panicking() {
            self.resume();
        }
    }
}

/// Drops the sparse components of a bundle one by one: the destructor of a tuple would end the
/// process at the second panic.
impl SparseSink for FirstPanic {
    #[inline]
    fn put<S: SparseComponent>(&mut self, value: S) {
        let mut value = Some(value);
        self.catch(|| drop(value.take()));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn the_first_panic_goes_on_after_all_work_is_done() {
        let (mut work, mut done) = (0..6, Vec::new());
        let mut first = FirstPanic::default();
        first.catch(|| {
            for i in work.by_ref() {
                done.push(i);
                assert!(i % 3 != 1, "number {i}");
            }
        });
        assert_eq!(done, [0, 1, 2, 3, 4, 5]);
        let panic = catch_unwind(AssertUnwindSafe(|| first.resume())).expect_err("two panicked");
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("number 1"));
        FirstPanic::default().resume();
    }
}
