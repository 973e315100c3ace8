//! Rows on their way to life: written first behind the last live one, then given entities.

use crate::archetype::{Archetype, Bundle, BundleTarget, NewRows};
use crate::entity::ArchetypeId;
use crate::entity::RowIndex;
use crate::entity::{Directory, EntitiesExhausted, Entity, RequestLimit, ReserveError};
use crate::storage::{BundleCells, FreeRun, LayoutError, Pool, WrittenRows};
use crate::store::Store;
use crate::version::Version;

use super::world::World;

/// The parts of a world that spawning entities of one archetype needs.
pub(super) struct Spawner<'w> {
    pub(super) id: ArchetypeId,
    pub(super) archetype: &'w mut Archetype,
    pub(super) entities: &'w mut Directory,
    pub(super) pool: &'w mut Pool,
    pub(super) clock: &'w mut Version,
    pub(super) now: Version,
}

impl<'w> Spawner<'w> {
    /// The parts for entities of one bundle, and where they live.
    #[inline]
    pub(super) fn new<B: Bundle>(
        world: &'w mut World,
    ) -> Result<(Self, &'w BundleTarget), LayoutError> {
        world.flush();
        let id = world.store.home::<B>()?;
        let Store { archetypes, clock, entities, pool, bundles, .. } = &mut world.store;
        let home = bundles.home(id).expect("found above");
        let now = clock.advance();
        let archetype = archetypes.get_mut(home.archetype);
        Ok((Self { id: home.archetype, archetype, entities, pool, clock, now }, home))
    }

    /// The parts for entities of an archetype.
    pub(super) fn at(world: &'w mut World, id: ArchetypeId) -> Self {
        let Store { archetypes, clock, entities, pool, .. } = &mut world.store;
        let now = clock.advance();
        Self { id, archetype: archetypes.get_mut(id), entities, pool, clock, now }
    }

    /// Whether one call may make so many rows.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if there are not as many ids, or not as much memory.
    pub(super) fn ensure_room(&mut self, rows: usize) -> Result<(), ReserveError> {
        ensure_room(self.archetype, self.entities, rows)
    }

    /// Leaves the world as it was: rows that were written are given up, and no time has passed.
    #[cold]
    pub(super) fn abandon(&mut self) {
        self.archetype.abandon(self.pool);
        *self.clock = self.clock.before();
    }
}

/// Rows written behind the last live one. Dropped before `finish`, it leaves the world as it was.
pub(super) struct Batch<'w> {
    /// Taken by `finish`.
    spawner: Option<Spawner<'w>>,
    written: WrittenRows,
}

impl<'w> Batch<'w> {
    const OPEN: &'static str = "the batch is finished already";

    #[inline]
    pub(super) const fn new(spawner: Spawner<'w>) -> Self {
        Self { written: spawner.archetype.begin_rows(), spawner: Some(spawner) }
    }

    /// How many rows are written.
    pub(super) const fn len(&self) -> usize {
        self.written.len()
    }

    /// Room behind the rows that are written, at most `max` rows of one chunk. `expected` more rows
    /// are to come. The error is that there are not as many ids as rows already, or that these take
    /// more memory than one call may: it ends an iterator that never ends by itself.
    #[inline]
    pub(super) fn room(&mut self, expected: usize, max: usize) -> Result<FreeRun, ReserveError> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        let rows = self.written.len();
        // The end of a small block is no place to look: a list that lies in a chunk has none there,
        // and the answer must not depend on memory.
        if rows > 0 && !spawner.archetype.list().in_first_block() {
            spawner.entities.ensure_room(rows)?;
            // Memory comes chunk by chunk: the system is not asked for all of it.
            spawner.entities.requests.ensure_within(request_bytes(spawner.archetype, rows))?;
        }
        Ok(spawner.archetype.room(&self.written, expected, spawner.pool).at_most(max))
    }

    /// Lets `write` write the first rows of a run, and returns how many these are.
    #[inline]
    pub(super) fn write<B: Bundle>(
        &mut self,
        cells: &BundleCells,
        run: &FreeRun,
        write: impl FnOnce(&mut NewRows<'_, B>),
    ) -> usize {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        let tally = NewRows::write(spawner.archetype.writer(cells, run), |rows| write(rows));
        self.written.add(&tally);
        tally.len()
    }

    /// Writes a run as copies of a live row.
    pub(super) fn replicate(&mut self, from: RowIndex, run: &FreeRun) {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        spawner.archetype.replicate(&mut self.written, from, run);
    }

    /// Gives every row an entity and makes it live.
    pub(super) fn finish(mut self) -> Result<&'w [Entity], EntitiesExhausted> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        let Spawner { id, archetype, entities, pool, now, .. } = spawner;
        let first = archetype.len();
        archetype.push_rows(*id, &self.written, entities, *now)?;
        archetype.abandon(pool);
        let spawner = self.spawner.take().expect(Self::OPEN);
        let archetype: &'w Archetype = spawner.archetype;
        Ok(&archetype.entities()[first..])
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Some(spawner) = &mut self.spawner {
            spawner.abandon();
        }
    }
}

/// Whether one call may make so many more rows of an archetype.
///
/// # Errors
///
/// [`ReserveError`] if there are not as many ids, or not as much memory.
pub(super) fn ensure_room(
    archetype: &Archetype,
    entities: &mut Directory,
    rows: usize,
) -> Result<(), ReserveError> {
    entities.ensure_room(rows)?;
    entities.requests.ensure(request_bytes(archetype, rows))?;
    Ok(())
}

/// The memory that so many more rows of an archetype take.
fn request_bytes(archetype: &Archetype, rows: usize) -> u64 {
    let ids = (rows as u64).saturating_mul(RequestLimit::ID_BYTES);
    archetype.list().bytes_of(rows).saturating_add(ids)
}
