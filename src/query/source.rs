//! The part of a world that queries see.

use crate::archetype::{ArchetypeId, Archetypes};
use crate::component::{Component, ComponentSet, NameTaken, Registry};
use crate::entity::DirectoryView;
use crate::storage::{ColumnViews, ColumnViewsMut, LayoutError};
use crate::version::Version;

use super::filter::Filter;
use super::plan::{Plan, Plans};
use super::query::Query;
use super::split::ColumnAccess;
use super::store::Store;
use super::terms::{ReadTerms, Terms};

/// ArchetypeSource, the numbers of their components, cached plans and the clock.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) archetypes: Archetypes,
    pub(crate) registry: Registry,
    pub(crate) clock: Version,
    pub(super) plans: Plans,
}

impl Source {
    pub(crate) fn new(archetypes: Archetypes) -> Self {
        Self { archetypes, ..Self::default() }
    }

    /// Advances the clock, for a change that is about to happen.
    #[inline]
    pub(crate) const fn tick(&mut self) -> Version {
        self.clock = self.clock.next();
        self.clock
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
    pub(crate) fn prepare<Q: Terms, F: Filter>(&mut self) -> Result<(), NameTaken> {
        self.plans.prepare::<Q, F>(&mut self.registry, &self.archetypes).map(drop)
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
    pub(crate) fn ensure_fits(&self, set: &ComponentSet) -> Result<(), LayoutError> {
        self.archetypes.ensure_fits(set, &self.registry)
    }

    /// Whether what queries keep from one run to the next is right.
    pub(crate) fn is_consistent(&self) -> bool {
        self.archetypes.is_consistent()
            && self.plans.is_consistent(&self.registry, &self.archetypes)
    }

    /// Component `C` of the entities at these places. O(archetypes + chunks).
    pub(crate) fn views<'w, C: Component>(
        &'w self,
        places: DirectoryView<'w>,
    ) -> ColumnViews<'w, C> {
        let id = self.registry.id::<C>();
        let archetypes = self.archetypes.as_slice();
        let mut columns = ColumnViews::new(places, archetypes.len());
        for archetype in archetypes {
            columns.push(archetype.list(), archetype.column(id));
        }
        columns
    }

    /// [`Source::views`] for writing. The clock advances.
    pub(crate) fn views_mut<'w, C: Component>(
        &'w mut self,
        places: DirectoryView<'w>,
    ) -> ColumnViewsMut<'w, C> {
        let (id, now) = (self.registry.id::<C>(), self.tick());
        let archetypes = self.archetypes.len();
        let mut columns = ColumnViewsMut::new(places, archetypes, now);
        let mut values = self.archetypes.values_mut();
        for _ in 0..archetypes {
            values.take(0).view(id, &mut columns);
        }
        columns
    }

    #[inline]
    pub(crate) fn query<Q: ReadTerms>(&self) -> Query<'_, Q> {
        Query::new(StoreBorrow::Shared(self), (), false)
    }
}

/// A world that a query borrows, one way or the other.
#[derive(Debug)]
pub(super) enum StoreBorrow<'w> {
    Shared(&'w Source),
    Exclusive(&'w mut Store),
    /// A part of a split world.
    Leased(ColumnAccess<'w>),
}

impl StoreBorrow<'_> {
    /// The same borrow for a shorter time.
    #[inline]
    pub(super) const fn reborrow(&mut self) -> StoreBorrow<'_> {
        match self {
            Self::Shared(source) => StoreBorrow::Shared(source),
            Self::Exclusive(store) => StoreBorrow::Exclusive(store),
            Self::Leased(access) => StoreBorrow::Leased(access.reborrow()),
        }
    }

    /// The same borrow for reading.
    #[inline]
    pub(super) fn share(&self) -> StoreBorrow<'_> {
        match self {
            Self::Shared(source) => StoreBorrow::Shared(source),
            Self::Exclusive(store) => StoreBorrow::Shared(&store.source),
            Self::Leased(access) => StoreBorrow::Leased(access.share()),
        }
    }

    pub(super) const fn source(&self) -> &Source {
        match self {
            Self::Shared(source) => source,
            Self::Exclusive(store) => &store.source,
            Self::Leased(access) => access.source(),
        }
    }

    /// The source, and the query's plan in it.
    ///
    /// # Panics
    ///
    /// If a query of a split world asks for more than its access allows.
    pub(super) fn planned<Q: Terms, F: Filter>(&self) -> (&Source, &Plan) {
        if let Self::Leased(access) = self {
            access.assert_allows::<Q, F>();
        }
        let source = self.source();
        (source, source.plans.get::<Q, F>(&source.registry, &source.archetypes))
    }

    /// The number of rows in the plan's archetypes.
    pub(super) fn rows<Q: Terms, F: Filter>(&self) -> usize {
        let (source, plan) = self.planned::<Q, F>();
        let archetypes = source.archetypes.as_slice();
        plan.table().labels().map(|number| archetypes[number as usize].len()).sum()
    }
}
