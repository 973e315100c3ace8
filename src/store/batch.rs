//! Rows that become entities: written after the last live row before they get ids.

use crate::archetype::{Archetype, BundleId, ColumnBundle, HomeId, NewRows};
use crate::entity::RowIndex;
use crate::entity::{ArchetypeId, Directory, Entity, OutOfIds, RequestLimit, ReserveError};
use crate::storage::{BundleCells, FreeRun, LayoutError, Pool, WrittenRows};
use crate::version::Version;

use super::row_values::RowValues;
use super::store::Store;

/// The parts of a store that spawning entities of one archetype needs.
pub(super) struct Spawner<'s> {
    pub(super) id: ArchetypeId,
    pub(super) archetype: &'s mut Archetype,
    pub(super) entities: &'s mut Directory,
    pub(super) pool: &'s mut Pool,
    pub(super) clock: &'s mut Version,
    pub(super) now: Version,
}

impl<'s> Spawner<'s> {
    /// The parts for entities of one bundle, and its cells. No id may be reserved. The archetype
    /// may be new.
    ///
    /// # Errors
    ///
    /// If a row of the bundle does not fit a chunk. The store is unchanged.
    #[inline]
    pub(super) fn new(
        store: &'s mut Store,
        bundle: BundleId,
    ) -> Result<(Self, &'s BundleCells), LayoutError> {
        let home = store.home(bundle)?;
        let Store { archetypes, clock, entities, pool, bundles, .. } = store;
        let (home, now) = (bundles.home(home), clock.advance());
        let (id, cells) = (home.archetype, &home.cells);
        let archetype = archetypes.get_mut(id);
        Ok((Self { id, archetype, entities, pool, clock, now }, cells))
    }

    /// The parts for entities of an archetype.
    pub(super) fn at(store: &'s mut Store, id: ArchetypeId) -> Self {
        let Store { archetypes, clock, entities, pool, .. } = store;
        let now = clock.advance();
        Self { id, archetype: archetypes.get_mut(id), entities, pool, clock, now }
    }

    /// Restores the store: gives up the rows that were written, and sets the clock back.
    #[cold]
    pub(super) fn abandon(&mut self) {
        self.archetype.abandon(self.pool);
        *self.clock = self.clock.before();
    }
}

/// Rows written after the last live row. A batch that is dropped before `finish` leaves the store
/// unchanged.
pub(super) struct Batch<'s> {
    /// `None` after `finish`.
    spawner: Option<Spawner<'s>>,
    written: WrittenRows,
}

impl<'s> Batch<'s> {
    const OPEN: &'static str = "the batch is finished already";

    #[inline]
    pub(super) const fn new(spawner: Spawner<'s>) -> Self {
        Self { written: spawner.archetype.begin_rows(), spawner: Some(spawner) }
    }

    /// The number of written rows.
    pub(super) const fn len(&self) -> usize {
        self.written.len()
    }

    /// Checks that the batch may have `rows` rows.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if the ids or the memory do not suffice.
    pub(super) fn ensure_room(&mut self, rows: usize) -> Result<(), ReserveError> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        ensure_room(spawner.archetype, spawner.entities, rows)
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
    pub(super) fn write<B: ColumnBundle>(
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

    /// Writes `rows` rows as bytes, column by column. There must be room for them. `values` has the
    /// offsets of the first row; the values of each next row begin `stride` bytes later.
    pub(super) fn write_bytes(
        &mut self,
        cells: &BundleCells,
        rows: usize,
        (RowValues { bytes, starts }, stride): (RowValues<'_>, usize),
    ) {
        let columns = cells.columns().as_slice().len();
        assert!(columns == starts.len(), "{} values of a bundle of {columns}", starts.len());
        let Spawner { archetype, pool, .. } = self.spawner.as_mut().expect(Self::OPEN);
        while self.written.len() < rows {
            let (first, left) = (self.written.len(), rows - self.written.len());
            let run = archetype.room(&self.written, left, pool).at_most(left);
            let value = |i: usize, row: usize| &bytes[starts[i] + (first + row) * stride..];
            archetype.write_bytes(&mut self.written, cells, &run, value);
        }
    }

    /// Writes a run as copies of a live row.
    pub(super) fn replicate(&mut self, from: RowIndex, run: &FreeRun) {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        spawner.archetype.replicate(&mut self.written, from, run);
    }

    /// Gives the store back, to be read until [`PausedBatch::go_on`].
    pub(super) fn pause(mut self) -> PausedBatch {
        let Spawner { id, archetype, now, .. } = self.spawner.take().expect(Self::OPEN);
        let none = archetype.begin_rows();
        PausedBatch { id, now, written: core::mem::replace(&mut self.written, none) }
    }

    /// [`Batch::finish`] of rows that are copies of a live row: they get its attachments.
    pub(super) fn finish_copies(self, from: RowIndex) -> Result<(ArchetypeId, usize), OutOfIds> {
        self.finish_with(|Spawner { id, archetype, entities, now, .. }, written| {
            let first = archetype.len();
            archetype.push_rows(*id, written, entities, *now)?;
            archetype.follow_replicated(first..archetype.len(), from);
            Ok(())
        })
    }

    /// Allocates an entity for every row and makes the rows live. Returns their archetype and their
    /// number, for [`Store::spawned`].
    pub(super) fn finish(self) -> Result<(ArchetypeId, usize), OutOfIds> {
        self.finish_with(|Spawner { id, archetype, entities, now, .. }, written| {
            archetype.push_rows(*id, written, entities, *now).map(drop)
        })
    }

    /// [`Batch::finish`] that gives the rows ids on loan.
    ///
    /// # Panics
    ///
    /// If the number of ids differs from the number of rows, or an id is not on loan.
    pub(super) fn finish_loaned(
        self,
        ids: impl ExactSizeIterator<Item = Entity>,
    ) -> (ArchetypeId, usize) {
        let finished = self.finish_with(|Spawner { id, archetype, entities, now, .. }, written| {
            archetype.push_with_ids(*id, written, ids, entities, *now);
            Ok(())
        });
        finished.expect("ids on loan cannot run out")
    }

    /// [`Batch::finish`] by `push`.
    fn finish_with(
        mut self,
        push: impl FnOnce(&mut Spawner<'_>, &WrittenRows) -> Result<(), OutOfIds>,
    ) -> Result<(ArchetypeId, usize), OutOfIds> {
        let spawner = self.spawner.as_mut().expect(Self::OPEN);
        push(spawner, &self.written)?;
        spawner.archetype.abandon(spawner.pool);
        let id = spawner.id;
        self.spawner = None;
        Ok((id, self.written.len()))
    }
}

/// The written rows of a batch while others read the store.
#[must_use = "the rows are given up by the batch that goes on"]
pub(super) struct PausedBatch {
    id: ArchetypeId,
    now: Version,
    written: WrittenRows,
}

impl PausedBatch {
    /// The number of written rows.
    pub(super) const fn len(&self) -> usize {
        self.written.len()
    }

    /// The batch again, and the cells of the home of its bundle. The store must be unchanged.
    pub(super) fn go_on(self, store: &mut Store, home: HomeId) -> (Batch<'_>, &BundleCells) {
        let Self { id, now, written } = self;
        let Store { archetypes, clock, entities, pool, bundles, .. } = store;
        let archetype = archetypes.get_mut(id);
        let spawner = Spawner { id, archetype, entities, pool, clock, now };
        (Batch { spawner: Some(spawner), written }, &bundles.home(home).cells)
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
    ensure_room_beside(archetype, entities, rows, 0)
}

/// [`ensure_room`] for a call that needs other memory as well.
pub(super) fn ensure_room_beside(
    archetype: &Archetype,
    entities: &mut Directory,
    rows: usize,
    other_bytes: u64,
) -> Result<(), ReserveError> {
    entities.ensure_room(rows)?;
    let bytes = request_bytes(archetype, rows).saturating_add(other_bytes);
    entities.requests.ensure(bytes)?;
    Ok(())
}

/// The memory that `rows` more rows of an archetype need.
pub(super) fn request_bytes(archetype: &Archetype, rows: usize) -> u64 {
    let ids = (rows as u64).saturating_mul(RequestLimit::ID_BYTES);
    archetype.list().bytes_of(rows).saturating_add(ids)
}
