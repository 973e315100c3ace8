//! A sparse set that was read from bytes.

use core::any::TypeId;
use core::fmt;

use super::erased_set::ErasedSet;

/// A sparse set of a state that was read.
pub(crate) struct SavedSet {
    /// The type, and its number in the world.
    pub(super) of: (TypeId, u16),
    /// `None` if it is the set of the older state.
    pub(super) set: Option<Box<dyn ErasedSet>>,
}

impl fmt::Debug for SavedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SavedSet").field(&self.set.as_ref().map(|set| set.info())).finish()
    }
}
