//! The function by which a user replaces ids in the values of a shared type.

use core::fmt;

use std::sync::Arc;

use crate::entity::Entity;

use super::any_value::{AnyValue, downcast, hash_of};
use super::shared_value::SharedValue;

type NewValue =
    dyn Fn(&AnyValue, &mut dyn FnMut(Entity) -> Entity) -> (AnyValue, u64) + Send + Sync;

/// The function that makes a value with other ids.
#[derive(Clone)]
pub(crate) struct SharedMap(Arc<NewValue>);

impl SharedMap {
    pub(crate) fn new<T: SharedValue>(
        map: impl Fn(&T, &mut dyn FnMut(Entity) -> Entity) -> T + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |value, ids| {
            let value = map(downcast(value).expect("a shared value is of another type"), ids);
            let hash = hash_of(&value);
            (Box::new(value), hash)
        }))
    }

    /// The value with the ids that `ids` returns, and its hash. Runs the user's code.
    pub(super) fn new_value(
        &self,
        value: &AnyValue,
        ids: &mut dyn FnMut(Entity) -> Entity,
    ) -> (AnyValue, u64) {
        (self.0)(value, ids)
    }
}

impl fmt::Debug for SharedMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedMap")
    }
}
