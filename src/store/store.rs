//! What a world's entities are made of, without a type of query.

use crate::archetype::{Archetypes, Bundle, BundleId, Bundles, Graph};
use crate::component::{Component, ComponentSet, NameTaken, Registry};
use crate::entity::ArchetypeId;
use crate::entity::Directory;
use crate::storage::{ColumnViews, ColumnViewsMut, LayoutError, Pool};
use crate::version::Version;

use super::plan::{Plan, Plans};
use super::query_type::QueryType;

/// The archetypes of a world with the clock of their versions, the entities in them, and what is
/// kept to find both: the numbers of components, the plans of queries, the graph of changes.
///
/// Fields are borrowed apart: a query writes [`Store::archetypes`] while it reads its plan, a move
/// of a row writes two archetypes and the directory along an edge of the graph.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) archetypes: Archetypes,
    pub(crate) registry: Registry,
    pub(crate) clock: Version,
    pub(crate) plans: Plans,
    pub(crate) entities: Directory,
    pub(crate) pool: Pool,
    pub(crate) graph: Graph,
    pub(crate) bundles: Bundles,
}

impl Store {
    pub(crate) fn new(archetypes: Archetypes, entities: Directory) -> Self {
        Self {
            archetypes,
            registry: Registry::default(),
            clock: Version::default(),
            plans: Plans::default(),
            entities,
            pool: Pool::default(),
            graph: Graph::default(),
            bundles: Bundles::default(),
        }
    }

    /// Advances the clock, for a change that is about to happen.
    #[inline]
    pub(crate) const fn advance_clock(&mut self) -> Version {
        self.clock.advance()
    }

    /// The archetype of exactly this set. A new one is tested once against every cached plan.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk; there are the archetypes of before then.
    pub(crate) fn find_or_add(&mut self, set: &ComponentSet) -> Result<ArchetypeId, LayoutError> {
        if let Some(id) = self.archetypes.find(set) {
            return Ok(id);
        }
        // Runs `Component::hint`, which may panic: there is no archetype then that plans lack.
        self.plans.learn(&self.registry);
        let id = self.archetypes.add(set, &self.registry)?;
        self.plans.extend(&self.archetypes);
        Ok(id)
    }

    /// Makes the plan of terms and filters, if they are new.
    ///
    /// # Errors
    ///
    /// If the world has another type of the name of a type that they name.
    pub(crate) fn prepare(&mut self, query: &QueryType) -> Result<(), NameTaken> {
        self.plans.prepare(query, &mut self.registry, &self.archetypes).map(drop)
    }

    /// The plan of a query.
    ///
    /// # Panics
    ///
    /// If the world has another type of the name of a type that the query names.
    #[inline]
    pub(crate) fn plan(&self, query: &QueryType) -> &Plan {
        self.plans.get(query, &self.registry, &self.archetypes)
    }

    /// Bytes of what queries keep from one run to the next.
    pub(crate) fn plan_bytes(&self) -> usize {
        self.plans.bytes()
    }

    /// Whether there is or can be an archetype of this set.
    ///
    /// # Errors
    ///
    /// If a row of the set does not fit a chunk.
    pub(crate) fn ensure_set_fits(&self, set: &ComponentSet) -> Result<(), LayoutError> {
        self.archetypes.ensure_fits(set, &self.registry)
    }

    /// Whether what queries keep from one run to the next is right.
    pub(crate) fn is_consistent(&self) -> bool {
        self.archetypes.is_consistent()
            && self.plans.is_consistent(&self.registry, &self.archetypes)
    }

    /// Component `C` of the entities at these places. O(archetypes + chunks).
    pub(crate) fn views<C: Component>(&self) -> ColumnViews<'_, C> {
        let id = self.registry.id::<C>();
        let archetypes = self.archetypes.as_slice();
        let mut columns = ColumnViews::new(self.entities.view(), archetypes.len());
        for archetype in archetypes {
            columns.push(archetype.list(), archetype.column(id));
        }
        columns
    }

    /// [`Store::views`] for writing. The clock advances.
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

    /// Where entities of exactly the components of `B` live.
    ///
    /// # Errors
    ///
    /// If a row of them does not fit a chunk; nothing has changed then.
    #[inline]
    pub(crate) fn home<B: Bundle>(&mut self) -> Result<BundleId, LayoutError> {
        let id = self.bundles.id::<B>(&mut self.registry);
        self.ensure_home(id)?;
        Ok(id)
    }

    /// Makes sure that it is known where entities of exactly the bundle's components live.
    ///
    /// # Errors
    ///
    /// If a row of them does not fit a chunk; nothing has changed then.
    #[inline]
    pub(crate) fn ensure_home(&mut self, id: BundleId) -> Result<(), LayoutError> {
        match self.bundles.home(id) {
            Some(_) => Ok(()),
            None => self.find_home(id),
        }
    }

    #[cold]
    fn find_home(&mut self, id: BundleId) -> Result<(), LayoutError> {
        let set = self.bundles.info(id).set();
        let archetype = self.find_or_add(&set)?;
        self.bundles.set_home(id, archetype, self.archetypes.get(archetype));
        Ok(())
    }
}
