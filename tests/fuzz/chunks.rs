//! Expected places of rows, and stamps: the rules of rows and versions in their simplest form.
//!
//! Changes of single rows are followed exactly, row by row and stamp by stamp. After a change of
//! many rows (by query, playback or schedule) the places are read from the world again. The rules
//! of stamps that hold for any order of rows are asserted: see [`Rule`].

use std::collections::BTreeMap;

use phalanx::Previous;
use phalanx::prelude::*;

use crate::model::Row;
use crate::parts::{ALL, Bounds, SHARED, Set, Shape, names, parts_of, set_named};
use crate::shared::Team;

/// Versions as numbers.
pub(crate) type Stamp = u64;

/// The stamps of a chunk, and its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) order: Stamp,
    pub(crate) arrival: Stamp,
    pub(crate) columns: [Stamp; ALL],
    /// The value of [`PerChunk<Bounds>`].
    pub(crate) value: u32,
}

impl Chunk {
    pub(crate) fn write(&mut self, set: Set, now: Stamp) {
        parts_of(set).for_each(|part| self.columns[part] = now);
    }

    fn raise(&mut self, set: Set, source: &Self) {
        for part in parts_of(set) {
            self.columns[part] = self.columns[part].max(source.columns[part]);
        }
    }
}

/// The rows of an archetype. All chunks but the last are full.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) set: Set,
    /// The number of rows that fit a chunk, if the archetype has several chunks.
    pub(crate) room: usize,
    pub(crate) entities: Vec<Entity>,
    pub(crate) chunks: Vec<Chunk>,
}

impl List {
    pub(crate) const fn chunk_of(&self, row: usize) -> usize {
        if self.chunks.len() < 2 { 0 } else { row / self.room }
    }

    /// The entities of a chunk.
    pub(crate) fn rows(&self, chunk: usize) -> &[Entity] {
        match self.chunks.len() {
            1 => &self.entities,
            _ => {
                let end = self.entities.len().min((chunk + 1) * self.room);
                &self.entities[chunk * self.room..end]
            }
        }
    }
}

/// The place of a row: the number of its archetype, and its own.
pub(crate) type Place = (usize, usize);

/// All archetypes, in the order of their creation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) lists: Vec<List>,
    /// The archetypes without shared values.
    by_set: BTreeMap<Set, usize>,
    /// Versions that a restore discarded: after the first and before the second version of a pair.
    pub(crate) discarded: Vec<(Stamp, Stamp)>,
}

impl Lists {
    /// The version from which a holder of `since` sees changes: 0 if `since` is discarded.
    pub(crate) fn seen(&self, since: Stamp) -> Stamp {
        let is_discarded =
            self.discarded.iter().any(|&(after, until)| after < since && since < until);
        if is_discarded { 0 } else { since }
    }

    /// Renews all stamps after a restore from bytes, where stamps are ages. The ages count from the
    /// version `first`, which is greater than all versions before it.
    pub(crate) fn read_from_bytes(&mut self, first: Stamp) {
        let ages = std::mem::replace(&mut self.discarded, vec![(0, first)]);
        let renew = |stamp: &mut Stamp| *stamp = first + age(&ages, *stamp);
        for list in &mut self.lists {
            for chunk in &mut list.chunks {
                renew(&mut chunk.order);
                renew(&mut chunk.arrival);
                parts_of(list.set).for_each(|part| renew(&mut chunk.columns[part]));
            }
        }
    }

    /// The age of a version, which must not be discarded: the advances of the clock that were not
    /// undone.
    pub(crate) fn age(&self, version: Stamp) -> Stamp {
        age(&self.discarded, version)
    }

    /// Adds the archetypes that the world has added.
    pub(crate) fn learn(&mut self, world: &World) {
        let known = self.lists.len();
        if world.reflect().archetypes().len() == known {
            return;
        }
        for archetype in world.reflect().archetypes().skip(known) {
            let sets = archetype.components().map(|info| set_named(info.name()));
            let set = sets.fold(0, |all, set| all | set);
            if archetype.shared_types().next().is_some() {
                self.lists.push(List { set: set | SHARED, ..List::default() });
                continue;
            }
            let before = self.by_set.insert(set, self.lists.len());
            assert_eq!(before, None, "two archetypes of {:?}", names(set));
            self.lists.push(List { set, ..List::default() });
        }
    }

    /// Removes the archetypes without rows. Returns the new number of each archetype, by its old
    /// number.
    pub(crate) fn retire(&mut self) -> Vec<usize> {
        let mut kept = 0;
        let mut number = |list: &List| {
            kept += usize::from(!list.entities.is_empty());
            kept.saturating_sub(1)
        };
        let numbers = self.lists.iter().map(&mut number).collect();
        self.lists.retain(|list| !list.entities.is_empty());
        let lists = self.lists.iter().enumerate().filter(|(_, list)| list.set & SHARED == 0);
        self.by_set = lists.map(|(at, list)| (list.set, at)).collect();
        numbers
    }

    /// The archetype of a row. Archetypes of a shared value that no entity has any more are reused
    /// for the next value, so the archetype of a row with a shared value is found by a query.
    fn number_of(&self, world: &World, row: &Row) -> usize {
        let Some(team) = row.team else { return self.by_set[&row.set] };
        let query = world.query::<Entity>().filter::<IncludeHidden>().where_shared(&Team(team));
        let mut numbers = query.chunks().map(|chunk| chunk.archetype());
        numbers.find(|&number| self.lists[number].set == row.set).expect("it has rows")
    }

    /// Adds a row after the last row of its archetype.
    pub(crate) fn push(&mut self, world: &World, entity: Entity, row: &Row, now: Stamp) -> Place {
        let number = self.number_of(world, row);
        let list = &mut self.lists[number];
        list.room = world.reflect().archetypes().nth(number).expect("it was learnt").capacity();
        if list.chunks.is_empty() || list.entities.len() == list.chunks.len() * list.room {
            let mut chunk = Chunk::default();
            // A new chunk has a new value.
            chunk.write(row.set & <PerChunk<Bounds>>::SET, now);
            list.chunks.push(chunk);
        }
        let chunk = list.chunks.last_mut().expect("just made");
        (chunk.order, chunk.arrival) = (now, now);
        list.entities.push(entity);
        (number, list.entities.len() - 1)
    }

    /// Removes a row. The last row takes its place and brings the stamps of its chunk along.
    /// Returns the entity that has moved.
    pub(crate) fn pop(&mut self, (number, row): Place, now: Stamp) -> Option<Entity> {
        let list = &mut self.lists[number];
        let (chunk, last) = (list.chunk_of(row), list.chunks.len() - 1);
        list.entities.swap_remove(row);
        let moved = list.entities.get(row).copied();
        list.chunks[last].order = now;
        if chunk < last {
            let source = list.chunks[last];
            let target = &mut list.chunks[chunk];
            target.raise(list.set, &source);
            target.order = now;
            target.arrival = target.arrival.max(source.arrival);
        }
        if list.entities.len() <= last * list.room && (last > 0 || list.entities.is_empty()) {
            list.chunks.pop();
        }
        moved
    }

    /// Sorts some rows of an archetype. A chunk has the newest stamps of the chunks from which its
    /// rows came; its value stays. Returns the number of rows with new places.
    pub(crate) fn sort(
        &mut self,
        number: usize,
        rows: &[usize],
        key: impl Fn(Entity) -> u32,
        now: Stamp,
    ) -> usize {
        let list = &mut self.lists[number];
        let mut from: Vec<usize> = (0..list.entities.len()).collect();
        let mut order = rows.to_vec();
        order.sort_by_key(|&row| key(list.entities[row]));
        rows.iter().zip(order).for_each(|(&to, row)| from[to] = row);
        let moved = from.iter().enumerate().filter(|(to, from)| to != *from).count();
        if moved == 0 {
            return 0;
        }
        let old = list.clone();
        list.entities = from.iter().map(|&row| old.entities[row]).collect();
        let of_rows = list.set & !<PerChunk<Bounds>>::SET;
        for chunk in &mut list.chunks {
            parts_of(of_rows).for_each(|part| chunk.columns[part] = 0);
            chunk.arrival = 0;
        }
        for (to, &from) in from.iter().enumerate() {
            let source = &old.chunks[old.chunk_of(from)];
            let chunk = &mut list.chunks[old.chunk_of(to)];
            chunk.raise(of_rows, source);
            chunk.arrival = chunk.arrival.max(source.arrival);
            if from != to {
                chunk.order = now;
            }
        }
        moved
    }

    pub(crate) fn chunk_mut(&mut self, (number, row): Place) -> &mut Chunk {
        let list = &mut self.lists[number];
        let chunk = list.chunk_of(row);
        &mut list.chunks[chunk]
    }

    pub(crate) fn chunk(&self, (number, row): Place) -> &Chunk {
        let list = &self.lists[number];
        &list.chunks[list.chunk_of(row)]
    }

    /// Raises the stamps of kept columns in the new chunk of a moved row to the stamps of its old
    /// chunk.
    pub(crate) fn carry(&mut self, from: Place, to: Place, kept: Set) {
        let source = *self.chunk(from);
        self.chunk_mut(to).raise(kept, &source);
    }

    pub(crate) fn clear(&mut self) {
        for list in &mut self.lists {
            list.entities.clear();
            list.chunks.clear();
        }
    }

    /// Reads the rows and stamps of all archetypes from the world.
    pub(crate) fn read(&self, world: &World) -> Self {
        let mut lists = Self { discarded: self.discarded.clone(), ..Self::default() };
        lists.learn(world);
        for (list, archetype) in lists.lists.iter_mut().zip(world.reflect().archetypes()) {
            list.room = archetype.capacity();
        }
        (0..3).for_each(|third| read_third(world, &mut lists.lists, third));
        lists
    }

    /// Asserts that the world has exactly these rows and stamps.
    pub(crate) fn assert_seen_in(&self, world: &World) {
        let seen = self.read(world);
        assert_eq!(seen.lists.len(), self.lists.len(), "archetypes");
        for (list, seen) in self.lists.iter().zip(&seen.lists) {
            assert_eq!(list.entities, seen.entities, "rows of {:?}", names(list.set));
            assert_eq!(list.chunks.len(), seen.chunks.len(), "chunks of {:?}", names(list.set));
            for (number, (chunk, seen)) in list.chunks.iter().zip(&seen.chunks).enumerate() {
                assert_eq!(chunk, seen, "stamps of chunk {number} of {:?}", names(list.set));
            }
        }
    }
}

/// A version, less the lengths of the discarded ranges before it.
fn age(discarded: &[(Stamp, Stamp)], version: Stamp) -> Stamp {
    let before = discarded.iter().filter(|&&(_, until)| until <= version);
    version - before.map(|&(after, until)| until - after).sum::<Stamp>()
}

/// Reads a third of the columns: a query has at most twelve terms.
fn read_third(world: &World, lists: &mut [List], third: usize) {
    use crate::parts::*;
    macro_rules! read {
        ($($part:ty),*) => {{
            for chunk in world.query::<($(Option<&$part>,)*)>().filter::<IncludeHidden>().chunks() {
                let list = &mut lists[chunk.archetype()];
                if third == 0 {
                    assert_eq!(chunk.index(), list.chunks.len(), "chunks come in order");
                    list.entities.extend_from_slice(chunk.entities());
                    list.chunks.push(Chunk {
                        order: chunk.order_version().to_bits(),
                        arrival: chunk.arrival_version().to_bits(),
                        ..Chunk::default()
                    });
                }
                let columns = &mut list.chunks[chunk.index()].columns;
                $(
                    let index = <$part as Shape>::SET.trailing_zeros() as usize;
                    columns[index] = chunk.version::<$part>().map_or(0, Version::to_bits);
                )*
            }
        }};
    }
    match third {
        0 => read!(Tag, Mark, Aligned, Byte, Two, Odd, Four),
        1 => read!(Eight, Twelve, Sixteen, TwentyFour, Half, Line, Big),
        _ => read!(Link, Page, Sound, Asleep, Previous<Four>, PerChunk<Bounds>, Spot),
    }
    if third == 0 {
        for chunk in world.query::<PerChunk<Bounds>>().filter::<IncludeHidden>().chunks() {
            let value = &mut lists[chunk.archetype()].chunks[chunk.index()].value;
            *value = chunk.slices().0;
        }
    }
}

/// The rule for stamps after a change of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Whole chunks have moved: a stamp is the newest of the stamps that the rows had in their old
    /// chunks.
    Chunks,
    /// Rows have moved one by one: a stamp is at least as new.
    Rows,
}
