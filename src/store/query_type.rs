//! The type of a query as a value, so that what is kept for a query needs no type parameters.

use core::any::TypeId;

use super::requirements::{ComponentIds, Requirements};

/// What identifies the terms and filters of a query, and works out what they require of a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryType {
    /// The key of its plan.
    pub(crate) key: TypeId,
    /// For messages.
    pub(crate) name: fn() -> &'static str,
    /// The number of columns that its terms take.
    pub(crate) columns: usize,
    /// Whether a term writes.
    pub(crate) writes: bool,
    pub(crate) describe: fn(ComponentIds<'_>) -> Requirements,
}
