//! Puts the rows of an archetype in another order, which [`sort_order`](super::sort_order) finds.

use crate::archetype::MoveContext;
use crate::entity::{ArchetypeId, RowIndex};
use crate::version::Version;

use super::store::Store;

impl Store {
    /// Puts rows of an archetype in the order `order`, of numbers of `rows`: the row `rows[i]` is
    /// replaced by the row `rows[order[i]]`. All other rows keep their places. `rows` ascend.
    /// Returns the number of rows with new places.
    ///
    /// # Panics
    ///
    /// If a row is not live. `order` must have each number once.
    pub(crate) fn reorder(
        &mut self,
        id: ArchetypeId,
        (rows, order): (&[RowIndex], &[u32]),
        now: Version,
    ) -> usize {
        let Self { archetypes, entities, pool, .. } = self;
        let archetype = archetypes.get_mut(id);
        let list = archetype.list();
        let places = rows.iter().map(|&row| list.index_of(list.split(row)));
        let mut all: Vec<_> = (0..list.len()).map(|index| list.position_of(index)).collect();
        let mut moved = 0;
        for (place, &from) in places.zip(order) {
            moved += usize::from(all[place] != rows[from as usize]);
            all[place] = rows[from as usize];
        }
        archetype.reorder(id, &all, &mut MoveContext { entities, pool, now });
        moved
    }
}
