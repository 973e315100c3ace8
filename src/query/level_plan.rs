//! The rows of a query by their level in a tree, for kernels that take values from parents.
//!
//! A plan has the [runs](super::level_runs) of the rows, level after level: they are visited in
//! that order, so parents are done before children.
//!
//! All slices of the pass are held at once. While a run is lent to be written, the runs before it
//! are read: they are other slices. So the values of parents are read from the slices themselves
//! where parents lie in the same order, and otherwise gathered.
//!
//! The plan is made again when it does not fit: the query has another type, the relation another
//! version, or the pass other chunks, rows or orders. A plan that does not fit is never used.
//! Queries of two types may see the same rows, and fit the same runs. But a pass over changed rows
//! visits all if the plan did not fit, and it must do so for each of the queries.
//!
//! A pass over the rows that changed and those below them finds them in a
//! [`level_index`](super::level_index), and visits them as
//! [`changed_levels`](super::changed_levels).

use core::any::TypeId;
use core::fmt;
use core::marker::PhantomData;

use crate::component::{Component, ConstText, TreeRelation};
use crate::store::SparseSet;

use super::changed_levels::ChangedLevels;
use super::filter::Filter;
use super::level_index::LevelIndex;
use super::level_runs::{LevelRuns, Parents};
use super::level_terms::LevelTerms;
use super::query::Query;
use super::query_type::query_type;
use super::terms::Terms;

/// The rows of a query, level after level in the tree of `R`: for
/// [`Relation::propagate`](crate::sparse::Relation::propagate) and
/// [`propagate_changed`](crate::sparse::Relation::propagate_changed).
///
/// Made and kept by the program, one for each query; a system keeps it as a
/// [`Local`](crate::schedule::Local) or a resource. It needs no update: a pass compares a version a
/// chunk and that of the relation. It makes the whole plan again, O(relations + rows), after a row
/// came, left or moved, a relation was inserted, removed or given another target, another row was
/// hidden or enabled, columns were [flipped](crate::World::flip), or a query of another type used
/// the plan.
///
/// It takes 4 bytes a row, 8 where the parents of a run are in several others, 32 bytes a run of
/// rows of one level that follow each other, and 32 bytes a slice of the query, of the greatest
/// numbers that it had; up to twice these while it grows. Passes over changed rows add 8 bytes a
/// row. The runs are few if the rows lie [by
/// level](crate::Matching::sort_by_level).
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::LevelPlan;
///
/// #[relation(tree)]
/// struct ChildOf;
/// #[component] struct Own { x: f32 }
/// #[component] struct Place { x: f32 }
///
/// fn place(
///     tree: Relation<ChildOf>,
///     mut plan: Local<LevelPlan<ChildOf>>,
///     query: Query<(&mut Place, &Own)>,
/// ) {
///     tree.propagate(&mut plan, query, &Place { x: 100.0 }, add);
/// }
///
/// #[kernel]
/// fn add(places: &mut [Place], own: &[Own], parents: &[Place]) {
///     for ((place, own), parent) in places.iter_mut().zip(own).zip(parents) {
///         place.x = parent.x + own.x;
///     }
/// }
///
/// let mut world = World::new();
/// let bone = |x| (Own { x }, Place { x: 0.0 });
/// let root = world.spawn(bone(1.0));
/// let arm = world.spawn((bone(2.0), ChildOf::of(root)));
/// let hand = world.spawn((bone(3.0), ChildOf::of(arm)));
/// let mut schedule = Schedule::new();
/// schedule.add(place);
/// schedule.run(&mut world)?;
/// assert_eq!(world.get::<Place>(hand).unwrap().x, 106.0);
/// # Ok::<(), ScheduleError>(())
/// ```
pub struct LevelPlan<R> {
    /// The version of the relation, unless the world has none; `None` if the plan is not made.
    relation: Option<Option<u64>>,
    /// The type of the query.
    query: Option<TypeId>,
    rows: LevelRuns,
    /// Made by the first pass over a part of the rows.
    index: Option<LevelIndex>,
    /// Invariant, as all that is generic in a component.
    tree: PhantomData<fn(R) -> R>,
}

impl<R> Default for LevelPlan<R> {
    fn default() -> Self {
        let rows = LevelRuns::default();
        Self { relation: None, query: None, rows, index: None, tree: PhantomData }
    }
}

impl<R> fmt::Debug for LevelPlan<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, runs) = (self.rows.parents.len(), self.rows.runs.len());
        f.debug_struct("LevelPlan").field("rows", &rows).field("runs", &runs).finish()
    }
}

/// A compile error if the query writes a value per chunk, or leaves out rows that did not change.
/// Evaluated in a constant of the public function, so that the error names the caller's line.
pub(crate) const fn assert_by_level<Q: Terms, F: Filter>() {
    if F::BY_CHUNK || F::BY_LINES > 0 {
        let text = "a query by levels visits all rows: children of a parent that the filter leaves \
                    out would get the value of another ancestor; leave the filter out, or give a query \
                    that has it to `propagate_changed`";
        panic!("{}", ConstText::of(&[text]).as_str());
    }
    if Q::WRITES_CHUNKS {
        let text = "a query by levels visits runs of rows, so it cannot write a value per chunk";
        panic!("{}", ConstText::of(&[text]).as_str());
    }
}

impl<R> LevelPlan<R> {
    /// A plan that the first pass makes.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::LevelPlan;
    /// # #[relation(tree)] struct ChildOf;
    /// assert_eq!(LevelPlan::<ChildOf>::new().memory_bytes(), 0);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that the plan has allocated. [`Default`] has none: assign it to give them back.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::LevelPlan;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Global(f32);
    /// # let mut world = World::new();
    /// world.spawn(Global(0.0));
    /// let plan = world.run(|tree: Relation<ChildOf>, query: Query<(&mut Global,)>| {
    ///     let mut plan = LevelPlan::new();
    ///     tree.propagate(&mut plan, query, &Global(0.0), |_, (), _| {});
    ///     plan
    /// });
    /// assert!(plan.memory_bytes() > 0);
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes() + self.index.as_ref().map_or(0, LevelIndex::memory_bytes)
    }
}

impl<R: TreeRelation> LevelPlan<R> {
    /// Makes the plan again if it does not fit. Returns whether it did fit, and the version of the
    /// relation, which the caller sets after the pass: after a panic the plan does not fit.
    fn fit<Q: Terms, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) -> (bool, Option<Option<u64>>) {
        let relation = Some(set.map(SparseSet::version));
        let key = query_type::<Q, F>().key;
        let is_of = self.query.replace(key) == Some(key);
        let fits = self.relation.take() == relation && is_of && self.rows.are_of(query);
        if !fits {
            self.index = None;
            self.rows.make(set, query);
        }
        (fits, relation)
    }

    /// Calls `body` with the slices of each run, and the values of the parents: `root` for rows
    /// without one.
    pub(crate) fn pass<G: Component, Q: LevelTerms<G>, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: Query<'_, Q, F>,
        root: &G,
        body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        let (_, relation) = self.fit(set, &query);
        self.pass_all(query, root, body);
        self.relation = relation;
    }

    /// [`LevelPlan::pass`] over the rows that `changed` sees and the rows below them, or over all
    /// if the plan did not fit.
    pub(crate) fn pass_changed<G: Component, Q: LevelTerms<G>, F: Filter, S: Terms, E: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        (query, changed): (Query<'_, Q, F>, &Query<'_, S, E>),
        root: &G,
        body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        let (fits, relation) = self.fit(set, &query);
        if fits {
            let index = self.index.get_or_insert_with(|| LevelIndex::of(&self.rows));
            let entries = index.below(&self.rows, index.entries_of(&self.rows, changed));
            // A pass holds the slices of all chunks, even if it visits none.
            if !entries.is_empty() {
                ChangedLevels::new(&self.rows, &entries).pass(query, root, body);
            }
        } else {
            self.pass_all(query, root, body);
        }
        self.relation = relation;
    }

    /// The pass of a plan that fits.
    fn pass_all<G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        query: Query<'_, Q, F>,
        root: &G,
        mut body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        let (mut firsts, mut others) = self.cut::<G, Q, F>(query);
        let (mut roots, mut gathered) = (Vec::new(), Vec::new());
        for (number, run) in self.rows.runs.iter().enumerate() {
            let (before, own) = firsts.split_at_mut(number);
            let len = run.len as usize;
            gathered.clear();
            let values = match self.rows.parents_of(run, run.entries()) {
                Parents::None => {
                    roots.resize(len.max(roots.len()), *root);
                    &roots[..len]
                }
                Parents::InOne { run: above, places } if run.in_order => {
                    &before[above as usize][places[0] as usize..][..len]
                }
                Parents::InOne { run: above, places } => {
                    let above = &before[above as usize];
                    gathered.extend(places.iter().map(|&place| above[place as usize]));
                    &gathered
                }
                Parents::InSeveral { runs, places } => {
                    let above = |(&run, &place): (&u32, &u32)| before[run as usize][place as usize];
                    gathered.extend(runs.iter().zip(places).map(above));
                    &gathered
                }
            };
            let others = others[number].take().expect("a run is cut once and visited once");
            body(own[0], others, values);
        }
    }

    /// Cuts the slices of a pass into the runs.
    fn cut<'w, G: Component, Q: LevelTerms<G>, F: Filter>(
        &self,
        query: Query<'w, Q, F>,
    ) -> (Vec<&'w mut [G]>, Vec<Option<Q::Others<'w>>>) {
        let (mut firsts, mut others) = (Vec::new(), Vec::new());
        firsts.resize_with(self.rows.runs.len(), Default::default);
        others.resize_with(self.rows.runs.len(), || None);
        let mut by_row = self.rows.by_row.iter();
        for chunk in query.chunks() {
            let mut left = chunk.len();
            let mut slices = chunk.slices();
            while left > 0 {
                let number = *by_row.next().expect("each row is in a run") as usize;
                let len = self.rows.runs[number].len as usize;
                let (first, rest) = Q::first(Q::split_off(&mut slices, len));
                (firsts[number], others[number]) = (first, Some(rest));
                left -= len;
            }
        }
        (firsts, others)
    }
}
