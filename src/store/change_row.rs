//! Changes of the components of one entity: columns by one move of its row along an edge of the
//! graph, sparse components in their sets.
//!
//! Every change of a single row passes through [`Store::change_row`]: changes with bundles of
//! types, with bytes, with the tags of shared values, and despawns that keep cleanup components. A
//! change is refused if its entity is not alive, lacks a component that must be removed, or has a
//! row that would not fit a chunk; the store is unchanged.
//!
//! A call with a bundle of both kinds checks all that may be refused, then changes the row, which
//! may be refused too, and then the sets, which cannot fail: sets are added last, all or none, so
//! that a refused call takes no name of a sparse component. A bundle of columns alone takes the way
//! of its columns, and one of sparse components the way of the sets: the conditions are
//! constants. Each advances the clock once. A value that is replaced or removed unasked is dropped
//! at the end: its destructor may panic.

use crate::archetype::{Bundle, BundleId, Change, ChangeKind, ColumnBundle, EdgeId, move_row};
use crate::component::SparseBundle;
use crate::entity::{ArchetypeId, Entity, Location, NoSuchEntity};
use crate::storage::{RowReader, RowWriter};
use crate::version::Version;

use super::entity_error::EntityError;
use super::find_edge::EdgeError;
use super::first_panic::FirstPanic;
use super::row_values::RowValues;
use super::sparse::{PendingParts, is_sparse};
use super::store::Store;

/// A change of an entity's row that is possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowChange {
    pub(super) entity: Entity,
    pub(super) place: Location,
    pub(super) edge: EdgeId,
    pub(super) now: Version,
}

/// Whether a net change removes no component and adds none. It never removes one that it adds, so
/// both bundles are the same only if both are empty.
pub(super) fn is_nothing((removed, added): (BundleId, BundleId)) -> bool {
    removed == added
}

impl Store {
    /// Moves a row along an edge, or overwrites it if the edge leads back to its archetype.
    /// `exchange` may read the removed bundle and must write the added one.
    #[inline(always)]
    pub(super) fn change_row<T>(
        &mut self,
        RowChange { entity, place, edge, now }: RowChange,
        exchange: impl FnOnce(&mut RowReader<'_>, &mut RowWriter<'_>) -> T,
    ) -> T {
        self.record_move(place, edge);
        let Self { archetypes, entities, pool, graph, .. } = self;
        let (edge, from) = (graph.edge(edge), place.archetype());
        if edge.target == from {
            return archetypes.get_mut(from).overwrite_row(edge, place.row(), now, exchange);
        }
        let (archetype, target) = archetypes.pair_mut(from, edge.target);
        let at = archetype.list().split(place.row());
        let moved = move_row((archetype, target), (entity, at), edge, (pool, now), exchange);
        let there = Location::new(edge.target, target.list().position(moved.to));
        entities.set_location(entity.index(), there);
        if let Some(swapped) = moved.swapped {
            entities.set_location(swapped.index(), place);
        }
        self.record_arrived(there.archetype(), from, 1);
        moved.exchanged
    }

    /// [`Store::change_row`] that writes the added bundle and returns the removed one.
    #[inline(always)]
    pub(super) fn exchange_along<R: ColumnBundle, A: ColumnBundle>(
        &mut self,
        change: RowChange,
        added: A,
    ) -> R {
        self.change_row(change, |old, new| {
            let removed = R::fetch(old);
            added.store(&mut |value| new.put(value));
            removed
        })
    }

    /// [`Store::change_row`] that writes the added bundle as bytes. Returns `true` if the row has
    /// moved.
    #[inline]
    pub(super) fn exchange_bytes_along(
        &mut self,
        change: RowChange,
        values: RowValues<'_>,
    ) -> bool {
        let stays = self.graph.edge(change.edge).target == change.place.archetype();
        if !stays || !values.starts.is_empty() {
            self.change_row(change, |_, new| values.put(new));
        }
        !stays
    }

    /// Inserts the components of a bundle into an entity.
    #[inline]
    pub(crate) fn insert<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
    ) -> Result<(), EntityError> {
        let (columns, sparse) = PendingParts::split(bundle);
        if const { is_sparse::<B>() } {
            let now = self.clock.next();
            if let Some(outcome) = self.retarget(entity, sparse.get(), now) {
                return Ok(outcome.map(|()| self.clock = now)?);
            }
            let place = self.row_of_living(entity)?;
            self.check_relations(entity, sparse.get())?;
            self.add_sets::<B::Sparse>();
            self.advance_clock();
            self.put_sparse_at((entity, place), sparse.take());
            return Ok(());
        }
        self.check_sets::<B::Sparse>();
        self.check_relations(entity, sparse.get())?;
        let change = self.change_of::<B::Columns>(ChangeKind::Insert, entity, |store| {
            Change::Insert(store.bundle_id::<B::Columns>())
        })?;
        // Runs `Component::hint`, which may panic, so it comes before the first change.
        self.add_sets::<B::Sparse>();
        self.exchange_along::<(), _>(change, columns);
        self.put_sparse(entity, sparse.take());
        Ok(())
    }

    /// Removes the components of a bundle from an entity and returns them.
    #[inline]
    pub(crate) fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<B, EntityError> {
        if const { is_sparse::<B>() && B::Sparse::LEN == 1 } {
            return self.remove_one_sparse(entity);
        }
        self.ensure_has_sparse::<B::Sparse>(entity)?;
        let columns = if const { is_sparse::<B>() } {
            // It has a value, so it is alive.
            self.advance_clock();
            B::Columns::load(&mut &[][..])
        } else {
            let change = self.change_of::<B::Columns>(ChangeKind::Remove, entity, |store| {
                Change::Remove(store.bundle_id::<B::Columns>())
            })?;
            let removed = self.exchange_along(change, ());
            self.end_cleanup();
            removed
        };
        let sparse = self.take_sparse(entity).expect("the entity has the components");
        self.record_sets();
        if B::Sparse::HAS_CLEANUP {
            self.end_kept();
        }
        Ok(B::join(columns, sparse))
    }

    /// [`Store::remove`] of one sparse component: it is looked up once.
    #[inline]
    fn remove_one_sparse<B: Bundle>(&mut self, entity: Entity) -> Result<B, EntityError> {
        self.advance_clock();
        let Some(sparse) = self.take_sparse(entity) else {
            // No version was given away: a set notes a loss after it has found the value.
            self.clock = self.clock.before();
            return Err(self.lacking_sparse::<B::Sparse>(entity));
        };
        self.record_sets();
        if B::Sparse::HAS_CLEANUP {
            self.end_kept();
        }
        Ok(B::join(B::Columns::load(&mut &[][..]), sparse))
    }

    #[cold]
    fn lacking_sparse<S: SparseBundle>(&mut self, entity: Entity) -> EntityError {
        self.ensure_has_sparse::<S>(entity).expect_err("a value of the entity was not found")
    }

    /// Removes the components of `R` from an entity and inserts the components of `added`.
    #[inline]
    pub(crate) fn exchange<R: Bundle, A: Bundle>(
        &mut self,
        entity: Entity,
        added: A,
    ) -> Result<R, EntityError> {
        let (columns, sparse) = PendingParts::split(added);
        self.ensure_has_sparse::<R::Sparse>(entity)?;
        let columns = if const { is_sparse::<(R, A)>() } {
            self.ensure_alive(entity)?;
            self.check_relations(entity, sparse.get())?;
            self.add_sets::<A::Sparse>();
            self.advance_clock();
            R::Columns::load(&mut &[][..])
        } else {
            self.check_sets::<A::Sparse>();
            self.check_relations(entity, sparse.get())?;
            let kind = ChangeKind::Exchange;
            let change = self.change_of::<(R::Columns, A::Columns)>(kind, entity, |store| {
                let removed = store.bundle_id::<R::Columns>();
                let added = store.bundle_id::<A::Columns>();
                Change::Exchange { removed, added }
            })?;
            self.add_sets::<A::Sparse>();
            self.exchange_along(change, columns)
        };
        let removed = self.take_sparse::<R::Sparse>(entity).expect("it has the components");
        let removed = PendingParts::new(removed);
        let mut panic = FirstPanic::default();
        self.put_sparse_caught(entity, sparse.take(), &mut panic);
        self.record_combined_sets();
        panic.resume();
        Ok(R::join(columns, removed.take()))
    }

    /// Moves the row of an entity to the archetype with another shared value, or without one.
    pub(crate) fn change_tags<B: ColumnBundle>(
        &mut self,
        entity: Entity,
        change: Change,
        tags: B,
    ) -> Result<(), EntityError> {
        let place = self.entities.locate(entity)?;
        let edge = self.edge_for(entity, place.archetype(), change)?;
        let now = self.advance_clock();
        self.exchange_along::<(), B>(RowChange { entity, place, edge, now }, tags);
        Ok(())
    }

    /// Removes the components of the first bundle that an entity has, and inserts the components of
    /// the second one, in one move. Returns `true` if the row has moved.
    #[inline]
    pub(crate) fn exchange_bytes(
        &mut self,
        entity: Entity,
        bundles: (BundleId, BundleId),
        values: RowValues<'_>,
    ) -> Result<bool, EntityError> {
        let place = self.entities.locate(entity)?;
        let edge = self.exchange_bytes_edge(entity, place.archetype(), bundles)?;
        if is_nothing(bundles) {
            return Ok(false);
        }
        let now = self.advance_clock();
        let change = RowChange { entity, place, edge, now };
        let has_moved = self.exchange_bytes_along(change, values);
        self.end_cleanup();
        Ok(has_moved)
    }

    /// The edge of a [`Store::exchange_bytes`].
    #[inline]
    pub(super) fn exchange_bytes_edge(
        &mut self,
        entity: Entity,
        source: ArchetypeId,
        (removed, added): (BundleId, BundleId),
    ) -> Result<EdgeId, EntityError> {
        self.edge_for(entity, source, Change::ExchangePresent { removed, added })
    }

    /// The change of an entity for a bundle type. `change` is called if the last change of this
    /// kind had another source or bundle type. Advances the clock.
    #[inline]
    fn change_of<B: 'static>(
        &mut self,
        kind: ChangeKind,
        entity: Entity,
        change: impl FnOnce(&mut Self) -> Change,
    ) -> Result<RowChange, EntityError> {
        let place = self.entities.locate(entity)?;
        let edge = match self.graph.last_edge::<B>(kind, place.archetype()) {
            Some(edge) => edge,
            None => self.find_edge::<B>(kind, (entity, place.archetype()), change)?,
        };
        Ok(RowChange { entity, place, edge, now: self.advance_clock() })
    }

    /// The edge for a bundle type other than that of the last change of this kind.
    #[inline(never)]
    fn find_edge<B: 'static>(
        &mut self,
        kind: ChangeKind,
        (entity, source): (Entity, ArchetypeId),
        change: impl FnOnce(&mut Self) -> Change,
    ) -> Result<EdgeId, EntityError> {
        let change = change(self);
        let edge = self.edge_for(entity, source, change)?;
        self.graph.remember_edge::<B>(kind, source, edge);
        Ok(edge)
    }

    /// [`Store::edge`] of a change of one entity.
    #[inline]
    fn edge_for(
        &mut self,
        entity: Entity,
        source: ArchetypeId,
        change: Change,
    ) -> Result<EdgeId, EntityError> {
        self.edge(source, change).map_err(|error| self.refused(entity, error))
    }

    /// The error of a change that has no edge.
    #[cold]
    fn refused(&self, entity: Entity, error: EdgeError) -> EntityError {
        match error {
            EdgeError::Gone => NoSuchEntity { entity }.into(),
            EdgeError::Missing(id) => self.lacking(entity, self.registry.info(id).name()),
            EdgeError::Layout(error) => error.into(),
        }
    }

    /// The error of a call that names an entity without the row or the component that it needs.
    #[cold]
    pub(crate) fn lacking(&self, entity: Entity, component: &'static str) -> EntityError {
        EntityError::lacks(entity, component, self.contains(entity))
    }
}
