//! Writing components of several entities at once.

use crate::component::Component;
use crate::entity::{ArchetypeId, Entity, RowIndex};
use crate::storage::ChunkRow;
use crate::store::EntityError;

use super::world::World;

/// # Components of several entities
impl World {
    /// Component `C` of several different entities, for writing: both sides of a
    /// collision, both ends of a spring. O(N log N).
    ///
    /// # Errors
    ///
    /// If an entity is not alive, lacks `C`, or is named twice. An error stamps no column.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// let mut world = World::new();
    /// let (a, b) = (world.spawn(Health(1.0)), world.spawn(Health(2.0)));
    /// let [x, y] = world.get_disjoint_mut::<Health, 2>([a, b])?;
    /// std::mem::swap(x, y);
    /// assert_eq!(world.get::<Health>(a).unwrap().0, 2.0);
    /// assert!(world.get_disjoint_mut::<Health, 2>([a, a]).is_err());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn get_disjoint_mut<C: Component, const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[&mut C; N], EntityError> {
        self.flush();
        let id = self.store.registry().id::<C>();
        let mut places = [((ArchetypeId(0), RowIndex(0)), 0, 0); N];
        for (index, &entity) in entities.iter().enumerate() {
            let place = self.store.entities().locate(entity).map_err(EntityError::from)?;
            let column = self.archetype(place).column(id);
            let column = column.ok_or_else(|| self.lacking(entity, C::NAME))?;
            places[index] = ((place.archetype(), place.row()), column, index);
        }
        places.sort_unstable_by_key(|&(place, ..)| place);
        if let Some(pair) = places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(EntityError::Repeated(entities[pair[0].2]));
        }
        let now = self.store.advance_clock();
        // Sorted by memory, so that each archetype is borrowed once.
        let mut cells = [const { None }; N];
        let mut archetypes = self.store.in_place().0.into_columns();
        let mut passed = 0;
        let mut group = &places[..];
        while let Some(&((archetype, _), column, _)) = group.first() {
            let skipped = archetype.index() - passed;
            passed = archetype.index() + 1;
            let (mut column_cells, beside) = archetypes.take(skipped).cells(column);
            while let Some(&((_, at), ..)) = group.first().filter(|(p, ..)| p.0 == archetype) {
                let ChunkRow { chunk, row } = column_cells.split(at);
                beside.touch_rows(column, chunk, row..row + 1, now);
                cells[group[0].2] = Some(column_cells.next(at));
                group = &group[1..];
            }
        }
        Ok(cells.map(|cell| cell.expect("a cell for every entity")))
    }
}
