//! Frees archetypes without rows.
//!
//! An archetype is known by its number, its place in the order of creation: in the location of each
//! entity, in the entries of plans, in the graph of changes and in the homes of bundles. Archetypes
//! after a freed one move up, so all of these are written again. This is work for a loading screen.
//! It also has a visible effect: queries follow the order of creation, and an archetype that is
//! created again becomes the last one.

use crate::entity::Location;
use crate::storage::ChunkRow;

use super::store::Store;

impl Store {
    /// Frees all archetypes without rows. Returns their number.
    pub(crate) fn retire_archetypes(&mut self) -> usize {
        let Self { archetypes, entities, pool, .. } = self;
        let (before, moved_up) = (archetypes.len(), archetypes.retire_empty(pool));
        let retired = before - archetypes.len();
        if retired == 0 {
            return 0;
        }
        for id in moved_up {
            let archetype = archetypes.get(id);
            let list = archetype.list();
            for chunk in 0..list.chunk_len() {
                let at = ChunkRow { chunk, row: 0 };
                let start = list.index_of(at);
                let rows = &archetype.entities()[start..start + list.rows(chunk) as usize];
                entities.set_locations(rows, Location::new(id, list.position(at)));
            }
        }
        self.forget_retired();
        retired
    }

    /// Frees the archetypes from number `known` on, which a refused call has added.
    #[cold]
    pub(super) fn give_back_archetypes(&mut self, known: usize) {
        if self.archetypes.truncate(known, &mut self.pool) {
            self.forget_retired();
        }
    }

    /// Forgets references to archetypes by number, after some were freed.
    pub(super) fn forget_retired(&mut self) {
        self.graph.clear();
        // No edge leads to an archetype now.
        self.without_cleanup = None;
        self.bundles.forget_homes();
        self.plans.remake(&self.archetypes);
        self.sorted.retain_lists(&self.archetypes);
    }
}
