//! Calls that may be refused after they have added archetypes.
//!
//! Queries visit archetypes in the order of their creation, and the hash of a world depends on it.
//! So a call that is refused, or in which a caller's iterator panics, removes the archetypes that
//! it has added.

use super::store::Store;

/// A running call. Unless it succeeds, the archetypes that it has added are removed.
struct Attempt<'s> {
    store: &'s mut Store,
    /// The number of archetypes before, or `usize::MAX` after a success.
    known: usize,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.store.archetypes.len() > self.known {
            self.store.give_back_archetypes(self.known);
        }
    }
}

impl Store {
    /// Runs a call. If it fails or panics, the archetypes that it has added are removed.
    #[inline]
    pub(super) fn attempt<T, E>(
        &mut self,
        call: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let known = self.archetypes.len();
        let mut attempt = Attempt { store: self, known };
        let result = call(attempt.store);
        if result.is_ok() {
            attempt.known = usize::MAX;
        }
        result
    }
}
