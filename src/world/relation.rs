//! One relation from both ends, as a view and as a parameter of systems.

use core::fmt;
use core::marker::PhantomData;

use crate::component::{RelationComponent, TreeRelation};
use crate::entity::Entity;
use crate::query::{Filter, Query, ReadTerms, Terms};
use crate::store::{Levels, ReadGuard, SparseSet};

use super::related_rows::{for_each_of, rows_of};
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
/// [`propagate`](Relation::propagate). A component of the other end is read by
/// [`target_values`](Relation::target_values) and [`nearest_values`](Relation::nearest_values).
pub struct Relation<'w, R: RelationComponent> {
    /// `None` if the world has no set of `R`.
    pub(super) set: Option<ReadGuard<'w, SparseSet<R>>>,
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
    #[doc(alias = "parent")]
    #[inline]
    #[must_use]
    pub fn target(&self, source: Entity) -> Option<Entity> {
        self.set.as_ref()?.target(source)
    }

    /// The entities that have this one as their target, in the order in which they came until one
    /// leaves: the last one takes the place of a source that leaves. Of a relation with the word
    /// [`ordered`](crate::sparse::relation#ordered-sources) the others keep their order. O(1).
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
    #[doc(alias = "children")]
    #[inline]
    #[must_use]
    pub fn sources(&self, target: Entity) -> &[Entity] {
        self.set.as_ref().map_or(&[], |set| set.sources(target))
    }

    /// The place of an entity among the [`sources`](Self::sources) of its target; `None` if it has
    /// none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(ordered)] struct CardOf;
    /// let mut world = World::new();
    /// let deck = world.spawn(());
    /// let cards = world.spawn_batch([CardOf::of(deck); 3]).to_vec();
    /// let place = world.relation::<CardOf>().place(cards[2]).unwrap();
    /// world.insert(cards[2], CardOf::of(deck).at(place - 1))?; // one up
    /// assert_eq!(world.relation::<CardOf>().sources(deck), [cards[0], cards[2], cards[1]]);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn place(&self, source: Entity) -> Option<usize> {
        self.set.as_ref()?.place(source)
    }

    /// Yields the query's rows of the sources of `target`, in the order of
    /// [`sources`](Self::sources). Sources that do not match are skipped, and so are hidden
    /// entities, as in a pass. The query must only read; see [`for_each_of`](Self::for_each_of).
    /// O(sources).
    ///
    /// A pass over all sources of all targets is a query with the term `&R`.
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
        rows_of(self.sources(target), query)
    }

    /// Calls `body` with the query's row of each source of `target` that matches, in the order of
    /// [`sources`](Self::sources). Skips hidden entities, as in a pass. Stamps the `&mut` columns
    /// in the chunk of each row. O(sources).
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
        body: impl FnMut(Q::Row<'_>),
    ) {
        for_each_of(self.sources(target), query, body);
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
}

impl<R: RelationComponent> fmt::Debug for Relation<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
