//! All that a world's entities are made of: what queries see, and what changes it.

use crate::archetype::{Archetypes, BundleId, Graph};
use crate::bundle::{Bundle, Bundles};
use crate::entity::Directory;
use crate::storage::{LayoutError, Pool};

use super::filter::Filter;
use super::query::Query;
use super::source::{Source, StoreBorrow};
use super::terms::Terms;

/// What queries see, and beside it what only a structural change needs.
///
/// A query that borrows the store exclusively can also change the structure of what it matches;
/// the walk takes [`Store::source`] alone.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) source: Source,
    pub(crate) entities: Directory,
    pub(crate) pool: Pool,
    pub(crate) graph: Graph,
    pub(crate) bundles: Bundles,
}

impl Store {
    pub(crate) fn new(archetypes: Archetypes, entities: Directory) -> Self {
        Self {
            source: Source::new(archetypes),
            entities,
            pool: Pool::default(),
            graph: Graph::default(),
            bundles: Bundles::default(),
        }
    }

    #[inline]
    pub(crate) fn query_mut<Q: Terms, F: Filter>(&mut self, filter: F) -> Query<'_, Q, F> {
        Query::new(StoreBorrow::Exclusive(self), filter, false)
    }

    /// Where entities of exactly the components of `B` live.
    ///
    /// # Errors
    ///
    /// If a row of them does not fit a chunk; nothing has changed then.
    #[inline]
    pub(crate) fn home<B: Bundle>(&mut self) -> Result<BundleId, LayoutError> {
        let id = self.bundles.id::<B>(&mut self.source.registry);
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
        let archetype = self.source.find_or_add(&set)?;
        self.bundles.set_home(id, archetype, self.source.archetypes.get(archetype));
        Ok(())
    }
}
