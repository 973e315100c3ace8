//! The storage of a world: archetypes, entities and the clock.

use core::any::TypeId;

use crate::archetype::{Archetypes, BundleId, Bundles, ChangeLog, ColumnBundle, Graph, HomeId};
use crate::component::{Component, ComponentId, ComponentSet, NameTaken, Registry};
use crate::entity::{ArchetypeId, Directory};
use crate::storage::{ColumnViews, ColumnViewsMut, LayoutError, Pool};
use crate::version::Version;

use super::access_request::AccessRequest;
use super::access_request::AccessRequests;
use super::history::History;
use super::logs::Logs;
use super::plan::Plan;
use super::plans::Plans;
use super::read_guard::Lent;
use super::requirements::QueryType;
use super::sorted_lists::SortedLists;
use super::sparse::SparseSets;

/// The archetypes of a world, its entities and its clock, with their indices: component ids, query
/// plans, and the graph of changes. Also the sparse components of the entities, and the logs of
/// events and rows.
///
/// Rows change only by the methods of this folder. Other modules read the fields by methods, and
/// write names, sparse components and logs.
///
/// Fields are borrowed separately: a query writes the archetypes while it reads its plan, and a
/// move of a row writes two archetypes and the directory while it reads an edge of the graph.
#[derive(Debug)]
pub struct Store {
    pub(super) archetypes: Archetypes,
    pub(super) registry: Registry,
    pub(super) clock: Version,
    /// The discarded versions.
    pub(super) history: History,
    pub(super) plans: Plans,
    pub(super) requests: AccessRequests,
    pub(super) entities: Directory,
    pub(super) pool: Pool,
    pub(super) graph: Graph,
    pub(super) bundles: Bundles,
    pub(super) sparse: SparseSets,
    pub(super) logs: Logs,
    /// The lists that were sorted by a key.
    pub(super) sorted: SortedLists,
    /// Whether guards of sparse components, events and resources were handed out.
    pub(super) lent: Lent,
    /// The archetype of entities that are gone and have no cleanup component left: it is empty at
    /// the end of each change. Known once an edge leads to it.
    pub(super) without_cleanup: Option<ArchetypeId>,
}

impl Store {
    /// A store whose extents have at most `extent_chunks_max` chunks.
    #[inline]
    pub(crate) fn new(archetypes: Archetypes, entities: Directory, extent_chunks_max: u32) -> Self {
        Self {
            pool: Pool::new(archetypes.chunk_size(), extent_chunks_max),
            archetypes,
            registry: Registry::default(),
            clock: Version::default(),
            history: History::default(),
            plans: Plans::default(),
            requests: AccessRequests::default(),
            entities,
            graph: Graph::default(),
            bundles: Bundles::default(),
            sparse: SparseSets::default(),
            logs: Logs::default(),
            sorted: SortedLists::default(),
            lent: Lent::default(),
            without_cleanup: None,
        }
    }

    /// The archetypes, for reading.
    #[inline]
    pub(crate) const fn archetypes(&self) -> &Archetypes {
        &self.archetypes
    }

    /// The entities, for reading.
    #[inline]
    pub(crate) const fn entities(&self) -> &Directory {
        &self.entities
    }

    /// The component types and shared values.
    #[inline]
    pub(crate) const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The component types and shared values, to which others are added.
    #[inline]
    pub(crate) const fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// The discarded versions.
    #[inline]
    pub(crate) const fn history(&self) -> &History {
        &self.history
    }

    /// The free memory for blocks.
    pub(crate) const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The sparse components of entities, for reading.
    #[inline]
    pub(crate) const fn sparse(&self) -> &SparseSets {
        &self.sparse
    }

    /// The sparse components of entities.
    #[inline]
    pub(crate) const fn sparse_sets_mut(&mut self) -> &mut SparseSets {
        &mut self.sparse
    }

    /// The logs of events and rows, for reading.
    #[inline]
    pub(crate) const fn logs(&self) -> &Logs {
        &self.logs
    }

    /// The logs of events and rows.
    #[inline]
    pub(crate) const fn logs_mut(&mut self) -> &mut Logs {
        &mut self.logs
    }

    /// Notes that a guard of a sparse set, a queue or a resource was handed out.
    #[inline]
    pub(crate) fn note_guard(&self) {
        self.lent.note();
    }

    /// Whether forgotten guards may hold locks. The caller renews the locks.
    pub(crate) fn take_guards(&mut self) -> bool {
        self.lent.take()
    }

    /// The request of a query for its columns.
    ///
    /// # Panics
    ///
    /// If a type of the query has the name of another type of the world.
    pub(crate) fn access_request(&mut self, query: &QueryType) -> AccessRequest {
        self.requests.get(query, &mut self.registry)
    }

    /// Whether a list of parameters was found to be free of clashes.
    pub(crate) fn is_free_of_clashes(&self, parameters: TypeId) -> bool {
        self.requests.is_free_of_clashes(parameters)
    }

    /// Keeps the result of a check of a list of parameters.
    pub(crate) fn note_free_of_clashes(&mut self, parameters: TypeId) {
        self.requests.note_free_of_clashes(parameters);
    }

    /// The id of a bundle type, which is registered if it is new.
    ///
    /// # Panics
    ///
    /// If another type has the name of one of its components.
    #[inline]
    pub(crate) fn bundle_id<B: ColumnBundle>(&mut self) -> BundleId {
        self.bundles.id::<B>(&mut self.registry)
    }

    /// [`Store::bundle_id`], which returns an error instead of panicking.
    ///
    /// # Errors
    ///
    /// If another type has the name of one of its components.
    pub(crate) fn try_bundle_id<B: ColumnBundle>(&mut self) -> Result<BundleId, NameTaken> {
        self.bundles.try_id::<B>(&mut self.registry)
    }

    /// The id of a bundle without a type: components in ascending order.
    pub(crate) fn set_id(&mut self, components: &[ComponentId]) -> BundleId {
        self.bundles.set_id(components)
    }

    /// The components of a bundle, in its order.
    pub(crate) fn components_of(&self, bundle: BundleId) -> &[ComponentId] {
        &self.bundles.info(bundle).components
    }

    /// The current version.
    #[inline]
    pub(crate) const fn clock(&self) -> Version {
        self.clock
    }

    /// Sets the clock back to `before`, a version that it has left for a change that was refused.
    pub(crate) const fn set_clock_back(&mut self, before: Version) {
        self.clock = before;
    }

    /// A number that no earlier state of this world has: from the clock, the number of times that
    /// ids changed without it, and the versions of the sparse sets. O(sets).
    pub(crate) fn state_number(&self) -> u64 {
        // The factor is odd and irregular, so that few sums of clocks and editions are equal.
        let mixed = self.entities.editions().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.sparse.identity_after(self.clock.to_bits().wrapping_add(mixed))
    }

    /// Advances the clock, before a change.
    #[inline]
    pub(crate) const fn advance_clock(&mut self) -> Version {
        self.clock.advance()
    }

    /// Tells the plans about types that became known. Comes before the first change, because it
    /// runs `Component::hint`, which may panic.
    pub(crate) fn know_types(&mut self) {
        self.plans.update_types(&self.registry);
    }

    /// The archetype of exactly this set. A new one is listed in every cached plan
    /// that it matches.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk. The store is unchanged.
    pub(crate) fn find_or_add(&mut self, set: &ComponentSet) -> Result<ArchetypeId, LayoutError> {
        if let Some(id) = self.archetypes.find(set) {
            return Ok(id);
        }
        // Before the archetype is added: no plan lacks it.
        self.know_types();
        let id = self.archetypes.add(set, &self.registry)?;
        self.plans.extend(&self.archetypes);
        Ok(id)
    }

    /// Makes the plan of a query, unless it exists.
    ///
    /// # Errors
    ///
    /// If a type of the query has the name of another type of the world.
    pub(crate) fn prepare(&mut self, query: &QueryType) -> Result<(), NameTaken> {
        self.plans.prepare(query, &mut self.registry, &self.archetypes)
    }

    /// The plan of a query.
    ///
    /// # Panics
    ///
    /// If a type of the query has the name of another type of the world.
    #[inline]
    pub(crate) fn plan(&self, query: &QueryType) -> &Plan {
        self.plans.get(query, &self.registry, &self.archetypes)
    }

    /// Bytes of the cached plans.
    pub(crate) fn plan_bytes(&self) -> usize {
        self.plans.bytes()
    }

    /// Checks that an archetype of this set exists or can be added.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk.
    pub(crate) fn ensure_set_fits(&self, set: &ComponentSet) -> Result<(), LayoutError> {
        self.archetypes.ensure_fits(set, &self.registry)
    }

    /// Whether archetypes are found by their sets, and cached plans are correct.
    pub(crate) fn is_consistent(&self) -> bool {
        self.archetypes.is_consistent()
            && self.plans.is_consistent(&self.registry, &self.archetypes)
    }

    /// Component `C` of the entities that have it, and the archetypes, which have their places.
    /// O(archetypes + chunks).
    pub(crate) fn views<C: Component>(&self) -> (ColumnViews<'_, C>, &Archetypes) {
        let id = self.registry.id::<C>();
        let archetypes = self.archetypes.as_slice();
        let mut columns = ColumnViews::new(self.entities.view(), archetypes.len());
        for archetype in archetypes {
            let beside = (archetype.attachments(), archetype.is_gone());
            columns.push(archetype.list(), beside, archetype.column(id));
        }
        (columns, &self.archetypes)
    }

    /// [`Store::views`] for writing, and the log of their places. Advances the clock.
    pub(crate) fn views_mut<C: Component>(&mut self) -> (ColumnViewsMut<'_, C>, &ChangeLog) {
        let (id, now) = (self.registry.id::<C>(), self.advance_clock());
        let archetypes = self.archetypes.len();
        let mut columns = ColumnViewsMut::new(self.entities.view(), archetypes, now);
        let (mut values, log) = self.archetypes.columns_and_log();
        for _ in 0..archetypes {
            values.take(0).add_to_view(id, &mut columns);
        }
        (columns, log)
    }

    /// The home of a bundle: the archetype of exactly its components. Finds or adds it, unless it
    /// is known.
    ///
    /// # Errors
    ///
    /// If a row of the components does not fit a chunk. The store is unchanged.
    #[inline]
    pub(super) fn home(&mut self, bundle: BundleId) -> Result<HomeId, LayoutError> {
        match self.bundles.home_of(bundle) {
            Some(home) => Ok(home),
            None => self.find_home(bundle),
        }
    }

    /// [`Store::home`] of a bundle type, which is registered if it is new.
    #[inline]
    pub(super) fn home_of_type<B: ColumnBundle>(&mut self) -> Result<HomeId, LayoutError> {
        match self.bundles.last_home::<B>() {
            Some(home) => Ok(home),
            None => self.find_home_of_type::<B>(),
        }
    }

    #[inline(never)]
    fn find_home_of_type<B: ColumnBundle>(&mut self) -> Result<HomeId, LayoutError> {
        let bundle = self.bundle_id::<B>();
        let home = self.home(bundle)?;
        self.bundles.remember_home::<B>(home);
        Ok(home)
    }

    #[cold]
    fn find_home(&mut self, bundle: BundleId) -> Result<HomeId, LayoutError> {
        let set = self.bundles.info(bundle).set();
        let archetype = self.find_or_add(&set)?;
        Ok(self.bundles.set_home(bundle, archetype, self.archetypes.get(archetype)))
    }

    /// Moves at most `rows_max` rows to denser memory, and frees memory that nothing uses. Returns
    /// the number of rows that moved.
    pub(crate) fn compact(&mut self, rows_max: usize) -> usize {
        self.sorted.retain_lists(&self.archetypes);
        // Unused blocks and empty slabs are freed first, so that no chunk moves beside the former
        // or into the latter.
        for archetype in self.archetypes.all_mut() {
            archetype.free_unused_blocks(&mut self.pool);
        }
        self.pool.trim();
        self.drop_empty_members();
        let mut moved = 0;
        for archetype in self.archetypes.all_mut() {
            moved += archetype.compact(rows_max - moved, &mut self.pool);
        }
        self.pool.trim();
        self.entities.shrink();
        self.sparse.shrink();
        self.logs.shrink();
        moved
    }
}
