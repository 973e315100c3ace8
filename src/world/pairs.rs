//! One relation to many from both ends, as a view and as a parameter of systems.

use core::fmt;
use core::marker::PhantomData;

use crate::component::{ManyRelation, Targets};
use crate::entity::Entity;
use crate::query::{Filter, Query, ReadTerms, Terms};
use crate::store::{ReadGuard, SparseSet};

use super::related_rows::{for_each_of, rows_of};
use super::sparse_views::SparseGrant;

/// The pairs of a [relation to many](crate::sparse::relation#many-targets), from both ends. As a
/// parameter of a system it declares that the system reads them. Elsewhere it is a guard: the world
/// can be changed once it is dropped.
///
/// ```
/// # use phalanx::prelude::*;
/// #[relation(many)]
/// struct Likes { weight: f32 }
/// #[component] struct Fame(f32);
///
/// /// The fame of an entity is the sum of all that like it.
/// fn add_fame(likes: Pairs<Likes>, mut all: Query<(Entity, &mut Fame)>) {
///     for (entity, fame) in all.rows_mut() {
///         fame.0 = likes.pairs_to(entity).map(|(_, likes)| likes.weight).sum();
///     }
/// }
///
/// let mut world = World::new();
/// let idol = world.spawn(Fame(0.0));
/// world.spawn_batch([0.5, 0.25].map(|weight| Likes { weight }.of(idol)));
/// world.run(add_fame);
/// assert_eq!(world.get::<Fame>(idol)?.0, 0.75);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
pub struct Pairs<'w, R: ManyRelation> {
    /// `None` if the world has no set of `R`.
    set: Option<ReadGuard<'w, SparseSet<Targets<R>>>>,
    /// Invariant in `R`: a subtype of it is another type.
    value: PhantomData<fn(R) -> R>,
}

impl<'w, R: ManyRelation> Pairs<'w, R> {
    pub(super) const fn new(set: Option<ReadGuard<'w, SparseSet<Targets<R>>>>) -> Self {
        Self { set, value: PhantomData }
    }

    /// The pairs for one run of a system.
    pub(crate) fn granted(granted: &'w SparseGrant<'_, Targets<R>>) -> Self {
        Self::new(granted.set())
    }

    /// The targets of an entity with their values; `None` if it has none or is not alive. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Likes { weight: f32 }
    /// # let mut world = World::new();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.insert(a, Likes { weight: 0.5 }.of(b))?;
    /// let pairs = world.relation::<Likes>();
    /// assert_eq!(pairs.of(a).unwrap().values()[0].weight, 0.5);
    /// assert!(pairs.of(b).is_none());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn of(&self, source: Entity) -> Option<&Targets<R>> {
        self.set.as_ref()?.get(source)
    }

    /// The targets of an entity, in the order in which they came until one leaves: the last one
    /// takes the place of a target that leaves. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # let mut world = World::new();
    /// let teams = world.spawn_batch([(); 3]).to_vec();
    /// let player = world.spawn(teams.iter().map(|&team| (team, Member)).collect::<Targets<_>>());
    /// assert_eq!(world.relation::<Member>().targets(player), teams);
    /// world.despawn(teams[0]).unwrap();
    /// assert_eq!(world.relation::<Member>().targets(player), [teams[2], teams[1]]);
    /// ```
    #[inline]
    #[must_use]
    pub fn targets(&self, source: Entity) -> &[Entity] {
        self.of(source).map_or(&[], Targets::entities)
    }

    /// The entities that have this one as a target, in the order in which they came until one
    /// leaves: the last one takes the place of a source that leaves. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # let mut world = World::new();
    /// let team = world.spawn(());
    /// let players = world.spawn_batch([(); 3].map(|()| Member.of(team))).to_vec();
    /// assert_eq!(world.relation::<Member>().sources(team), players);
    /// ```
    #[inline]
    #[must_use]
    pub fn sources(&self, target: Entity) -> &[Entity] {
        self.set.as_ref().map_or(&[], |set| set.sources(target))
    }

    /// The sources of a target, in the order of [`sources`](Self::sources), with the values of the
    /// pairs. O(1) for each.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Likes { weight: f32 }
    /// # let mut world = World::new();
    /// let idol = world.spawn(());
    /// world.spawn_batch([0.5, 0.25].map(|weight| Likes { weight }.of(idol)));
    /// let fans = world.relation::<Likes>();
    /// assert_eq!(fans.pairs_to(idol).map(|(_, likes)| likes.weight).sum::<f32>(), 0.75);
    /// ```
    pub fn pairs_to(&self, target: Entity) -> impl Iterator<Item = (Entity, &R)> {
        let pairs = self.set.iter().flat_map(move |set| set.pairs_to(target));
        pairs.map(|(source, list, entry)| (source, &list.values()[entry]))
    }

    /// The value of a pair; `None` if there is no such pair. O(the targets of the source or the
    /// sources of the target), whichever are fewer.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Likes { weight: f32 }
    /// # let mut world = World::new();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.insert(a, Likes { weight: 0.5 }.of(b))?;
    /// let pairs = world.relation::<Likes>();
    /// assert_eq!(pairs.get(a, b).unwrap().weight, 0.5);
    /// assert!(pairs.get(b, a).is_none());
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    #[must_use]
    pub fn get(&self, source: Entity, target: Entity) -> Option<&R> {
        let set = self.set.as_ref()?;
        let (at, entry) = set.find_pair(source, target)?;
        Some(&set.at(at).values()[entry])
    }

    /// Returns `true` if there is such a pair. As [`get`](Self::get).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # let mut world = World::new();
    /// let team = world.spawn(());
    /// let player = world.spawn(Member.of(team));
    /// assert!(world.relation::<Member>().contains(player, team));
    /// ```
    #[must_use]
    pub fn contains(&self, source: Entity, target: Entity) -> bool {
        self.get(source, target).is_some()
    }

    /// Yields the query's rows of the sources of `target`, in the order of
    /// [`sources`](Self::sources). Sources that do not match are skipped, and so are hidden
    /// entities, as in a pass. The query must only read; see [`for_each_of`](Self::for_each_of).
    /// O(sources).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # #[component] struct Score(u32);
    /// # let mut world = World::new();
    /// let team = world.spawn(());
    /// world.spawn_batch([1, 2, 3].map(|score| (Score(score), Member.of(team))));
    /// let scores = world.query::<&Score>();
    /// let members = world.relation::<Member>();
    /// assert_eq!(members.rows_of(team, &scores).map(|score| score.0).sum::<u32>(), 6);
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
    /// # #[relation(many)] struct Member;
    /// # #[component] struct Score(u32);
    /// # let mut world = World::new();
    /// let team = world.spawn(());
    /// let player = world.spawn((Score(1), Member.of(team)));
    /// world.run(move |members: Pairs<Member>, mut scores: Query<&mut Score>| {
    ///     members.for_each_of(team, &mut scores, |score| score.0 += 1);
    /// });
    /// assert_eq!(world.get::<Score>(player).unwrap().0, 2);
    /// ```
    pub fn for_each_of<Q: Terms, F: Filter>(
        &self,
        target: Entity,
        query: &mut Query<'_, Q, F>,
        body: impl FnMut(Q::Row<'_>),
    ) {
        for_each_of(self.sources(target), query, body);
    }

    /// The number of pairs. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// assert_eq!(World::new().relation::<Member>().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.as_ref().map_or(0, |set| set.pairs_len())
    }

    /// Returns `true` if there is no pair. O(1).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// assert!(World::new().relation::<Member>().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All pairs: the source, the target and the value of each, source after source.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(many)] struct Member;
    /// # let mut world = World::new();
    /// let [a, b] = [(); 2].map(|()| world.spawn(()));
    /// world.insert(a, Targets::from([(a, Member), (b, Member)]))?;
    /// let pairs = world.relation::<Member>();
    /// assert!(pairs.iter().map(|(source, target, _)| (source, target)).eq([(a, a), (a, b)]));
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity, &R)> {
        let lists = self.set.iter().flat_map(|set| set.iter());
        lists.flat_map(|(source, list)| list.iter().map(move |(target, one)| (source, target, one)))
    }
}

impl<R: ManyRelation + fmt::Debug> fmt::Debug for Pairs<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
