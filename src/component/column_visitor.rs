//! A visit of the component types of columns, which closures cannot make: they are not generic.

use super::Component;

/// Is passed the component types of columns.
#[doc(hidden)]
pub trait ColumnVisitor {
    /// The next column.
    fn visit<C: Component>(&mut self);
}
