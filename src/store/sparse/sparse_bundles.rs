//! The sparse components of bundles: their sets are checked and added; their values are put, taken,
//! read and dropped.

use std::sync::RwLockReadGuard;

use crate::archetype::{Bundle, ColumnBundle};
use crate::component::{
    HasSparseCleanup, NameTaken, Registry, SparseBundle, SparseComponent, SparseSink, SparseSource,
    SparseVisitor,
};
use crate::entity::{Entity, Location, NoSuchEntity};
use crate::storage::SetBlocks;
use crate::version::Version;

use super::super::entity_error::EntityError;
use super::super::first_panic::FirstPanic;
use super::super::store::Store;
use super::member_rows::MemberRows;
use super::sparse_set::SparseSet;
use super::sparse_sets::SparseSets;

impl Store {
    /// Checks that the sets of some components can be added, before a call changes the store.
    /// Returns whether any are missing. They are added when the call can no longer be refused. The
    /// tags of cleanup components are registered here, because the numbers of components may end.
    ///
    /// # Panics
    ///
    /// If one of their names is taken, a `Component::hint` panics, or no number is left for a tag.
    #[inline]
    pub(crate) fn check_sets<S: SparseBundle>(&mut self) -> bool {
        let are_missing = self.check_names_of_sets::<S>();
        if are_missing && S::HAS_CLEANUP {
            let tag = self.registry.register::<HasSparseCleanup>();
            tag.unwrap_or_else(|taken| taken.refuse());
        }
        are_missing
    }

    /// [`Store::check_sets`] for a call that adds no set.
    #[inline]
    pub(super) fn check_names_of_sets<S: SparseBundle>(&mut self) -> bool {
        if S::IS_EMPTY || !self.find_missing_sets::<S>().unwrap_or_else(|taken| taken.refuse()) {
            return false;
        }
        self.plans.ask_hints(&self.registry);
        true
    }

    /// Whether sets of some components are missing.
    ///
    /// # Errors
    ///
    /// If another component has the name of one of them.
    #[inline]
    pub(crate) fn find_missing_sets<S: SparseBundle>(&self) -> Result<bool, NameTaken> {
        let mut checking = Checking { store: self, is_missing: Ok(false) };
        S::visit(&mut checking);
        checking.is_missing
    }

    /// Adds the sets of some components.
    ///
    /// # Panics
    ///
    /// If another component has the name of one of them.
    #[inline]
    pub(crate) fn add_sets<S: SparseBundle>(&mut self) {
        if !self.has_sets::<S>() {
            self.try_add_sets::<S>().unwrap_or_else(|taken| taken.refuse());
        }
    }

    /// Whether no set of some components is missing.
    #[inline(always)]
    fn has_sets<S: SparseBundle>(&self) -> bool {
        let mut known = KnownSets { sets: &self.sparse, are_all: true };
        S::visit(&mut known);
        known.are_all
    }

    /// Adds the sets of some components.
    ///
    /// # Errors
    ///
    /// If another component has the name of one of them. No set is added.
    pub(crate) fn try_add_sets<S: SparseBundle>(&mut self) -> Result<(), NameTaken> {
        if self.find_missing_sets::<S>()? {
            self.add_missing_sets::<S>();
        }
        Ok(())
    }

    /// [`Store::add_sets`] after a check.
    #[cold]
    pub(in crate::store) fn add_missing_sets<S: SparseBundle>(&mut self) {
        S::visit(&mut Naming { registry: &mut self.registry });
        // May panic, so it comes before the sets are added: each plan knows the sparse components
        // of all sets.
        self.know_types();
        S::visit(&mut Adding { sets: &mut self.sparse, registry: &self.registry });
    }

    /// Gives some components their names, without sets.
    ///
    /// # Errors
    ///
    /// If another component has the name of one of them. No name is given.
    pub(crate) fn try_name_sparse<S: SparseBundle>(&mut self) -> Result<(), NameTaken> {
        self.find_missing_sets::<S>()?;
        S::visit(&mut Naming { registry: &mut self.registry });
        Ok(())
    }

    /// Whether an entity has a sparse component.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(crate) fn has_sparse<S: SparseComponent>(&self, entity: Entity) -> bool {
        self.read_sparse::<S>().is_some_and(|set| set.contains(entity))
    }

    /// The set of a sparse component, for reading, if it exists.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    #[inline]
    pub(crate) fn read_sparse<S: SparseComponent>(
        &self,
    ) -> Option<RwLockReadGuard<'_, SparseSet<S>>> {
        let set = self.sparse.read();
        if set.is_none() {
            self.registry.check_sparse::<S>().unwrap_or_else(|taken| taken.refuse());
        }
        set
    }

    /// The set of a sparse component with its number in the world, if it exists, for as long as the
    /// store is borrowed.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(super) fn lend_sparse<S: SparseComponent>(&self) -> Option<(&SparseSet<S>, u16)> {
        self.note_guard();
        let set = self.sparse.lend();
        if set.is_none() {
            self.registry.check_sparse::<S>().unwrap_or_else(|taken| taken.refuse());
        }
        set
    }

    /// The versions of the set of a sparse component, if it exists, for as long as the store is
    /// borrowed.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(crate) fn lend_blocks<S: SparseComponent>(&self) -> Option<&SetBlocks> {
        self.lend_sparse::<S>().map(|(set, _)| set.blocks())
    }

    /// The set of a sparse component, for writing, if it exists.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    #[inline]
    pub(crate) fn write_sparse<S: SparseComponent>(&mut self) -> Option<&mut SparseSet<S>> {
        let Self { sparse, registry, .. } = self;
        let set = sparse.get_mut();
        if set.is_none() {
            registry.check_sparse::<S>().unwrap_or_else(|taken| taken.refuse());
        }
        set
    }

    /// The value of an entity, for writing. Advances the clock if it has one.
    ///
    /// # Panics
    ///
    /// If another component has the name of `S`.
    #[inline]
    pub(crate) fn sparse_value_mut<S: SparseComponent>(
        &mut self,
        entity: Entity,
    ) -> Option<&mut S> {
        let Self { sparse, registry, clock, .. } = self;
        let Some(set) = sparse.get_mut::<S>() else {
            registry.check_sparse::<S>().unwrap_or_else(|taken| taken.refuse());
            return None;
        };
        let now = clock.next();
        let value = set.get_mut(entity, now)?;
        *clock = now;
        Some(value)
    }

    /// Gives an entity, which must be alive, sparse components. Their sets must exist. The clock
    /// must have advanced for this change, as for the calls below.
    ///
    /// # Panics
    ///
    /// If a destructor of a replaced value panics. All values are put.
    #[inline]
    pub(in crate::store) fn put_sparse<S: SparseBundle>(&mut self, entity: Entity, sparse: S) {
        if !S::IS_EMPTY {
            let place = self.entities.locate(entity).ok();
            self.put_sparse_at((entity, place), sparse);
        }
    }

    /// [`Store::put_sparse`] of an entity whose row is known, if it has one.
    #[inline]
    pub(in crate::store) fn put_sparse_at<S: SparseBundle>(
        &mut self,
        of: (Entity, Option<Location>),
        sparse: S,
    ) {
        let mut panic = FirstPanic::default();
        let now = self.clock;
        let (sets, rows) = self.sets_and_rows();
        sparse.put(&mut SetChange { sets, rows, of, now, panic: &mut panic });
        self.record_sets();
        panic.resume();
    }

    /// Gives an entity, which must be alive, sparse components. Their sets must exist.
    #[inline]
    pub(crate) fn put_sparse_caught<S: SparseBundle>(
        &mut self,
        entity: Entity,
        sparse: S,
        panic: &mut FirstPanic,
    ) {
        if !S::IS_EMPTY {
            let now = self.clock;
            let (sets, rows) = self.sets_and_rows();
            let of = (entity, rows.find(entity));
            sparse.put(&mut SetChange { sets, rows, of, now, panic });
        }
    }

    /// Takes sparse components from an entity, up to one that it does not have.
    #[inline]
    pub(in crate::store) fn take_sparse<S: SparseBundle>(&mut self, entity: Entity) -> Option<S> {
        let now = self.clock;
        let (sets, rows) = self.sets_and_rows();
        S::take(&mut Taking { sets, rows, entity, now })
    }

    /// Drops sparse components of an entity, as far as it has them.
    #[inline]
    pub(crate) fn drop_sparse_caught<S: SparseBundle>(
        &mut self,
        entity: Entity,
        panic: &mut FirstPanic,
    ) {
        if !S::IS_EMPTY {
            let now = self.clock;
            let (sets, rows) = self.sets_and_rows();
            let of = (entity, rows.find(entity));
            S::visit(&mut SetChange { sets, rows, of, now, panic });
        }
    }

    /// The row of an entity that is alive. A reserved id has none.
    ///
    /// # Errors
    ///
    /// If it is not alive.
    #[inline]
    pub(in crate::store) fn row_of_living(
        &self,
        entity: Entity,
    ) -> Result<Option<Location>, NoSuchEntity> {
        let place = self.entities.locate(entity).ok();
        let is_alive = if place.is_some() { !self.is_gone(entity) } else { self.contains(entity) };
        if is_alive { Ok(place) } else { Err(NoSuchEntity { entity }) }
    }

    #[inline]
    pub(in crate::store) fn ensure_alive(&self, entity: Entity) -> Result<(), NoSuchEntity> {
        if self.contains(entity) { Ok(()) } else { Err(NoSuchEntity { entity }) }
    }

    #[inline]
    pub(in crate::store) fn ensure_has_sparse<S: SparseBundle>(
        &mut self,
        entity: Entity,
    ) -> Result<(), EntityError> {
        if S::IS_EMPTY {
            return Ok(());
        }
        let mut missing = None;
        self.look_up_sparse::<S>(entity, |name, has| {
            if !has {
                missing.get_or_insert(name);
            }
        });
        match missing {
            None => Ok(()),
            Some(name) => Err(self.lacking(entity, name)),
        }
    }

    /// Calls `each` with the name of each sparse component, and whether an entity has it.
    ///
    /// # Panics
    ///
    /// If another component has the name of one of them.
    #[inline]
    pub(super) fn look_up_sparse<S: SparseBundle>(
        &mut self,
        entity: Entity,
        each: impl FnMut(&'static str, bool),
    ) {
        S::visit(&mut LookingUp { store: self, entity, each });
    }
}

/// Whether a bundle has sparse components and no others.
pub(in crate::store) const fn is_sparse<B: Bundle>() -> bool {
    !<B::Sparse as SparseBundle>::IS_EMPTY && <B::Columns as ColumnBundle>::NAMES.is_empty()
}

/// The sparse components of a bundle until their call cannot be refused any more. If it is, each is
/// dropped: the destructor of a tuple would end the process at the second panic.
pub(crate) struct PendingParts<S: SparseBundle>(Option<S>);

impl<S: SparseBundle> PendingParts<S> {
    /// The columns and the sparse components of a bundle.
    #[inline]
    pub(crate) fn split<B: Bundle<Sparse = S>>(bundle: B) -> (B::Columns, Self) {
        let (columns, sparse) = bundle.split();
        (columns, Self(Some(sparse)))
    }

    #[inline]
    pub(in crate::store) const fn new(sparse: S) -> Self {
        Self(Some(sparse))
    }

    #[inline]
    pub(crate) const fn get(&self) -> &S {
        self.0.as_ref().expect("the components are taken when they are consumed")
    }

    #[inline]
    pub(crate) fn take(mut self) -> S {
        self.0.take().expect("the components are taken when they are consumed")
    }
}

impl<S: SparseBundle> Drop for PendingParts<S> {
    #[inline]
    fn drop(&mut self) {
        if const { core::mem::needs_drop::<S>() }
            && let Some(sparse) = self.0.take()
        {
            let mut panic = FirstPanic::default();
            sparse.put(&mut panic);
            panic.resume_from_drop();
        }
    }
}

/// Looks for components without a set.
struct KnownSets<'s> {
    sets: &'s SparseSets,
    /// Whether each has one.
    are_all: bool,
}

impl SparseVisitor for KnownSets<'_> {
    #[inline(always)]
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.are_all = self.are_all && self.sets.has::<S>();
    }
}

/// Checks the names of components without a set.
struct Checking<'s> {
    store: &'s Store,
    /// Whether one has no set.
    is_missing: Result<bool, NameTaken>,
}

impl SparseVisitor for Checking<'_> {
    #[inline]
    fn visit_sparse<S: SparseComponent>(&mut self) {
        let Store { sparse, registry, .. } = self.store;
        if self.is_missing.is_ok() && !sparse.has::<S>() {
            self.is_missing = registry.check_new_sparse::<S>().map(|()| true);
        }
    }
}

/// Gives components their names.
struct Naming<'s> {
    registry: &'s mut Registry,
}

impl SparseVisitor for Naming<'_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.registry.register_sparse::<S>().unwrap_or_else(|taken| taken.refuse());
    }
}

/// Adds sets.
struct Adding<'s> {
    sets: &'s mut SparseSets,
    registry: &'s Registry,
}

impl SparseVisitor for Adding<'_> {
    fn visit_sparse<S: SparseComponent>(&mut self) {
        self.sets.add::<S>(self.registry);
    }
}

/// Looks up the sparse components of one entity.
struct LookingUp<'s, F> {
    store: &'s mut Store,
    entity: Entity,
    each: F,
}

impl<F: FnMut(&'static str, bool)> SparseVisitor for LookingUp<'_, F> {
    #[inline]
    fn visit_sparse<S: SparseComponent>(&mut self) {
        // The exclusive access needs no lock.
        let set = self.store.write_sparse::<S>();
        (self.each)(S::NAME, set.is_some_and(|set| set.contains(self.entity)));
    }
}

/// Takes the sparse components of one entity.
struct Taking<'s> {
    sets: &'s mut SparseSets,
    rows: MemberRows<'s>,
    entity: Entity,
    now: Version,
}

/// Puts or drops sparse components of one entity.
struct SetChange<'s> {
    sets: &'s mut SparseSets,
    rows: MemberRows<'s>,
    /// The entity, and the place of its row, if it has one.
    of: (Entity, Option<Location>),
    now: Version,
    panic: &'s mut FirstPanic,
}

impl SparseSink for SetChange<'_> {
    #[inline(always)]
    fn put<S: SparseComponent>(&mut self, value: S) {
        let (entity, place) = self.of;
        let (set, number) = self.sets.get_numbered().expect("the sparse set was not added");
        let mut replaced = set.insert(entity, value, self.now);
        if replaced.is_some() {
            if const { core::mem::needs_drop::<S>() } {
                self.panic.catch(|| drop(replaced.take()));
            }
        } else if let Some(place) = place {
            self.rows.set_at(place, number, true);
        }
    }
}

impl SparseSource for Taking<'_> {
    #[inline(always)]
    fn take<S: SparseComponent>(&mut self) -> Option<S> {
        let (set, number) = self.sets.get_numbered()?;
        let value = set.remove(self.entity, self.now)?;
        self.rows.set(self.entity, number, false);
        Some(value)
    }
}

impl SparseVisitor for SetChange<'_> {
    #[inline(always)]
    fn visit_sparse<S: SparseComponent>(&mut self) {
        let (entity, place) = self.of;
        let Some((set, number)) = self.sets.get_numbered::<S>() else { return };
        let mut removed = set.remove(entity, self.now);
        if removed.is_some() {
            if let Some(place) = place {
                self.rows.set_at(place, number, false);
            }
            if const { core::mem::needs_drop::<S>() } {
                self.panic.catch(|| drop(removed.take()));
            }
        }
    }
}
