//! The borrow of the lists that a pass visits.

/// The borrow of the lists that a pass visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Borrow {
    /// The pass reads cells.
    Shared,
    /// The pass may write cells.
    Exclusive,
}
