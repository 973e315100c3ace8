//! The methods of a query that narrow it by filters.

use crate::component::{AnyComponent, ChunkValue, PerChunk, SharedValue};
use crate::version::Version;

use super::changed::{Changed, Watch, WatchShape};
use super::filter::{Filter, With, Without};
use super::per_chunk_terms::WhereChunk;
use super::query::Query;
use super::query_type::is_by_row;
use super::shared_terms::WhereShared;
use super::terms::Terms;

/// Refuses filters that compare a version, where none is given.
pub(crate) const fn assert_no_version<G: Filter>() {
    assert!(
        !G::BY_VERSION,
        "a filter of changes compares versions: give it one, `filter_since::<G>(version)`"
    );
}

/// Refuses filters that compare no version, where one is given.
pub(crate) const fn assert_version<G: Filter>() {
    assert!(G::BY_VERSION, "no filter of these compares versions: `filter::<G>()`");
}

impl<'w, Q: Terms, F: Filter> Query<'w, Q, F> {
    #[inline]
    pub(super) fn narrow<G: Filter>(self, filter: G) -> Query<'w, Q, (F, G)> {
        assert!(
            !(self.slice_rows.is_padded() && is_by_row::<Q, (F, G)>()),
            "a query that is padded cannot be narrowed by an enableable or sparse component or by \
             changed lines: its slices would be runs of rows; iterate over `.masked().padded()`"
        );
        Query::new(self.borrow, self.held, self.filter.and(filter), self.slice_rows)
    }
}

/// Implements the methods that add filters for a description of terms and filters. It has `view`,
/// the data that it borrows, and `narrow`, which adds a filter.
macro_rules! filter_methods {
    ($Query:ident) => {
        /// # Filters
        impl<'w, Q: Terms, F: Filter> $Query<'w, Q, F> {
            /// Only entities that have `C`. Decided per archetype: free in the loop. If `C` is
            /// [enableable](crate::component#enableable-components), only rows in which it is
            /// enabled. If it is [sparse](crate::component#sparse-components), only rows of
            /// entities that have it: whole slices where all or none do, and runs of rows between.
            ///
            /// # Panics
            ///
            /// As for [`filter`](Self::filter), if `C` is hidden, enableable or sparse.
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
            pub fn with<C: AnyComponent>(self) -> $Query<'w, Q, (F, With<C>)> {
                self.narrow(With::NEW)
            }

            /// Only entities that lack `C`. Decided per archetype: free in the loop. If `C` is
            /// [enableable](crate::component#enableable-components), also rows in which it is
            /// disabled. If it is [sparse](crate::component#sparse-components), only rows of
            /// entities that lack it.
            ///
            /// # Panics
            ///
            /// As for [`filter`](Self::filter), if `C` is enableable or sparse.
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
            pub fn without<C: AnyComponent>(self) -> $Query<'w, Q, (F, Without<C>)> {
                self.narrow(Without::NEW)
            }

            /// Adds a filter type, or a tuple of them: those that have no method of their own.
            ///
            /// | filter | the query visits |
            /// | --- | --- |
            /// | [`AnyOf<(A, B)>`](crate::AnyOf) | only entities with at least one of the components, each entity once |
            /// | [`Or<(F, G)>`](crate::terms::Or) | only entities that pass at least one of the filters, each entity once |
            /// | [`Not<F>`](crate::terms::Not) | only entities that do not pass the filter |
            /// | [`IncludeHidden`](crate::IncludeHidden) | [hidden](crate::component#hidden-components) entities as well |
            /// | [`WithDisabled<C>`](crate::WithDisabled) | only entities in which `C` is [disabled](crate::World::set_enabled) |
            /// | [`IgnoreEnabled`](crate::IgnoreEnabled) | also entities in which a component of the query is disabled |
            /// | [`WithShared<T>`](crate::shared::WithShared) | only entities that have a [shared value](crate::shared::Shared) of type `T` |
            /// | [`WithoutShared<T>`](crate::shared::WithoutShared) | only entities that have no such value |
            /// | [`With<C>`](crate::With), [`Without<C>`](crate::Without) | as after [`with`](Self::with) and [`without`](Self::without): for tuples and generic code |
            ///
            /// All of them are decided per archetype and free in the loop, unless they choose rows
            /// by enable bits or sparse components. A filter with a version is given to
            /// [`filter_since`](Self::filter_since), a filter with a value to
            /// [`where_chunk`](Self::where_chunk) and [`where_shared`](Self::where_shared). A
            /// filter in the wrong method is found by `cargo build`, not by `cargo check`.
            ///
            /// # Panics
            ///
            /// In a system, when a pass begins, if the filters of its query do not include hidden
            /// entities, and this one does: systems with a query that includes them may run at the
            /// same time. The same holds for [`with`](Self::with) and `AnyOf` of a hidden
            /// component, and for any filter by an enableable or sparse component, if neither the
            /// terms nor the filters of the system's query name it. If the query is
            /// [`padded`](crate::Query::padded), and the filter chooses rows.
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Rotation(f32);
            /// # #[component] struct Scale(f32);
            /// # let mut world = World::new();
            /// world.spawn((Rotation(0.0), Scale(1.0)));
            /// world.spawn(Scale(2.0));
            /// world.spawn(());
            /// world.spawn((Scale(3.0), Disabled));
            /// let turned_or_scaled = world.query::<Entity>().filter::<AnyOf<(Rotation, Scale)>>();
            /// assert_eq!(turned_or_scaled.count_rows(), 2);
            /// assert_eq!(turned_or_scaled.filter::<IncludeHidden>().count_rows(), 3);
            /// let scaled = world.query::<&Scale>().filter::<(IncludeHidden, Without<Rotation>)>();
            /// assert_eq!(scaled.count_rows(), 2);
            /// ```
            ///
            /// ```compile_fail,E0080
            /// # use phalanx::prelude::*;
            /// # let world = World::new();
            /// world.query::<Entity>().filter::<Arrived>(); // since which version? `filter_since`
            /// ```
            #[inline]
            pub fn filter<G: Filter>(self) -> $Query<'w, Q, (F, G)> {
                const { assert_no_version::<G>() };
                self.narrow(G::newer_than(Version::NEVER))
            }

            /// Only chunks whose column `C` was written after `since`: yielded as `&mut`, spawned,
            /// or inserted. A row that moves to another archetype keeps its stamp. So does the last
            /// row, which moves into the gap of a removed one: a copy of a chunk is stale if this
            /// filter or [`Reordered`](crate::Reordered) reports the chunk, or if the chunk no
            /// longer exists.
            ///
            /// A query of several terms must name `C`: `.changed_since::<Position>(version)`. A
            /// query of one component need not (see [`Watch`]). Costs one comparison per archetype
            /// plus one per chunk, over a dense array.
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
            pub fn changed_since<C: AnyComponent<Shape: WatchShape>>(
                self,
                since: Version,
            ) -> $Query<'w, Q, (F, Changed<C>)>
            where
                Q: Watch<C>,
            {
                self.filter_since::<Changed<C>>(since)
            }

            /// Adds a filter type that compares versions, or a tuple with at least one: only
            /// chunks, or rows of components that track lines, that are newer than `since`.
            ///
            /// | filter | the query visits |
            /// | --- | --- |
            /// | [`Changed<C>`](crate::Changed) | as after [`changed_since`](Self::changed_since): chunks with a column `C` that was written |
            /// | [`ChangedLines<C>`](crate::lines::ChangedLines) | changed rows, or all 64 around |
            /// | [`Arrived`](crate::Arrived) | chunks in which rows arrived: spawned there, or moved there from another archetype |
            /// | [`Reordered`](crate::Reordered) | chunks with other rows, or rows in other places |
            ///
            /// A system names the same types in its signature, and compares with the version of its
            /// last run. Costs one comparison per archetype plus one per chunk, over a dense array,
            /// and for changed lines two for 64 rows of chunks that changed. If a snapshot was
            /// restored after `since`, older changes may be reported as well. A filter without a
            /// version is refused by `cargo build`, not by `cargo check`.
            ///
            /// # Panics
            ///
            /// In a system, if neither the terms nor the filters of its query name the component
            /// that `G` watches. If the query is [`padded`](crate::Query::padded), and `G` chooses
            /// lines. A tuple panics as its other filters do: see [`filter`](Self::filter).
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Position(f32);
            /// # let mut world = World::new();
            /// world.spawn_batch([Position(0.0); 10_000]);
            /// let before = world.version();
            /// let arrived = world.query::<&Position>().filter_since::<Arrived>(before);
            /// assert_eq!(arrived.chunks().count(), 0);
            /// world.spawn(Position(1.0));
            /// let arrived = world.query::<&Position>().filter_since::<Arrived>(before);
            /// assert_eq!(arrived.chunks().count(), 1, "the last chunk");
            /// ```
            ///
            /// ```compile_fail,E0080
            /// # use phalanx::prelude::*;
            /// # #[component] struct Position(f32);
            /// # let world = World::new();
            /// world.query::<Entity>().filter_since::<With<Position>>(Version::NEVER); // `filter`
            /// ```
            #[inline]
            pub fn filter_since<G: Filter>(self, since: Version) -> $Query<'w, Q, (F, G)> {
                const { assert_version::<G>() };
                G::assert_watchable(self.view());
                // A restored snapshot discards versions: the filter compares with the last one
                // before.
                let seen = self.view().store().history().seen(since);
                self.narrow(G::newer_than(seen))
            }

            /// Only chunks with a [value](PerChunk) of type `V` that passes a test. Other chunks
            /// are skipped before their columns are touched, and are not stamped.
            ///
            /// The type of the test's argument selects the value; only archetypes that have
            /// `PerChunk<V>` match. The test is called once per chunk and pass, and must return the
            /// same result for the same value: [`scatter`](crate::Query::scatter) and
            /// [`single`](crate::Query::single) count rows before they visit them, and panic if the
            /// visited rows differ. The test is `Copy`: it must capture data, for example the view
            /// of a camera, with `move`.
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
            /// let sprites = (0..100_000).map(|i| Sprite { x: i as f32 });
            /// world.spawn_batch(sprites.map(|sprite| (sprite, PerChunk::<Bounds>::TAG)));
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
            ) -> $Query<'w, Q, (F, WhereChunk<V, P>)> {
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

            /// Only entities with a [shared value](crate::shared::Shared) of type `T` that equals
            /// `value`. The chunks of other values are not touched.
            ///
            /// One look-up of `value` by its hash; a pass visits the archetypes of this value, and
            /// none of others, however many values there are. No entity passes if no entity has
            /// such a value, or if two filters name two values of a type. The type must be the type
            /// of the values: `&str` does not find a `String`. Entities that point at another
            /// entity are found by a [relation](crate::sparse::relation).
            ///
            /// ```
            /// # use phalanx::prelude::*;
            /// # #[component] struct Health(f32);
            /// #[derive(PartialEq, Eq, Hash)]
            /// struct Team(u8);
            ///
            /// # let mut world = World::new();
            /// for team in [Team(0), Team(1), Team(0)] {
            ///     let soldier = world.spawn(Health(1.0));
            ///     world.insert_shared(soldier, team)?;
            /// }
            /// let soldiers = world.query::<&Health>();
            /// assert_eq!(soldiers.where_shared(&Team(0)).count_rows(), 2);
            /// assert_eq!(world.query::<()>().where_shared(&Team(7)).count_rows(), 0);
            /// # Ok::<(), phalanx::error::EntityError>(())
            /// ```
            pub fn where_shared<T: SharedValue>(self, value: &T) -> $Query<'w, Q, (F, WhereShared<T>)> {
                let tag = self.view().store().registry().shared_tag(value);
                self.narrow(WhereShared::new(tag))
            }
        }
    };
}
pub(crate) use filter_methods;

filter_methods!(Query);
