//! Read borrows, which may be forgotten.
//!
//! A resource, a sparse set and an event queue each have a lock, on which no thread ever waits. The
//! run of a system holds the locks of its parameters, and hands out references, which end with the
//! run even if the system forgets them. In a shared world only the guard can hold the lock, and a
//! forgotten guard would hold it forever. It has no borrow left when the world is borrowed
//! exclusively. So exclusive borrows do not look at locks, and a stage of systems, which does,
//! first renews the locks that are still held ([`Lent`]).

use core::ops::Deref;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{RwLock, RwLockReadGuard, TryLockError};

/// A value that is borrowed for reading.
#[derive(Debug)]
pub(crate) enum ReadGuard<'w, T> {
    /// A guard from a shared world.
    Lock(RwLockReadGuard<'w, T>),
    /// A reference from a system. The run of the system holds the lock.
    Granted(&'w T),
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Lock(guard) => guard,
            Self::Granted(value) => value,
        }
    }
}

/// Whether guards were handed out from a shared world since its locks were renewed.
#[derive(Debug, Default)]
pub(crate) struct Lent(AtomicBool);

impl Lent {
    /// Must be called before a guard is handed out.
    #[inline]
    pub(crate) fn note(&self) {
        // Usually only read, so that the cache line is not moved between cores.
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether forgotten guards may hold locks. The caller renews the locks.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        core::mem::take(self.0.get_mut())
    }
}

/// Whether a lock is held although it is borrowed exclusively: by a forgotten guard.
pub(crate) fn is_held<T>(lock: &RwLock<T>) -> bool {
    matches!(lock.try_write(), Err(TryLockError::WouldBlock))
}
