//! The rows of a query that belong to related entities, for the views of both kinds of relations.

use crate::entity::Entity;
use crate::query::{Filter, Query, ReadTerms, Terms};

/// The rows of entities, in their order: those that match a query. O(entities).
pub(super) fn rows_of<'q, Q: ReadTerms, F: Filter>(
    entities: &[Entity],
    query: &Query<'q, Q, F>,
) -> impl Iterator<Item = Q::Row<'q>> {
    let rows = query.plan_rows();
    entities.iter().filter_map(move |&entity| rows.find(entity))
}

/// Calls a closure with the rows of entities, in their order: those that match a query.
/// O(entities).
pub(super) fn for_each_of<Q: Terms, F: Filter>(
    entities: &[Entity],
    query: &mut Query<'_, Q, F>,
    mut body: impl FnMut(Q::Row<'_>),
) {
    let mut rows = query.plan_rows_mut();
    for &entity in entities {
        if let Ok(row) = rows.get_mut(entity) {
            body(row);
        }
    }
}
