//! The place where the archetypes of one shared value find it.

use core::ops::Deref;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::any_value::AnyValue;

/// A shared value that is owned by archetypes, or by rows on the way to one.
///
/// The tag has the value as long as this exists, and no longer if another owner keeps the value
/// alive: the values in a snapshot must not decide the tag of a later value.
#[derive(Debug)]
pub(crate) struct HeldValue(Arc<AnyValue>);

impl HeldValue {
    pub(crate) const fn new(value: Arc<AnyValue>) -> Self {
        Self(value)
    }

    /// The value, to be kept without a claim to the tag.
    pub(crate) fn keep(&self) -> Arc<AnyValue> {
        Arc::clone(&self.0)
    }
}

impl Deref for HeldValue {
    type Target = AnyValue;

    fn deref(&self) -> &AnyValue {
        &self.0
    }
}

/// The value of a tag, as long as it has one.
///
/// An archetype with the tag owns the value while it has chunks. So the value is dropped with the
/// last chunk of all these archetypes, and from that moment a new value can have the tag.
#[derive(Debug)]
pub(crate) struct SharedSlot {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    value: Weak<HeldValue>,
    hash: u64,
}

impl SharedSlot {
    /// The slot of a tag without a value.
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { value: Weak::new(), hash: 0 }) }
    }

    /// Gives the tag another value, which has this hash. The caller owns it until an archetype
    /// does.
    ///
    /// # Panics
    ///
    /// If the tag has a value.
    pub(super) fn set(&self, value: &Arc<HeldValue>, hash: u64) {
        let mut state = self.lock();
        assert!(state.value.strong_count() == 0, "the tag of a shared value has another one");
        *state = State { value: Arc::downgrade(value), hash };
    }

    /// The value, if it has an owner.
    pub(crate) fn get(&self) -> Option<Arc<HeldValue>> {
        self.lock().value.upgrade()
    }

    /// The value. If the tag has none, it gets this one, with this hash.
    pub(super) fn get_or_set(&self, value: &Arc<AnyValue>, hash: u64) -> Arc<HeldValue> {
        self.get().unwrap_or_else(|| {
            let held = Arc::new(HeldValue::new(Arc::clone(value)));
            self.set(&held, hash);
            held
        })
    }

    /// Whether the tag has no value.
    pub(super) fn is_free(&self) -> bool {
        self.lock().value.strong_count() == 0
    }

    /// The hash of the value that the tag has or had last.
    pub(crate) fn hash(&self) -> u64 {
        self.lock().hash
    }

    /// No code panics while it is locked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
