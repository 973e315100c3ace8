//! The naive world: a map from entities to the numbers from which their components were made.

use std::collections::{BTreeMap, VecDeque};

use phalanx::prelude::*;

use crate::chunks::{Lists, Place, Rule, Stamp};
use crate::ids::Ids;
use crate::operations::{OWN, Who};
use crate::outcome::{DEAD, LACKS, Outcome};
use crate::parts::{
    ALL, Bounds, CLEANUP, Eight, Four, GONE, HIDDEN, KEPT, Numbers, PARTS, Part, SHARED, Set,
    Shape, names, parts_of,
};
use crate::relations::Relations;

/// The maximum number of remembered ids of dead entities.
const DEAD_MAX: usize = 300;

/// The data of an entity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) set: Set,
    pub(crate) numbers: Numbers,
    /// Components written since [`Model::forget_writes`].
    pub(crate) written: Set,
    /// Components written since the last comparison.
    pub(crate) touched: Set,
    /// Whether [`Eight`] is disabled, if the entity has one.
    is_off: bool,
    /// The shared value of the entity.
    pub(crate) team: Option<u8>,
    /// The sparse value of the entity.
    pub(crate) side: Option<u32>,
    /// The plain sparse value of the entity.
    pub(crate) charge: Option<u32>,
    /// The sparse cleanup value of the entity, which may be gone.
    pub(crate) grip: Option<u32>,
    /// The index of the entity in [`Model::living`].
    turn: usize,
    pub(crate) place: Place,
}

impl Row {
    pub(crate) const fn has(&self, set: Set) -> bool {
        self.set & set == set
    }

    pub(crate) const fn is_gone(&self) -> bool {
        self.set & GONE != 0
    }

    /// Whether a despawn leaves cleanup components.
    pub(crate) const fn has_cleanup(&self) -> bool {
        self.set & CLEANUP != 0 || self.grip.is_some()
    }

    /// Whether queries skip the entity by default.
    pub(crate) const fn is_hidden(&self) -> bool {
        self.set & HIDDEN != 0
    }

    /// Whether the entity has an [`Eight`] that is disabled.
    pub(crate) const fn is_off(&self) -> bool {
        self.is_off && self.has(Eight::SET)
    }

    /// Sets or removes the shared value.
    pub(crate) const fn join(&mut self, team: Option<u8>) {
        self.team = team;
        self.set = if team.is_some() { self.set | SHARED } else { self.set & !SHARED };
    }

    /// Inserts components, which enables them.
    pub(crate) fn write(&mut self, set: Set, number: u32) {
        self.is_off &= set & Eight::SET == 0;
        parts_of(set).for_each(|part| self.numbers[part] = number);
        self.set |= set;
        self.written |= set;
        self.touched |= set;
    }
}

/// The naive world.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) rows: BTreeMap<Entity, Row>,
    /// The entities that are not gone, for a choice by number.
    pub(crate) living: Vec<Entity>,
    pub(crate) dead: VecDeque<Entity>,
    /// Ids that become alive with the world's next change.
    pub(crate) reserved: Vec<Entity>,
    pub(crate) ids: Ids,
    pub(crate) relations: Relations,
    /// The [`Four`]s that entities have lost since the logs were read.
    pub(crate) lost: Vec<(Entity, u32)>,
    /// The entities that have received a [`Four`] since.
    pub(crate) gained: Vec<Entity>,
    /// The entities that were despawned since.
    pub(crate) ended: Vec<Entity>,
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
            relations: Relations::default(),
            lost: Vec::new(),
            gained: Vec::new(),
            ended: Vec::new(),
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

    /// One of the entity's own components if `part` is at least [`OWN`].
    pub(crate) fn part_of(&self, entity: Entity, part: usize) -> usize {
        let Some(nth) = part.checked_sub(OWN) else { return part };
        let set = self.row(entity).map_or(0, |row| row.set) & ((1 << PARTS) - 1);
        parts_of(set).nth(nth % (set.count_ones() as usize).max(1)).unwrap_or(nth % PARTS)
    }

    /// The row of an entity, which may be gone.
    pub(crate) fn row(&self, entity: Entity) -> Option<&Row> {
        self.rows.get(&entity)
    }

    pub(crate) fn alive(&self, entity: Entity) -> Option<&Row> {
        self.row(entity).filter(|row| !row.is_gone())
    }

    /// The expected answer to a call that needs components of an entity.
    pub(crate) fn needs(&self, entity: Entity, set: Set) -> Result<&Row, Outcome> {
        match self.row(entity) {
            Some(row) if row.is_gone() && (set == 0 || !row.has(set)) => Err(DEAD),
            Some(row) if row.has(set) => Ok(row),
            Some(_) => Err(LACKS),
            None => Err(DEAD),
        }
    }

    pub(crate) fn row_mut(&mut self, entity: Entity) -> &mut Row {
        self.rows.get_mut(&entity).expect("the model has it")
    }

    /// Adds an entity without a place.
    pub(crate) fn add(&mut self, entity: Entity, set: Set, numbers: Numbers) {
        if set & Four::SET != 0 {
            self.gained.push(entity);
        }
        let turn = self.living.len();
        if set & GONE == 0 {
            self.living.push(entity);
        }
        let place = (usize::MAX, 0);
        let row = Row { set, numbers, written: set, touched: set, turn, place, ..Row::default() };
        let before = self.rows.insert(entity, row);
        assert!(before.is_none(), "{entity} lived already");
    }

    /// Removes an entity, but does not free its place.
    pub(crate) fn take(&mut self, entity: Entity) -> Row {
        self.loses(entity, Four::SET);
        self.relations.end(entity);
        let row = *self.row_mut(entity);
        if !row.is_gone() {
            self.ended.push(entity);
            self.unlist(row.turn);
        }
        self.rows.remove(&entity);
        row
    }

    fn unlist(&mut self, turn: usize) {
        self.living.swap_remove(turn);
        if let Some(moved) = self.living.get(turn).copied() {
            self.row_mut(moved).turn = turn;
        }
    }

    /// Despawns an entity without a change of its place.
    pub(crate) fn die(&mut self, entity: Entity) {
        let row = *self.row_mut(entity);
        if !row.has_cleanup() {
            self.take(entity);
            self.buried(entity);
            return;
        }
        self.loses(entity, Four::SET);
        self.relations.end(entity);
        self.ended.push(entity);
        self.unlist(row.turn);
        self.remember(entity);
        let row = self.row_mut(entity);
        (row.team, row.side, row.charge) = (None, None, None);
        let kept = if row.grip.is_some() { KEPT } else { 0 };
        row.set = row.set & CLEANUP | GONE | kept;
    }

    /// Removes components from an entity, which may be gone, without a change of its place.
    pub(crate) fn lose(&mut self, entity: Entity, set: Set) {
        self.loses(entity, set);
        let row = self.row_mut(entity);
        row.set &= !set;
        if row.set == GONE {
            self.take(entity);
            self.ids.ended(entity);
        }
    }

    /// Notes the values that the log of removals must have.
    fn loses(&mut self, entity: Entity, set: Set) {
        let row = self.rows[&entity];
        if row.set & set & Four::SET != 0 {
            self.lost.push((entity, row.numbers[Four::INDEX]));
        }
    }

    /// Inserts components into an entity without a change of its place.
    pub(crate) fn give(&mut self, entity: Entity, set: Set, number: u32) {
        if set & !self.rows[&entity].set & Four::SET != 0 {
            self.gained.push(entity);
        }
        self.row_mut(entity).write(set, number);
    }

    /// Ends an id, which is remembered as dead.
    pub(crate) fn buried(&mut self, entity: Entity) {
        self.ids.ended(entity);
        self.remember(entity);
    }

    fn remember(&mut self, entity: Entity) {
        if self.dead.len() == DEAD_MAX {
            self.dead.pop_front();
        }
        self.dead.push_back(entity);
    }

    /// Adds a spawned entity, with all of its columns new.
    pub(crate) fn spawned(&mut self, world: &World, entity: Entity, set: Set, numbers: Numbers) {
        self.add(entity, set, numbers);
        self.arrived(world, entity, world.version().to_bits());
    }

    /// Adds a row from another place under a new id.
    pub(crate) fn came(&mut self, entity: Entity, row: Row) {
        self.add(entity, row.set, row.numbers);
        let new = self.row_mut(entity);
        (new.is_off, new.team) = (row.is_off, row.team);
        (new.side, new.charge, new.grip) = (row.side, row.charge, row.grip);
    }

    /// Gives a new entity its place.
    fn arrived(&mut self, world: &World, entity: Entity, now: Stamp) {
        let row = self.rows[&entity];
        let place = self.lists.push(world, entity, &row, now);
        self.lists.chunk_mut(place).write(row.set, now);
        self.row_mut(entity).place = place;
    }

    /// Makes reserved ids alive.
    pub(crate) fn flush(&mut self, world: &World, now: Stamp) {
        for entity in std::mem::take(&mut self.reserved) {
            self.ids.begins(entity);
            self.add(entity, 0, [0; ALL]);
            self.row_mut(entity).place = self.lists.push(world, entity, &Row::default(), now);
        }
    }

    /// Removes the archetypes without rows.
    pub(crate) fn retire(&mut self) {
        let numbers = self.lists.retire();
        self.rows.values_mut().for_each(|row| row.place.0 = numbers[row.place.0]);
    }

    /// Despawns entities in this order, and after them those that follow. Returns their number: 0
    /// if one of them is held.
    pub(crate) fn despawned(&mut self, world: &World, entities: &[Entity]) -> usize {
        let going = self.going(entities);
        if self.relations.is_held(&going) {
            return 0;
        }
        for &entity in &going {
            let before = *self.row_mut(entity);
            self.die(entity);
            self.moved(world, entity, before, 0);
        }
        going.len()
    }

    /// The entities that go if some are despawned, in the order in which they go.
    pub(crate) fn going(&self, named: &[Entity]) -> Vec<Entity> {
        let living = named.iter().copied().filter(|&entity| self.alive(entity).is_some());
        self.relations.going(living)
    }

    /// Whether a despawn of some entities is refused.
    pub(crate) fn is_held(&self, named: &[Entity]) -> bool {
        self.relations.is_held(&self.going(named))
    }

    /// Sorts some rows of an archetype. Returns the number of rows with new places.
    pub(crate) fn sorted(
        &mut self,
        list: usize,
        rows: &[usize],
        key: impl Fn(Entity) -> u32,
        now: Stamp,
    ) -> usize {
        let moved = self.lists.sort(list, rows, key, now);
        for row in 0..self.lists.lists[list].entities.len() {
            let entity = self.lists.lists[list].entities[row];
            self.row_mut(entity).place = (list, row);
        }
        moved
    }

    fn leave(&mut self, place: Place, now: Stamp) {
        if let Some(moved) = self.lists.pop(place, now) {
            self.row_mut(moved).place = place;
        }
    }

    /// Removes the components of `removed` from one entity, and inserts the components of `added`.
    pub(crate) fn changed(
        &mut self,
        world: &World,
        entity: Entity,
        (removed, added): (Set, Set),
        number: u32,
    ) {
        let before = *self.row_mut(entity);
        self.lose(entity, removed & !added);
        if self.rows.contains_key(&entity) {
            self.give(entity, added, number);
        }
        self.moved(world, entity, before, added);
    }

    /// Moves the row of an entity to its new archetype, or removes it if the entity has ended.
    fn moved(&mut self, world: &World, entity: Entity, before: Row, added: Set) {
        let now = world.version().to_bits();
        let from = before.place;
        let Some(after) = self.row(entity).copied() else {
            self.leave(from, now);
            return;
        };
        if (after.set, after.team) == (before.set, before.team) {
            self.lists.chunk_mut(from).write(added, now);
            return;
        }
        let to = self.lists.push(world, entity, &after, now);
        self.lists.chunk_mut(to).write(added, now);
        self.lists.carry(from, to, after.set & !added);
        self.row_mut(entity).place = to;
        self.leave(from, now);
    }

    /// Writes components of an entity through a mutable reference, which does not enable them.
    pub(crate) fn wrote(&mut self, entity: Entity, set: Set, number: u32, now: Stamp) {
        let row = self.row_mut(entity);
        let was_off = row.is_off;
        row.write(set, number);
        row.is_off = was_off;
        let place = row.place;
        self.lists.chunk_mut(place).write(set, now);
    }

    /// Enables or disables an [`Eight`].
    pub(crate) fn switched(&mut self, entity: Entity, enabled: bool, now: Stamp) {
        let row = self.row_mut(entity);
        row.is_off = !enabled;
        let place = row.place;
        self.lists.chunk_mut(place).write(Eight::SET, now);
    }

    /// Adds a copy of a row, with its enable bits.
    pub(crate) fn copied(&mut self, world: &World, entity: Entity, row: &Row, now: Stamp) {
        self.came(
            entity,
            Row {
                set: row.set & !CLEANUP,
                is_off: row.is_off(),
                // A charge is plain, and copied.
                side: None,
                grip: None,
                ..*row
            },
        );
        self.arrived(world, entity, now);
    }

    /// Changes the shared value of an entity.
    pub(crate) fn joined(&mut self, world: &World, entity: Entity, team: Option<u8>) {
        let before = *self.row_mut(entity);
        self.row_mut(entity).join(team);
        if team != before.team {
            self.moved(world, entity, before, 0);
        }
    }

    /// Begins a change of many rows: earlier writes do not count for it.
    pub(crate) fn forget_writes(&mut self) {
        self.rows.values_mut().for_each(|row| row.written = 0);
    }

    /// Reads the places of rows from the world after many have moved. Asserts that each entity is
    /// in the archetype of its components and that stamps follow the rule. Components in
    /// [`Row::written`] have the stamp `now`, or one after `since` if rows were changed one by one.
    pub(crate) fn read_places(&mut self, world: &World, rule: Rule, since: Stamp) {
        let now = world.version().to_bits();
        let old = std::mem::take(&mut self.lists);
        let new = old.read(world);
        let rows: usize = new.lists.iter().map(|list| list.entities.len()).sum();
        assert_eq!(rows, self.rows.len(), "rows of all archetypes");
        for (number, list) in new.lists.iter().enumerate() {
            for (index, chunk) in list.chunks.iter().enumerate() {
                let mut floor = [0; ALL];
                // The value of a chunk is a new one, the value of a chunk from which it has rows,
                // or its own of before: in one playback rows may come, and all others go.
                let mut is_known = chunk.value == 0
                    || old.lists.get(number).is_some_and(|list| {
                        list.chunks.iter().any(|before| before.value == chunk.value)
                    });
                for entity in list.rows(index) {
                    let row = &self.rows[entity];
                    assert_eq!(names(row.set), names(list.set), "components of {entity}");
                    let known = row.place.0 != usize::MAX;
                    let before = if known { *old.chunk(row.place) } else { Default::default() };
                    is_known |= !known || chunk.value == before.value;
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
                assert!(is_known, "the value {} of {index} of {number}", chunk.value);
                for part in parts_of(list.set) {
                    let (stamp, floor) = (chunk.columns[part], floor[part]);
                    // A new chunk has a new value.
                    let may_be_newer = rule == Rule::Rows || part == <PerChunk<Bounds>>::INDEX;
                    let holds = stamp == floor || (may_be_newer && stamp > floor);
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
