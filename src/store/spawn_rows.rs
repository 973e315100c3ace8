//! Spawns entities: one, rows of one bundle, and the rows of reserved ids.
//!
//! One row is written when it has its id, by [`Store::spawn_row`]. Many rows are written after the
//! last live row, chunk by chunk, and get their ids at the end, by [`Store::spawn_rows`]. A call is
//! refused if ids or memory run out, the ids that it names are not available, or a row does not fit
//! a chunk; the store is unchanged, also if an iterator of the caller panics.

use core::convert::Infallible;

use crate::archetype::{Bundle, BundleId, ColumnBundle, ColumnSlices, HomeId};
use crate::component::{ComponentSet, SparseBundle};
use crate::entity::{
    AllocAtError, ArchetypeId, Directory, Entity, Location, NoSuchEntity, RowIndex,
};
use crate::storage::{BundleCells, LayoutError, RowWriter};

use super::batch::{Batch, Spawner, ensure_room};
use super::entity_error::{EntityError, SpawnError};
use super::first_panic::FirstPanic;
use super::row_values::RowValues;
use super::sparse::{PendingLists, PendingParts};
use super::store::Store;

/// Rows that are written before their relations are tested together, at most.
const TESTED_TOGETHER: usize = 1_024;

impl Store {
    /// Spawns an entity with the components of `bundle`.
    #[inline]
    pub(crate) fn spawn_bundle<B: Bundle>(&mut self, bundle: B) -> Result<Entity, SpawnError> {
        let (columns, sparse) = PendingParts::split(bundle);
        let is_missing = self.check_sets::<B::Sparse>();
        self.check_relations(Entity::NULL, sparse.get())?;
        let entity = self.spawn(columns)?;
        if is_missing {
            self.add_missing_sets::<B::Sparse>();
        }
        self.put_sparse(entity, sparse.take());
        Ok(entity)
    }

    /// Spawns an entity with the id `entity`.
    pub(crate) fn spawn_bundle_at<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
    ) -> Result<(), SpawnError> {
        let (columns, sparse) = PendingParts::split(bundle);
        self.check_sets::<B::Sparse>();
        self.check_relations(entity, sparse.get())?;
        self.spawn_at(entity, columns)?;
        self.add_sets::<B::Sparse>();
        self.put_sparse(entity, sparse.take());
        Ok(())
    }

    /// Spawns an entity for every bundle of an iterator. Its size hint may be wrong.
    ///
    /// # Panics
    ///
    /// If the iterator panics: the store is unchanged.
    #[inline]
    pub(crate) fn spawn_bundles<I>(&mut self, bundles: I) -> Result<&[Entity], SpawnError>
    where
        I: Iterator,
        I::Item: Bundle,
    {
        if <<I::Item as Bundle>::Sparse as SparseBundle>::IS_EMPTY {
            return self.spawn_each(bundles.map(|bundle| bundle.split().0));
        }
        self.check_sets::<<I::Item as Bundle>::Sparse>();
        let mut lists = PendingLists::<<I::Item as Bundle>::Sparse>::default();
        let rows = self.write_with_lists(bundles, &mut lists)?;
        self.add_sets::<<I::Item as Bundle>::Sparse>();
        self.spawned(rows);
        let mut panic = FirstPanic::default();
        self.put_lists(rows, lists, &mut panic);
        self.record_sets();
        panic.resume();
        let all = self.archetypes.get(rows.0).entities();
        Ok(&all[all.len() - rows.1..])
    }

    /// [`Store::write_each`] of the columns of bundles. Moves their sparse components to lists, and
    /// tests the relations and the memory of each run of rows. New entities have no sources, and no
    /// bundle can name one of them.
    #[inline]
    fn write_with_lists<I>(
        &mut self,
        mut bundles: I,
        lists: &mut PendingLists<<I::Item as Bundle>::Sparse>,
    ) -> Result<(ArchetypeId, usize), SpawnError>
    where
        I: Iterator,
        I::Item: Bundle,
    {
        let id = self.bundle_id::<<I::Item as Bundle>::Columns>();
        lists.reserve(bundles.size_hint().0);
        self.attempt(|store| {
            let home = store.home(id)?;
            let (spawner, _) = Spawner::new(store, id)?;
            let mut paused = Batch::new(spawner).pause();
            loop {
                let first = paused.len();
                let (mut batch, cells) = paused.go_on(store, home);
                let run = batch.room(bundles.size_hint().0, TESTED_TOGETHER)?;
                let written = batch.write(cells, &run, |rows| {
                    bundles.by_ref().take(run.rows.len()).for_each(|bundle| {
                        let (columns, sparse) = bundle.split();
                        lists.push(sparse);
                        rows.push(columns);
                    });
                });
                paused = batch.pause();
                let bytes = paused.len() as u64 * size_of::<<I::Item as Bundle>::Sparse>() as u64;
                let within = store.entities.requests.ensure_within(bytes);
                let checked = match within {
                    Ok(()) => store.check_lists(lists, first).map_err(SpawnError::from),
                    Err(error) => Err(error.into()),
                };
                if checked.is_err() || written < run.rows.len() {
                    let (batch, _) = paused.go_on(store, home);
                    checked?;
                    return Ok::<_, SpawnError>(batch.finish()?);
                }
            }
        })
    }

    /// Spawns an entity in the home that `find` finds, with the id that `alloc` gives it. `put`
    /// writes its row.
    #[inline(always)]
    fn spawn_row<E: From<LayoutError>>(
        &mut self,
        find: impl FnOnce(&mut Self) -> Result<HomeId, LayoutError>,
        alloc: impl FnOnce(&mut Directory, Location) -> Result<Entity, E>,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) -> Result<Entity, E> {
        let known = self.archetypes.len();
        let home = find(self)?;
        let Self { archetypes, clock, entities, pool, bundles, .. } = self;
        let (home, now) = (bundles.home(home), clock.advance());
        let id = home.archetype;
        let alloc = |row| alloc(entities, Location::new(id, row));
        match archetypes.get_mut(id).push_row(&home.cells, (pool, now), alloc, put) {
            Ok(entity) => {
                self.record_spawned(id, 1);
                Ok(entity)
            }
            Err(error) => {
                *clock = clock.before();
                self.give_back_archetypes(known);
                Err(error)
            }
        }
    }

    /// Spawns the rows of a batch, which `write` writes and finishes. Returns their entities.
    #[inline]
    fn spawn_rows(
        &mut self,
        bundle: BundleId,
        write: impl FnOnce(Batch<'_>, &BundleCells) -> Result<(ArchetypeId, usize), SpawnError>,
    ) -> Result<&[Entity], SpawnError> {
        let rows = self.attempt(|store| {
            let (spawner, cells) = Spawner::new(store, bundle)?;
            write(Batch::new(spawner), cells)
        })?;
        Ok(self.spawned(rows))
    }

    /// Records rows that were just spawned, and returns their entities.
    pub(super) fn spawned(&mut self, (archetype, rows): (ArchetypeId, usize)) -> &[Entity] {
        self.record_spawned(archetype, rows);
        let entities = self.archetypes.get(archetype).entities();
        &entities[entities.len() - rows..]
    }

    /// Spawns an entity with the components of `bundle`.
    #[inline]
    pub(crate) fn spawn<B: ColumnBundle>(&mut self, bundle: B) -> Result<Entity, SpawnError> {
        let alloc = |entities: &mut Directory, place| Ok(entities.alloc(place)?);
        self.spawn_row(Self::home_of_type::<B>, alloc, |row| {
            bundle.store(&mut |value| row.put(value))
        })
    }

    /// Spawns an entity with the id `entity`.
    pub(crate) fn spawn_at<B: ColumnBundle>(
        &mut self,
        entity: Entity,
        bundle: B,
    ) -> Result<(), SpawnError> {
        let alloc = |entities: &mut Directory, place| {
            entities.alloc_at(entity, place).map_err(AllocAtError::into).map(|()| entity)
        };
        let put = |row: &mut RowWriter<'_>| bundle.store(&mut |value| row.put(value));
        self.spawn_row(Self::home_of_type::<B>, alloc, put).map(drop)
    }

    /// Spawns the entity of an id on loan.
    #[inline]
    pub(crate) fn spawn_loaned(
        &mut self,
        entity: Entity,
        bundle: BundleId,
        values: RowValues<'_>,
    ) -> Result<(), EntityError> {
        // Checked before the layout: the caller ends the loan of a row that is too large.
        if !self.entities.is_on_loan(entity) {
            return Err(NoSuchEntity { entity }.into());
        }
        let alloc = |entities: &mut Directory, place| {
            entities.alloc_loaned(entity, place)?;
            Ok::<_, EntityError>(entity)
        };
        self.spawn_row(|store| store.home(bundle), alloc, |row| values.put(row)).map(drop)
    }

    /// Spawns an entity for every bundle of an iterator. Its size hint may be wrong.
    #[inline]
    pub(crate) fn spawn_each<I>(&mut self, bundles: I) -> Result<&[Entity], SpawnError>
    where
        I: Iterator,
        I::Item: ColumnBundle,
    {
        let rows = self.write_each(bundles)?;
        Ok(self.spawned(rows))
    }

    /// [`Store::spawn_each`] of rows that are not recorded yet: their archetype and number.
    #[inline]
    pub(super) fn write_each<I>(
        &mut self,
        mut bundles: I,
    ) -> Result<(ArchetypeId, usize), SpawnError>
    where
        I: Iterator,
        I::Item: ColumnBundle,
    {
        let id = self.bundle_id::<I::Item>();
        // Not by `spawn_rows`: with its closure around the loop a row takes two instructions more.
        self.attempt(|store| {
            let (spawner, cells) = Spawner::new(store, id)?;
            let mut batch = Batch::new(spawner);
            loop {
                let run = batch.room(bundles.size_hint().0, usize::MAX)?;
                let written = batch.write(cells, &run, |rows| {
                    bundles.by_ref().take(run.rows.len()).for_each(|bundle| rows.push(bundle));
                });
                if written < run.rows.len() {
                    return Ok::<_, SpawnError>(batch.finish()?);
                }
            }
        })
    }

    /// Spawns an entity for each of the `rows` rows of columns.
    pub(crate) fn spawn_columns<S: ColumnSlices>(
        &mut self,
        columns: S,
        rows: usize,
    ) -> Result<&[Entity], SpawnError> {
        let id = self.bundle_id::<S::Bundle>();
        self.spawn_rows(id, |mut batch, cells| {
            batch.ensure_room(rows)?;
            while batch.len() < rows {
                let (copied, left) = (batch.len(), rows - batch.len());
                let run = batch.room(left, left)?;
                batch.write(cells, &run, |rows| rows.copy(columns, copied));
            }
            Ok(batch.finish()?)
        })
    }

    /// Spawns `rows` entities with the components of `bundle`. `values` has the offsets of the
    /// first row; the values of each next row begin `stride` bytes later. Returns the entities.
    /// O(bytes).
    pub(crate) fn spawn_strided(
        &mut self,
        bundle: BundleId,
        rows: usize,
        values: RowValues<'_>,
        stride: usize,
    ) -> Result<&[Entity], SpawnError> {
        self.entities.ensure_room(rows)?;
        self.spawn_rows(bundle, |mut batch, cells| {
            batch.ensure_room(rows)?;
            batch.write_bytes(cells, rows, (values, stride));
            Ok(batch.finish()?)
        })
    }

    /// [`Store::spawn_strided`] of the entities of ids on loan.
    pub(crate) fn spawn_loaned_rows(
        &mut self,
        ids: impl ExactSizeIterator<Item = Entity> + Clone,
        bundle: BundleId,
        values: RowValues<'_>,
        stride: usize,
    ) -> Result<(), SpawnError> {
        let is_on_loan = |&entity: &Entity| self.entities.is_on_loan(entity);
        if let Some(entity) = ids.clone().find(|entity| !is_on_loan(entity)) {
            return Err(NoSuchEntity { entity }.into());
        }
        let spawned = self.spawn_rows(bundle, |mut batch, cells| {
            batch.write_bytes(cells, ids.len(), (values, stride));
            Ok(batch.finish_loaned(ids))
        });
        spawned.map(drop)
    }

    /// Reserves memory for `rows` more entities of bundle `B`.
    pub(crate) fn reserve<B: ColumnBundle>(&mut self, rows: usize) -> Result<(), SpawnError> {
        self.entities.ensure_room(rows)?;
        let bundle = self.bundle_id::<B>();
        self.attempt(|store| {
            let home = store.home(bundle)?;
            let id = store.bundles.home(home).archetype;
            let archetype = store.archetypes.get_mut(id);
            ensure_room(archetype, &mut store.entities, rows)?;
            archetype.reserve(rows, &mut store.pool);
            // Rows that are reserved for other bundles need ids as well.
            let others = store.archetypes.as_slice().iter().enumerate();
            let others = others.filter(|&(number, _)| number != id.index());
            let spare = others.map(|(_, archetype)| archetype.list().spare_rows());
            store.entities.reserve_capacity(spare.fold(rows, usize::saturating_add));
            Ok(())
        })
    }

    /// Spawns reserved ids and takes back the ids of dropped buffers. Every change of the world
    /// begins with it.
    #[inline]
    pub(crate) fn flush(&mut self) {
        if self.entities.needs_flush() {
            self.flush_ids();
        }
    }

    #[cold]
    fn flush_ids(&mut self) {
        if !self.entities.has_reserved() {
            return self.entities.flush(|_| unreachable!("no id is reserved"));
        }
        let empty = self.find_or_add(&ComponentSet::default());
        let spawner = Spawner::at(self, empty.expect("a row of no bytes fits any chunk"));
        let Spawner { id, archetype, entities, pool, now, .. } = spawner;
        let cells = BundleCells::none(archetype.list());
        entities.flush(|entity| {
            let mut place = Location::new(id, RowIndex(0));
            let alloc = |row| {
                place = Location::new(id, row);
                Ok::<_, Infallible>(entity)
            };
            let Ok(_) = archetype.push_row(&cells, (pool, now), alloc, |_| ());
            place
        });
    }
}
