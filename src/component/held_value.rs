//! A shared value that entities have, and the numbers of values that they no longer have.

use core::ops::Deref;

use std::sync::{Arc, Mutex, PoisonError};

use super::any_value::AnyValue;

/// A shared value that is owned by archetypes, or by rows on the way to one.
///
/// The value has its number as long as this exists, and no longer if another owner keeps the value
/// alive: the values in a snapshot must not decide the number of a later value.
#[derive(Debug)]
pub(crate) struct HeldValue {
    value: Arc<AnyValue>,
    hash: u64,
    number: u32,
    freed: Arc<FreedNumbers>,
}

impl HeldValue {
    /// A value with a hash and a number, which goes to `freed` at its end.
    pub(super) const fn new(
        value: Arc<AnyValue>,
        (hash, number): (u64, u32),
        freed: Arc<FreedNumbers>,
    ) -> Self {
        Self { value, hash, number, freed }
    }

    /// The value, to be kept without a claim to the number.
    pub(crate) fn keep(&self) -> Arc<AnyValue> {
        Arc::clone(&self.value)
    }

    pub(crate) const fn hash(&self) -> u64 {
        self.hash
    }
}

impl Deref for HeldValue {
    type Target = AnyValue;

    fn deref(&self) -> &AnyValue {
        &self.value
    }
}

impl Drop for HeldValue {
    /// Frees the number before the destructor of the value runs, which may panic.
    fn drop(&mut self) {
        self.freed.push((self.hash, self.number));
    }
}

/// The hashes and numbers of values that have ended since the last look. Archetypes drop values
/// where no table of numbers is at hand, and may do so on any thread.
#[derive(Debug, Default)]
pub(super) struct FreedNumbers(Mutex<Vec<(u64, u32)>>);

impl FreedNumbers {
    fn push(&self, freed: (u64, u32)) {
        // No code panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(freed);
    }

    /// Takes all of them.
    pub(super) fn take(&self) -> Vec<(u64, u32)> {
        core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
