//! The methods of a query that narrow it by filters.

use crate::component::{ChunkValue, ColumnVisitor, Columnar, Component, PerChunk, Shape};
use crate::store::ReadAccess;
use crate::version::Version;

use super::enabled::{IgnoreEnabled, WithDisabled};
use super::filter::{
    AnyOf, Arrived, Changed, ComponentTuple, Filter, IncludeHidden, Watch, With, Without,
};
use super::per_chunk::WhereChunk;
use super::query::Query;
use super::query_type::is_by_row;
use super::terms::Terms;

/// Refuses columns that a filter watches and the query of the system does not name.
struct Watched<'w> {
    access: ReadAccess<'w>,
}

impl ColumnVisitor for Watched<'_> {
    fn visit<C: Component>(&mut self) {
        assert!(
            self.access.names::<C>(),
            "a system that filters by changes of `{name}` must name it, or others could write it \
             at the same time: add a term of it, such as `Option<&{name}>`, or the filter `Changed` or `ChangedLines`",
            name = C::NAME,
        );
    }
}

/// # Filters
impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    /// Adds a filter by changes after a version. If a snapshot was restored after that version, the
    /// filter may also report older changes.
    #[inline]
    pub(super) fn narrow_since<G: Filter>(self, since: Version) -> Query<'w, Q, (F, G)> {
        let seen = self.view().store().history().seen(since);
        self.narrow(G::newer_than(seen))
    }

    #[inline]
    pub(super) fn narrow<G: Filter>(self, filter: G) -> Query<'w, Q, (F, G)> {
        assert!(
            !(self.padded && is_by_row::<Q, (F, G)>()),
            "a query that is padded cannot be narrowed by an enableable component or by changed \
             lines: its slices would be runs of rows; iterate over `.masked().padded()`"
        );
        Query::new(self.borrow, (self.filter, filter), self.padded)
    }

    /// # Panics
    ///
    /// In a system, if its query does not name a component that a filter would watch.
    #[inline]
    #[track_caller]
    pub(super) fn assert_watchable<S: Shape>(&self) {
        if let Some(access) = self.view().access() {
            S::visit(&mut Watched { access });
        }
    }

    /// Only entities that have `C`. Decided per archetype: free in the loop. If `C` is
    /// [enableable](crate::component#enableable-components), only rows in which it is enabled.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Player;
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Player));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().with::<Player>().rows().count(), 1);
    /// ```
    #[inline]
    pub fn with<C: Columnar>(self) -> Query<'w, Q, (F, With<C>)> {
        self.narrow(With::NEW)
    }

    /// Only entities that lack `C`. Decided per archetype: free in the loop. If `C` is
    /// [enableable](crate::component#enableable-components), also rows in which it is disabled.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Invincible;
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Invincible));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().without::<Invincible>().rows().count(), 1);
    /// ```
    #[inline]
    pub fn without<C: Columnar>(self) -> Query<'w, Q, (F, Without<C>)> {
        self.narrow(Without::NEW)
    }

    /// Only entities that have at least one component of the tuple `T`. No entity is visited twice.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Rotation(f32);
    /// # #[component] struct Scale(f32);
    /// # let mut world = World::new();
    /// world.spawn((Rotation(0.0), Scale(1.0)));
    /// world.spawn(Scale(2.0));
    /// world.spawn(());
    /// assert_eq!(world.query::<Entity>().any_of::<(Rotation, Scale)>().rows().count(), 2);
    /// ```
    #[inline]
    pub fn any_of<T: ComponentTuple + 'static>(self) -> Query<'w, Q, (F, AnyOf<T>)> {
        self.narrow(AnyOf::NEW)
    }

    /// Hidden entities as well: see [`IncludeHidden`].
    ///
    /// # Panics
    ///
    /// In a system, when a pass begins, if the filters of its query do not include hidden entities:
    /// systems with a query that includes them may run at the same time. The same holds for
    /// [`with`](Query::with) and [`any_of`](Query::any_of) of a hidden component that the query of
    /// the system does not name.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn((Health(1.0), Disabled));
    /// world.spawn(Health(2.0));
    /// assert_eq!(world.query::<&Health>().count_rows(), 1);
    /// assert_eq!(world.query::<&Health>().include_hidden().count_rows(), 2);
    /// ```
    #[inline]
    pub fn include_hidden(self) -> Query<'w, Q, (F, IncludeHidden)> {
        self.narrow(IncludeHidden)
    }

    /// Only entities that have `C` and in which it is [disabled](crate::World::set_enabled).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Health(f32);
    /// # let mut world = World::new();
    /// let [wounded, _] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
    /// world.set_enabled::<Health>(wounded, false)?;
    /// assert_eq!(world.query::<&Health>().rows().map(|health| health.0).sum::<f32>(), 2.0);
    /// let disabled = world.query::<Entity>().disabled::<Health>();
    /// assert_eq!(disabled.rows().collect::<Vec<_>>(), [wounded]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn disabled<C: Component>(self) -> Query<'w, Q, (F, WithDisabled<C>)> {
        self.narrow(WithDisabled::NEW)
    }

    /// Also entities in which a component that the query names is
    /// [disabled](crate::World::set_enabled): enable bits do not matter to it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(enableable)] struct Health(f32);
    /// # let mut world = World::new();
    /// let [wounded, _] = [1.0, 2.0].map(|health| world.spawn(Health(health)));
    /// world.set_enabled::<Health>(wounded, false)?;
    /// assert_eq!(world.query::<&Health>().ignore_enabled().count_rows(), 2);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    pub fn ignore_enabled(self) -> Query<'w, Q, (F, IgnoreEnabled)> {
        self.narrow(IgnoreEnabled)
    }

    /// Only chunks whose column `C` was written after `since`: yielded as `&mut`, spawned, or
    /// inserted. A row that moves to another archetype keeps its stamp. So does the last row, which
    /// moves into the gap of a removed one: a copy of a chunk is stale if this filter or
    /// [`reordered_since`](Query::reordered_since) reports the chunk, or if the chunk no longer
    /// exists.
    ///
    /// A query of several terms must name `C`: `.changed_since::<Position>(version)`. A query of
    /// one component need not (see [`Watch`]). Costs one comparison per archetype plus one per
    /// chunk, over a dense array.
    ///
    /// # Panics
    ///
    /// In a system, if neither the terms nor the filters of its query name `C`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position(f32);
    /// # #[component] struct Velocity(f32);
    /// # let mut world = World::new();
    /// let entity = world.spawn((Position(0.0), Velocity(1.0)));
    /// let before = world.version();
    /// assert_eq!(world.query::<&Position>().changed_since(before).iter().count(), 0);
    /// world.get_mut::<Velocity>(entity)?.0 = 2.0;
    /// assert_eq!(world.query::<&Position>().changed_since(before).iter().count(), 0);
    /// let both = world.query::<(&Position, &Velocity)>();
    /// assert_eq!(both.changed_since::<Velocity>(before).iter().count(), 1);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn changed_since<C: Columnar>(self, since: Version) -> Query<'w, Q, (F, Changed<C>)>
    where
        Q: Watch<C>,
    {
        self.assert_watchable::<C::Shape>();
        self.narrow_since(since)
    }

    /// Only chunks with a [value](PerChunk) of type `V` that passes a test. Other chunks are
    /// skipped before their columns are touched, and are not stamped.
    ///
    /// The type of the test's argument selects the value; only archetypes that have `PerChunk<V>`
    /// match. The test is called once per chunk and pass, and must return the same result for the
    /// same value: [`scatter`](crate::chunks::Copies::scatter) and [`single`](Query::single) count
    /// rows before they visit them, and panic if the visited rows differ. The test is `Copy`: it
    /// must capture data, for example the view of a camera, with `move`.
    ///
    /// # Panics
    ///
    /// In a system, if its query has neither a term nor a filter that reads the value:
    /// `PerChunk<V>`, `PerChunkMut<V>`, `Changed<PerChunk<V>>`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component]
    /// # struct Sprite { x: f32 }
    /// # #[component]
    /// # struct Bounds { low: f32, high: f32 }
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100_000).map(|i| (Sprite { x: i as f32 }, PerChunk::<Bounds>::TAG)));
    /// for (sprites, mut bounds) in world.query_mut::<(&Sprite, PerChunkMut<Bounds>)>() {
    ///     bounds.low = sprites.iter().map(|sprite| sprite.x).fold(f32::MAX, f32::min);
    ///     bounds.high = sprites.iter().map(|sprite| sprite.x).fold(f32::MIN, f32::max);
    /// }
    /// let view = (50_000.0, 51_000.0);
    /// let all = world.query::<&Sprite>();
    /// let near = all.where_chunk(move |b: &Bounds| b.high >= view.0 && b.low <= view.1);
    /// assert!(near.count_rows() < 100_000 / 10);
    /// ```
    #[inline]
    #[track_caller]
    pub fn where_chunk<V: ChunkValue, P: Fn(&V) -> bool + Copy + 'static>(
        self,
        test: P,
    ) -> Query<'w, Q, (F, WhereChunk<V, P>)> {
        if let Some(access) = self.view().access() {
            assert!(
                access.names::<PerChunk<V>>(),
                "a system that chooses chunks by their values must name these, or others could \
                 write them at the same time: add the term `PerChunk<{}>`",
                V::NAME,
            );
        }
        self.narrow(WhereChunk::new(test))
    }

    /// Only chunks in which rows arrived after `since`: spawned there, or moved there from another
    /// archetype.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Position(f32);
    /// # let mut world = World::new();
    /// let before = world.version();
    /// assert_eq!(world.query::<&Position>().arrived_since(before).iter().count(), 0);
    /// world.spawn(Position(0.0));
    /// assert_eq!(world.query::<&Position>().arrived_since(before).iter().count(), 1);
    /// ```
    #[inline]
    pub fn arrived_since(self, since: Version) -> Query<'w, Q, (F, Arrived)> {
        self.narrow_since(since)
    }
}
