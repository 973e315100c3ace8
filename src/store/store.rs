//! The storage of a world: archetypes, entities and the clock.

use crate::archetype::{Archetypes, BundleId, Bundles, Graph};
use crate::component::{Component, ComponentSet, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::entity::Directory;
use crate::storage::{ColumnViews, ColumnViewsMut, LayoutError, Pool};
use crate::version::Version;

use super::history::History;
use super::logs::Logs;
use super::plan::{Plan, Plans};
use super::query_type::QueryType;
use super::read_guard::Lent;
use super::requests::AccessRequests;
use super::side_tables::SideTables;

/// The archetypes of a world, its entities and its clock, with their indices: component ids, query
/// plans, and the graph of changes. Also the side values of the entities, and the logs of events
/// and rows.
///
/// Fields are borrowed separately: a query writes [`Store::archetypes`] while it reads its plan,
/// and a move of a row writes two archetypes and the directory while it reads an edge of the graph.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) archetypes: Archetypes,
    pub(crate) registry: Registry,
    pub(crate) clock: Version,
    /// The void versions.
    pub(crate) history: History,
    pub(crate) plans: Plans,
    pub(crate) requests: AccessRequests,
    pub(crate) entities: Directory,
    pub(crate) pool: Pool,
    pub(crate) graph: Graph,
    pub(crate) bundles: Bundles,
    pub(crate) sides: SideTables,
    pub(crate) logs: Logs,
    /// Whether guards of side values, events and resources were handed out.
    pub(crate) lent: Lent,
    /// The archetype of entities that are gone and have no cleanup component left: it is empty at
    /// the end of each change. Known once an edge leads to it.
    pub(super) without_cleanup: Option<ArchetypeId>,
}

impl Store {
    /// A store whose extents have at most `extent_chunks_max` chunks.
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
            sides: SideTables::default(),
            logs: Logs::default(),
            lent: Lent::default(),
            without_cleanup: None,
        }
    }

    /// A number that no earlier state of this world has: from the clock, and the number of times
    /// that ids changed without it.
    pub(crate) const fn origin(&self) -> u64 {
        // The factor is odd and irregular, so that few sums of clocks and editions are equal.
        let mixed = self.entities.editions().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.clock.to_bits().wrapping_add(mixed)
    }

    /// Advances the clock, before a change.
    #[inline]
    pub(crate) const fn advance_clock(&mut self) -> Version {
        self.clock.advance()
    }

    /// The archetype of exactly this set. A new one is tested once against every cached plan.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk. The store is unchanged.
    pub(crate) fn find_or_add(&mut self, set: &ComponentSet) -> Result<ArchetypeId, LayoutError> {
        if let Some(id) = self.archetypes.find(set) {
            return Ok(id);
        }
        // Runs `Component::hint`, which may panic, so it comes before the archetype is added: no
        // plan lacks the archetype.
        self.plans.update_types(&self.registry);
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
        self.plans.prepare(query, &mut self.registry, &self.archetypes).map(drop)
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

    /// Component `C` of the entities that have it. O(archetypes + chunks).
    pub(crate) fn views<C: Component>(&self) -> ColumnViews<'_, C> {
        let id = self.registry.id::<C>();
        let archetypes = self.archetypes.as_slice();
        let mut columns = ColumnViews::new(self.entities.view(), archetypes.len());
        for archetype in archetypes {
            let beside = (archetype.attachments(), archetype.is_gone());
            columns.push(archetype.list(), beside, archetype.column(id));
        }
        columns
    }

    /// [`Store::views`] for writing. Advances the clock.
    pub(crate) fn views_mut<C: Component>(&mut self) -> ColumnViewsMut<'_, C> {
        let (id, now) = (self.registry.id::<C>(), self.advance_clock());
        let archetypes = self.archetypes.len();
        let mut columns = ColumnViewsMut::new(self.entities.view(), archetypes, now);
        let mut values = self.archetypes.columns_mut();
        for _ in 0..archetypes {
            values.take(0).add_to_view(id, &mut columns);
        }
        columns
    }

    /// The home of a bundle: the archetype of exactly its components. Finds or adds it, unless it
    /// is known.
    ///
    /// # Errors
    ///
    /// If a row of the components does not fit a chunk. The store is unchanged.
    #[inline]
    pub(super) fn home(&mut self, bundle: BundleId) -> Result<ArchetypeId, LayoutError> {
        match self.bundles.home(bundle) {
            Some(home) => Ok(home.archetype),
            None => self.find_home(bundle),
        }
    }

    #[cold]
    fn find_home(&mut self, bundle: BundleId) -> Result<ArchetypeId, LayoutError> {
        let set = self.bundles.info(bundle).set();
        let archetype = self.find_or_add(&set)?;
        self.bundles.set_home(bundle, archetype, self.archetypes.get(archetype));
        Ok(archetype)
    }
}
