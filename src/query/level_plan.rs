//! The rows of a query by their level in a tree, for kernels that take values from parents.
//!
//! A plan has the [runs](super::level_runs) of the rows, level after level: they are visited in
//! that order, so parents are done before children.
//!
//! All slices of the pass are held at once. While a run is lent to be written, the runs before it
//! are read: they are other slices. So the values of parents are read from the slices themselves
//! where parents lie in the same order, and otherwise gathered.
//!
//! A plan has three parts. Each is made from the one before it, when a pass needs it:
//!
//! ```text
//!  row_tree      entities, parents, levels       kept up to date: O(changes)
//!  level_runs    for passes over all rows        made again after a change: O(rows)
//!  level_index   for passes over changed rows    made when it pays
//! ```
//!
//! A few nodes of a game change in each frame, so a change must not cost more than a pass does. The
//! tree takes most of the time of a whole plan, because each row and its parent are looked up. So
//! the tree is not made again: [`tree_changes`](super::tree_changes) looks up only the rows that a
//! change concerns. The runs are cut again, without look-ups, only if all rows are visited. Another
//! parent for one leaf of 100,000 nodes costs a pass 31 instructions a row where rows lie by level,
//! and 121 where they are scattered; the whole plan cost 249 and 361.
//!
//! A tree that is not up to date is never used. The whole tree is made if it is of another world,
//! or too much has changed. Queries of two types may see the same rows, and share one tree. A pass
//! over changed rows visits all rows if the last pass was of another query, or panicked.
//!
//! A pass over changed rows and the rows below them finds these in a
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
use super::level_runs::{LevelRuns, Parent, Parents};
use super::level_terms::LevelTerms;
use super::query::Query;
use super::query_type::query_type;
use super::row_tree::RowTree;
use super::terms::Terms;

/// The rows of a query, level after level in the tree of `R`: for
/// [`Relation::propagate`](crate::sparse::Relation::propagate) and
/// [`propagate_changed`](crate::sparse::Relation::propagate_changed).
///
/// Made and kept by the program, one for each query; a system keeps it as a
/// [`Local`](crate::schedule::Local) or a resource. It needs no call to update it: a pass compares
/// the versions of the chunks and of the relation, and finds the changes since the last pass:
///
/// * No change: O(chunks).
/// * A few rows came, left or moved, were hidden or enabled, or a few relations were inserted,
///   removed or given another target: O(changes + rows below them + rows in the chunks that rows
///   left or came to). A pass over all rows takes O(rows) more, without look-ups: an eighth of a
///   whole plan where rows lie by level, a third where they are scattered.
/// * More than a quarter of the rows came, left or moved, more than half of the rows may have other
///   parents or levels, columns were [flipped](crate::World::flip), or it is another world: the
///   whole plan is made, O(relations + rows). This also happens if an archetype has grown by a
///   quarter since the plan was made, if a new archetype comes between others, or if most of the
///   rows have left.
///
/// Relations are compared with a copy, in blocks of 2,048 neighbours or fewer.
///
/// It takes 20 to 40 bytes a row, 16 a relation, 28 bytes a run of rows of one level that follow
/// each other, and 32 bytes a slice of the query, of the greatest numbers that it had; up to twice
/// these while it grows. Passes over many changed rows add about 9 bytes a row. The runs are few if
/// the rows lie [by level](crate::Matching::sort_by_level).
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
    /// The type of the query of the last pass, unless its kernel panicked.
    query: Option<TypeId>,
    tree: RowTree,
    /// The runs of the tree, if they are made.
    runs: LevelRuns,
    has_runs: bool,
    index: LevelIndex,
    /// Invariant, as all that is generic in a component.
    relation: PhantomData<fn(R) -> R>,
}

impl<R> Default for LevelPlan<R> {
    fn default() -> Self {
        let (tree, runs, index) = Default::default();
        Self { query: None, tree, runs, has_runs: false, index, relation: PhantomData }
    }
}

impl<R> fmt::Debug for LevelPlan<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevelPlan").field("rows", &self.tree.numbers.rows_len()).finish()
    }
}

/// A compile error if the query writes a value per chunk, or chooses chunks or lines.
/// Evaluated in a constant of the public function, so that the error names the caller's line.
pub(crate) const fn assert_by_level<Q: Terms, F: Filter>() {
    if F::BY_CHUNK || F::BY_LINES > 0 {
        let text = "a query by levels has no filter of chunks or lines (`Changed`, `ChangedLines`, \
                    `Arrived`, `where_chunk`, `where_shared`): give a query that has the filter to \
                    `propagate_changed`, or choose rows by components";
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
        self.tree.memory_bytes() + self.runs.memory_bytes() + self.index.memory_bytes()
    }
}

/// The rows that a pass over changed rows must visit.
enum Visits {
    All,
    /// These rows, and the rows that `changed` sees.
    Some(Vec<u32>),
}

impl<R: TreeRelation> LevelPlan<R> {
    /// Brings the tree up to date. The caller sets the type of the query after the pass, so that
    /// all rows are visited after a panic.
    fn fit<Q: Terms, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: &Query<'_, Q, F>,
    ) -> Visits {
        let store = query.view().store();
        let world = store.archetypes().change_log().id();
        let is_of = self.query.take() == Some(query_type::<Q, F>().key);
        let known = self.tree.known.filter(|&(known, _)| known == world);
        // A restore puts back values: no comparison of rows or relations finds them.
        let is_later = known.is_some_and(|(_, at)| store.history().seen(at) == at);
        if known.is_some() && self.tree.is_of(set, query) {
            self.tree.known = Some((world, store.clock()));
            return if is_of && is_later { Visits::Some(Vec::new()) } else { Visits::All };
        }
        self.has_runs = false;
        self.index.clear();
        let rows = known.and_then(|_| self.tree.update(set, query));
        if rows.is_none() {
            self.tree.make(set, query);
        }
        self.tree.known = Some((world, store.clock()));
        match rows {
            Some(rows) if is_of && is_later => Visits::Some(rows),
            _ => Visits::All,
        }
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
        _ = self.fit(set, &query);
        self.pass_all(query, root, body);
        self.query = Some(query_type::<Q, F>().key);
    }

    /// [`LevelPlan::pass`] over the rows that `changed` sees, the rows with another parent, new
    /// rows, and the rows below all these; or over all rows.
    pub(crate) fn pass_changed<G: Component, Q: LevelTerms<G>, F: Filter, S: Terms, E: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        (query, changed): (Query<'_, Q, F>, &Query<'_, S, E>),
        root: &G,
        body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        match self.fit(set, &query) {
            Visits::All => self.pass_all(query, root, body),
            Visits::Some(rows) => {
                let mut some: Vec<_> = rows.into_iter().map(|row| row..row + 1).collect();
                self.tree.numbers.for_each_seen_by(changed, |range| some.push(range));
                let finder = self.tree.finder(set, query.view().store());
                let rows = self.index.below(&self.tree, &some, &finder);
                // A pass holds the slices of all chunks, even if it visits none.
                if !rows.is_empty() {
                    ChangedLevels::new(&self.tree, &rows).pass(query, root, body);
                }
            }
        }
        self.query = Some(query_type::<Q, F>().key);
    }

    /// The pass over all rows of a tree that is up to date.
    fn pass_all<G: Component, Q: LevelTerms<G>, F: Filter>(
        &mut self,
        query: Query<'_, Q, F>,
        root: &G,
        mut body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        if !self.has_runs {
            self.runs.make(&self.tree);
            self.has_runs = true;
        }
        let (mut firsts, mut others) = self.cut::<G, Q, F>(query);
        let (mut roots, mut gathered) = (Vec::new(), Vec::new());
        for (number, run) in self.runs.runs.iter().enumerate() {
            let (before, own) = firsts.split_at_mut(number);
            let len = run.len as usize;
            gathered.clear();
            let rows = &self.tree.above[run.rows()];
            let values = match self.runs.parents_of(run) {
                Parents::None => {
                    roots.resize(len.max(roots.len()), *root);
                    &roots[..len]
                }
                Parents::InOne(first) if run.in_order => {
                    &before[first.run as usize][first.place as usize..][..len]
                }
                Parents::InOne(first) => {
                    let above = &before[first.run as usize];
                    // The row in the first place.
                    let start = rows[0] - first.place;
                    gathered.extend(rows.iter().map(|&row| above[(row - start) as usize]));
                    &gathered
                }
                Parents::InSeveral(parents) => {
                    let value = |above: &Parent| before[above.run as usize][above.place as usize];
                    gathered.extend(parents.iter().map(value));
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
        firsts.resize_with(self.runs.runs.len(), Default::default);
        others.resize_with(self.runs.runs.len(), || None);
        let mut by_row = self.runs.by_row.iter();
        for chunk in query.chunks() {
            let mut left = chunk.len();
            let mut slices = chunk.slices();
            while left > 0 {
                let number = *by_row.next().expect("each row is in a run") as usize;
                let len = self.runs.runs[number].len as usize;
                let (first, rest) = Q::first(Q::split_off(&mut slices, len));
                (firsts[number], others[number]) = (first, Some(rest));
                left -= len;
            }
        }
        (firsts, others)
    }
}
