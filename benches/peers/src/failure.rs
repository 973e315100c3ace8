//! A program that ends early.

/// The reason for ending without having done the requested work.
pub(crate) enum Failure {
    /// The request cannot be met: exit code 2.
    Usage(String),
    /// A library's result is wrong, or its process ended early: exit code 1.
    Wrong(String),
}
