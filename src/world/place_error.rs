//! The reason why a view has no row at a place.

use core::error::Error;
use core::fmt;

/// The reason why a view has no component at a [`RowPlace`](crate::rows::RowPlace).
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceError {
    /// Rows have moved since the place was found: there was a structural change. Or the place is of
    /// another world.
    Moved,
    /// The row lacks the component with this name.
    Missing(&'static str),
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved => f.write_str(
                "rows have moved since the place was found, or it is of another world: find the \
                     places again after each structural change",
            ),
            Self::Missing(component) => {
                write!(
                    f,
                    "the row at the place has no `{component}`: find places by \
                     `world.lookup::<{component}>()`, or ask before"
                )
            }
        }
    }
}

impl Error for PlaceError {}
