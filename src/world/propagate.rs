//! Passes of kernels over a tree, level after level: values go from parents to children.

use crate::component::{Component, RelationComponent, TreeRelation};
use crate::query::{Filter, LevelPlan, LevelTerms, Query, Terms, assert_by_level};

use super::relation::Relation;

/// # Passes by level
impl<R: RelationComponent> Relation<'_, R> {
    /// Calls a kernel with the rows of a query, level after level: with a slice of `G`, the slices
    /// of the other terms, and the values of `G` of the parents, row by row. A parent is done
    /// before its children.
    ///
    /// Rows without a parent, in a tree or in none, are the first level: they get `root`. If the
    /// query does not see the parent of a row (it lacks a component, or is hidden or filtered out),
    /// the row takes the value of the nearest ancestor that the query sees, or `root`: a part of a
    /// disabled entity is placed as if that entity did not exist. A filter by change, `where_chunk`
    /// and `where_shared` do not compile: [`propagate_changed`](Relation::propagate_changed) takes
    /// such a query beside. The query must be of the world of the relation: entities of another one
    /// are taken for its own.
    ///
    /// A slice has rows of one chunk that follow each other, of one level. It is long if the rows
    /// lie by level: as they were spawned, or as
    /// [`sort_by_level`](crate::Matching::sort_by_level) puts them; ancestors that the query does
    /// not see make other levels. In other orders the result is the same, and slices may have one
    /// row. Slices are not padded.
    ///
    /// O(rows), and the cost of the [plan](LevelPlan) after a change of rows or relations. The pass
    /// holds a list of its slices, and copies of parents for the longest of them. It stamps the
    /// columns that it hands out as `&mut` in each chunk, as any pass.
    ///
    /// # Panics
    ///
    /// If the kernel panics. The plan stays usable.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::LevelPlan;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Depth(u32);
    /// # let mut world = World::new();
    /// let root = world.spawn(Depth(0));
    /// let child = world.spawn((Depth(0), ChildOf::of(root)));
    /// let mut plan = LevelPlan::new();
    /// world.run(move |tree: Relation<ChildOf>, depths: Query<(&mut Depth,)>| {
    ///     tree.propagate(&mut plan, depths, &Depth(10), |depths, (), parents| {
    ///         depths.iter_mut().zip(parents).for_each(|(depth, parent)| depth.0 = parent.0 + 1);
    ///     });
    /// });
    /// assert_eq!((world.get::<Depth>(root)?.0, world.get::<Depth>(child)?.0), (11, 12));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::LevelPlan;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Depth(u32);
    /// # let mut plan = LevelPlan::new();
    /// # type Moved = Changed<Depth>;
    /// World::new().run(move |tree: Relation<ChildOf>, some: Query<(&mut Depth,), Moved>| {
    ///     tree.propagate(&mut plan, some, &Depth(10), |_, (), _| {}); // some of the rows
    /// });
    /// ```
    pub fn propagate<G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        plan: &mut LevelPlan<R>,
        query: Query<'_, Q, F>,
        root: &G,
        kernel: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) where
        R: TreeRelation,
    {
        const { assert_by_level::<Q, F>() };
        plan.pass(self.set.as_deref(), query, root, kernel);
    }

    /// [`propagate`](Relation::propagate) to the rows that `changed` sees and to all rows below
    /// them. The others keep their values. Chunks without a visited row are not stamped, and lines
    /// without one are not, in components that
    /// [track lines](crate::component#components-that-track-lines).
    ///
    /// `changed` is any query of the world, for example one with a filter by change; the rows that
    /// `query` does not see count for nothing. [`Changed`](crate::Changed) names all rows of a
    /// chunk in which one changed. [`ChangedLines`](crate::lines::ChangedLines) of a
    /// `#[component(lines)]`, and `With<Moved>` of a sparse tag, which is inserted with each change
    /// and removed after the pass, name the changed rows alone.
    ///
    /// The [plan](LevelPlan) knows the changes of rows and relations since the last pass, so they
    /// need no filter. These rows are visited too, and all rows below them: rows with another
    /// parent, or with another nearest ancestor that the query sees; rows that were hidden; and all
    /// rows of the chunks to which new rows came, or rows that got or lost a component. A row that
    /// only moved, for example into the place of one that was despawned, keeps its value. All rows
    /// are visited if the whole plan is made, if columns were [flipped](crate::World::flip), if the
    /// world was restored to a state from before the last pass, or if that pass was of another type
    /// of query.
    ///
    /// Values are right if `changed` sees each change of the values that the kernel reads, which a
    /// filter by change misses in these cases:
    ///
    /// * A run of the system does not reach this call, for example after an early return: the next
    ///   run sees only later changes. Make the call in each run; where one leaves it out, assign
    ///   `LevelPlan::new()` to the plan, and the next pass visits all rows.
    /// * A body writes and returns [`Modified::No`](crate::Modified::No).
    /// * An enable bit of an optional term of `query` changes, and the filter has other components.
    /// * `root` or a value that is not in `query` changes.
    ///
    /// After one of the last three, too, assign a new plan, or [`propagate`](Relation::propagate).
    ///
    /// O(c + v log p): c chunks of both queries, or runs of visible rows in chunks that hide some,
    /// v visited rows, p pieces into which the visited rows cut the chunks; and the cost of the
    /// [plan](LevelPlan). An index of about 9 bytes a row is added to the plan, in O(rows), when
    /// passes since the last change of rows or relations have visited about an eighth of all rows.
    ///
    /// # Panics
    ///
    /// If the kernel panics. The plan stays usable, and the next pass visits all rows.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::LevelPlan;
    /// # #[relation(tree)] struct ChildOf;
    /// #[component] struct Own { x: f32 }
    /// #[component] struct Place { x: f32 }
    ///
    /// fn place(
    ///     tree: Relation<ChildOf>,
    ///     mut plan: Local<LevelPlan<ChildOf>>,
    ///     moved: Query<&Own, Changed<Own>>,
    ///     places: Query<(&mut Place, &Own)>,
    /// ) {
    ///     let root = Place { x: 100.0 };
    ///     tree.propagate_changed(&mut plan, &moved, places, &root, |places, own, parents| {
    ///         for ((place, own), parent) in places.iter_mut().zip(own).zip(parents) {
    ///             place.x = parent.x + own.x;
    ///         }
    ///     });
    /// }
    ///
    /// let mut world = World::new();
    /// let arm = world.spawn((Own { x: 1.0 }, Place { x: 0.0 }));
    /// let hand = world.spawn((Own { x: 2.0 }, Place { x: 0.0 }, ChildOf::of(arm)));
    /// let mut schedule = Schedule::new();
    /// schedule.add(place);
    /// schedule.run(&mut world)?;
    /// world.get_mut::<Own>(arm).unwrap().x = 5.0;
    /// schedule.run(&mut world)?;
    /// assert_eq!(world.get::<Place>(hand).unwrap().x, 107.0);
    /// let before = world.version();
    /// schedule.run(&mut world)?;
    /// assert!(world.query::<&Place>().changed_since(before).is_empty());
    /// # Ok::<(), ScheduleError>(())
    /// ```
    pub fn propagate_changed<G: Component, Q: LevelTerms<G>, F: Filter, S: Terms, E: Filter>(
        &self,
        plan: &mut LevelPlan<R>,
        changed: &Query<'_, S, E>,
        query: Query<'_, Q, F>,
        root: &G,
        kernel: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) where
        R: TreeRelation,
    {
        const { assert_by_level::<Q, F>() };
        plan.pass_changed(self.set.as_deref(), (query, changed), root, kernel);
    }
}
