//! The lock of a sparse set.
//!
//! A system holds the lock for its run. A query of a shared world hands out references that live as
//! long as the borrow of the world, and it may be copied, so no guard can live as long: the set is
//! *lent*. Its lock stays held for reading until it is renewed, which takes an exclusive borrow of
//! the sets, as after a guard that was forgotten ([`Lent`](super::super::read_guard::Lent)).

#![expect(unsafe_code, reason = "a lock that is held until it is renewed")]

use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use crate::component::SparseComponent;
use crate::unique::unique_number;

use super::super::read_guard::is_held;
use super::sparse_set::SparseSet;

/// A sparse set with a lock, on which no thread ever waits.
pub(super) struct SetLock<T> {
    lock: RwLock<SparseSet<T>>,
    /// Whether a forgotten guard holds the lock for reading.
    is_lent: AtomicBool,
    key: u64,
}

impl<T: SparseComponent> Default for SetLock<T> {
    fn default() -> Self {
        Self::new(SparseSet::default())
    }
}

impl<T> SetLock<T> {
    pub(super) fn new(set: SparseSet<T>) -> Self {
        Self { lock: RwLock::new(set), is_lent: AtomicBool::new(false), key: unique_number() }
    }

    /// A number that no other lock has, in any world.
    pub(super) const fn key(&self) -> u64 {
        self.key
    }

    /// The set, whoever holds the lock: an exclusive borrow proves that no guard is in use.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut SparseSet<T> {
        self.lock.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: SparseComponent> SetLock<T> {
    /// Renews the lock if a forgotten guard holds it.
    pub(super) fn release(&mut self) {
        if is_held(&self.lock) {
            *self = Self::new(core::mem::take(self.get_mut()));
        }
    }

    /// The set, unless it is borrowed for writing.
    pub(super) fn try_read(&self) -> Option<RwLockReadGuard<'_, SparseSet<T>>> {
        match self.lock.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// # Panics
    ///
    /// If the set is borrowed for writing.
    #[inline]
    pub(super) fn read(&self) -> RwLockReadGuard<'_, SparseSet<T>> {
        self.try_read()
            .unwrap_or_else(|| panic!("the sparse component `{}` is borrowed for writing", T::NAME))
    }

    /// # Panics
    ///
    /// If the set is borrowed.
    pub(super) fn write(&self) -> RwLockWriteGuard<'_, SparseSet<T>> {
        match self.lock.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                panic!("the sparse component `{}` is borrowed", T::NAME)
            }
        }
    }

    /// The set for as long as the lock is borrowed. The lock stays held for reading until
    /// [`SetLock::release`].
    ///
    /// # Panics
    ///
    /// If the set is borrowed for writing.
    #[inline]
    pub(super) fn lend(&self) -> &SparseSet<T> {
        let guard = self.read();
        let set = NonNull::from(&*guard);
        // One forgotten guard is enough, so that their number has a limit. The load before the swap
        // keeps the line shared between threads that query.
        if !self.is_lent.load(Ordering::Acquire) && !self.is_lent.swap(true, Ordering::AcqRel) {
            core::mem::forget(guard);
        }
        // SAFETY: the pointer is of a reference to the set in the lock, which does not move while
        // `self` is borrowed. The guard that the first call forgot is never dropped, so the lock is
        // held for reading as long as this `SetLock` exists with `is_lent`: no write guard can be
        // made of it, and `get_mut` and `release` borrow it exclusively.
        unsafe { set.as_ref() }
    }
}

impl<T> fmt::Debug for SetLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetLock").field("is_lent", &self.is_lent).finish_non_exhaustive()
    }
}
