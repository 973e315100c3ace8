//! One relation from both ends, as a view and as a parameter of systems.

use core::fmt;
use core::marker::PhantomData;

use crate::component::{Component, RelationComponent, TreeRelation};
use crate::entity::Entity;
use crate::query::{Filter, LevelPlan, LevelTerms, Query, ReadTerms, Terms, assert_by_level};
use crate::store::{Levels, ReadGuard, SparseSet};

use super::sparse_views::SparseGrant;

/// A [relation](crate::sparse::relation) from both ends. As a parameter of a system it declares
/// that the system reads it. Elsewhere it is a guard: the world can be changed once it is dropped,
/// and [`sources`](Relation::sources) are copied by `to_vec` before they are despawned.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(tree)]
/// struct ChildOf;
/// #[component] struct Mass(f32);
/// #[component] struct Load(f32);
///
/// /// Each load is that of an entity and of all that it carries, from the last level on.
/// fn add_loads(tree: Relation<ChildOf>, masses: Query<&Mass>, mut loads: LookupMut<Load>) {
///     for &carrier in tree.levels().entities().iter().rev() {
///         let own = masses.get(carrier).map_or(0.0, |mass| mass.0);
///         let carried = tree.sources(carrier).iter().filter_map(|&one| loads.get(one).ok());
///         let total = own + carried.map(|load| load.0).sum::<f32>();
///         if let Ok(load) = loads.get_mut(carrier) {
///             load.0 = total;
///         }
///     }
/// }
///
/// let mut world = World::new();
/// let cart = world.spawn((Mass(5.0), Load(0.0)));
/// let crates = world.spawn_batch([2.0, 3.0].map(|m| (Mass(m), Load(0.0), ChildOf::of(cart))));
/// let crates = crates.to_vec();
/// world.spawn((Mass(1.0), Load(0.0), ChildOf::of(crates[0])));
/// let mut schedule = Schedule::new();
/// schedule.add(add_loads);
/// schedule.run(&mut world)?;
/// assert_eq!(world.get::<Load>(crates[0]).unwrap().0, 3.0);
/// assert_eq!(world.get::<Load>(cart).unwrap().0, 11.0);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// Values that go down the tree, such as places, have a pass of kernels:
/// [`propagate`](Relation::propagate).
pub struct Relation<'w, R: RelationComponent> {
    /// `None` if the world has no set of `R`.
    set: Option<ReadGuard<'w, SparseSet<R>>>,
    /// Invariant in `R`: a subtype of it is another type.
    value: PhantomData<fn(R) -> R>,
}

impl<'w, R: RelationComponent> Relation<'w, R> {
    pub(super) const fn new(set: Option<ReadGuard<'w, SparseSet<R>>>) -> Self {
        Self { set, value: PhantomData }
    }

    /// The relation for one run of a system.
    pub(crate) fn granted(granted: &'w SparseGrant<'_, R>) -> Self {
        Self::new(granted.set())
    }

    /// The target of an entity; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let child = world.spawn(ChildOf::of(parent));
    /// assert_eq!(world.relation::<ChildOf>().target(child), Some(parent));
    /// ```
    #[inline]
    #[must_use]
    pub fn target(&self, source: Entity) -> Option<Entity> {
        self.set.as_ref()?.target(source)
    }

    /// The entities that have this one as their target, in the order in which they came until one
    /// leaves: the last one takes the place of a source that leaves. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let parent = world.spawn(());
    /// let children = world.spawn_batch([ChildOf::of(parent); 3]).to_vec();
    /// assert_eq!(world.relation::<ChildOf>().sources(parent), children);
    /// world.despawn(children[0]).unwrap();
    /// assert_eq!(world.relation::<ChildOf>().sources(parent), [children[2], children[1]]);
    /// ```
    #[inline]
    #[must_use]
    pub fn sources(&self, target: Entity) -> &[Entity] {
        self.set.as_ref().map_or(&[], |set| set.sources(target))
    }

    /// The rows of a query that only reads, of the sources of a target: those that match it, in the
    /// order of [`sources`](Self::sources). The query skips hidden entities, as in a pass. No other
    /// entity is looked at: O(sources).
    ///
    /// [`for_each_of`](Self::for_each_of) is for a query that writes. A pass over all sources of
    /// all targets is a query with the term `&R`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct PartOf;
    /// # #[component] struct Mass(f32);
    /// # #[component] struct Loose;
    /// fn fixed(ship: Entity, parts: &Relation<PartOf>, masses: &Query<&Mass, Without<Loose>>) -> f32 {
    ///     parts.rows_of(ship, masses).map(|mass| mass.0).sum()
    /// }
    /// # let mut world = World::new();
    /// let [ship, other] = [(); 2].map(|()| world.spawn(()));
    /// world.spawn_batch([(Mass(2.0), PartOf::of(ship)), (Mass(3.0), PartOf::of(ship))]);
    /// world.spawn((Mass(5.0), PartOf::of(ship), Loose));
    /// world.spawn((Mass(7.0), PartOf::of(other)));
    /// let masses = world.query::<&Mass>().filter::<Without<Loose>>();
    /// assert_eq!(world.relation::<PartOf>().rows_of(ship, &masses).count(), 2);
    /// assert_eq!(world.run(move |parts: Relation<_>, masses: Query<_, _>| {
    ///     fixed(ship, &parts, &masses)
    /// }), 5.0);
    /// ```
    pub fn rows_of<'q, Q: ReadTerms, F: Filter>(
        &self,
        target: Entity,
        query: &Query<'q, Q, F>,
    ) -> impl Iterator<Item = Q::Row<'q>> {
        let lookup = query.lookup();
        self.sources(target).iter().filter_map(move |&source| lookup.find(source))
    }

    /// Calls a closure with the rows of a query of the sources of a target: those that match it, in
    /// the order of [`sources`](Self::sources). The query skips hidden entities, as in a pass. No
    /// other entity is looked at: O(sources). Stamps the columns that it hands out as `&mut` in the
    /// chunk of each of them.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct PartOf;
    /// # #[component] struct Health(f32);
    /// # #[component] struct Hit;
    /// /// Each part of a ship that is hit takes damage.
    /// fn damage(
    ///     hit: Query<Entity, With<Hit>>,
    ///     parts: Relation<PartOf>,
    ///     mut healths: Query<&mut Health>,
    /// ) {
    ///     for ship in hit.rows() {
    ///         parts.for_each_of(ship, &mut healths, |health| health.0 -= 1.0);
    ///     }
    /// }
    /// # let mut world = World::new();
    /// let [hit, other] = [world.spawn(Hit), world.spawn(())];
    /// world.spawn_batch([(Health(3.0), PartOf::of(hit)), (Health(9.0), PartOf::of(other))]);
    /// world.run(damage);
    /// assert!(world.query::<&Health>().rows().map(|health| health.0).eq([2.0, 9.0]));
    /// ```
    pub fn for_each_of<Q: Terms, F: Filter>(
        &self,
        target: Entity,
        query: &mut Query<'_, Q, F>,
        mut body: impl FnMut(Q::Row<'_>),
    ) {
        let mut lookup = query.lookup_mut();
        for &source in self.sources(target) {
            if let Ok(row) = lookup.get_mut(source) {
                body(row);
            }
        }
    }

    /// The number of relations. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// assert_eq!(World::new().relation::<Target>().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.as_ref().map_or(0, |set| set.len())
    }

    /// Returns `true` if no entity has a target. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// assert!(World::new().relation::<Target>().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All relations: the source and the target of each, in the order of
    /// [`Sparse::iter`](crate::sparse::Sparse::iter).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// let mut world = World::new();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.insert(a, Target::of(b))?;
    /// world.insert(b, Target::of(b))?; // itself, which a tree refuses
    /// assert!(world.relation::<Target>().iter().eq([(a, b), (b, b)]));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.set.iter().flat_map(|set| set.relations())
    }
}

/// # Trees
impl<R: RelationComponent> Relation<'_, R> {
    /// The target of an entity, the target of this, and so on to the root. O(1) for each.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let root = world.spawn(());
    /// let child = world.spawn(ChildOf::of(root));
    /// let grandchild = world.spawn(ChildOf::of(child));
    /// assert!(world.relation::<ChildOf>().ancestors(grandchild).eq([child, root]));
    /// ```
    pub fn ancestors(&self, entity: Entity) -> impl Iterator<Item = Entity>
    where
        R: TreeRelation,
    {
        core::iter::successors(self.target(entity), |&above| self.target(above))
    }

    /// The last of the ancestors of an entity, or itself. O(depth).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let root = world.spawn(());
    /// let child = world.spawn(ChildOf::of(root));
    /// assert_eq!(world.relation::<ChildOf>().root(child), root);
    /// assert_eq!(world.relation::<ChildOf>().root(root), root);
    /// ```
    #[must_use]
    pub fn root(&self, entity: Entity) -> Entity
    where
        R: TreeRelation,
    {
        self.ancestors(entity).last().unwrap_or(entity)
    }

    /// The number of ancestors. O(depth).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let root = world.spawn(());
    /// let child = world.spawn(ChildOf::of(root));
    /// assert_eq!(world.relation::<ChildOf>().depth(child), 1);
    /// ```
    #[must_use]
    pub fn depth(&self, entity: Entity) -> usize
    where
        R: TreeRelation,
    {
        self.ancestors(entity).count()
    }

    /// All entities below one, level after level, without itself. O(descendants).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let root = world.spawn(());
    /// let [arm, leg] = [(); 2].map(|()| world.spawn(ChildOf::of(root)));
    /// let hand = world.spawn(ChildOf::of(arm));
    /// assert_eq!(world.relation::<ChildOf>().descendants(root), [arm, leg, hand]);
    /// ```
    #[must_use]
    pub fn descendants(&self, entity: Entity) -> Vec<Entity>
    where
        R: TreeRelation,
    {
        let sources = self.sources(entity).to_vec();
        self.set.as_ref().map_or(Vec::new(), |set| Levels::below(set, sources).into_entities())
    }

    /// All entities below one, each before the entities below it, without itself. O(descendants) in
    /// all, with a list of the entities still to be visited.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let root = world.spawn(());
    /// let [arm, leg] = [(); 2].map(|()| world.spawn(ChildOf::of(root)));
    /// let hand = world.spawn(ChildOf::of(arm));
    /// assert!(world.relation::<ChildOf>().depth_first(root).eq([arm, hand, leg]));
    /// ```
    pub fn depth_first(&self, entity: Entity) -> impl Iterator<Item = Entity>
    where
        R: TreeRelation,
    {
        let mut left: Vec<_> = self.sources(entity).iter().rev().copied().collect();
        core::iter::from_fn(move || {
            let next = left.pop()?;
            left.extend(self.sources(next).iter().rev());
            Some(next)
        })
    }

    /// All entities of all trees, level after level: see [`Levels`]. An entity without target and
    /// sources is in no tree: a query with [`Without<R>`](crate::Without) has it, and all roots.
    /// O(relations).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// let mut world = World::new();
    /// let roots = world.spawn_batch([(); 2]).to_vec();
    /// let children: Vec<_> = roots.iter().map(|&root| world.spawn(ChildOf::of(root))).collect();
    /// let levels = world.relation::<ChildOf>().levels();
    /// assert!(levels.iter().eq([&roots[..], &children]));
    /// ```
    #[must_use]
    pub fn levels(&self) -> Levels
    where
        R: TreeRelation,
    {
        self.set.as_ref().map_or_else(Levels::default, |set| Levels::of(set))
    }

    /// Calls a kernel with the rows of a query, level after level: with a slice of `G`, the slices
    /// of the other terms, and the values of `G` of the parents, row by row. A parent is done
    /// before its children.
    ///
    /// Rows without a parent, in a tree or in none, are the first level: they get `root`. If the
    /// query does not see the parent of a row (it lacks a component, or is hidden or filtered out),
    /// the row takes the value of the nearest ancestor that the query sees, or `root`: a part of a
    /// disabled entity is placed as if that entity did not exist. A filter by change does not
    /// compile: [`propagate_changed`](Relation::propagate_changed) takes it beside. The query must
    /// be of the world of the relation: entities of another one are taken for its own.
    ///
    /// A slice has rows of one chunk that follow each other, of one level. It is long if the rows
    /// lie by level: as they were spawned, or as
    /// [`sort_by_level`](crate::Matching::sort_by_level) puts them; ancestors that the query does
    /// not see make other levels. In other orders the result is the same, and slices may have one
    /// row. Slices are not padded.
    ///
    /// O(rows), and O(relations) more where the [plan](LevelPlan) is made again. The pass holds a
    /// list of its slices, and copies of parents for the longest of them. It stamps the columns
    /// that it hands out as `&mut` in each chunk, as any pass.
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
    /// `#[component(lines)]` names lines of 16 rows; `With<Moved>` of a sparse tag, which is
    /// inserted with each change and removed after the pass, names the changed rows alone. If the
    /// [plan](LevelPlan) is made again, because rows or relations came, left or moved, all rows are
    /// visited: so a part that got another parent is placed anew.
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
    /// v visited rows, p pieces into which the visited rows cut the chunks. The first pass after
    /// the plan was made adds an index of 8 bytes a row to it, in O(rows).
    ///
    /// # Panics
    ///
    /// If the kernel panics. The plan stays usable.
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

impl<R: RelationComponent> fmt::Debug for Relation<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
