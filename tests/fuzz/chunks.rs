//! Expected places of rows, and stamps: the rules of rows and versions in their plainest
//! form.
//!
//! Changes of single rows are followed exactly, row by row and stamp by stamp. After a change of
//! many (by query, by playback, by a schedule) the places are read from the world again, and the
//! rules of stamps that hold whatever the order are asserted: see [`Rule`].

use std::collections::BTreeMap;

use phalanx::Previous;
use phalanx::prelude::*;

use crate::model::Row;
use crate::parts::{ALL, Bounds, SHARED, Set, Shape, names, parts_of, set_named};
use crate::shared::Team;

/// Versions as numbers.
pub(crate) type Stamp = u64;

/// Since when a chunk is as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) order: Stamp,
    pub(crate) arrival: Stamp,
    pub(crate) columns: [Stamp; ALL],
    /// What its rows have one of together: [`Bounds`].
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
    /// Rows that a chunk has room for, if there are several.
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

/// Where a row is: its archetype's number, and its own.
pub(crate) type Place = (usize, usize);

/// All archetypes, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) lists: Vec<List>,
    /// All but those with shared values.
    by_set: BTreeMap<Set, usize>,
    /// Versions that a restore made void: those after the first and before the second.
    pub(crate) voids: Vec<(Stamp, Stamp)>,
}

impl Lists {
    /// What a holder of a version has seen: nothing, if it is void.
    pub(crate) fn seen(&self, since: Stamp) -> Stamp {
        let is_void = self.voids.iter().any(|&(after, until)| after < since && since < until);
        if is_void { 0 } else { since }
    }

    /// The world got these rows from bytes, in which stamps are ages: they count from the version
    /// `first` on, which is greater than all that were given.
    pub(crate) fn read_from_bytes(&mut self, first: Stamp) {
        let ages = std::mem::replace(&mut self.voids, vec![(0, first)]);
        let renew = |stamp: &mut Stamp| *stamp = first + age(&ages, *stamp);
        for list in &mut self.lists {
            for chunk in &mut list.chunks {
                renew(&mut chunk.order);
                renew(&mut chunk.arrival);
                parts_of(list.set).for_each(|part| renew(&mut chunk.columns[part]));
            }
        }
    }

    /// How often the clock has advanced on the way to a version that is not void.
    pub(crate) fn age(&self, version: Stamp) -> Stamp {
        age(&self.voids, version)
    }

    /// Learns which archetypes were added.
    pub(crate) fn learn(&mut self, world: &World) {
        let known = self.lists.len();
        if world.archetypes().len() == known {
            return;
        }
        for archetype in world.archetypes().skip(known) {
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

    /// Forgets the archetypes without rows. Returns the new number of each, by its old one.
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

    /// The archetype of a row. A value that nothing shares any more leaves its archetypes to the
    /// next one, so those with shared values are looked for where the world has rows of it.
    fn number_of(&self, world: &World, row: &Row) -> usize {
        let Some(team) = row.team else { return self.by_set[&row.set] };
        let query = world.query::<Entity>().include_hidden().where_shared(&Team(team));
        let mut numbers = query.chunks().map(|chunk| chunk.archetype());
        numbers.find(|&number| self.lists[number].set == row.set).expect("it has rows")
    }

    /// A row comes in after the last one of its archetype.
    pub(crate) fn push(&mut self, world: &World, entity: Entity, row: &Row, now: Stamp) -> Place {
        let number = self.number_of(world, row);
        let list = &mut self.lists[number];
        list.room = world.archetypes().nth(number).expect("it was learnt").capacity();
        if list.chunks.is_empty() || list.entities.len() == list.chunks.len() * list.room {
            let mut chunk = Chunk::default();
            // The value of a new chunk is new.
            chunk.write(row.set & <PerChunk<Bounds>>::SET, now);
            list.chunks.push(chunk);
        }
        let chunk = list.chunks.last_mut().expect("just made");
        (chunk.order, chunk.arrival) = (now, now);
        list.entities.push(entity);
        (number, list.entities.len() - 1)
    }

    /// A row goes, and the last one fills its place with all that is known of it. Returns the
    /// entity that has moved.
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

    pub(crate) fn chunk_mut(&mut self, (number, row): Place) -> &mut Chunk {
        let list = &mut self.lists[number];
        let chunk = list.chunk_of(row);
        &mut list.chunks[chunk]
    }

    pub(crate) fn chunk(&self, (number, row): Place) -> &Chunk {
        let list = &self.lists[number];
        &list.chunks[list.chunk_of(row)]
    }

    /// Kept columns of a row that moves are no older in its new chunk than in the old one.
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

    /// The chunks of the archetypes and their stamps, as the world has them.
    pub(crate) fn read(&self, world: &World) -> Self {
        let mut lists = Self { voids: self.voids.clone(), ..Self::default() };
        lists.learn(world);
        for (list, archetype) in lists.lists.iter_mut().zip(world.archetypes()) {
            list.room = archetype.capacity();
        }
        (0..3).for_each(|third| read_third(world, &mut lists.lists, third));
        lists
    }

    /// Asserts that the world has these rows and stamps, and no others.
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

/// A version, less those that are void before it.
fn age(voids: &[(Stamp, Stamp)], version: Stamp) -> Stamp {
    let before = voids.iter().filter(|&&(_, until)| until <= version);
    version - before.map(|&(after, until)| until - after).sum::<Stamp>()
}

/// Reads a third of the columns: a query has twelve terms at most.
fn read_third(world: &World, lists: &mut [List], third: usize) {
    use crate::parts::*;
    macro_rules! read {
        ($($part:ty),*) => {{
            for chunk in world.query::<($(Option<&$part>,)*)>().include_hidden().chunks() {
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
        for chunk in world.query::<PerChunk<Bounds>>().include_hidden().chunks() {
            let value = &mut lists[chunk.archetype()].chunks[chunk.index()].value;
            *value = chunk.slices().0;
        }
    }
}

/// What stamps must be after a change of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Whole chunks have moved: a stamp is the newest of those that its rows had before, each in
    /// its old chunk.
    Chunks,
    /// Rows have moved one by one: it is at least as new.
    Rows,
}
