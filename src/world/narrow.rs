//! Filter methods of [`Matching`].

use crate::component::{ChunkValue, Columnar};
use crate::query::{
    Changed, Filter, Terms, Watch, WhereChunk, With, Without, assert_no_version, assert_version,
};
use crate::version::Version;

use super::matching::Matching;

impl<'w, Q: Terms, F: Filter> Matching<'w, Q, F> {
    #[inline]
    fn narrow<G: Filter>(self, filter: G) -> Matching<'w, Q, (F, G)> {
        let (store, own) = self.into_parts();
        Matching::new(store, (own, filter))
    }

    /// Only entities that have `C`: [`Query::with`](crate::Query::with).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Frozen));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.matching::<&Health>().with::<Frozen>().despawn(), 1);
    /// ```
    #[inline]
    pub fn with<C: Columnar>(self) -> Matching<'w, Q, (F, With<C>)> {
        self.narrow(With::NEW)
    }

    /// Only entities that lack `C`: [`Query::without`](crate::Query::without).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Frozen));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.matching::<&Health>().without::<Frozen>().despawn(), 1);
    /// assert_eq!(world.query::<&Frozen>().count_rows(), 1);
    /// ```
    #[inline]
    pub fn without<C: Columnar>(self) -> Matching<'w, Q, (F, Without<C>)> {
        self.narrow(Without::NEW)
    }

    /// Adds a filter type, or a tuple of them, that needs no version and no value:
    /// [`Query::filter`](crate::Query::filter) lists them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Burning;
    /// # #[component] struct Frozen;
    /// # let mut world = World::new();
    /// world.spawn((Frozen, Disabled));
    /// world.spawn_batch([Burning; 3]);
    /// let unwell = world.matching::<()>().filter::<(AnyOf<(Burning, Frozen)>, IncludeHidden)>();
    /// assert_eq!(unwell.despawn(), 4);
    /// ```
    #[inline]
    pub fn filter<G: Filter>(self) -> Matching<'w, Q, (F, G)> {
        const { assert_no_version::<G>() };
        self.narrow(G::newer_than(Version::NEVER))
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
        self.filter_since::<Changed<C>>(since)
    }

    /// Adds a filter type that compares versions, or a tuple with one:
    /// [`Query::filter_since`](crate::Query::filter_since) lists them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(lines)] struct Health(f32);
    /// # #[component] struct Stale;
    /// # let mut world = World::new();
    /// let all = world.spawn_batch((0..100).map(|_| Health(1.0))).to_vec();
    /// let before = world.version();
    /// world.get_mut::<Health>(all[20]).unwrap().0 = 0.0;
    /// let changed = world.matching::<&Health>().filter_since::<ChangedLines<Health>>(before);
    /// assert_eq!(changed.insert(Stale)?, 16);
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    pub fn filter_since<G: Filter>(self, since: Version) -> Matching<'w, Q, (F, G)> {
        const { assert_version::<G>() };
        let seen = self.history().seen(since);
        self.narrow(G::newer_than(seen))
    }

    /// Only chunks with a [value](crate::chunks::PerChunk) of type `V` that passes a test:
    /// [`Query::where_chunk`](crate::Query::where_chunk).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Sprite(f32);
    /// # #[component] struct Visible(u8);
    /// # #[component] struct Drawn;
    /// # let mut world = World::new();
    /// world.spawn_batch([(Sprite(1.0), PerChunk::<Visible>::TAG); 100]);
    /// let visible = world.matching::<&Sprite>().where_chunk(|visible: &Visible| visible.0 != 0);
    /// assert_eq!(visible.insert(Drawn)?, 0, "no value was written yet");
    /// # Ok::<(), phalanx::error::LayoutError>(())
    /// ```
    #[inline]
    pub fn where_chunk<V: ChunkValue, P: Fn(&V) -> bool + Copy + 'static>(
        self,
        test: P,
    ) -> Matching<'w, Q, (F, WhereChunk<V, P>)> {
        self.narrow(WhereChunk::new(test))
    }
}
