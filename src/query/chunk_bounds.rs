//! The least and the greatest key of each chunk, for queries of a range of keys.
//!
//! A chunk with bounds outside the range is passed over unread, one with bounds inside is handed
//! out whole. The rest are few if the rows are [sorted](crate::Matching::sort_by_key) by the key:
//! the chunks at both ends of the range, where a binary search finds the first and the last row.
//! (Databases call such bounds zone maps.)
//!
//! A window of one in a hundred of 1,000,000 rows, ns for a row of the window (Zen 4, medians of
//! one run beside other work): 0.78 if the rows are sorted (0.41 in a flat `Vec` by binary search,
//! 121 in a loop that compares); 7.8 if 100 keys change before each query (48 in a flat loop, 127
//! in a loop over the query); 131 if the rows are in random order (37 and 87).

use core::fmt;
use core::ops::{Bound, RangeBounds};

use crate::component::ConstText;
use crate::store::KeyCells as _;

use super::access::{AccessFlags, any_gives};
use super::between::{Between, Choice};
use super::filter::Filter;
use super::key_columns::{KeyColumns, KeySlices};
use super::list_caches::{ChunkCells, ListCaches, archetypes};
use super::query::Query;
use super::sort_key::SortKey;
use super::terms::Terms;

/// The bounds of a [key](SortKey) in each chunk: a depth, a time, a cell of a grid.
///
/// Made and kept by the program, for the keys that it searches; a resource if systems share it. It
/// needs no update: [`between`](ChunkBounds::between) compares the versions of the chunks, and
/// reads the values of chunks again that changed, gained or lost rows since the last call. So the
/// result is exact after any change, a [restore](crate::World::restore) included. Several threads
/// may call it at once, but the key, its order and the range must not. One may serve several
/// worlds; the bounds of a world that is dropped stay until [`clear`](ChunkBounds::clear).
///
/// It pays for rows that lie together in memory if their keys are close: because
/// [`sort_by`](crate::Matching::sort_by) puts them so, or because they were spawned in this order.
/// For keys in random order all chunks overlap all ranges, each row is compared, and a loop over
/// the query is faster.
///
/// | the rows with a key in a range | visits |
/// | --- | --- |
/// | a loop with a comparison | all rows |
/// | `ChunkBounds`, rows sorted by the key | the chunks of the range; O(log rows) rows at both ends |
/// | `ChunkBounds`, rows in other order | the rows of the chunks that overlap the range |
/// | [`ValueIndex`](super::ValueIndex), for one value | the rows with this value |
///
/// It takes two keys and 32 bytes for each chunk, of the greatest number of chunks that the
/// archetype had; a query allocates 16 bytes a chunk, and a bit a row where keys do not ascend. A
/// [flip](crate::World::flip) or the restore of a state that was read makes the next query read all
/// values of its archetypes.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::rows::ChunkBounds;
///
/// # #[component] struct Amount(f32);
/// #[component]
/// #[derive(PartialEq, Eq, PartialOrd, Ord)]
/// struct Time { tick: u32 }
///
/// # let mut world = World::new();
/// world.spawn_batch((0..10_000).map(|tick| (Amount(1.0), Time { tick })));
/// let times = ChunkBounds::<Time>::new();
/// let window = Time { tick: 5_000 }..Time { tick: 5_300 };
/// let mut rows = 0;
/// for (amounts, times) in times.between(world.query::<(&Amount, &Time)>(), window.clone()) {
///     assert!(times.iter().all(|time| window.contains(time)));
///     rows += amounts.len();
/// }
/// assert_eq!(rows, 300);
/// ```
///
/// As for [`HashCache`](crate::HashCache), a write by a body that returns
/// [`Modified::No`](crate::Modified::No) is missed.
pub struct ChunkBounds<S: SortKey> {
    lists: ListCaches<Vec<Option<Bounds<S::Key>>>>,
}

impl<S: SortKey> Default for ChunkBounds<S> {
    fn default() -> Self {
        Self { lists: ListCaches::default() }
    }
}

/// The bounds of the keys of a chunk.
#[derive(Clone, Copy, Debug)]
struct Bounds<K> {
    least: K,
    greatest: K,
    /// Whether no key is less than the one before.
    ascends: bool,
}

impl<K: Ord + Copy> Bounds<K> {
    /// The bounds of keys; `None` if there are none.
    fn of(mut keys: impl Iterator<Item = K>) -> Option<Self> {
        let first = keys.next()?;
        let start = (Self { least: first, greatest: first, ascends: true }, first);
        let (bounds, _) = keys.fold(start, |(bounds, before), key| {
            let Self { least, greatest, ascends } = bounds;
            let ascends = ascends & before.cmp(&key).is_le();
            (Self { least: least.min(key), greatest: greatest.max(key), ascends }, key)
        });
        Some(bounds)
    }

    /// Whether some key may be in a range.
    fn overlaps(&self, range: &impl RangeBounds<K>) -> bool {
        starts_by(range, &self.greatest) && ends_after(range, &self.least)
    }

    /// Whether all keys are in a range.
    fn is_inside(&self, range: &impl RangeBounds<K>) -> bool {
        contains(range, &self.least) && contains(range, &self.greatest)
    }
}

/// Whether a range starts at a key or before it.
fn starts_by<K: Ord>(range: &impl RangeBounds<K>, key: &K) -> bool {
    match range.start_bound() {
        Bound::Included(start) => start.cmp(key).is_le(),
        Bound::Excluded(start) => start.cmp(key).is_lt(),
        Bound::Unbounded => true,
    }
}

/// Whether a range ends at a key or after it.
fn ends_after<K: Ord>(range: &impl RangeBounds<K>, key: &K) -> bool {
    match range.end_bound() {
        Bound::Included(end) => key.cmp(end).is_le(),
        Bound::Excluded(end) => key.cmp(end).is_lt(),
        Bound::Unbounded => true,
    }
}

/// [`RangeBounds::contains`] by `Ord`, which alone decides here.
fn contains<K: Ord>(range: &impl RangeBounds<K>, key: &K) -> bool {
    starts_by(range, key) & ends_after(range, key)
}

/// A compile error unless every match has the cells of a key and the query reads them, and the
/// query hands out its values in runs of rows. Evaluated in a constant of the public function, so
/// that the error names the caller's line.
const fn assert_between<Q: Terms, C: KeyColumns>() {
    assert!(
        !Q::WRITES_CHUNKS,
        "a query between bounds visits runs of rows, so it cannot write a value per chunk"
    );
    let mut names = C::NAMES;
    while let Some((name, rest)) = names.split_first() {
        let text = if any_gives(Q::ACCESSES, name, AccessFlags::WRITE) {
            [
                "a query between bounds reads the component of the key, `",
                name,
                "`: write `&`, not `&mut`",
            ]
        } else if !any_gives(Q::ACCESSES, name, AccessFlags::READ) {
            [
                "to find rows by the key of `",
                name,
                "` name it as a term of the query, by a reference",
            ]
        } else {
            names = rest;
            continue;
        };
        panic!("{}", ConstText::of(&text).as_str());
    }
}

/// Chooses the rows of a chunk with a key in a range.
fn choose<S: SortKey>(
    choice: &mut Choice,
    (cells, ascends): (KeySlices<'_, S::Columns>, bool),
    range: &impl RangeBounds<S::Key>,
) {
    let key = |row| S::key(cells.cell(row));
    if ascends {
        let start = first_row(cells.len(), |row| starts_by(range, &key(row)));
        let end = first_row(cells.len(), |row| !ends_after(range, &key(row)));
        choice.push_run(start..end);
    } else {
        choice.push_rows(cells.len(), |rows| {
            let bits = cells.part(rows).rows().map(|row| u64::from(contains(range, &S::key(row))));
            bits.zip(0..).fold(0, |word, (bit, row)| word | bit << row)
        });
    }
}

/// The first row for which `is_after` is true; it is true for all that follow. O(log rows).
fn first_row(rows: usize, is_after: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (0, rows);
    while start < end {
        let middle = start.midpoint(end);
        if is_after(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

impl<S: SortKey> fmt::Debug for ChunkBounds<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkBounds").finish_non_exhaustive()
    }
}

impl<S: SortKey> ChunkBounds<S> {
    /// Bounds of which none is known: the first query reads all values.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// let world = World::new();
    /// let times = ChunkBounds::<Time>::new();
    /// assert_eq!(times.between(world.query::<&Time>(), Time(3)..Time(8)).rows().count(), 0);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows of a query with a key in a range: an iterator over slices, as the query itself is,
    /// or over [rows](Between::rows). All filters of the query apply. Its slices are not padded.
    ///
    /// Each component of the key must be a term `&C`. The query may write other components: it
    /// stamps only chunks with rows in the range. A range with its end before its start has no
    /// rows: for keys in [`Reverse`](core::cmp::Reverse), which descend, the greatest comes first.
    ///
    /// O(chunks), O(rows) in chunks that changed since the last call, and O(rows) in chunks that
    /// overlap the range if their keys do not ascend. A term `PerChunkMut` does not compile: the
    /// query visits runs of rows.
    ///
    /// # Panics
    ///
    /// If the key or a comparison of keys panics. The bounds stay usable.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// # #[component] struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn_batch((0..50_000).map(|tick| (Time(tick), Health(1.0))));
    /// let times = ChunkBounds::<Time>::new();
    /// let before = world.version();
    /// let healths = world.query_mut::<(&mut Health, &Time)>();
    /// for (health, _) in times.between(healths, Time(10_000)..Time(10_100)) {
    ///     health.iter_mut().for_each(|health| health.0 = 0.5);
    /// }
    /// assert_eq!(world.query::<&Health>().rows().filter(|health| health.0 < 1.0).count(), 100);
    /// assert_eq!(world.query::<&Health>().changed_since(before).iter().count(), 1, "chunk");
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// # let mut world = World::new();
    /// let times = ChunkBounds::<Time>::new();
    /// // It would change the keys.
    /// for time in times.between(world.query_mut::<&mut Time>(), Time(3)..Time(8)) {}
    /// ```
    pub fn between<'w, Q: Terms, F: Filter>(
        &self,
        query: Query<'w, Q, F>,
        range: impl RangeBounds<S::Key>,
    ) -> Between<'w, Q, F> {
        const { assert_between::<Q, S::Columns>() };
        let read = |bounds: &mut Vec<_>, fresh: ChunkCells<'_, S::Columns>| {
            if fresh.chunk >= bounds.len() {
                bounds.resize(fresh.chunk + 1, None);
            }
            bounds[fresh.chunk] =
                Bounds::of(KeySlices::<S::Columns>(fresh.cells).rows().map(|row| S::key(row)));
        };
        let choice = self.lists.with(&query, read, |lists| {
            let mut choice = Choice::default();
            for (_, id, archetype) in archetypes(&query) {
                choice.begin(id);
                let all = lists.of(archetype);
                for chunk in 0..archetype.list().chunk_len() {
                    match &all[chunk as usize] {
                        Some(bounds) if bounds.is_inside(&range) => choice.push_all(),
                        Some(bounds) if bounds.overlaps(&range) => {
                            let cells = KeySlices(lists.cells(archetype, chunk));
                            choose::<S>(&mut choice, (cells, bounds.ascends), &range);
                        }
                        _ => choice.push_none(),
                    }
                }
            }
            choice
        });
        Between::new(query, choice)
    }

    /// Forgets all bounds and gives back the memory. The next query reads all values again.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// # let mut world = World::new();
    /// world.spawn(Time(3));
    /// let mut times = ChunkBounds::<Time>::new();
    /// assert_eq!(times.between(world.query::<&Time>(), ..).rows().count(), 1);
    /// assert!(times.memory_bytes() > 0);
    /// times.clear();
    /// assert_eq!(times.memory_bytes(), 0);
    /// assert_eq!(times.between(world.query::<&Time>(), ..).rows().count(), 1);
    /// ```
    pub fn clear(&mut self) {
        self.lists.clear();
    }

    /// The bytes that the bounds have allocated, for all worlds. O(chunk lists of all worlds).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::rows::ChunkBounds;
    /// # #[component] #[derive(PartialEq, Eq, PartialOrd, Ord)] struct Time(u32);
    /// assert_eq!(ChunkBounds::<Time>::new().memory_bytes(), 0);
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.lists.memory_bytes(|bounds| bounds.capacity() * size_of::<Option<Bounds<S::Key>>>())
    }
}
