//! Exchanges two columns in all archetypes that have both, without touching a row.
//!
//! A column is a place in the blocks of a list. If two columns have one shape, exchanging their
//! places exchanges their values. Data computed for the list before has the old places. Entries of
//! plans and the homes of bundles are computed again at once. An edge is computed again when it is
//! found, because the graph may have many more edges than a step uses. Old data cannot be used by
//! mistake: the list gets a new key, which all users compare.

use crate::component::ComponentId;
use crate::storage::StampKind;

use super::store::Store;

impl Store {
    /// Exchanges the values of two components in all archetypes that have both, and stamps the two
    /// columns of their chunks. O(archetypes + chunks + plans × archetypes that have both).
    ///
    /// # Panics
    ///
    /// If the components differ in size, alignment or values.
    pub(crate) fn swap_columns(&mut self, pair: [ComponentId; 2]) {
        let now = self.advance_clock();
        let Self { archetypes, plans, graph, bundles, .. } = self;
        let swapped = archetypes.swap_columns(pair);
        for &id in &swapped {
            let archetype = archetypes.get(id);
            for column in pair.map(|component| archetype.column(component)).into_iter().flatten() {
                for chunk in 0..archetype.stamps().chunk_len() {
                    archetype.stamps().touch(StampKind::column(column), chunk, now);
                }
            }
        }
        if !swapped.is_empty() {
            plans.renew(archetypes, &swapped);
            graph.recheck();
            bundles.forget_homes();
        }
    }
}
