//! The conversion between values of a shared type and bytes, by functions of the user.

use core::fmt;

use std::hash::RandomState;
use std::sync::Arc;

use super::any_value::{AnyValue, downcast, hash_of, keyed_hash};
use super::shared_value::SharedValue;

type Encode = dyn Fn(&AnyValue, &mut Vec<u8>) + Send + Sync;
type Decode = dyn Fn(&[u8]) -> Option<(AnyValue, u64)> + Send + Sync;

/// The name of a shared type in bytes, and the functions that write and read its values.
#[derive(Clone)]
pub(crate) struct SharedCodec {
    name: &'static str,
    encode: Arc<Encode>,
    decode: Arc<Decode>,
    keyed_hash: fn(&AnyValue, &RandomState) -> u64,
}

impl SharedCodec {
    pub(crate) fn new<T: SharedValue>(
        name: &'static str,
        encode: impl Fn(&T, &mut Vec<u8>) + Send + Sync + 'static,
        decode: impl Fn(&[u8]) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            encode: Arc::new(move |value, to| {
                encode(downcast(value).expect("a shared value is of another type"), to);
            }),
            decode: Arc::new(move |bytes| {
                let value = decode(bytes)?;
                let hash = hash_of(&value);
                Some((Box::new(value), hash))
            }),
            keyed_hash: keyed_hash::<T>,
        }
    }

    /// The name, which is stable and unique among the types of the world.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Appends a value, which is of the type, as bytes. Runs the user's code.
    pub(crate) fn encode(&self, value: &AnyValue, to: &mut Vec<u8>) {
        (self.encode)(value, to);
    }

    /// The value with these bytes, and its hash. Runs the user's code.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Option<(AnyValue, u64)> {
        (self.decode)(bytes)
    }

    /// A hash of a value, which is of the type, with these keys. Runs the user's code.
    pub(crate) fn keyed_hash(&self, value: &AnyValue, keys: &RandomState) -> u64 {
        (self.keyed_hash)(value, keys)
    }
}

impl fmt::Debug for SharedCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedCodec").field(&self.name).finish()
    }
}
