//! Playback on the model: each command on its own, in the order of recording.

use std::collections::BTreeSet;

use phalanx::command::CommandVerb;
use phalanx::prelude::*;

use crate::buffers::{Failure, Record};
use crate::charges::Charge;
use crate::commands::{Closure, Command};
use crate::model::{Model, Row};
use crate::outcome::{DEAD, DONE, EXHAUSTED, HELD, Outcome};
use crate::parts::{ALL, Four, PARTS, Set, Shape, Spot, Twelve};
use crate::relations::{Kind, Relations};
use crate::{with_part, with_relation};

/// A playback in progress.
pub(crate) struct Playback<'m> {
    model: &'m mut Model,
    failures: Vec<Failure>,
    /// Entities with ids that are not known yet, and the number of all such entities so far.
    stand_ins: BTreeSet<Entity>,
    stood_in: u32,
    /// Ids that are lent for the writers' spawns that are not played yet.
    unnamed: usize,
    panicked: bool,
}

impl<'m> Playback<'m> {
    /// A playback of commands, among them this number of spawns by writers.
    pub(crate) fn new(model: &'m mut Model, unnamed: usize) -> Self {
        let unnamed = unnamed.min(model.ids.available());
        model.ids.lend(unnamed);
        model.forget_writes();
        let (failures, stand_ins) = (Vec::new(), BTreeSet::new());
        Self { model, failures, stand_ins, stood_in: 0, unnamed, panicked: false }
    }

    pub(crate) const fn relations(&self) -> &Relations {
        &self.model.relations
    }

    pub(crate) fn is_alive(&self, entity: Entity) -> bool {
        self.model.alive(entity).is_some()
    }

    pub(crate) fn living(&self) -> &[Entity] {
        &self.model.living
    }

    /// Whether a query of these components visits an entity.
    pub(crate) fn has(&self, entity: Entity, set: Set) -> bool {
        self.model.row(entity).is_some_and(|row| row.has(set) && !row.is_hidden())
    }

    /// Adds an entity with an id that the world chooses. Until the id is known, it counts as lent.
    pub(crate) fn stand_in(&mut self, set: Set, number: u32) -> Entity {
        self.stood_in += 1;
        let entity = Entity::from_bits(0xffff_fffe << 32 | u64::from(self.stood_in));
        self.stand_ins.insert(entity);
        self.model.ids.lend(1);
        self.model.add(entity, set, [number; ALL]);
        entity
    }

    /// Despawns entities and their followers. Returns false if one of them is held: all stay.
    fn despawn(&mut self, named: &[Entity]) -> bool {
        let is_held = self.model.is_held(named);
        if !is_held {
            self.model.going(named).into_iter().for_each(|entity| self.end_one(entity));
        }
        !is_held
    }

    /// Despawns entities and their followers as far as they are not held. Returns the others.
    pub(crate) fn despawn_most(&mut self, mut named: Vec<Entity>) -> BTreeSet<Entity> {
        named.retain(|&entity| self.is_alive(entity));
        let kept = self.model.relations.kept(&named);
        named.retain(|entity| !kept.contains(entity));
        assert!(self.despawn(&named), "the others go");
        kept
    }

    fn end_one(&mut self, entity: Entity) {
        if self.model.row_mut(entity).has_cleanup() {
            self.model.die(entity);
        } else if self.stand_ins.remove(&entity) {
            self.model.take(entity);
            self.model.ids.end_loans(1);
            self.model.ids.lived_unseen();
        } else {
            self.model.die(entity);
        }
    }

    /// Changes an entity. Returns false if it is dead.
    pub(crate) fn change(&mut self, entity: Entity, (removed, added): (Set, Set), n: u32) -> bool {
        // Removals also work on an entity that is gone.
        let only_removes = removed != 0 && added == 0;
        if self.model.row(entity).is_none_or(|row| row.is_gone() && !only_removes) {
            return false;
        }
        self.model.lose(entity, removed);
        if let Some(row) = self.model.rows.get_mut(&entity) {
            row.write(added, n);
        }
        true
    }

    pub(crate) fn unrelate<K: Kind>(&mut self, source: Entity) {
        self.model.relations.of_mut::<K>().remove(source);
    }

    /// Applies the relation of a command, if it has one.
    fn play_relation(
        &mut self,
        command: Command,
        (source, target): (Entity, Entity),
    ) -> Result<(), Outcome> {
        match command {
            Command::Relate { .. } | Command::Unrelate { .. } if !self.is_alive(source) => {
                Err(DEAD)
            }
            Command::Relate { kind, number, .. } | Command::SpawnRelated { kind, number, .. } => {
                with_relation!(kind, K => self.relate::<K>(source, target, number))
            }
            Command::Unrelate { kind, .. } => {
                with_relation!(kind, K => self.unrelate::<K>(source));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Relates an entity that is alive, unless the relation is refused.
    pub(crate) fn relate<K: Kind>(
        &mut self,
        source: Entity,
        target: Entity,
        number: u32,
    ) -> Result<(), Outcome> {
        match self.model.relates::<K>(source, target) {
            DONE => Ok(self.model.relations.put::<K>(source, target, number)),
            refused => Err(refused),
        }
    }

    /// Changes the sparse component of an entity that is not dead.
    fn change_note(&mut self, entity: Entity, command: &Command) {
        if let Some(row) = self.model.rows.get_mut(&entity).filter(|row| !row.is_gone()) {
            row.side = if command.drops_note() { None } else { command.note().or(row.side) };
        }
    }

    /// Writes components of all entities with matching components, except hidden ones.
    pub(crate) fn write_where(&mut self, matches: impl Fn(Set) -> bool, set: Set, number: u32) {
        let rows = self.model.rows.values_mut();
        rows.filter(|row| !row.is_hidden() && matches(row.set))
            .for_each(|row| row.write(set, number));
    }

    /// Removes components from all entities that have `set`, except hidden ones.
    pub(crate) fn remove_where(&mut self, set: Set, removed: Set) {
        let rows = self.model.rows.values_mut();
        rows.filter(|row| !row.is_hidden() && row.has(set)).for_each(|row| row.set &= !removed);
    }

    fn matches(&self, query: usize) -> Vec<Entity> {
        let rows = self.model.rows.iter();
        rows.filter(|(_, row)| Command::matches(query, row.set))
            .map(|(&entity, _)| entity)
            .collect()
    }

    /// Applies the commands of a buffer. Despawns that follow each other are one call.
    pub(crate) fn play_all(&mut self, records: &[Record]) {
        let is_despawn = |record: &Record| matches!(record.command, Command::Despawn { .. });
        for run in records.chunk_by(|a, b| is_despawn(a) && is_despawn(b)) {
            if !is_despawn(&run[0]) {
                self.play(run[0]);
                continue;
            }
            let mut kept = self.despawn_most(run.iter().map(|record| record.entity).collect());
            for Record { entity, .. } in run.iter().filter(|record| kept.remove(&record.entity)) {
                self.failures.push((CommandVerb::Despawn, *entity, HELD));
            }
        }
    }

    /// Applies one command.
    fn play(&mut self, Record { command, entity, target }: Record) {
        let (removed, added, number) = command.sets();
        let done = match command {
            Command::Spawn { .. } if entity.is_null() => match self.unnamed.checked_sub(1) {
                None => Err(EXHAUSTED),
                Some(left) => {
                    self.unnamed = left;
                    self.model.ids.end_loans(1);
                    self.stand_in(added, number);
                    Ok(())
                }
            },
            Command::Spawn { .. } | Command::SpawnRelated { .. } => {
                self.model.ids.begins(entity);
                self.model.add(entity, added, [number; ALL]);
                self.play_relation(command, (entity, target))
            }
            Command::Relate { .. } | Command::Unrelate { .. } => {
                self.play_relation(command, (entity, target))
            }
            Command::SpawnBatch { rows, .. } if rows > self.model.ids.available() => Err(EXHAUSTED),
            Command::SpawnBatch { rows, .. } => {
                for _ in 0..rows {
                    let entity = self.stand_in(added, number);
                    let charge = Some(number).filter(|&number| Charge::is_beside(number));
                    self.model.row_mut(entity).charge = charge;
                }
                Ok(())
            }
            Command::Insert { .. } | Command::Remove { .. } | Command::Exchange { .. } => {
                match self.change(entity, (removed, added), number) {
                    true => {
                        self.change_note(entity, &command);
                        Ok(())
                    }
                    false => Err(DEAD),
                }
            }
            Command::Despawn { .. } => unreachable!("despawns are played in runs"),
            Command::InsertWhere { query, .. } | Command::RemoveWhere { query, .. } => {
                for entity in self.matches(query) {
                    self.change(entity, (removed, added), number);
                }
                Ok(())
            }
            Command::DespawnWhere { query } => match self.despawn(&self.matches(query)) {
                true => Ok(()),
                false => Err(HELD),
            },
            Command::Run { what, number, .. } => {
                self.run(what, entity, number);
                Ok(())
            }
            Command::DeadEntityPolicy { .. } => Ok(()),
        };
        if let (Err(fault), Some(verb)) = (done, command.verb()) {
            self.failures.push((verb, entity, fault));
        }
    }

    fn run(&mut self, what: Closure, entity: Entity, number: u32) {
        match what {
            Closure::Despawn => {
                self.despawn(&[entity]);
            }
            Closure::Insert => {
                self.change(entity, (0, Four::SET | Twelve::SET), number);
            }
            Closure::WriteAll => {
                self.write_where(|set| set & Four::SET != 0, Four::SET, number);
            }
            Closure::Panic => self.panicked = true,
        }
    }

    /// Finds the ids of the stand-ins. Returns the commands that had no effect, and whether a
    /// closure panicked.
    pub(crate) fn end(self, world: &World) -> (Vec<Failure>, bool) {
        let mut waiting: Vec<Entity> = self.stand_ins.into_iter().collect();
        if !waiting.is_empty() {
            let is_new = |entity: &&Entity| self.model.row(**entity).is_none();
            let new = world
                .query::<Entity>()
                .filter::<IncludeHidden>()
                .iter()
                .flatten()
                .filter(is_new)
                .copied();
            let new: Vec<Entity> = new.collect();
            assert_eq!(new.len(), waiting.len(), "entities that were spawned without an id");
            for entity in new {
                let same = |e: &Entity| is_same(world, entity, &self.model.rows[e]);
                let found = waiting.iter().position(same);
                let stand_in = waiting.swap_remove(found.expect("one was recorded like it"));
                let row = self.model.take(stand_in);
                self.model.ids.end_loans(1);
                self.model.ids.made_anywhere(entity);
                self.model.add(entity, row.set, row.numbers);
                self.model.row_mut(entity).charge = row.charge;
            }
        }
        (self.failures, self.panicked)
    }
}

/// Whether an entity of the world has the same components and values as a row.
fn is_same(world: &World, entity: Entity, row: &Row) -> bool {
    let spot = row.has(Spot::SET).then(|| Spot::of(&row.numbers));
    let has_rest =
        world.get::<Spot>(entity).ok() == spot && world.has::<Gone>(entity) == row.is_gone();
    let charge = world.sparse::<Charge>().get(entity).map(|charge| charge.0);
    has_rest
        && charge == row.charge
        && (0..PARTS).all(|part| {
            with_part!(part, P => {
                let has = row.has(P::SET);
                let value = world.get::<P>(entity).ok();
                value.is_some() == has && value.is_none_or(|v| *v == P::part(row.numbers[part]))
            })
        })
}
