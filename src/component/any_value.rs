//! A shared value of any type, and the functions of the world on it.

use core::any::Any;
use core::hash::{BuildHasher as _, Hasher as _};

use std::hash::RandomState;

use rustc_hash::FxHasher;

use crate::entity::Entity;

use super::shared_value::SharedValue;

/// A shared value; the reader knows its type. In a box, so that a tag without a value keeps only
/// the memory of a pointer.
pub(crate) type AnyValue = Box<dyn Any + Send + Sync>;

/// A shared value of type `T`.
pub(crate) fn downcast<T: SharedValue>(value: &AnyValue) -> Option<&T> {
    let value: &dyn Any = &**value;
    value.downcast_ref()
}

/// The hash that finds values, and that the hash of a world covers.
pub(super) fn hash_of<T: SharedValue>(value: &T) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of a value with random keys: a writer of bytes cannot choose values that collide.
pub(super) fn keyed_hash<T: SharedValue>(value: &AnyValue, keys: &RandomState) -> u64 {
    keys.hash_one(downcast::<T>(value))
}

/// Whether a shared value of type `T` has ids of entities, as far as its hash tells.
pub(super) fn names_entities<T: SharedValue>(value: &AnyValue) -> bool {
    Entity::is_hashed_by(|| {
        downcast::<T>(value).map(hash_of);
    })
}

/// Whether two shared values of type `T` are equal.
pub(super) fn are_equal<T: SharedValue>(a: &AnyValue, b: &AnyValue) -> bool {
    downcast::<T>(a).zip(downcast::<T>(b)).is_some_and(|(a, b)| a == b)
}
