//! Borrows for reading, which may be forgotten.
//!
//! A resource, a side table and an event queue each have a lock, on which no thread ever waits. The
//! run of a system holds the locks of its parameters, and hands out references: whatever the system
//! forgets, the run ends them. In a shared world nothing but the guard can hold the lock, and one
//! that is forgotten would hold it for ever. It is void when the world is borrowed exclusively. So
//! exclusive borrows do not look at locks, and a stage of systems, which does, first renews those
//! that are still held ([`Lent`]).

use core::ops::Deref;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{RwLock, RwLockReadGuard, TryLockError};

/// A value that is borrowed for reading.
#[derive(Debug)]
pub(crate) enum ReadGuard<'w, T> {
    /// From a shared world.
    Lock(RwLockReadGuard<'w, T>),
    /// By a system, whose run holds the lock.
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
        // Mostly only read, so that the line stays where it is.
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether locks may be held by forgotten guards. The caller renews them.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        core::mem::take(self.0.get_mut())
    }
}

/// Whether a lock that is borrowed exclusively is held: by a guard that was forgotten.
pub(crate) fn is_held<T>(lock: &RwLock<T>) -> bool {
    matches!(lock.try_write(), Err(TryLockError::WouldBlock))
}
