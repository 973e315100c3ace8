//! `sort_by_key`, `sort_by` and `sort_by_level`: the rows that a query matches are put in an order.

use crate::component::{ConstText, TreeRelation};
use crate::entity::{ArchetypeId, PagedIndex, RowIndex};
use crate::query::{
    AccessFlags, Filter, KeyColumns, KeySlices, Query, ReadTerms, SortKey, Terms, any_gives,
    masks_in,
};
use crate::storage::{ChunkRow, RowRun};
use crate::store::{KeySlice, Levels, RowOrder, Store, sort_all, sort_few};

use super::matching::Matching;

/// The rows of one archetype that a query sees.
struct SeenRows {
    archetype: ArchetypeId,
    runs: Vec<RowRun>,
    len: usize,
}

impl SeenRows {
    /// The order of the rows by their keys.
    fn sort<K: Ord>(&self, store: &Store, keys: impl IntoIterator<Item = K>) -> RowOrder {
        let list = store.archetypes().as_slice()[self.archetype.index()].list();
        let (mut runs, mut rows) = (self.runs.iter(), 0..0);
        let mut pairs = Vec::with_capacity(self.len);
        // By `fold`, which goes from slice to slice.
        keys.into_iter().for_each(|key| {
            if rows.start == rows.end {
                let run = runs.next().expect("there are fewer rows than keys");
                let RowIndex(first) = list.position(run.at);
                rows = first..first + run.len;
            }
            pairs.push((key, RowIndex(rows.start)));
            rows.start += 1;
        });
        RowOrder::Many(sort_all(pairs))
    }
}

impl<Q: ReadTerms, F: Filter> Matching<'_, Q, F> {
    /// Sorts the rows of each archetype by a key, and returns the number of rows that have another
    /// place now. Rows with equal keys keep their order.
    ///
    /// Rows are sorted within their archetype: a query visits archetype after archetype, and in
    /// each the keys ascend. For one order over all rows, keep them in one archetype: make
    /// components that only some rows have [sparse or enableable](crate#places-for-values).
    ///
    /// Rows that the query does not see, because they are [disabled](crate::World::set_enabled) or
    /// a filter excludes them, keep their places.
    ///
    /// Everything that belongs to a row follows it: its entity, whose id stays valid, its enable
    /// bits, its versions of lines. Values of chunks stay with their chunks. No value counts as
    /// changed, and no row as arrived; [`Reordered`](crate::Reordered) chooses the chunks that have
    /// other rows or rows in other places.
    ///
    /// `key` is called once for each row, in the order of the query. It returns a value of its own,
    /// not a reference into the row: clone a `String`. For floats use
    /// [`total_order`](crate::rows::total_order); descending, [`Reverse`](core::cmp::Reverse); for
    /// several keys, a tuple.
    ///
    /// O(rows) for the keys if few rows are out of place, otherwise O(rows × log rows). If no row
    /// is, nothing moves. If few are, only the rows between their old places and their new ones
    /// move, in place. Otherwise all rows of the archetype are copied to new chunks: O(bytes), and
    /// it has twice its memory for a time, and up to 16 bytes a row beside its keys. If `key` or a
    /// comparison panics, no row has moved.
    ///
    /// For a key that is a [`SortKey`], [`sort_by`](Matching::sort_by) does not read chunks that
    /// did not change since the last sort.
    ///
    /// In a system, record it with
    /// [`CommandBuffer::sort_where`](crate::CommandBuffer::sort_where).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::rows::total_order;
    /// # #[component] struct Sprite { depth: f32 }
    /// # let mut world = World::new();
    /// world.spawn_batch([3.0, 1.0, 2.0].map(|depth| Sprite { depth }));
    /// let moved = world.matching::<&Sprite>().sort_by_key(|sprite| total_order(sprite.depth));
    /// let depths: Vec<f32> = world.query::<&Sprite>().rows().map(|sprite| sprite.depth).collect();
    /// assert_eq!((depths, moved), (vec![1.0, 2.0, 3.0], 3));
    /// ```
    pub fn sort_by_key<K: Ord>(self, key: impl FnMut(Q::Row<'_>) -> K) -> usize {
        let (store, filter) = self.into_parts();
        let seen = seen_rows::<Q, F>(store, &filter);
        let total = seen.iter().map(|seen| seen.len).sum();
        let mut keys = Vec::with_capacity(total);
        // By `fold`, which goes from slice to slice.
        let rows = Query::<Q, F>::exclusive_where(store, filter).rows();
        rows.map(key).for_each(|key| keys.push(key));
        assert!(keys.len() == total, "a pass saw other rows than the list of rows");
        sort_rows(store, seen, keys)
    }

    /// [`sort_by_key`](Matching::sort_by_key) of a [`SortKey`]: the key is a type, and no closure
    /// is given. Reads only chunks that changed since the last sort by this key: a column of the
    /// key was written, or rows came, went or were moved. Of all other chunks it reads the first
    /// and the last key, to see whether they follow each other. If more than an eighth of the rows
    /// is out of place, it reads all.
    ///
    /// It gains most where changes lie together, or are in few of the archetypes: 1 % of the rows
    /// in random places are in all chunks. As by `sort_by_key`, rows are sorted within their
    /// archetype, and the result is the number of rows that have another place now.
    ///
    /// The result equals `sort_by_key(S::key)`, whatever happens between two sorts, but for a
    /// write by a body that returns [`Modified::No`](crate::Modified::No), which is missed until
    /// the chunk changes again. The world keeps 24 bytes for each chunk that was sorted, and
    /// compares versions of chunks, as [`ChunkBounds`](crate::rows::ChunkBounds) does. If the query
    /// leaves out rows of an archetype, because they are disabled or a filter excludes them, its
    /// chunks do not count as sorted, and the next sort reads them.
    ///
    /// Each component of the key must be a term `&C` of the query; a component that is `Ord` and
    /// `Copy` is its own key, and a tuple of these is compared from the first to the last.
    ///
    /// O(chunks) if no chunk changed; otherwise O(rows) of the chunks that changed, and
    /// O(rows out of place × log rows). Rows are moved as by `sort_by_key`.
    ///
    /// # Panics
    ///
    /// If the key or a comparison panics. No row has moved.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] struct Sprite(u8);
    /// #[component]
    /// #[derive(PartialEq, Eq, PartialOrd, Ord)]
    /// struct Layer(u32);
    ///
    /// # let mut world = World::new();
    /// let sprites = world.spawn_batch((0..10_000).map(|i| (Sprite(1), Layer(i % 10)))).to_vec();
    /// world.matching::<&Layer>().sort_by::<Layer>();
    /// assert_eq!(world.matching::<&Layer>().sort_by::<Layer>(), 0);
    /// world.get_mut::<Layer>(sprites[0])?.0 = 11;
    /// assert_eq!(world.matching::<&Layer>().sort_by::<Layer>(), 10_000, "the first is the last");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A system records it; the rows are sorted when its commands are played:
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Layer(u32);
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Depth(u32);
    /// fn sort_sprites(mut commands: Commands) {
    ///     commands.run(|world| {
    ///         world.matching::<(&Layer, &Depth)>().sort_by::<(Layer, Depth)>();
    ///     });
    /// }
    /// # let mut world = World::new();
    /// world.spawn_batch((0..100).map(|i| (Layer(i % 3), Depth(100 - i))));
    /// let mut schedule = Schedule::new();
    /// schedule.add(sort_sprites);
    /// schedule.run(&mut world)?;
    /// assert!(world.query::<(&Layer, &Depth)>().rows().is_sorted());
    /// # Ok::<(), ScheduleError>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component] struct Sprite(u8);
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Layer(u32);
    /// # let mut world = World::new();
    /// world.matching::<&Sprite>().sort_by::<Layer>(); // `matching::<(&Sprite, &Layer)>()`
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Depth(u32);
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Layer(u32);
    /// # let mut world = World::new();
    /// world.matching::<&Layer>().sort_by::<(Layer, Depth)>(); // without `&Depth`
    /// ```
    pub fn sort_by<S: SortKey>(self) -> usize {
        const { assert_reads_key::<Q, S::Columns>() };
        let (store, filter) = self.into_parts();
        let seen = seen_rows::<Q, F>(store, &filter);
        // All orders are found before the first row moves, because a comparison may panic.
        let seen = seen.into_iter().map(|seen| {
            let (columns, order) = order_by::<S>(store, &seen);
            (seen, columns, order)
        });
        let orders: Vec<_> = seen.collect();
        let is_sorted = orders.iter().all(|(_, _, order)| order.is_same());
        let now = if is_sorted { store.clock() } else { store.advance_clock() };
        let mut moved = 0;
        // An archetype is kept as sorted if all its rows are seen.
        let all = store.archetypes();
        let whole = orders.iter().map(|(seen, ..)| seen);
        let whole = whole.filter(|seen| seen.len == all.get(seen.archetype).len());
        let whole: Vec<_> = whole.map(|seen| seen.archetype).collect();
        store.forget_old_sorts::<S>(whole.iter().copied());
        for (seen, columns, order) in orders {
            moved += store.reorder(seen.archetype, (&seen.runs, &order), now);
            if whole.binary_search(&seen.archetype).is_ok() {
                store.note_sorted::<S>(seen.archetype, columns);
            }
        }
        moved
    }

    /// Sorts the rows of each archetype by their level in the tree of a relation, and within a
    /// level in the order of their parents; returns the number of rows that have another place now.
    /// Rows that are in no tree come first, and keep their order.
    ///
    /// It is [`sort_by_key`](Matching::sort_by_key) with the places of the entities in
    /// [`Relation::levels`](crate::sparse::Relation::levels), with its costs and promises. A pass
    /// by [`Relation::propagate`](crate::sparse::Relation::propagate) then has long slices,
    /// and reads the values of parents in their order. O(relations + rows) if no row is out of
    /// place. A system records it by
    /// `commands.run(|world| { world.matching::<&Place>().sort_by_level::<ChildOf>(); })`.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[relation(tree)] struct ChildOf;
    /// # #[component] struct Place(f32);
    /// # let mut world = World::new();
    /// let [hand, arm, body] = [1.0, 2.0, 3.0].map(|x| world.spawn(Place(x)));
    /// world.insert(hand, ChildOf::of(arm))?;
    /// world.insert(arm, ChildOf::of(body))?;
    /// world.matching::<&Place>().sort_by_level::<ChildOf>();
    /// assert!(world.query::<Entity>().with::<Place>().rows().eq([body, arm, hand]));
    /// assert_eq!(world.matching::<&Place>().sort_by_level::<ChildOf>(), 0);
    /// # Ok::<(), phalanx::error::EntityError>(())
    /// ```
    pub fn sort_by_level<R: TreeRelation>(self) -> usize {
        let (store, filter) = self.into_parts();
        let mut ranks = PagedIndex::default();
        match store.read_sparse::<R>() {
            None => return 0,
            Some(set) => {
                for (rank, entity) in (1u32..).zip(Levels::of(&set).entities()) {
                    ranks.add(entity.index(), rank);
                }
            }
        }
        let seen = seen_rows::<Q, F>(store, &filter);
        let mut keys = Vec::with_capacity(seen.iter().map(|seen| seen.len).sum());
        for seen in &seen {
            let archetype = &store.archetypes().as_slice()[seen.archetype.index()];
            let (list, entities) = (archetype.list(), archetype.entities());
            for run in &seen.runs {
                let first = list.index_of(run.at);
                let entities = &entities[first..first + run.len as usize];
                keys.extend(entities.iter().map(|entity| ranks.get(entity.index())));
            }
        }
        sort_rows(store, seen, keys)
    }
}

/// Sorts rows by their keys, and returns the number of rows that have another place now.
fn sort_rows<K: Ord>(store: &mut Store, seen: Vec<SeenRows>, mut keys: Vec<K>) -> usize {
    // All orders are found before the first row moves, because a comparison may panic.
    let mut orders = Vec::new();
    // From the last archetype on, whose keys are the end of the list.
    for seen in seen.into_iter().rev() {
        let keys = keys.split_off(keys.len() - seen.len);
        let few = sort_few(&key_slices(&seen.runs, &keys), |key| key);
        let order = few.map_or_else(|| seen.sort(store, keys), RowOrder::Few);
        if !order.is_same() {
            orders.push((seen, order));
        }
    }
    if orders.is_empty() {
        return 0;
    }
    let now = store.advance_clock();
    let reorder = |(seen, order): (SeenRows, RowOrder)| {
        store.reorder(seen.archetype, (&seen.runs, &order), now)
    };
    orders.into_iter().map(reorder).sum()
}

/// The numbers of the columns of a key.
type Numbers<S> = <<S as SortKey>::Columns as KeyColumns>::Numbers;

/// The columns of a key, and the order of some rows by it.
fn order_by<S: SortKey>(store: &Store, seen: &SeenRows) -> (Numbers<S>, RowOrder) {
    let archetype = &store.archetypes().as_slice()[seen.archetype.index()];
    let columns = S::Columns::numbers(archetype, S::Columns::ids(store.registry()));
    let ascends = store.sorted_lists().ascending::<S>(archetype, columns);
    let slice = |&RowRun { at, len }: &RowRun| {
        let cells = KeySlices::<S::Columns>(S::Columns::slices(archetype, columns, at.chunk));
        let rows = at.row as usize..(at.row + len) as usize;
        KeySlice { at, cells: cells.part(rows), ascends: ascends(at.chunk) }
    };
    let slices: Vec<_> = seen.runs.iter().map(slice).collect();
    let few = sort_few(&slices, |row| S::key(row));
    let keys = || slices.iter().flat_map(|slice| slice.cells.rows()).map(|row| S::key(row));
    (columns, few.map_or_else(|| seen.sort(store, keys()), RowOrder::Few))
}

/// A compile error unless every match has the cells of a key and the query reads them. Evaluated in
/// a constant of the public function, so that the error names the caller's line.
const fn assert_reads_key<Q: Terms, C: KeyColumns>() {
    let mut names = C::NAMES;
    while let Some((name, rest)) = names.split_first() {
        if !any_gives(Q::ACCESSES, name, AccessFlags::READ) {
            let text =
                ["to sort by a key of `", name, "` name it as a term of the query, by a reference"];
            panic!("{}", ConstText::of(&text).as_str());
        }
        names = rest;
    }
}

/// Rows with their keys.
fn key_slices<'k, K>(runs: &[RowRun], mut keys: &'k [K]) -> Vec<KeySlice<&'k [K]>> {
    let slice = |&RowRun { at, len }: &RowRun| {
        let cells = keys.split_off(..len as usize).expect("a row has no key");
        KeySlice { at, cells, ascends: false }
    };
    runs.iter().map(slice).collect()
}

/// The rows that a query sees in each archetype, in its order.
fn seen_rows<Q: ReadTerms, F: Filter>(store: &mut Store, filter: &F) -> Vec<SeenRows> {
    let mut seen: Vec<SeenRows> = Vec::new();
    for (id, _, mask) in masks_in::<Q, F>(store, filter) {
        if seen.last().is_none_or(|last| last.archetype != id) {
            seen.push(SeenRows { archetype: id, runs: Vec::new(), len: 0 });
        }
        let Some(SeenRows { runs, len, .. }) = seen.last_mut() else { continue };
        for run in mask.runs_in_chunk() {
            *len += run.len();
            let at = ChunkRow { chunk: mask.chunk(), row: run.start };
            runs.push(RowRun { at, len: run.end - run.start });
        }
    }
    seen
}
