//! The part of a component in a type of shared values.

/// The part of a component in a type of shared values. Types are numbered in the order of their
/// first use in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SharedPlace {
    /// The component of every entity with a value of the type.
    Marker(u16),
    /// The component of every entity with one value.
    Tag {
        /// The number of the type.
        of: u16,
        /// The number of the value in its type.
        number: u32,
    },
}
