//! The expected stamps of every chunk: the rules of versions in their slowest form.

use std::collections::BTreeSet;

use phalanx::prelude::*;

use super::parts::{Four, Line, Mega, Odd, PARTS, Set, Tag, parts_of, set_of};

/// A chunk: its entities, and the versions of its order and of its columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) entities: Vec<Entity>,
    order: Version,
    arrival: Version,
    /// [`Version::NEVER`] for absent columns.
    columns: [Version; PARTS],
}

impl Chunk {
    /// A chunk that was never touched.
    const NEW: Self = Self {
        entities: Vec::new(),
        order: Version::NEVER,
        arrival: Version::NEVER,
        columns: [Version::NEVER; PARTS],
    };

    /// The stamp that a filter tests.
    pub(crate) const fn stamp(&self, watched: Watched) -> Version {
        match watched {
            Watched::Arrival => self.arrival,
            Watched::Column(part) => self.columns[part],
        }
    }

    fn write(&mut self, set: Set, now: Version) {
        parts_of(set).for_each(|part| self.columns[part] = now);
    }

    /// Rows arrived from another chunk: no stamp here may be older than the stamp there.
    fn raise(&mut self, set: Set, source: &Self) {
        for part in parts_of(set) {
            self.columns[part] = self.columns[part].max(source.columns[part]);
        }
    }
}

/// The stamps that a filter of chunks tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Arrival,
    Column(usize),
}

/// The chunks of an archetype. All but the last are full.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) set: Set,
    /// Rows that a chunk has room for.
    room: usize,
    pub(crate) chunks: Vec<Chunk>,
}

/// The place of a row: the numbers of its archetype and chunk, and its own.
type Spot = (usize, usize, usize);

/// The expected chunks.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// In the order in which the archetypes were made, which is the order of queries.
    pub(crate) lists: Vec<List>,
    /// The version of the change that is being made.
    pub(crate) now: Version,
}

impl Oracle {
    /// Reads from the world the facts that follow from no rule of versions: its archetypes, their
    /// order, and the capacity of their chunks.
    pub(crate) fn learn(&mut self, world: &World) {
        for (number, archetype) in world.reflect().archetypes().enumerate() {
            let room = archetype.capacity();
            match self.lists.get_mut(number) {
                Some(list) => list.room = room,
                None => self.lists.push(List { set: set_of(archetype), room, chunks: vec![] }),
            }
        }
    }

    /// The chunks of an archetype, which may not exist yet.
    pub(crate) fn chunks(&self, set: Set) -> &[Chunk] {
        self.lists.iter().find(|list| list.set == set).map_or(&[], |list| &list.chunks)
    }

    /// All entities of an archetype.
    pub(crate) fn entities(&self, set: Set) -> Vec<Entity> {
        self.chunks(set).iter().flat_map(|chunk| &chunk.entities).copied().collect()
    }

    /// One of all entities, if there are any.
    pub(crate) fn pick(&self, which: usize) -> Option<Entity> {
        let all = || self.all_chunks().flat_map(|chunk| &chunk.entities);
        all().nth(which % all().count().max(1)).copied()
    }

    fn all_chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.lists.iter().flat_map(|list| &list.chunks)
    }

    /// The chunks of archetypes that have all components of `set`, in the order of queries.
    pub(crate) fn chunks_with(&self, set: Set) -> impl Iterator<Item = &Chunk> {
        let lists = self.lists.iter().filter(move |list| list.set & set == set);
        lists.flat_map(|list| &list.chunks)
    }

    /// The versions at which a filter passes other chunks than at the version before, and the
    /// versions before them: a filter that tests an outdated summary fails there first.
    pub(crate) fn turning_points(&self, watched: Watched) -> BTreeSet<Version> {
        let stamps = self.all_chunks().map(|chunk| chunk.stamp(watched).to_bits());
        stamps.flat_map(|bits| [bits.saturating_sub(1), bits]).map(Version::from_bits).collect()
    }

    fn spot(&self, entity: Entity) -> Spot {
        for (number, list) in self.lists.iter().enumerate() {
            for (chunk, Chunk { entities, .. }) in list.chunks.iter().enumerate() {
                if let Some(row) = entities.iter().position(|&other| other == entity) {
                    return (number, chunk, row);
                }
            }
        }
        panic!("{entity} is alive");
    }

    /// The components of an entity.
    pub(crate) fn set(&self, entity: Entity) -> Set {
        self.lists[self.spot(entity).0].set
    }

    /// Columns of an entity were borrowed mutably: the columns of its whole chunk are new.
    pub(crate) fn write(&mut self, entity: Entity, set: Set) {
        let (number, chunk, _) = self.spot(entity);
        self.lists[number].chunks[chunk].write(set, self.now);
    }

    /// Columns of whole chunks were, given by the first entity of each.
    pub(crate) fn write_chunks(&mut self, firsts: &BTreeSet<Entity>, set: Set) {
        for list in &mut self.lists {
            for chunk in list.chunks.iter_mut().filter(|c| firsts.contains(&c.entities[0])) {
                chunk.write(set & list.set, self.now);
            }
        }
    }

    /// An entity was spawned: all of its columns are new.
    pub(crate) fn spawn(&mut self, entity: Entity, set: Set) {
        let now = self.now;
        self.push(entity, set).write(set, now);
    }

    pub(crate) fn despawn(&mut self, entity: Entity) {
        self.pop(self.spot(entity));
    }

    pub(crate) fn clear(&mut self) {
        self.lists.iter_mut().for_each(|list| list.chunks.clear());
    }

    /// An entity now has the components of `target`; the components of `added` are new. Others keep
    /// their stamps.
    pub(crate) fn change(&mut self, entity: Entity, target: Set, added: Set) {
        let spot = self.spot(entity);
        if self.lists[spot.0].set == target {
            self.write(entity, added);
            return;
        }
        let (now, source) = (self.now, self.lists[spot.0].chunks[spot.1].clone());
        let chunk = self.push(entity, target);
        chunk.write(added, now);
        chunk.raise(target & !added, &source);
        self.pop(spot);
    }

    /// Adds a row after the last one.
    fn push(&mut self, entity: Entity, set: Set) -> &mut Chunk {
        let list = self.lists.iter_mut().find(|list| list.set == set).expect("it was made");
        if list.chunks.last().is_none_or(|last| last.entities.len() == list.room) {
            list.chunks.push(Chunk::NEW);
        }
        let chunk = list.chunks.last_mut().expect("just made");
        chunk.entities.push(entity);
        (chunk.order, chunk.arrival) = (self.now, self.now);
        chunk
    }

    /// Removes a row. The last row fills its place with all that is known of it.
    fn pop(&mut self, (number, chunk, row): Spot) {
        let List { set, chunks, .. } = &mut self.lists[number];
        let last = chunks.len() - 1;
        let moved = chunks[last].entities.pop().expect("no chunk is empty");
        if let Some(place) = chunks[chunk].entities.get_mut(row) {
            *place = moved;
        }
        chunks[last].order = self.now;
        if chunk < last {
            let source = chunks[last].clone();
            let target = &mut chunks[chunk];
            target.raise(*set, &source);
            target.order = self.now;
            target.arrival = target.arrival.max(source.arrival);
        }
        if chunks[last].entities.is_empty() {
            chunks.pop();
        }
    }

    /// Asserts that the chunks of a world and their stamps are these.
    #[track_caller]
    pub(crate) fn assert_seen_in(&self, world: &World) {
        let mut seen = seen(world);
        for (number, list) in self.lists.iter().enumerate() {
            let names = || names(list.set);
            let chunks: Vec<_> = seen.extract_if(.., |(home, _)| *home == number).collect();
            assert_eq!(chunks.len(), list.chunks.len(), "chunks of {:?}", names());
            for (index, ((_, chunk), expected)) in chunks.iter().zip(&list.chunks).enumerate() {
                assert_eq!(chunk, expected, "chunk {index} of {:?}", names());
            }
        }
        assert_eq!(seen, [], "chunks of archetypes that were never made");
    }
}

/// All chunks of a world in the order of queries, each with its archetype's number.
fn seen(world: &World) -> Vec<(usize, Chunk)> {
    type All<'w> =
        (Option<&'w Four>, Option<&'w Odd>, Option<&'w Line>, Option<&'w Tag>, Option<&'w Mega>);
    let chunks = world.query::<All<'_>>().chunks().map(|chunk| {
        let columns = [
            chunk.version::<Four>(),
            chunk.version::<Odd>(),
            chunk.version::<Line>(),
            chunk.version::<Tag>(),
            chunk.version::<Mega>(),
        ];
        let seen = Chunk {
            entities: chunk.entities().to_vec(),
            order: chunk.order_version(),
            arrival: chunk.arrival_version(),
            columns: columns.map(Option::unwrap_or_default),
        };
        (chunk.archetype(), seen)
    });
    chunks.collect()
}

/// The names of a set's components, for messages.
fn names(set: Set) -> Vec<&'static str> {
    let all = [Four::NAME, Odd::NAME, Line::NAME, Tag::NAME, Mega::NAME];
    parts_of(set).map(|part| all[part]).collect()
}
