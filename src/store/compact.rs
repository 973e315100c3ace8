//! Returns memory to the system.

use super::store::Store;

impl Store {
    /// Moves at most `rows_max` rows to denser memory, and frees memory that nothing uses. Returns
    /// the number of rows that moved.
    pub(crate) fn compact(&mut self, rows_max: usize) -> usize {
        // Unused blocks and empty slabs are freed first, so that no chunk moves beside the former
        // or into the latter.
        for archetype in self.archetypes.all_mut() {
            archetype.free_unused_blocks(&mut self.pool);
        }
        self.pool.trim();
        let mut moved = 0;
        for archetype in self.archetypes.all_mut() {
            moved += archetype.compact(rows_max - moved, &mut self.pool);
        }
        self.pool.trim();
        self.entities.shrink();
        self.sides.shrink();
        self.logs.shrink();
        moved
    }
}
