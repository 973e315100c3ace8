//! The values of targets and ancestors, beside the rows of a query.

use core::fmt;

use rustc_hash::FxHashMap;

use crate::component::{Component, RelationComponent, TreeRelation};
use crate::entity::Entity;
use crate::query::{Filter, Modified, Query, Terms, assert_by_run};
use crate::store::SparseSet;

use super::lookup::Lookup;
use super::relation::Relation;

/// # Values at the other end
impl<R: RelationComponent> Relation<'_, R> {
    /// Component `C` of the target of an entity, by entity or as slices beside those of a query:
    /// see [`TargetValues`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// # #[component] struct Place { x: f32 }
    /// # let mut world = World::new();
    /// let enemy = world.spawn(Place { x: 7.0 });
    /// let turret = world.spawn(Target::of(enemy));
    /// let (targets, places) = (world.relation::<Target>(), world.lookup::<Place>());
    /// let places = targets.target_values(&places);
    /// assert_eq!(places.get(turret).unwrap().x, 7.0);
    /// assert!(places.get(enemy).is_none(), "it has no target");
    /// ```
    pub fn target_values<'v, C: Component>(
        &'v self,
        values: &'v Lookup<'v, C>,
    ) -> TargetValues<'v, R, C> {
        self.values_by(values, Reach::Target)
    }

    /// Component `C` of the nearest ancestor that has it. The entity itself does not count:
    /// [`own_or_nearest_values`](Relation::own_or_nearest_values).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] #[derive(Debug, PartialEq)] struct Team(u32);
    /// # let mut world = World::new();
    /// let army = world.spawn(Team(1));
    /// let squad = world.spawn(ChildOf::of(army));
    /// let spy = world.spawn((Team(2), ChildOf::of(squad)));
    /// let (tree, teams) = (world.relation::<ChildOf>(), world.lookup::<Team>());
    /// assert_eq!(tree.nearest_values(&teams).get(spy), Some(&Team(1)));
    /// assert_eq!(tree.own_or_nearest_values(&teams).get(spy), Some(&Team(2)));
    /// assert_eq!(tree.nearest_values(&teams).get(army), None);
    /// ```
    pub fn nearest_values<'v, C: Component>(
        &'v self,
        values: &'v Lookup<'v, C>,
    ) -> TargetValues<'v, R, C>
    where
        R: TreeRelation,
    {
        self.values_by(values, Reach::Above)
    }

    /// Component `C` of the entity itself, or of the nearest ancestor that has it.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] #[derive(Debug, PartialEq)] struct Team(u32);
    /// /// The team of a unit: its own, or that of its squad or army.
    /// fn team<'a>(
    ///     unit: Entity,
    ///     tree: &'a Relation<ChildOf>,
    ///     teams: &'a Lookup<Team>,
    /// ) -> Option<&'a Team> {
    ///     tree.own_or_nearest_values(teams).get(unit)
    /// }
    /// # let mut world = World::new();
    /// let army = world.spawn(Team(1));
    /// let unit = world.spawn(ChildOf::of(army));
    /// assert_eq!(team(unit, &world.relation::<ChildOf>(), &world.lookup()), Some(&Team(1)));
    /// ```
    pub fn own_or_nearest_values<'v, C: Component>(
        &'v self,
        values: &'v Lookup<'v, C>,
    ) -> TargetValues<'v, R, C>
    where
        R: TreeRelation,
    {
        self.values_by(values, Reach::OwnOrAbove)
    }

    fn values_by<'v, C: Component>(
        &'v self,
        values: &'v Lookup<'v, C>,
        reach: Reach,
    ) -> TargetValues<'v, R, C> {
        TargetValues { set: self.set.as_deref(), values, reach, otherwise: None }
    }
}

/// The entities whose values count.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// The target.
    Target,
    /// The target, its target, and so on.
    Above,
    /// The entity itself, its target, and so on.
    OwnOrAbove,
}

/// The panic of a walk that does not end.
const CYCLE: &str = "a relation that is no tree has a cycle: define it by `#[relation(tree)]`";

/// The number of ancestors that a walk of a pass looks at before it asks for values that are kept.
const NEAR_MAX: usize = 16;

/// Component `C` of the entities at the other end of a relation: of the target of each entity
/// ([`target_values`](Relation::target_values)), or of its nearest ancestor that has `C`
/// ([`nearest_values`](Relation::nearest_values)).
///
/// [`get`](TargetValues::get) returns the value of one entity.
/// [`for_each_chunk`](TargetValues::for_each_chunk) is a pass of a query with a slice of the values
/// beside the slices of the terms, so that the body is a kernel:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[relation] struct Target;
/// #[component] struct Place { x: f32 }
/// #[component] struct Aim { x: f32 }
///
/// fn aim(
///     targets: Relation<Target>,
///     places: Lookup<Place>,
///     turrets: Query<(&mut Aim, &Place)>,
/// ) {
///     targets.target_values(&places).for_each_chunk(turrets, |(aims, own), targets| {
///         turn(aims, own, targets);
///     });
/// }
///
/// #[kernel]
/// fn turn(aims: &mut [Aim], own: &[Place], targets: &[Place]) {
///     for ((aim, own), target) in aims.iter_mut().zip(own).zip(targets) {
///         aim.x = target.x - own.x;
///     }
/// }
///
/// let mut world = World::new();
/// let enemy = world.spawn(Place { x: 9.0 });
/// let turrets = world.spawn_batch((0..100).map(|i| {
///     (Place { x: i as f32 }, Aim { x: 0.0 }, Target::of(enemy))
/// }));
/// let last = turrets[99];
/// let mut schedule = Schedule::new();
/// schedule.add(aim);
/// schedule.run(&mut world)?;
/// assert_eq!(world.get::<Aim>(last).unwrap().x, -90.0);
/// # Ok::<(), ScheduleError>(())
/// ```
///
/// Values are those of the [`Lookup`]: of [hidden](crate::component#hidden-components) entities and
/// of disabled components as well. The query chooses its rows as in any pass, and reads `C` of the
/// row itself by a term. A filter by change looks at the row's columns only: it does not notice a
/// change of the target. A query that writes `C` cannot be in use with the lookup: write another
/// component, such as the next state or the current one of a [`Previous<C>`](crate::Previous),
/// which the lookup reads. `C` has one column: it is neither sparse nor split.
///
/// It is `Copy`.
pub struct TargetValues<'v, R: RelationComponent, C: Component> {
    /// `None` if the world has no set of `R`.
    set: Option<&'v SparseSet<R>>,
    values: &'v Lookup<'v, C>,
    reach: Reach,
    /// The value for entities without one.
    otherwise: Option<&'v C>,
}

impl<R: RelationComponent, C: Component> Clone for TargetValues<'_, R, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: RelationComponent, C: Component> Copy for TargetValues<'_, R, C> {}

impl<'v, R: RelationComponent, C: Component> TargetValues<'v, R, C> {
    /// Uses `value` for entities without one, such as those without a target. A pass then visits
    /// every row of its query, in slices as long as in any pass. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Scale(f32);
    /// # #[component] struct Drawn(f32);
    /// # let mut world = World::new();
    /// let ship = world.spawn((Scale(2.0), Drawn(0.0)));
    /// let gun = world.spawn((Drawn(0.0), ChildOf::of(ship)));
    /// world.run(|tree: Relation<ChildOf>, scales: Lookup<Scale>, drawn: Query<&mut Drawn>| {
    ///     let scales = tree.nearest_values(&scales).or(&Scale(1.0));
    ///     scales.for_each_chunk(drawn, |drawn, scales| {
    ///         drawn.iter_mut().zip(scales).for_each(|(drawn, scale)| drawn.0 = scale.0);
    ///     });
    /// });
    /// assert_eq!([ship, gun].map(|one| world.get::<Drawn>(one).unwrap().0), [1.0, 2.0]);
    /// ```
    #[must_use]
    pub const fn or(self, value: &'v C) -> Self {
        Self { otherwise: Some(value), ..self }
    }

    /// The value for one entity. If it is not alive, has no target, or none that has `C`, it is the
    /// one of [`or`](TargetValues::or), or `None`.
    /// O(1) for a target, O(ancestors up to the one that has `C`) otherwise.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// # #[component] struct Armour(f32);
    /// fn harmless(
    ///     targets: Relation<Target>,
    ///     armours: Lookup<Armour>,
    ///     shots: Query<(Entity, &Shot)>,
    /// ) -> usize {
    ///     let armours = targets.target_values(&armours);
    ///     let is_harmless = |(entity, shot): &(Entity, &Shot)| {
    ///         armours.get(*entity).is_some_and(|armour| armour.0 > shot.0)
    ///     };
    ///     shots.rows().filter(is_harmless).count()
    /// }
    /// # #[component] struct Shot(f32);
    /// # let mut world = World::new();
    /// let ship = world.spawn(Armour(5.0));
    /// world.spawn_batch([1.0, 4.0, 8.0].map(|power| (Shot(power), Target::of(ship))));
    /// assert_eq!(world.run(harmless), 2);
    /// ```
    #[must_use]
    pub fn get(&self, entity: Entity) -> Option<&'v C> {
        self.find(self.link(entity), |from| self.nearest(from)).or(self.otherwise)
    }

    /// Calls a kernel with the slices of a query and a slice of the values, row by row. The body
    /// may return whether it wrote, as in [`Query::for_each_chunk`].
    ///
    /// Rows without a value are left out, unless [`or`](TargetValues::or) gives one. The slices are
    /// rows of a chunk that follow each other and have values: whole chunks if all have one. The
    /// filter `With<R>` leaves rows without a target out as well, before they are looked at. If
    /// every other row has a value, slices have one row. Rows that are sorted are fewer and longer
    /// slices, for example by
    /// `world.matching::<Option<&Target>>().sort_by_key(|target| target.is_none())`. Slices are not
    /// padded.
    ///
    /// Columns that the query hands out as `&mut` are stamped in chunks, and in lines of components
    /// that [track lines](crate::component#components-that-track-lines), that have a visited row.
    /// Others are not.
    ///
    /// The query must be of the world of the relation and the lookup: entities of another one are
    /// taken for their own. In a system declare the three as parameters, elsewhere let
    /// [`World::run`](crate::World::run) give them.
    ///
    /// O(rows), and for values of ancestors O(rows + relations), in a tree of any depth: a row
    /// looks at 16 ancestors at most, or at none if it has the target of the row before, and the
    /// values for those above are kept for the time of the pass. It holds a buffer of values and
    /// one of ids, with room for the rows of the longest chunk, and for ancestors a map of at most
    /// one entry a relation.
    ///
    /// # Panics
    ///
    /// If the kernel panics: the slices that it got are stamped. If a relation that only claims to
    /// be a tree has a cycle.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Team(u32);
    /// # #[component] struct Colour(u32);
    /// fn paint(tree: Relation<ChildOf>, teams: Lookup<Team>, units: Query<&mut Colour>) {
    ///     let teams = tree.own_or_nearest_values(&teams);
    ///     teams.for_each_chunk(units, |colours, teams| {
    ///         colours.iter_mut().zip(teams).for_each(|(colour, team)| colour.0 = team.0 * 16);
    ///     });
    /// }
    /// # let mut world = World::new();
    /// let army = world.spawn(Team(3));
    /// let squad = world.spawn(ChildOf::of(army));
    /// world.spawn_batch([(Colour(0), ChildOf::of(squad)), (Colour(0), ChildOf::of(army))]);
    /// world.spawn((Colour(7), Team(1)));
    /// world.spawn(Colour(7)); // of no team
    /// world.run(paint);
    /// let colours = world.query::<&Colour>().rows().map(|colour| colour.0);
    /// assert!(colours.eq([48, 48, 7, 16]));
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[relation] struct Target;
    /// # #[component] struct Place(f32);
    /// # #[component] struct Far(f32);
    /// type Places<'w> = Query<'w, (&'static Place, PerChunkMut<Far>)>;
    /// fn far(targets: Relation<Target>, places: Lookup<Place>, query: Places) {
    ///     // Of all rows, also those that the pass leaves out.
    ///     targets.target_values(&places).for_each_chunk(query, |_, _| ());
    /// }
    /// World::new().run(far);
    /// ```
    pub fn for_each_chunk<'q, Q: Terms, F: Filter, M: Into<Modified>>(
        &self,
        query: Query<'q, Q, F>,
        kernel: impl FnMut(Q::Slices<'q>, &[C]) -> M,
    ) {
        const { assert_by_run::<Q>() };
        let (mut walks, otherwise) = (Walks::new(*self), self.otherwise.copied());
        let find = |from| self.find(from, |from| walks.nearest(from)).copied().or(otherwise);
        query.for_each_found(|entity| self.link(entity), find, kernel);
    }

    /// The entity from which the value for another one is looked for: no entity has a value of
    /// `NULL`.
    #[inline(always)]
    fn link(&self, entity: Entity) -> Entity {
        match self.reach {
            Reach::Target | Reach::Above => self.target(entity).unwrap_or(Entity::NULL),
            Reach::OwnOrAbove => entity,
        }
    }

    /// The value that is found from a link on. `nearest` returns the value of a target, or of its
    /// nearest ancestor that has one.
    #[inline(always)]
    fn find(
        &self,
        from: Entity,
        mut nearest: impl FnMut(Entity) -> Option<&'v C>,
    ) -> Option<&'v C> {
        match self.reach {
            Reach::Target => self.own(from),
            Reach::Above => nearest(from),
            Reach::OwnOrAbove => self.own(from).or_else(|| nearest(self.target(from)?)),
        }
    }

    #[inline(always)]
    fn target(&self, entity: Entity) -> Option<Entity> {
        self.set?.target(entity)
    }

    #[inline(always)]
    fn own(&self, entity: Entity) -> Option<&'v C> {
        self.values.columns.find(entity)
    }

    /// The value of a target, or of its nearest ancestor that has one.
    ///
    /// # Panics
    ///
    /// If the relation has a cycle.
    fn nearest(&self, target: Entity) -> Option<&'v C> {
        let mut next = Some(target).filter(|target| !target.is_null());
        for _ in 0..=self.ancestors_max() {
            let entity = next?;
            let own = self.own(entity);
            if own.is_some() {
                return own;
            }
            next = self.target(entity);
        }
        panic!("{CYCLE}")
    }

    /// The number of relations: an entity above another is the target of one.
    fn ancestors_max(&self) -> usize {
        self.set.map_or(0, SparseSet::len)
    }
}

/// The way to the nearest ancestor, for one row after the other.
struct Walks<'v, R: RelationComponent, C: Component> {
    all: TargetValues<'v, R, C>,
    /// The target of the row before, and its value: siblings often follow each other.
    last: Option<(Entity, Option<&'v C>)>,
    /// The values for ancestors without one that are far from a row.
    far: FxHashMap<Entity, Option<&'v C>>,
    path: Vec<Entity>,
}

impl<'v, R: RelationComponent, C: Component> Walks<'v, R, C> {
    fn new(all: TargetValues<'v, R, C>) -> Self {
        Self { all, last: None, far: FxHashMap::default(), path: Vec::new() }
    }

    /// The value of the target of a row, or of its nearest ancestor that has one.
    fn nearest(&mut self, target: Entity) -> Option<&'v C> {
        if target.is_null() {
            return None;
        }
        match self.last {
            Some((of, value)) if of == target => value,
            _ => {
                let value = self.walk(target);
                self.last = Some((target, value));
                value
            }
        }
    }

    fn walk(&mut self, from: Entity) -> Option<&'v C> {
        let mut entity = from;
        for _ in 0..NEAR_MAX {
            let own = self.all.own(entity);
            if own.is_some() {
                return own;
            }
            entity = self.all.target(entity)?;
        }
        self.walk_far(entity)
    }

    /// [`TargetValues::nearest`], which each entity on the way keeps.
    ///
    /// # Panics
    ///
    /// If the relation has a cycle.
    #[cold]
    fn walk_far(&mut self, from: Entity) -> Option<&'v C> {
        let (mut next, mut value) = (Some(from), None);
        while let Some(entity) = next {
            if let Some(&kept) = self.far.get(&entity) {
                value = kept;
                break;
            }
            value = self.all.own(entity);
            if value.is_some() {
                break;
            }
            self.path.push(entity);
            assert!(self.path.len() <= self.all.ancestors_max(), "{CYCLE}");
            next = self.all.target(entity);
        }
        self.far.extend(self.path.drain(..).map(|entity| (entity, value)));
        value
    }
}

impl<R: RelationComponent, C: Component> fmt::Debug for TargetValues<'_, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetValues")
            .field("component", &core::any::type_name::<C>())
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}
