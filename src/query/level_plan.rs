//! The rows of a query by their level in a tree, for kernels that take values from parents.
//!
//! A plan cuts the slices of a pass into runs: rows that follow each other, of one level. Runs are
//! visited level after level, so parents are done before children:
//!
//! ```text
//!  chunk   │ a b │ c d e f │ g h │      a, b: roots; c d e: children of a; f: of b
//!  runs      0       1        2         g, h: children of c, f
//!  parents           0 0 0 1  0 3       the places in the run above
//! ```
//!
//! All slices of the pass are held at once. While a run is lent to be written, the runs before it
//! are read: they are other slices. So the values of parents are read from the slices themselves
//! where parents lie in the same order, and otherwise gathered.
//!
//! The plan is made again when it does not fit: the relation has another version, or the pass has
//! other chunks, rows or orders. A plan that does not fit is never used.

use core::fmt;
use core::iter::repeat_n;
use core::marker::PhantomData;

use crate::component::{Component, ConstText, TreeRelation};
use crate::entity::{Entity, PagedIndex};
use crate::store::{Levels, SparseSet};
use crate::version::Version;

use super::chunk::Chunk;
use super::filter::Filter;
use super::level_terms::LevelTerms;
use super::list_caches::archetypes;
use super::query::Query;
use super::terms::Terms;

/// The number of a row or run that does not exist.
const NONE: u32 = u32::MAX;

/// The rows of a query, level after level in the tree of `R`: for
/// [`Relation::propagate`](crate::sparse::Relation::propagate).
///
/// Made and kept by the program, one for each query; a system keeps it as a
/// [`Local`](crate::schedule::Local) or a resource. It needs no update: a pass compares a version a
/// chunk and that of the relation. It makes the whole plan again, O(relations + rows), after a row
/// came, left or moved, a relation was inserted, removed or given another target, another row was
/// hidden or enabled, or columns were [flipped](crate::World::flip).
///
/// It takes 4 bytes a row, 8 where the parents of a run are in several others, 32 bytes a run of
/// rows of one level that follow each other, and 40 bytes a slice of the query, of the greatest
/// numbers that it had; up to twice these while it grows. The runs are few if the rows lie [by
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
    /// The keys of the chunk lists of the query, which are unique among all worlds.
    lists: Vec<u64>,
    parts: Vec<PassPart>,
    /// Level after level, each in the order of the rows.
    runs: Vec<LevelRun>,
    /// The numbers of the runs in the order of the rows.
    by_row: Vec<u32>,
    /// The place of the parent of each row in its run, in the order of `runs`.
    parents: Vec<u32>,
    /// The runs of the parents of each row, for runs of rows with parents in several of them.
    above: Vec<u32>,
    /// Invariant, as all that is generic in a component.
    tree: PhantomData<fn(R) -> R>,
}

/// Rows that a pass yields at once.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PassPart {
    archetype: usize,
    chunk: usize,
    order: Version,
    start: usize,
    len: usize,
}

/// Rows of one part and one level.
#[derive(Clone, Copy, Debug)]
struct LevelRun {
    level: u32,
    /// The number of its first row, in the order of the query.
    start: u32,
    len: u32,
    /// The run of the parent of the first row, or [`NONE`].
    above: u32,
    /// The first entry in the list of parents' runs, or [`NONE`] if all parents are in one.
    mixed: u32,
    /// The entry of its first row in the list of parents.
    first: u32,
    /// Whether each parent is in the row after the one before it.
    in_order: bool,
}

impl LevelRun {
    /// The entries of its rows in the list of parents.
    fn entries(&self) -> core::ops::Range<usize> {
        self.first as usize..self.first as usize + self.len as usize
    }
}

impl<R> Default for LevelPlan<R> {
    fn default() -> Self {
        Self {
            relation: None,
            lists: Vec::new(),
            parts: Vec::new(),
            runs: Vec::new(),
            by_row: Vec::new(),
            parents: Vec::new(),
            above: Vec::new(),
            tree: PhantomData,
        }
    }
}

impl<R> fmt::Debug for LevelPlan<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, runs) = (self.parents.len(), self.runs.len());
        f.debug_struct("LevelPlan").field("rows", &rows).field("runs", &runs).finish()
    }
}

/// A compile error if the query writes a value per chunk, or leaves out rows that did not change.
/// Evaluated in a constant of the public function, so that the error names the caller's line.
pub(crate) const fn assert_by_level<Q: Terms, F: Filter>() {
    if F::BY_CHUNK || F::BY_LINES > 0 {
        let text = "a query by levels visits all rows: children of a parent that the filter leaves \
                    out would get the value of another ancestor; leave the filter out";
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
        (self.by_row.capacity() + self.parents.capacity() + self.above.capacity())
            * size_of::<u32>()
            + self.lists.capacity() * size_of::<u64>()
            + self.parts.capacity() * size_of::<PassPart>()
            + self.runs.capacity() * size_of::<LevelRun>()
    }
}

impl<R: TreeRelation> LevelPlan<R> {
    /// Calls `body` with the slices of each run, and the values of the parents: `root` for rows
    /// without one.
    pub(crate) fn pass<G: Component, Q: LevelTerms<G>, F: Filter>(
        &mut self,
        set: Option<&SparseSet<R>>,
        query: Query<'_, Q, F>,
        root: &G,
        mut body: impl FnMut(&mut [G], Q::Others<'_>, &[G]),
    ) {
        let relation = Some(set.map(SparseSet::version));
        let lists = || archetypes(&query).map(|(_, _, archetype)| archetype.list().key());
        let mut fits = self.relation == relation && self.lists.iter().copied().eq(lists());
        if !fits {
            self.relation = None;
            self.lists.clear();
            self.lists.extend(lists());
        }
        let chunks: Vec<_> = query.chunks().collect();
        fits = fits && self.parts.iter().copied().eq(chunks.iter().map(PassPart::of));
        if !fits {
            self.relation = None;
            self.make(set, &chunks);
            self.relation = relation;
        }
        let (mut firsts, mut others) = self.cut::<G, Q>(chunks);
        let (mut roots, mut gathered) = (Vec::new(), Vec::new());
        for (number, run) in self.runs.iter().enumerate() {
            let (before, own) = firsts.split_at_mut(number);
            let len = run.len as usize;
            let values = match before.get(run.above as usize) {
                Some(above) if run.in_order => {
                    let first = self.parents[run.first as usize] as usize;
                    &above[first..first + len]
                }
                Some(above) => {
                    gathered.clear();
                    let mut places = &self.parents[run.entries()];
                    for runs in self.mixed(run).chunk_by(|one, next| one == next) {
                        let (own, rest) = places.split_at(runs.len());
                        let above = &before[runs[0] as usize];
                        gathered.extend(own.iter().map(|&place| above[place as usize]));
                        places = rest;
                    }
                    // All of them, if their parents are in one run.
                    gathered.extend(places.iter().map(|&place| above[place as usize]));
                    &gathered
                }
                None => {
                    roots.resize(len.max(roots.len()), *root);
                    &roots[..len]
                }
            };
            let others = others[number].take().expect("a run is cut once and visited once");
            body(own[0], others, values);
        }
    }

    /// The runs of the parents of each row of a run: none if they are in one.
    fn mixed(&self, run: &LevelRun) -> &[u32] {
        match run.mixed {
            NONE => &[],
            first => &self.above[first as usize..][..run.len as usize],
        }
    }

    /// Cuts the slices of a pass into the runs.
    fn cut<'w, G: Component, Q: LevelTerms<G>>(
        &self,
        chunks: Vec<Chunk<'w, Q>>,
    ) -> (Vec<&'w mut [G]>, Vec<Option<Q::Others<'w>>>) {
        let (mut firsts, mut others) = (Vec::new(), Vec::new());
        firsts.resize_with(self.runs.len(), Default::default);
        others.resize_with(self.runs.len(), || None);
        let mut by_row = self.by_row.iter();
        for chunk in chunks {
            let mut left = chunk.len();
            let mut slices = chunk.slices();
            while left > 0 {
                let number = *by_row.next().expect("each row is in a run") as usize;
                let len = self.runs[number].len as usize;
                let (first, rest) = Q::first(Q::split_off(&mut slices, len));
                (firsts[number], others[number]) = (first, Some(rest));
                left -= len;
            }
        }
        (firsts, others)
    }

    /// Makes the plan of the rows of a pass. O(relations + rows).
    fn make<Q: Terms>(&mut self, set: Option<&SparseSet<R>>, chunks: &[Chunk<'_, Q>]) {
        self.parts.clear();
        self.parts.extend(chunks.iter().map(PassPart::of));
        let entities = chunks.iter().flat_map(|chunk| chunk.entities()).copied();
        let tree = Tree::of(set, entities);
        self.runs.clear();
        self.parents.clear();
        self.above.clear();
        // The end of each part, and the run of each row.
        let ends: Vec<u32> = (self.parts.iter())
            .scan(0, |end, part| {
                *end += narrow(part.len);
                Some(*end)
            })
            .collect();
        let mut run_of = vec![NONE; tree.above.len()];
        // The end of the part of the last row.
        let mut end = 0;
        for row in tree.by_level() {
            let (parent, level) = (tree.above[row as usize], tree.levels[row as usize]);
            let above = if parent == NONE { NONE } else { run_of[parent as usize] };
            let place = self.runs.get(above as usize).map_or(0, |above| parent - above.start);
            let first = narrow(self.parents.len());
            self.parents.push(place);
            match self.runs.last_mut() {
                Some(run) if (run.level, run.start + run.len) == (level, row) && row < end => {
                    if run.mixed == NONE && run.above != above {
                        run.mixed = narrow(self.above.len());
                        self.above.extend(repeat_n(run.above, run.len as usize));
                    }
                    if run.mixed != NONE {
                        self.above.push(above);
                    }
                    let next = self.parents[run.first as usize] + run.len;
                    run.in_order &= run.mixed == NONE && place == next;
                    run.len += 1;
                }
                _ => {
                    end = ends[ends.partition_point(|&end| end <= row)];
                    let (start, len, mixed, in_order) = (row, 1, NONE, true);
                    let run = LevelRun { level, start, len, above, mixed, first, in_order };
                    self.runs.push(run);
                }
            }
            run_of[row as usize] = narrow(self.runs.len() - 1);
        }
        self.by_row.clear();
        let mut row = 0;
        while let Some(&number) = run_of.get(row) {
            self.by_row.push(number);
            row += self.runs[number as usize].len as usize;
        }
    }
}

impl PassPart {
    fn of<Q: Terms>(chunk: &Chunk<'_, Q>) -> Self {
        Self {
            archetype: chunk.archetype(),
            chunk: chunk.index(),
            order: chunk.order_version(),
            start: chunk.rows().start,
            len: chunk.len(),
        }
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("there are more rows than entities")
}

/// The tree of the rows of a query.
struct Tree {
    /// The row of the nearest ancestor that is in the query, or [`NONE`].
    above: Vec<u32>,
    /// The number of ancestors that are in the query.
    levels: Vec<u32>,
}

impl Tree {
    fn of<R: TreeRelation>(
        set: Option<&SparseSet<R>>,
        entities: impl Iterator<Item = Entity>,
    ) -> Self {
        // The row of an entity, or of its nearest ancestor that has one.
        let (mut rows, mut len) = (PagedIndex::default(), 0);
        for entity in entities {
            rows.add(entity.index(), len);
            len += 1;
        }
        let mut tree = Self { above: vec![NONE; len as usize], levels: vec![0; len as usize] };
        let Some(set) = set else { return tree };
        let levels = Levels::of(set);
        assert!(
            levels.entities().len() == set.len() + levels.iter().next().map_or(0, <[_]>::len),
            "a relation that is no tree has a cycle: define it by `#[relation(tree)]`"
        );
        // A target comes before its sources.
        for &target in levels.entities() {
            let Some(above) = rows.get(target.index()) else { continue };
            for &source in set.sources(target) {
                match rows.get(source.index()) {
                    Some(row) => {
                        tree.above[row as usize] = above;
                        tree.levels[row as usize] = tree.levels[above as usize] + 1;
                    }
                    None => _ = rows.add(source.index(), above),
                }
            }
        }
        tree
    }

    /// The rows sorted by their levels. O(rows + levels).
    fn by_level(&self) -> Vec<u32> {
        let levels = self.levels.iter().max().map_or(0, |&last| last as usize + 1);
        let mut starts = vec![0u32; levels + 1];
        self.levels.iter().for_each(|&level| starts[level as usize + 1] += 1);
        (0..levels).for_each(|level| starts[level + 1] += starts[level]);
        let mut sorted = vec![0; self.levels.len()];
        for (row, &level) in (0u32..).zip(&self.levels) {
            let at = &mut starts[level as usize];
            sorted[*at as usize] = row;
            *at += 1;
        }
        sorted
    }
}
