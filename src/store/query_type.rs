//! The type of a query as a value, so that the store needs no type parameters.

use core::any::TypeId;

use super::requirements::{ComponentIds, Requirements};

/// Identifies the terms and filters of a query, and describes their requirements.
///
/// Two values with the same key are equal: plans and access are found by the key alone, and unsafe
/// code relies on it. Made by `query::query_type`; elsewhere only in tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryType {
    /// The key of the query's plan.
    pub(crate) key: TypeId,
    /// The name in messages.
    pub(crate) name: fn() -> &'static str,
    /// The number of columns that its terms take.
    pub(crate) columns: usize,
    pub(crate) describe: fn(ComponentIds<'_>) -> Requirements,
}
