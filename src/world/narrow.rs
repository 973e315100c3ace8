//! Filter methods of [`Matching`].

use crate::component::{ChunkValue, Columnar, Component};
use crate::query::{
    AnyOf, Arrived, Changed, ChangedLines, ComponentTuple, Filter, IgnoreEnabled, IncludeHidden,
    Reordered, Terms, Watch, WhereChunk, With, WithDisabled, Without,
};
use crate::version::Version;

use super::matching::Matching;

impl<'w, Q: Terms, F: Filter> Matching<'w, Q, F> {
    /// Adds a filter by changes since a version. If the world was restored since, the filter may
    /// also pass older changes.
    fn narrow_since<G: Filter>(self, since: Version) -> Matching<'w, Q, (F, G)> {
        let seen = self.history().seen(since);
        self.narrow(G::newer_than(seen))
    }

    #[inline]
    fn narrow<G: Filter>(self, filter: G) -> Matching<'w, Q, (F, G)> {
        let (store, own) = self.into_parts();
        Matching::new(store, (own, filter))
    }

    /// Only entities that have `C`: [`Query::with`](crate::Query::with).
    #[inline]
    pub fn with<C: Columnar>(self) -> Matching<'w, Q, (F, With<C>)> {
        self.narrow(With::NEW)
    }

    /// Only entities that lack `C`: [`Query::without`](crate::Query::without).
    #[inline]
    pub fn without<C: Columnar>(self) -> Matching<'w, Q, (F, Without<C>)> {
        self.narrow(Without::NEW)
    }

    /// Only entities that have at least one component of the tuple `T`:
    /// [`Query::any_of`](crate::Query::any_of).
    #[inline]
    pub fn any_of<T: ComponentTuple + 'static>(self) -> Matching<'w, Q, (F, AnyOf<T>)> {
        self.narrow(AnyOf::NEW)
    }

    /// Hidden entities as well: [`Query::include_hidden`](crate::Query::include_hidden).
    #[inline]
    pub fn include_hidden(self) -> Matching<'w, Q, (F, IncludeHidden)> {
        self.narrow(IncludeHidden)
    }

    /// Only entities that have `C` and in which it is disabled:
    /// [`Query::disabled`](crate::Query::disabled).
    #[inline]
    pub fn disabled<C: Component>(self) -> Matching<'w, Q, (F, WithDisabled<C>)> {
        self.narrow(WithDisabled::NEW)
    }

    /// Includes entities in which a component that the query names is disabled:
    /// [`Query::ignore_enabled`](crate::Query::ignore_enabled).
    #[inline]
    pub fn ignore_enabled(self) -> Matching<'w, Q, (F, IgnoreEnabled)> {
        self.narrow(IgnoreEnabled)
    }

    /// Only chunks with a column `C` that was written after `since`:
    /// [`Query::changed_since`](crate::Query::changed_since).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Stale;
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|_| Health(1.0)));
    /// let before = world.version();
    /// assert_eq!(world.matching::<&Health>().changed_since(before).insert(Stale)?, 0);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    #[inline]
    pub fn changed_since<C: Columnar>(self, since: Version) -> Matching<'w, Q, (F, Changed<C>)>
    where
        Q: Watch<C>,
    {
        self.narrow_since(since)
    }

    /// Only lines of sixteen rows in which `C` changed after `since`:
    /// [`Query::changed_lines_since`](crate::Query::changed_lines_since).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Health(f32);
    /// # #[component] struct Stale;
    /// # let mut world = World::new();
    /// let all = world.spawn_batch((0..100).map(|_| Health(1.0))).to_vec();
    /// let before = world.version();
    /// world.get_mut::<Health>(all[20]).unwrap().0 = 0.0;
    /// assert_eq!(world.matching::<&Health>().changed_lines_since(before).insert(Stale)?, 16);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    #[inline]
    pub fn changed_lines_since<C: Component>(
        self,
        since: Version,
    ) -> Matching<'w, Q, (F, ChangedLines<C>)>
    where
        Q: Watch<C>,
    {
        self.narrow_since(since)
    }

    /// Only chunks with a [value](crate::chunks::PerChunk) of type `V` that passes a test:
    /// [`Query::where_chunk`](crate::Query::where_chunk).
    #[inline]
    pub fn where_chunk<V: ChunkValue, P: Fn(&V) -> bool + Copy + 'static>(
        self,
        test: P,
    ) -> Matching<'w, Q, (F, WhereChunk<V, P>)> {
        self.narrow(WhereChunk::new(test))
    }

    /// Only chunks in which rows arrived after `since`:
    /// [`Query::arrived_since`](crate::Query::arrived_since).
    #[inline]
    pub fn arrived_since(self, since: Version) -> Matching<'w, Q, (F, Arrived)> {
        self.narrow_since(since)
    }

    /// Only chunks in which rows were exchanged or moved since `since`:
    /// [`Query::reordered_since`](crate::Query::reordered_since).
    #[inline]
    pub fn reordered_since(self, since: Version) -> Matching<'w, Q, (F, Reordered)> {
        self.narrow_since(since)
    }
}
