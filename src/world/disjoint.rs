//! Several entities' components at once, for writing.

use crate::component::Component;
use crate::entity::{Entity, Location};
use crate::storage::StampKind;

use super::error::{EntityError, MissingComponent};
use super::world::{World, position_of};

impl World {
    /// Component `C` of several different entities, to be written together: both sides of a
    /// collision, both ends of a spring. O(N log N).
    ///
    /// # Errors
    ///
    /// If an entity does not live, lacks `C`, or is named twice. Nothing is stamped then.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
    /// # component!(Health);
    /// let mut world = World::new();
    /// let (a, b) = (world.spawn(Health(1.0)), world.spawn(Health(2.0)));
    /// let [x, y] = world.get_disjoint_mut::<Health, 2>([a, b])?;
    /// std::mem::swap(x, y);
    /// assert_eq!(world.get::<Health>(a).unwrap().0, 2.0);
    /// assert!(world.get_disjoint_mut::<Health, 2>([a, a]).is_err());
    /// # Ok::<(), phalanx::EntityError>(())
    /// ```
    pub fn get_disjoint_mut<C: Component, const N: usize>(
        &mut self,
        entities: [Entity; N],
    ) -> Result<[&mut C; N], EntityError> {
        self.flush();
        let id = self.store.registry.id::<C>();
        let mut places = [(Location { archetype: 0, position: 0 }, 0, 0); N];
        for (index, &entity) in entities.iter().enumerate() {
            let place = self.store.entities.locate(entity).map_err(EntityError::from)?;
            let column = self.archetype(place).column(id);
            let column = column.ok_or_else(|| MissingComponent::new::<C>(entity))?;
            places[index] = (place, column, index);
        }
        places.sort_unstable_by_key(|&(place, ..)| (place.archetype, place.position));
        if let Some(pair) = places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(EntityError::Repeated(entities[pair[0].2]));
        }
        let now = self.store.advance_clock();
        // In the order of memory, so that each archetype is borrowed once.
        let mut cells = [const { None }; N];
        let mut archetypes = self.store.archetypes.columns_mut();
        let mut passed = 0;
        let mut group = &places[..];
        while let Some(&(Location { archetype: number, .. }, column, _)) = group.first() {
            let skipped = number as usize - passed;
            passed = number as usize + 1;
            let (mut column_cells, stamps) = archetypes.take(skipped).cells(column);
            while let Some(&(place, ..)) = group.first().filter(|(p, ..)| p.archetype == number) {
                let at = position_of(place);
                let chunk = column_cells.chunk(at);
                stamps.touch(StampKind::column(column), chunk, now);
                cells[group[0].2] = Some(column_cells.next(at));
                group = &group[1..];
            }
        }
        Ok(cells.map(|cell| cell.expect("a cell for every entity")))
    }
}
