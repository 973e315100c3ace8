//! The place where the archetypes of one shared value find it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::held_value::HeldValue;

/// The value of a tag, as long as it has one.
///
/// An archetype with the tag owns the value while it has chunks. So the value ends with the last
/// chunk of all these archetypes, and from that moment a new value can have the tag.
#[derive(Debug)]
pub(crate) struct SharedSlot(Mutex<Weak<HeldValue>>);

impl SharedSlot {
    /// The slot of a tag without a value.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// Gives the tag another value. The caller owns it until an archetype does.
    ///
    /// # Panics
    ///
    /// If the tag has a value.
    pub(super) fn set(&self, value: &Arc<HeldValue>) {
        assert!(self.get().is_none(), "the tag of a shared value has another one");
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(value);
    }

    /// The value, if it has an owner.
    pub(crate) fn get(&self) -> Option<Arc<HeldValue>> {
        // No code panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}
