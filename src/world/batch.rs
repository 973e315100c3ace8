//! Rows on their way to life: written first behind the last live one, then given entities.

use core::ops::Range;

use crate::archetype::{Archetype, ArchetypeId};
use crate::bundle::{Bundle, Home};
use crate::entity::{Directory, EntitiesExhausted, Entity, Location};
use crate::query::Store;
use crate::storage::{
    BundleCells, ChunkList, DistinctColumns, LayoutError, Pool, Position, Spot, Writer,
};
use crate::version::Version;

use super::state::World;

/// The parts of a world that spawning entities of one archetype needs.
pub(super) struct Spawner<'w> {
    pub(super) id: ArchetypeId,
    pub(super) archetype: &'w mut Archetype,
    pub(super) entities: &'w mut Directory,
    pub(super) pool: &'w mut Pool,
    pub(super) now: Version,
}

impl<'w> Spawner<'w> {
    /// The parts for entities of one bundle, and where they live.
    #[inline]
    pub(super) fn new<B: Bundle>(world: &'w mut World) -> Result<(Self, &'w Home), LayoutError> {
        world.flush();
        let id = world.store.home::<B>()?;
        let Store { source, entities, pool, bundles, .. } = &mut world.store;
        let home = bundles.home(id).expect("found above");
        let now = source.tick();
        let archetype = source.catalog.get_mut(home.archetype);
        Ok((Self { id: home.archetype, archetype, entities, pool, now }, home))
    }

    /// The parts for entities of an archetype.
    pub(super) fn at(world: &'w mut World, id: ArchetypeId) -> Self {
        let Store { source, entities, pool, .. } = &mut world.store;
        let now = source.tick();
        Self { id, archetype: source.catalog.get_mut(id), entities, pool, now }
    }

    /// Writes a row behind the last one and makes it live.
    #[inline]
    pub(super) fn write_one<B: Bundle>(
        self,
        bundle: &B,
        cells: &BundleCells,
        at: Spot,
        entity: Entity,
    ) {
        let mut row = cells.write(&mut self.archetype.list, at);
        bundle.store(&mut |value| row.put(value));
        self.archetype.push_new(at, entity, self.now);
    }
}

/// Rows written behind the last live one. Dropped before `finish`, it leaves the world as it was.
pub(super) struct Batch<'w>(Option<Spawner<'w>>);

impl<'w> Batch<'w> {
    const OPEN: &'static str = "the batch is not finished";

    #[inline]
    pub(super) const fn new(spawner: Spawner<'w>) -> Self {
        Self(Some(spawner))
    }

    /// Room behind `rows` rows that are written, at most `max` rows of one chunk. `expected` more
    /// rows are to come. An error is that there are not as many ids as rows already: an iterator
    /// that never ends would never be found out otherwise.
    #[inline]
    pub(super) fn room(
        &mut self,
        rows: usize,
        expected: usize,
        max: usize,
    ) -> Result<(&mut ChunkList, u32, Range<u32>), EntitiesExhausted> {
        let spawner = self.0.as_mut().expect(Self::OPEN);
        spawner.entities.ensure_room(rows)?;
        let list = &mut spawner.archetype.list;
        let (chunk, mut rows) = list.room_behind(rows, expected, spawner.pool);
        if let Ok(max) = u32::try_from(max) {
            rows.end = rows.end.min(rows.start.saturating_add(max));
        }
        Ok((list, chunk, rows))
    }

    /// [`Batch::room`] as the cells of a bundle, and how many rows they are.
    #[inline]
    pub(super) fn cells<'b, B: Bundle>(
        &'b mut self,
        columns: &'b DistinctColumns,
        rows: usize,
        expected: usize,
        max: usize,
    ) -> Result<(B::Cells<'b>, usize), EntitiesExhausted> {
        let (list, chunk, rows) = self.room(rows, expected, max)?;
        let room = rows.len();
        let mut writer = Writer::new(list, columns, chunk, rows);
        Ok((B::cells(&mut writer), room))
    }

    /// Gives every row an entity and makes it live.
    pub(super) fn finish(mut self, rows: usize) -> Result<&'w [Entity], EntitiesExhausted> {
        let spawner = self.0.as_mut().expect(Self::OPEN);
        let Spawner { id, archetype, entities, pool, now, .. } = spawner;
        let first = archetype.len();
        name_rows((*id, archetype), rows, entities)?;
        archetype.push_many(rows, *now);
        archetype.list.abandon(pool);
        let spawner = self.0.take().expect(Self::OPEN);
        Ok(&spawner.archetype.entities[first..])
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Some(spawner) = &mut self.0 {
            spawner.archetype.list.abandon(spawner.pool);
        }
    }
}

/// Makes the entities of `rows` rows that are written behind the last one.
///
/// # Errors
///
/// If there are not as many ids; then none is made.
pub(super) fn name_rows(
    (id, archetype): (ArchetypeId, &mut Archetype),
    rows: usize,
    entities: &mut Directory,
) -> Result<(), EntitiesExhausted> {
    entities.ensure_room(rows)?;
    entities.reserve_capacity(rows);
    archetype.entities.reserve(rows);
    let (mut index, end) = (archetype.len(), archetype.len() + rows);
    while index < end {
        // Positions of one chunk are consecutive.
        let Position(first) = archetype.list.position_of(index);
        let capacity = archetype.list.capacity() as usize;
        let run = (capacity - index % capacity).min(end - index);
        let place = |i| Location { archetype: id.0, position: first + i };
        entities.alloc_batch(run, place, &mut archetype.entities)?;
        index += run;
    }
    Ok(())
}

/// Counts positions up, chunk after chunk.
pub(super) struct Cursor {
    chunk: u32,
    row: u32,
    capacity: u32,
    shift: u8,
}

impl Cursor {
    pub(super) fn new(list: &ChunkList, index: usize) -> Self {
        let Spot { chunk, row } = list.split(list.position_of(index));
        Self { chunk, row, capacity: list.capacity(), shift: list.shift() }
    }

    #[inline]
    pub(super) const fn next(&mut self) -> Position {
        let at = Position(self.chunk << self.shift | self.row);
        self.row += 1;
        if self.row == self.capacity {
            self.row = 0;
            self.chunk += 1;
        }
        at
    }
}
