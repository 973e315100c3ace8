//! Compile errors of queries that are asked to change entities.

use crate::archetype::Bundle;
use crate::query::{Filter, Query, Terms};

/// No query implements this: it is the bound of methods that exist only for their compile error.
#[diagnostic::on_unimplemented(
    message = "a query visits entities and changes none",
    label = "this query cannot change which components its entities have",
    note = "call `world.matching::<Q>()` instead of the query: it takes the same filters, and then `insert`, `remove`, `despawn` or `retain`",
    note = "in a system record the change: `commands.insert_where::<Q, F, _>(bundle)`, `remove_where`, `despawn_where` or `retain_where`"
)]
pub trait ChangesEntities {}

#[doc(hidden)]
impl<Q: Terms, F: Filter> Query<'_, Q, F> {
    pub fn insert<B: Bundle>(self, _: B)
    where
        Self: ChangesEntities,
    {
    }

    pub fn remove<B: Bundle>(self)
    where
        Self: ChangesEntities,
    {
    }

    pub fn despawn(self)
    where
        Self: ChangesEntities,
    {
    }

    pub fn retain(self, _: impl FnMut(Q::Slices<'_>, &mut [bool]))
    where
        Self: ChangesEntities,
    {
    }
}
