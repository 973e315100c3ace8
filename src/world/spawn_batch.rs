//! Rows that become entities: written after the last live row before they get ids.

use crate::archetype::{Archetype, Bundle, BundleTarget, NewRows};
use crate::entity::ArchetypeId;
use crate::entity::RowIndex;
use crate::entity::{Directory, Entity, OutOfIds, RequestLimit, ReserveError};
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
    /// The parts for entities of one bundle, and its target. No id may be reserved. The archetype
    /// may be new.
    #[inline]
    pub(super) fn new<B: Bundle>(
        store: &'w mut Store,
    ) -> Result<(Self, &'w BundleTarget), LayoutError> {
        let id = store.home::<B>()?;
        let Store { archetypes, clock, entities, pool, bundles, .. } = store;
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

    /// Checks that one call may add `rows` rows.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if the ids or the memory do not suffice.
    pub(super) fn ensure_room(&mut self, rows: usize) -> Result<(), ReserveError> {
        ensure_room(self.archetype, self.entities, rows)
    }

    /// Restores the world: gives up the rows that were written, and sets the clock back.
    #[cold]
    pub(super) fn abandon(&mut self) {
        self.archetype.abandon(self.pool);
        *self.clock = self.clock.before();
    }
}

/// Rows written after the last live row. A batch that is dropped before `finish` leaves the world
/// unchanged.
pub(super) struct Batch<'w> {
    /// `None` after `finish`.
    spawner: Option<Spawner<'w>>,
    written: WrittenRows,
}

impl<'w> Batch<'w> {
    const OPEN: &'static str = "the batch is finished already";

    #[inline]
    pub(super) const fn new(spawner: Spawner<'w>) -> Self {
        Self { written: spawner.archetype.begin_rows(), spawner: Some(spawner) }
    }

    /// The number of written rows.
    pub(super) const fn len(&self) -> usize {
        self.written.len()
    }

    /// Room after the written rows: at most `max` rows of one chunk. `expected` more rows follow.
    /// Fails if fewer ids than rows are left, or if the rows need more memory than one call may
    /// allocate: this stops an endless iterator.
    #[inline]
    pub(super) fn room(&mut self, expected: usize, max: usize) -> Result<FreeRun, ReserveError> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        let rows = self.written.len();
        // Not checked at the end of a small block: a list in a chunk has no such end, and the
        // result must not depend on memory.
        if rows > 0 && !spawner.archetype.list().in_first_block() {
            spawner.entities.ensure_room(rows)?;
            // Memory is allocated chunk by chunk, not all at once.
            spawner.entities.requests.ensure_within(request_bytes(spawner.archetype, rows))?;
        }
        Ok(spawner.archetype.room(&self.written, expected, spawner.pool).at_most(max))
    }

    /// Lets `write` write the first rows of a run, and returns the number of written rows.
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

    /// [`Batch::finish`] of rows that are copies of a live row: they get its attachments.
    pub(super) fn finish_copies(self, from: RowIndex) -> Result<(ArchetypeId, usize), OutOfIds> {
        self.finish_with(|archetype, first| archetype.replicate_attachments(from, first))
    }

    /// Allocates an entity for every row and makes the rows live. Returns their archetype and their
    /// number, for [`World::spawned`].
    pub(super) fn finish(self) -> Result<(ArchetypeId, usize), OutOfIds> {
        self.finish_with(|_, _| ())
    }

    /// [`Batch::finish`] that calls `f` with the archetype and the index of the first new row.
    fn finish_with(
        mut self,
        f: impl FnOnce(&mut Archetype, usize),
    ) -> Result<(ArchetypeId, usize), OutOfIds> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        let Spawner { id, archetype, entities, pool, now, .. } = spawner;
        let first = archetype.len();
        archetype.push_rows(*id, &self.written, entities, *now)?;
        archetype.abandon(pool);
        f(archetype, first);
        let id = *id;
        self.spawner = None;
        Ok((id, self.written.len()))
    }
}

impl World {
    /// Records rows that were just spawned, and returns their entities.
    pub(super) fn spawned(&mut self, (archetype, rows): (ArchetypeId, usize)) -> &[Entity] {
        self.store.record_spawned(archetype, rows);
        let entities = self.store.archetypes.get(archetype).entities();
        &entities[entities.len() - rows..]
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Some(spawner) = &mut self.spawner {
            spawner.abandon();
        }
    }
}

/// Checks that one call may add `rows` rows to an archetype.
///
/// # Errors
///
/// [`ReserveError`] if the ids or the memory do not suffice.
pub(super) fn ensure_room(
    archetype: &Archetype,
    entities: &mut Directory,
    rows: usize,
) -> Result<(), ReserveError> {
    entities.ensure_room(rows)?;
    entities.requests.ensure(request_bytes(archetype, rows))?;
    Ok(())
}

/// The memory that `rows` more rows of an archetype need.
fn request_bytes(archetype: &Archetype, rows: usize) -> u64 {
    let ids = (rows as u64).saturating_mul(RequestLimit::ID_BYTES);
    archetype.list().bytes_of(rows).saturating_add(ids)
}
