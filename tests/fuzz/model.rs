//! The naive world: a map from entity to the numbers that its components were made from.

use std::collections::{BTreeMap, VecDeque};

use phalanx::prelude::*;

use crate::chunks::{Lists, Place, Rule, Stamp};
use crate::ids::Ids;
use crate::operations::{OWN, Who};
use crate::parts::{Eight, Numbers, PARTS, Set, Shape, names, parts_of};

/// Ids of entities that lived once, as many as are remembered.
const DEAD_MAX: usize = 300;

/// What the model knows of an entity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) set: Set,
    pub(crate) numbers: Numbers,
    /// Components written since [`Model::forget_writes`].
    pub(crate) written: Set,
    /// Whether [`Eight`] is disabled, if the entity has one.
    is_off: bool,
    /// Where it is in [`Model::living`].
    turn: usize,
    pub(crate) place: Place,
}

impl Row {
    pub(crate) const fn has(&self, set: Set) -> bool {
        self.set & set == set
    }

    /// Whether it has an [`Eight`] that is disabled.
    pub(crate) const fn is_off(&self) -> bool {
        self.is_off && self.has(Eight::SET)
    }

    /// Components were inserted, which enables them.
    pub(crate) fn write(&mut self, set: Set, number: u32) {
        self.is_off &= set & Eight::SET == 0;
        parts_of(set).for_each(|part| self.numbers[part] = number);
        self.set |= set;
        self.written |= set;
    }
}

/// The naive world.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) rows: BTreeMap<Entity, Row>,
    /// The same entities, to choose one by its number.
    pub(crate) living: Vec<Entity>,
    pub(crate) dead: VecDeque<Entity>,
    /// Ids that are alive from the world's next change on.
    pub(crate) reserved: Vec<Entity>,
    pub(crate) ids: Ids,
    pub(crate) lists: Lists,
    pub(crate) chunk_bytes: usize,
}

impl Model {
    pub(crate) fn new(limit: u32, chunk: ChunkSize) -> Self {
        Self {
            rows: BTreeMap::new(),
            living: Vec::new(),
            dead: VecDeque::new(),
            reserved: Vec::new(),
            ids: Ids::new(limit),
            lists: Lists::default(),
            chunk_bytes: chunk.bytes(),
        }
    }

    /// The entity that an operation names.
    pub(crate) fn resolve(&self, who: Who) -> Entity {
        let nth = |from: &[Entity], n: u32| from.get(n as usize % from.len().max(1)).copied();
        match who {
            Who::Living(n) => nth(&self.living, n),
            Who::Dead(n) => self.dead.get(n as usize % self.dead.len().max(1)).copied(),
            Who::Reserved(n) => nth(&self.reserved, n),
            Who::MadeUp { index, generation } => {
                Some(Entity::from_bits(u64::from(index) << 32 | u64::from(generation)))
            }
        }
        .unwrap_or(Entity::NULL)
    }

    /// One of the components of an entity if `part` says so: see [`OWN`].
    pub(crate) fn part_of(&self, entity: Entity, part: usize) -> usize {
        let Some(nth) = part.checked_sub(OWN) else { return part };
        let set = self.row(entity).map_or(0, |row| row.set);
        parts_of(set).nth(nth % (set.count_ones() as usize).max(1)).unwrap_or(nth % PARTS)
    }

    pub(crate) fn row(&self, entity: Entity) -> Option<&Row> {
        self.rows.get(&entity)
    }

    pub(crate) fn row_mut(&mut self, entity: Entity) -> &mut Row {
        self.rows.get_mut(&entity).expect("the model has it")
    }

    /// Adds an entity without a place.
    pub(crate) fn add(&mut self, entity: Entity, set: Set, numbers: Numbers) {
        let turn = self.living.len();
        self.living.push(entity);
        let place = (usize::MAX, 0);
        let row = Row { set, numbers, written: set, is_off: false, turn, place };
        let before = self.rows.insert(entity, row);
        assert!(before.is_none(), "{entity} lived already");
    }

    /// Takes an entity out, but for its place.
    pub(crate) fn take(&mut self, entity: Entity) -> Row {
        let row = self.rows.remove(&entity).expect("it lives");
        self.living.swap_remove(row.turn);
        if let Some(moved) = self.living.get(row.turn).copied() {
            self.row_mut(moved).turn = row.turn;
        }
        row
    }

    /// An id means nothing from now on.
    pub(crate) fn buried(&mut self, entity: Entity) {
        self.ids.ended(entity);
        if self.dead.len() == DEAD_MAX {
            self.dead.pop_front();
        }
        self.dead.push_back(entity);
    }

    /// An entity was spawned, all of its columns new.
    pub(crate) fn spawned(&mut self, world: &World, entity: Entity, set: Set, numbers: Numbers) {
        let now = world.version().to_bits();
        self.add(entity, set, numbers);
        let place = self.lists.push(world, entity, set, now);
        self.lists.chunk_mut(place).write(set, now);
        self.row_mut(entity).place = place;
    }

    /// Reserved ids are alive now.
    pub(crate) fn flush(&mut self, world: &World, now: Stamp) {
        for entity in std::mem::take(&mut self.reserved) {
            self.ids.begins(entity);
            self.add(entity, 0, [0; PARTS]);
            self.row_mut(entity).place = self.lists.push(world, entity, 0, now);
        }
    }

    /// Archetypes without rows were given back.
    pub(crate) fn retire(&mut self) {
        let numbers = self.lists.retire();
        self.rows.values_mut().for_each(|row| row.place.0 = numbers[row.place.0]);
    }

    /// One entity was despawned.
    pub(crate) fn despawned(&mut self, entity: Entity, now: Stamp) {
        let row = self.take(entity);
        self.buried(entity);
        self.leave(row.place, now);
    }

    fn leave(&mut self, place: Place, now: Stamp) {
        if let Some(moved) = self.lists.pop(place, now) {
            self.row_mut(moved).place = place;
        }
    }

    /// One entity has lost the components of `removed` and then got those of `added`.
    pub(crate) fn changed(
        &mut self,
        world: &World,
        entity: Entity,
        (removed, added): (Set, Set),
        number: u32,
    ) {
        let now = world.version().to_bits();
        let row = self.row_mut(entity);
        let (before, from) = (row.set, row.place);
        row.set &= !removed;
        row.write(added, number);
        let after = row.set;
        if after == before {
            self.lists.chunk_mut(from).write(added, now);
            return;
        }
        let to = self.lists.push(world, entity, after, now);
        self.lists.chunk_mut(to).write(added, now);
        self.lists.carry(from, to, after & !added);
        self.row_mut(entity).place = to;
        self.leave(from, now);
    }

    /// Components of an entity were handed out to be written.
    pub(crate) fn wrote(&mut self, entity: Entity, set: Set, number: u32, now: Stamp) {
        let row = self.row_mut(entity);
        let was_off = row.is_off;
        row.write(set, number);
        row.is_off = was_off;
        let place = row.place;
        self.lists.chunk_mut(place).write(set, now);
    }

    /// An [`Eight`] was switched.
    pub(crate) fn switched(&mut self, entity: Entity, enabled: bool, now: Stamp) {
        let row = self.row_mut(entity);
        row.is_off = !enabled;
        let place = row.place;
        self.lists.chunk_mut(place).write(Eight::SET, now);
    }

    /// An entity is a copy of a row, whose bits it has as well.
    pub(crate) fn copied(&mut self, entity: Entity, row: &Row) {
        self.row_mut(entity).is_off = row.is_off();
    }

    /// A change of many rows begins: what was written before is not written by it.
    pub(crate) fn forget_writes(&mut self) {
        self.rows.values_mut().for_each(|row| row.written = 0);
    }

    /// Many rows have moved: reads from the world where they are, and asserts that each entity is
    /// in the archetype of its components and that stamps follow the rule. What was written has the
    /// flag of [`Row::written`], at `now`, or later than `since` if rows were changed one by one.
    pub(crate) fn read_places(&mut self, world: &World, rule: Rule, since: Stamp) {
        let now = world.version().to_bits();
        let old = std::mem::take(&mut self.lists);
        let new = old.read(world);
        let rows: usize = new.lists.iter().map(|list| list.entities.len()).sum();
        assert_eq!(rows, self.rows.len(), "rows of all archetypes");
        for (number, list) in new.lists.iter().enumerate() {
            for (index, chunk) in list.chunks.iter().enumerate() {
                let mut floor = [0; PARTS];
                for entity in list.rows(index) {
                    let row = &self.rows[entity];
                    assert_eq!(names(row.set), names(list.set), "components of {entity}");
                    let known = row.place.0 != usize::MAX;
                    let before = if known { *old.chunk(row.place) } else { Default::default() };
                    for part in parts_of(list.set) {
                        let written = if rule == Rule::Chunks { now } else { since + 1 };
                        let is_new = row.written >> part & 1 == 1;
                        let stamp = if is_new { written } else { before.columns[part] };
                        floor[part] = floor[part].max(stamp);
                    }
                    if row.place.0 == number {
                        assert!(chunk.arrival >= before.arrival, "the arrival of {entity}");
                    } else {
                        assert!(chunk.arrival > since, "{entity} has arrived");
                    }
                }
                for part in parts_of(list.set) {
                    let (stamp, floor) = (chunk.columns[part], floor[part]);
                    let holds = stamp == floor || (rule == Rule::Rows && stamp > floor);
                    let name = (names(1 << part), names(list.set), index);
                    assert!(holds && stamp <= now, "{name:?}: stamp {stamp}, expected {floor}");
                }
            }
        }
        for (number, list) in new.lists.iter().enumerate() {
            for (index, entity) in list.entities.iter().enumerate() {
                let row = self.row_mut(*entity);
                row.place = (number, index);
            }
        }
        self.lists = new;
    }
}
