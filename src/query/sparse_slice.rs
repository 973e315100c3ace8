//! The rows of a chunk with the values of a sparse component.

use core::fmt;

use crate::entity::Entity;
use crate::storage::{ChunkMembers, FewRows};
use crate::store::{ReadSet, SetValues};

use super::known_positions::KnownPositions;
use super::some_rows::PickRow;

/// The values of a [sparse component](crate::component#sparse-components) in the rows of a slice:
/// the item of the terms `&S` and `&mut S` for a chunk. It yields the numbers of the rows that have
/// a value, and references to the values.
///
/// A value lies in the set of the component and not in the chunk, so this is no slice of memory.
/// Beside it, the slices of columns are whole:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[component] struct Health(f32);
/// # #[component(sparse)] struct Burning { heat: f32 }
/// # let mut world = World::new();
/// world.spawn_batch((0..100).map(|i| Health(i as f32)));
/// let entity = world.spawn((Health(200.0), Burning { heat: 50.0 }));
/// for (health, burning) in world.query_mut::<(&mut Health, Option<&Burning>)>() {
///     health.iter_mut().for_each(|health| health.0 += 1.0); // a kernel
///     for (row, fire) in burning.into_iter().flatten() {
///         health[row].0 -= fire.heat;
///     }
/// }
/// assert_eq!(world.get::<Health>(entity)?.0, 151.0);
/// # Ok::<(), phalanx::error::EntityError>(())
/// ```
///
/// A `for` loop over a query has such a slice for each chunk. For a value at a time, loop over
/// [`rows`](crate::Query::rows): `for burning in query.rows()` has `&Burning`.
///
/// The rows of the term `&S` all have a value: the slices of such a query are the runs of these
/// rows, as of every query that chooses rows, and [`masked`](crate::Query::masked) has whole
/// chunks.
///
/// A slice of `&mut S` marks a value as changed when it hands it out, also if the body does not
/// write it: [`Changed`](crate::Changed) reports the block of the value, and a body that returns
/// [`Modified::No`](crate::Modified::No) does not undo it. Values that are not taken are not
/// marked. For a [`Snapshot`](crate::snapshot::Snapshot) each pass that writes is a change of the
/// component: the next snapshot copies all its values again.
///
/// A query names a sparse component once if it writes it, one thread writes its values, and a query
/// that writes borrows the world exclusively:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Burning { heat: f32 }
/// # let mut world = World::new();
/// for (a, b) in world.query_mut::<(&mut Burning, &Burning)>() {} // names it twice
/// ```
///
/// ```compile_fail,E0382
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Burning { heat: f32 }
/// # let mut world = World::new();
/// for fires in world.query_mut::<&mut Burning>() {
///     let most = fires.into_iter().map(|(_, fire)| fire.heat).fold(0.0, f32::max);
///     for (_, fire) in fires { fire.heat = most; } // a pass hands out each value once
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Burning { heat: f32 }
/// # let mut world = World::new();
/// world.query_mut::<&mut Burning>().par().for_each_chunk(|_| ()); // one thread writes
/// ```
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// # #[component(sparse)] struct Burning { heat: f32 }
/// # let world = World::new();
/// for burning in world.query::<&mut Burning>() {} // `query` only reads
/// ```
pub struct SparseSlice<'w, V> {
    entities: &'w [Entity],
    members: Option<ChunkMembers<'w>>,
    /// The number of the first row in its chunk.
    first: u32,
    values: Option<V>,
}

/// Slices that write are no copies of each other: each value is handed out once.
impl<S> Clone for SparseSlice<'_, ReadSet<'_, S>> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for SparseSlice<'_, ReadSet<'_, S>> {}

impl<'w, V: SetValues> SparseSlice<'w, V> {
    pub(super) const fn new(
        entities: &'w [Entity],
        first: u32,
        members: ChunkMembers<'w>,
        values: V,
    ) -> Self {
        Self { entities, members: Some(members), first, values: Some(values) }
    }

    pub(super) const fn empty() -> Self {
        Self { entities: &[], members: None, first: 0, values: None }
    }

    /// Cuts the first rows off, at most as many as there are: padding has no entities.
    #[inline]
    pub(super) fn split_off(&mut self, rows: usize) -> Self {
        let (first, rest) = self.entities.split_at(rows.min(self.entities.len()));
        let Self { members, values, .. } = *self;
        let part = Self { entities: first, members, first: self.first, values };
        self.entities = rest;
        self.first += u32::try_from(first.len()).expect("a chunk has 2^32 rows or more");
        part
    }

    /// The number of rows, with a value or without.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # #[component(sparse)] struct Name(String);
    /// # let mut world = World::new();
    /// world.spawn_batch([(); 3]);
    /// world.spawn(Name("Ada".to_owned()));
    /// let named = world.query::<Option<&Name>>().iter().flatten().next().unwrap();
    /// assert_eq!((named.len(), named.into_iter().count()), (4, 1));
    /// ```
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether there are no rows.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// The value of an entity whose row has one.
    #[inline(always)]
    fn value(values: Option<V>, entity: Entity) -> V::Value {
        values
            .and_then(|values| values.at(values.position(entity)?))
            .expect("a row has the bit of a value only")
    }
}

impl<V> fmt::Debug for SparseSlice<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseSlice").field("rows", &self.entities.len()).finish_non_exhaustive()
    }
}

impl<'w, V: SetValues> IntoIterator for SparseSlice<'w, V> {
    type Item = (usize, V::Value);
    type IntoIter = SparseSliceIter<'w, V>;

    #[inline]
    fn into_iter(self) -> SparseSliceIter<'w, V> {
        SparseSliceIter { slice: self, word: 0, start: 0, next: 0 }
    }
}

/// The rows of a [`SparseSlice`] that have a value, with their values. O(rows / 64 + values).
#[must_use = "iterators are lazy"]
pub struct SparseSliceIter<'w, V> {
    slice: SparseSlice<'w, V>,
    /// Rows that have a value and were not yielded yet, a bit each.
    word: u64,
    /// The row of the first bit.
    start: usize,
    /// The first row after the word.
    next: usize,
}

impl<S> Clone for SparseSliceIter<'_, ReadSet<'_, S>> {
    fn clone(&self) -> Self {
        let Self { slice, word, start, next } = *self;
        Self { slice, word, start, next }
    }
}

impl<V> fmt::Debug for SparseSliceIter<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseSliceIter").finish_non_exhaustive()
    }
}

impl<V: SetValues> SparseSliceIter<'_, V> {
    /// Goes to the next word. False at the end.
    #[inline]
    fn next_word(&mut self) -> bool {
        const WORD: usize = u64::BITS as usize;
        let (len, Some(members)) = (self.slice.len(), self.slice.members) else { return false };
        if self.next >= len {
            return false;
        }
        self.start = self.next;
        self.next += WORD;
        let row = u32::try_from(self.start).expect("a chunk has 2^32 rows or more");
        let past = self.next.saturating_sub(len);
        self.word = members.word_from(self.slice.first + row) & (u64::MAX >> past);
        true
    }
}

impl<V: SetValues> Iterator for SparseSliceIter<'_, V> {
    type Item = (usize, V::Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.word == 0 {
            if !self.next_word() {
                return None;
            }
        }
        let row = self.start + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        let SparseSlice { entities, values, .. } = self.slice;
        Some((row, SparseSlice::value(values, entities[row])))
    }
}

/// The values of the rows, one after the other. In a pass over rows that have one, all have one;
/// an optional term asks for the rows [that have any](PickRow::next_if_any).
#[derive(Debug)]
pub struct SparseRows<'w, V> {
    slice: SparseSlice<'w, V>,
    /// The positions of the values of a list of rows.
    found: Option<[u32; FewRows::ROWS_MAX]>,
}

impl<'w, V: SetValues> SparseRows<'w, V> {
    #[inline]
    pub(super) const fn new(slice: SparseSlice<'w, V>) -> Self {
        Self { slice, found: None }
    }

    /// Skips `n` rows and takes the next.
    #[inline(always)]
    fn take(&mut self, n: usize) -> Option<(Entity, u32)> {
        let Some(&entity) = self.slice.entities.get(n) else {
            self.slice.entities = &[];
            return None;
        };
        let row = self.slice.first + u32::try_from(n).expect("a chunk has 2^32 rows or more");
        self.slice.entities = &self.slice.entities[n + 1..];
        self.slice.first = row + 1;
        Some((entity, row))
    }
}

impl<V: SetValues> Iterator for SparseRows<'_, V> {
    type Item = V::Value;

    #[inline]
    fn next(&mut self) -> Option<V::Value> {
        self.nth(0)
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<V::Value> {
        let (entity, _) = self.take(n)?;
        Some(SparseSlice::value(self.slice.values, entity))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.slice.len(), Some(self.slice.len()))
    }
}

impl<V: SetValues> PickRow for SparseRows<'_, V> {
    type Whole = Self;

    #[inline(always)]
    fn whole(self) -> Self {
        self
    }

    // By its number: the iterator stays as it is.
    #[inline(always)]
    fn pick(&mut self, row: usize, _: usize) -> Option<V::Value> {
        let entity = *self.slice.entities.get(row)?;
        Some(SparseSlice::value(self.slice.values, entity))
    }

    // The id of each row, the position of its value and the value are in lines that the hardware
    // cannot predict, and each is found by the one before. Here loads of several rows are on their
    // way at once.
    #[inline(always)]
    fn look_up(
        &mut self,
        rows: impl Iterator<Item = usize> + Clone,
        known: Option<&KnownPositions>,
    ) {
        let SparseSlice { entities, values: Some(values), .. } = self.slice else { return };
        self.slice.entities = &[];
        if let Some(known) = known.and_then(|known| known.of(values.number())) {
            self.found = Some(*known);
            return rows.zip(known).for_each(|(_, &position)| values.prefetch(position));
        }
        for (found, row) in self.found.insert([u32::MAX; FewRows::ROWS_MAX]).iter_mut().zip(rows) {
            if let Some(position) = entities.get(row).and_then(|&entity| values.position(entity)) {
                values.prefetch(position);
                *found = position;
            }
        }
    }

    #[inline(always)]
    fn next_listed(&mut self, place: usize, _: usize) -> Option<V::Value> {
        let found = self.found.as_ref()?;
        let value =
            self.slice.values.and_then(|values| values.at(found[place % FewRows::ROWS_MAX]));
        Some(value.expect("a row has the bit of a value only"))
    }

    #[inline(always)]
    fn next_if_any(&mut self) -> Option<Option<V::Value>> {
        self.nth_if_any(0)
    }

    #[inline(always)]
    fn nth_if_any(&mut self, n: usize) -> Option<Option<V::Value>> {
        let (entity, row) = self.take(n)?;
        let is_member = self.slice.members.is_some_and(|members| members.has(row));
        Some(is_member.then(|| SparseSlice::value(self.slice.values, entity)))
    }
}
