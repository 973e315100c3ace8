//! Columns of a world whose systems run at the same time: the right of one system to write some.
//!
//! A [`GrantedPlan`] is a plan with the access that its columns need. It is the only right to them
//! as long as it exists, so that their chunks can be handed out without a borrow of the archetypes.

#![expect(unsafe_code, reason = "writes through granted access, while the store is shared")]

use crate::archetype::{Archetypes, ChangeLog};
use crate::component::Component;
use crate::entity::DirectoryView;
use crate::storage::{ChunkIter, ColumnViewsMut, RowCellsMut};
use crate::version::Version;

use super::entered_archetype::EnteredArchetype;
use super::plan::Plan;
use super::requirements::QueryType;
use super::split_store::{AccessGuard, ColumnAccess};

/// Granted access and the plan of a query that it allows: the right to the plan's columns.
///
/// No other guard reads or writes columns that the plan writes, or writes columns that it reads
/// ([`SplitStore::grant`](super::split_store::SplitStore::grant)). The access borrows its guard
/// exclusively for `'w` and is not a `ReadAccess`, of which several can exist, so the guard has no
/// other pass or row for as long.
#[derive(Debug)]
pub(crate) struct GrantedPlan<'w> {
    access: ColumnAccess<'w>,
    plan: &'w Plan,
}

impl<'w> GrantedPlan<'w> {
    /// # Panics
    ///
    /// If the query asks for more than the access allows.
    #[inline]
    pub(crate) fn new(access: ColumnAccess<'w>, query: &QueryType) -> Self {
        access.assert_allows(query);
        let plan = access.store().plan(query);
        Self { access, plan }
    }

    #[inline]
    pub(crate) const fn plan(&self) -> &'w Plan {
        self.plan
    }

    /// The version for writing.
    #[inline]
    pub(crate) const fn now(&self) -> Version {
        self.access.now()
    }

    /// The archetypes of the world, to find the entry of an entity in the plan: until chunks are
    /// taken.
    #[inline]
    pub(crate) fn archetypes(&self) -> &Archetypes {
        &self.access.store().archetypes
    }

    /// The same right for a shorter time.
    #[inline]
    pub(crate) const fn reborrow(&mut self) -> GrantedPlan<'_> {
        GrantedPlan { access: self.access.reborrow(), plan: self.plan }
    }

    /// The cells of the plan's columns, and the archetypes for all else: the caller reads no cells
    /// by them. O(archetypes + chunks).
    ///
    /// # Panics
    ///
    /// If a term takes data beside a column.
    pub(crate) fn into_cells(
        self,
        directory: DirectoryView<'w>,
    ) -> (RowCellsMut<'w>, &'w Archetypes) {
        let archetypes = &self.access.store().archetypes;
        let list = |number| archetypes.as_slice()[number as usize].list();
        // SAFETY: the columns are the plan's, to which `GrantedPlan` is the only right for `'w`,
        // and this call has consumed it. The only caller, `LookupSource`, reads no cells.
        (unsafe { RowCellsMut::new(directory, self.plan.column_map(), list) }, archetypes)
    }

    /// The chunks of the archetype of one entry of the plan, if it has rows.
    #[inline]
    pub(crate) fn enter(self, entry: usize) -> Option<EnteredArchetype<'w>> {
        GrantedColumns::new(self).take(entry)
    }
}

/// The columns of a granted plan, entry by entry.
#[derive(Debug)]
pub(super) struct GrantedColumns<'w> {
    granted: GrantedPlan<'w>,
    /// Entries before this one were taken or passed.
    next: usize,
}

impl<'w> GrantedColumns<'w> {
    #[inline]
    pub(super) const fn new(granted: GrantedPlan<'w>) -> Self {
        Self { granted, next: 0 }
    }

    /// The archetypes of the world, until chunks are taken.
    pub(super) fn archetypes(&self) -> &Archetypes {
        self.granted.archetypes()
    }

    /// The chunks of the archetype of an entry that was not passed yet, if it has rows. Passes the
    /// entries up to this one.
    ///
    /// # Panics
    ///
    /// If the entry was passed, or does not exist.
    #[inline(always)]
    pub(super) fn take(&mut self, entry: usize) -> Option<EnteredArchetype<'w>> {
        assert!(entry >= self.next, "entry {entry} was passed");
        self.next = entry + 1;
        let map = self.granted.plan.column_map();
        let (number, columns) = map.get(entry).expect("the plan has no such entry");
        let archetype = &self.granted.access.store().archetypes.as_slice()[number as usize];
        if archetype.is_empty() {
            return None;
        }
        // SAFETY: the columns are the plan's, to which `GrantedPlan` is the only right for `'w`.
        // Each entry is taken once, and no two are of one list (`ColumnMap::push`).
        let chunks = unsafe { ChunkIter::exclusive_unchecked(archetype.list(), columns) };
        let beside = archetype.beside();
        Some(EnteredArchetype { chunks, beside, archetype: number as usize, entry })
    }
}

impl AccessGuard<'_> {
    /// Component `C` of the entities that have it, for writing. `query` must be the query of `&mut
    /// C` in all entities, including hidden ones.
    ///
    /// # Panics
    ///
    /// If another query was requested.
    pub(crate) fn views_mut<C: Component>(
        &mut self,
        query: &QueryType,
    ) -> (ColumnViewsMut<'_, C>, &ChangeLog) {
        self.assert_is_of::<C>(query, true);
        let access = self.access(query);
        let (store, now) = (access.store(), access.now());
        let (id, archetypes) = (store.registry.id::<C>(), store.archetypes.as_slice());
        let mut columns = ColumnViewsMut::new(store.entities.view(), archetypes.len(), now);
        for archetype in archetypes {
            let (list, column) = (archetype.list(), archetype.column(id));
            let beside = (archetype.stamps(), archetype.attachments(), archetype.is_gone());
            // SAFETY: the access is for writing `C` of all archetypes, so no other guard reads or
            // writes it (`SplitStore::grant`). It borrows the guard exclusively for as long as the
            // view does, so the guard grants no other access. Rows do not move while the store is
            // split. Each list is added once.
            unsafe { columns.push_unchecked(list, beside, column) };
        }
        (columns, store.archetypes.change_log())
    }
}
