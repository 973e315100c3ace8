//! The use of a sparse set by a query.

/// What a query does with the set of a sparse component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetUse {
    /// A term reads its values.
    Reads,
    /// A term writes its values.
    Writes,
    /// A filter compares its versions.
    Watches,
}
