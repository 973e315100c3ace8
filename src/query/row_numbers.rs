//! Numbers of the rows of a query that stay when other rows come and go.
//!
//! ```text
//!  lists        A              B           C
//!  rows       │ 0 1 2 3 4 · · │ 7 8 9 · │ 11 12 · │     ·: no row, or a hidden one
//!  parts      │ 0..3 │ 4..5 │ 7..10 │ 11..13 │         3 is hidden
//! ```
//!
//! The number of a row is the first number of its chunk list plus the rows of the list before it,
//! seen or not. It follows by arithmetic from the entity's place in the directory. Each list has
//! room for a quarter more rows, and for 8. Numbers ascend in the order of the query. All rows are
//! numbered again if a list has no room left, if a new list comes between two others, or if most
//! numbers have no row. A list that has become empty keeps its numbers: a component that is on one
//! entity at a time often comes to an archetype without rows.
//!
//! A *part* has the rows that a pass yields at once. The order stamp of a chunk identifies its rows
//! among all states of its list, and the key of a list is unique. So equal parts have the same
//! rows.

use core::ops::Range;

use rustc_hash::FxHashSet;

use crate::archetype::Archetype;
use crate::entity::{ArchetypeId, DirectoryView, Entity};
use crate::storage::StampKind;
use crate::version::Version;

use super::filter::Filter;
use super::query::Query;
use super::terms::Terms;

/// The number of a row that does not exist.
pub(super) const NONE: u32 = u32::MAX;

#[inline]
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("there are more rows than numbers for them")
}

/// The parts of a query, and the numbers of its rows.
#[derive(Debug, Default)]
pub(super) struct RowNumbers {
    /// The parts, in the order of the rows.
    pub(super) parts: Vec<PassPart>,
    lists: Vec<NumberedList>,
    /// The position in `lists` of each archetype, by its number, or [`NONE`].
    by_archetype: Vec<u32>,
    /// The number after the last.
    end: u32,
}

/// Rows that a pass yields at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassPart {
    /// The key of the chunk list, which is unique among all worlds.
    pub(super) list: u64,
    order: Version,
    pub(super) chunk: u32,
    /// The first row of the part in its chunk.
    pub(super) start: u32,
    pub(super) len: u32,
    /// The number of its first row.
    pub(super) first: u32,
}

/// A chunk list with rows of the query.
#[derive(Clone, Copy, Debug)]
struct NumberedList {
    key: u64,
    archetype: ArchetypeId,
    /// The number of its first row.
    first: u32,
    /// Its rows, seen or not.
    len: u32,
    /// The numbers that it may use.
    room: u32,
    /// The rows of a full chunk.
    capacity: u32,
    /// The bits of a position for the row in its chunk.
    shift: u8,
    /// Its first part.
    part: u32,
}

/// Numbers of a list that may have other rows than before.
#[derive(Clone, Debug)]
pub(super) struct ChangedNumbers {
    /// The key of the list.
    pub(super) list: u64,
    pub(super) numbers: Range<u32>,
    /// The present parts with these numbers.
    pub(super) parts: Range<usize>,
    pub(super) archetype: ArchetypeId,
}

impl PassPart {
    /// The row after the last of the part, in its chunk.
    const fn end_in_chunk(&self) -> u32 {
        self.start + self.len
    }

    /// The number after the last.
    pub(super) const fn end(&self) -> u32 {
        self.first + self.len
    }

    /// Whether both are parts of one chunk.
    pub(super) fn is_in_chunk_of(&self, other: &Self) -> bool {
        (self.list, self.chunk) == (other.list, other.chunk)
    }

    /// Whether both have the same rows.
    fn is_same(&self, other: &Self) -> bool {
        let rows = |part: &Self| (part.list, part.order, part.chunk, part.start, part.len);
        rows(self) == rows(other)
    }

    /// Whether it has the same rows as a part of a pass.
    #[inline]
    fn is_at(&self, archetype: &Archetype, chunk: u32, rows: &Range<u32>) -> bool {
        let order = archetype.stamps().get(StampKind::ORDER, chunk as usize);
        (self.list, self.order) == (archetype.list().key(), order)
            && (self.chunk, self.start, self.end_in_chunk()) == (chunk, rows.start, rows.end)
    }

    fn of(archetype: &Archetype, (chunk, rows): (u32, Range<u32>)) -> Self {
        let list = archetype.list();
        Self {
            list: list.key(),
            order: archetype.stamps().get(StampKind::ORDER, chunk as usize),
            chunk,
            start: rows.start,
            len: rows.end - rows.start,
            first: chunk * list.chunk_capacity() + rows.start,
        }
    }
}

impl NumberedList {
    fn of((archetype, rows): (ArchetypeId, &Archetype), part: usize) -> Self {
        let list = rows.list();
        let (key, len, capacity) = (list.key(), narrow(list.len()), list.chunk_capacity());
        let (shift, part) = (list.shift(), narrow(part));
        Self { key, archetype, first: 0, len, room: 0, capacity, shift, part }
    }
}

impl RowNumbers {
    /// The bytes that are allocated.
    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.capacity() * size_of::<PassPart>()
            + self.lists.capacity() * size_of::<NumberedList>()
            + self.by_archetype.capacity() * size_of::<u32>()
    }

    /// The number after the last.
    pub(super) const fn end(&self) -> u32 {
        self.end
    }

    /// The number of rows. O(parts).
    pub(super) fn rows_len(&self) -> usize {
        self.parts.iter().map(|part| part.len as usize).sum()
    }

    /// Whether a pass of the query would visit the same rows, in archetypes that still have their
    /// numbers. O(chunks).
    pub(super) fn are_of<Q: Terms, F: Filter>(&self, query: &Query<'_, Q, F>) -> bool {
        let (mut parts, mut fits) = (self.parts.iter(), true);
        query.for_each_numbered_run(|_, (id, archetype), chunk, rows| {
            fits = fits
                && self.list(id, archetype.list().key()).is_some()
                && parts.next().is_some_and(|part| part.is_at(archetype, chunk, &rows));
        });
        fits && parts.next().is_none()
    }

    /// Numbers the rows of a query. O(chunks + archetypes).
    pub(super) fn of<Q: Terms, F: Filter>(query: &Query<'_, Q, F>) -> Self {
        let mut numbers = Self::without_numbers(query);
        let mut end = 0;
        for list in &mut numbers.lists {
            list.give_room(end);
            end = list.end();
        }
        numbers.file(end);
        numbers
    }

    /// Numbers the rows of a query, so that rows in the same place keep their numbers. `None` if a
    /// list has no room, if the lists are in another order, or if most numbers would have no row.
    pub(super) fn following<Q: Terms, F: Filter>(&self, query: &Query<'_, Q, F>) -> Option<Self> {
        let mut numbers = Self::without_numbers(query);
        self.add_empty_lists(&mut numbers);
        let (mut end, mut needed) = (0, 0);
        for list in &mut numbers.lists {
            needed += list.wanted_room() as usize;
            match self.list(list.archetype, list.key) {
                Some(known) => (list.first, list.room) = (known.first, known.room),
                None => list.give_room(self.end.max(end)),
            }
            if list.first < end || list.len > list.room {
                return None;
            }
            end = list.end();
        }
        numbers.file(end.max(self.end));
        (numbers.end as usize <= 2 * needed + 1_000).then_some(numbers)
    }

    /// Adds the lists that have lost all parts, each after the lists with smaller numbers.
    fn add_empty_lists(&self, numbers: &mut Self) {
        let lists = &mut numbers.lists;
        let kept: FxHashSet<ArchetypeId> = lists.iter().map(|list| list.archetype).collect();
        let first = |list: &NumberedList| Some(self.list(list.archetype, list.key)?.first);
        let mut at = 0;
        for empty in self.lists.iter().filter(|list| !kept.contains(&list.archetype)) {
            while lists.get(at).and_then(first).is_some_and(|first| first < empty.first) {
                at += 1;
            }
            let part = lists.get(at).map_or(narrow(numbers.parts.len()), |next| next.part);
            lists.insert(at, NumberedList { len: 0, part, ..*empty });
            at += 1;
        }
    }

    /// The parts and lists, numbered from 0 in each list.
    fn without_numbers<Q: Terms, F: Filter>(query: &Query<'_, Q, F>) -> Self {
        let mut numbers = Self::default();
        let Self { parts, lists, .. } = &mut numbers;
        query.for_each_numbered_run(|_, (id, archetype), chunk, rows| {
            if lists.last().is_none_or(|last| last.archetype != id) {
                lists.push(NumberedList::of((id, archetype), parts.len()));
            }
            parts.push(PassPart::of(archetype, (chunk, rows)));
        });
        numbers
    }

    /// Gives the parts the numbers of their lists.
    fn file(&mut self, end: u32) {
        let last = self.lists.iter().map(|list| list.archetype.index() + 1).max();
        self.by_archetype.resize(last.unwrap_or(0), NONE);
        for at in 0..self.lists.len() {
            let list = self.lists[at];
            self.by_archetype[list.archetype.index()] = narrow(at);
            let parts = self.parts_of(at);
            self.parts[parts].iter_mut().for_each(|part| part.first += list.first);
        }
        self.end = end;
    }

    fn list(&self, archetype: ArchetypeId, key: u64) -> Option<&NumberedList> {
        let at = *self.by_archetype.get(archetype.index())?;
        self.lists.get(at as usize).filter(|list| list.key == key)
    }

    /// The parts of a list, by its position.
    fn parts_of(&self, at: usize) -> Range<usize> {
        let end = self.lists.get(at + 1).map_or(self.parts.len(), |next| next.part as usize);
        self.lists[at].part as usize..end
    }

    /// The number of an entity's place, if its list has rows of the query. The entity has no row in
    /// the query if another entity, or none, has this number.
    #[inline]
    pub(super) fn place(&self, directory: &DirectoryView<'_>, entity: Entity) -> Option<u32> {
        let location = directory.get(entity)?;
        let at = *self.by_archetype.get(location.archetype().index())?;
        let list = self.lists.get(at as usize)?;
        let position = location.row().0;
        let chunk = position >> list.shift;
        Some(list.first + chunk * list.capacity + (position - (chunk << list.shift)))
    }

    /// The number of the part with a number.
    pub(super) fn part_of(&self, number: u32) -> usize {
        self.parts.partition_point(|part| part.first <= number) - 1
    }

    /// Calls `f` with the numbers of the rows that another query sees as well, in ranges.
    pub(super) fn for_each_seen_by<Q: Terms, F: Filter>(
        &self,
        query: &Query<'_, Q, F>,
        mut f: impl FnMut(Range<u32>),
    ) {
        query.for_each_numbered_run(|_, (id, archetype), chunk, run| {
            let Some(list) = self.list(id, archetype.list().key()) else { return };
            let parts = &self.parts[self.parts_of(self.by_archetype[id.index()] as usize)];
            let first = list.first + chunk * list.capacity;
            let [from, to] = [first + run.start, first + run.end];
            let next = parts.partition_point(|part| part.end() <= from);
            for part in parts[next..].iter().take_while(|part| part.first < to) {
                f(part.first.max(from)..part.end().min(to));
            }
        });
    }

    /// The numbers that may have other rows than in `former`, which these follow. O(parts).
    pub(super) fn changes_since(&self, former: &Self) -> Vec<ChangedNumbers> {
        let mut changes = Vec::new();
        for (at, list) in self.lists.iter().enumerate() {
            let parts = self.parts_of(at);
            let known = former.list(list.archetype, list.key);
            let known = known.map_or(0..0, |_| {
                former.parts_of(former.by_archetype[list.archetype.index()] as usize)
            });
            list.add_changes((&self.parts, parts), (&former.parts, known), &mut changes);
        }
        for list in &former.lists {
            if self.list(list.archetype, list.key).is_none() {
                let numbers = list.first..list.first + list.len;
                let (list, archetype) = (list.key, list.archetype);
                changes.push(ChangedNumbers { list, numbers, parts: 0..0, archetype });
            }
        }
        changes
    }
}

impl NumberedList {
    /// Gives the list numbers from `first` on.
    fn give_room(&mut self, first: u32) {
        self.first = first;
        self.room = self.wanted_room();
    }

    /// The rows of the list, a quarter more, and 8.
    fn wanted_room(&self) -> u32 {
        let len = self.len as usize;
        narrow(len + len / 4 + 8)
    }

    /// The number after the last that it may use.
    fn end(&self) -> u32 {
        narrow(self.first as usize + self.room as usize)
    }

    /// Adds the numbers of the chunks with other parts than before.
    fn add_changes(
        &self,
        (parts, mut own): (&[PassPart], Range<usize>),
        (former, mut known): (&[PassPart], Range<usize>),
        changes: &mut Vec<ChangedNumbers>,
    ) {
        let (list, archetype) = (self.key, self.archetype);
        let chunk_of = |parts: &[PassPart], range: &Range<usize>| {
            parts[range.clone()].first().map_or(u32::MAX, |part| part.chunk)
        };
        loop {
            let chunk = chunk_of(parts, &own).min(chunk_of(former, &known));
            if chunk == u32::MAX {
                return;
            }
            let of_chunk = |parts: &[PassPart], range: &Range<usize>| {
                let rest = parts[range.clone()].iter();
                range.start..range.start + rest.take_while(|part| part.chunk == chunk).count()
            };
            let [now, before] = [of_chunk(parts, &own), of_chunk(former, &known)];
            (own.start, known.start) = (now.end, before.end);
            let (new, old) = (&parts[now.clone()], &former[before]);
            let is_same =
                new.len() == old.len() && new.iter().zip(old).all(|(new, old)| new.is_same(old));
            if !is_same {
                let first = self.first + chunk * self.capacity;
                let rows = new.iter().chain(old).map(PassPart::end_in_chunk).max();
                let numbers = first..first + rows.unwrap_or(0);
                changes.push(ChangedNumbers { list, numbers, parts: now, archetype });
            }
        }
    }
}
