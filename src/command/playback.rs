//! Playback: what was recorded happens, merged between two barriers.

use core::any::Any;
use core::ops::Range;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::entity::{EntitiesExhausted, Entity, NoSuchEntity};
use crate::world::{Changed, InsertError, RowValues, SpawnError, World};

use super::applied::Applied;
use super::arena::{Arena, ValueId};
use super::buffer::CommandBuffer;
use super::chain::Chains;
use super::error::{ApplyError, CommandError, CommandErrors, CommandFault, CommandVerb, OnDead};
use super::kind::{KindId, Kinds, Meanings};
use super::merge::{Merged, Nets};
use super::record::{Deed, Place, Record, Recorder, Verb, What};

/// What a buffer keeps from one playback to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    meanings: Meanings,
    nets: Nets,
    chains: Chains,
    chain: Vec<u32>,
    unnamed: Vec<Entity>,
}

impl World {
    /// Does what the buffer has recorded, and empties it; see [`CommandBuffer`] for the order.
    ///
    /// # Errors
    ///
    /// [`ApplyError`]: the buffer is of another world, or some commands had no effect. In the latter
    /// case all others were applied, and [`CommandErrors::applied`](crate::CommandErrors::applied)
    /// says what they did.
    ///
    /// # Panics
    ///
    /// If a closure of the buffer panics, or a command fails and the policy is
    /// [`OnDead::Panic`](crate::OnDead::Panic). Everything else was applied, the world is sound and
    /// the buffer is empty.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let mut buffer = world.command_buffer(10)?;
    /// for _ in 0..10 {
    ///     buffer.spawn(());
    /// }
    /// assert_eq!(world.apply(&mut buffer)?.spawned, 10);
    /// assert!(buffer.is_empty());
    /// assert!(World::new().apply(&mut buffer).is_err()); // another world
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply(&mut self, buffer: &mut CommandBuffer) -> Result<Applied, ApplyError> {
        if !buffer.is_of(self) {
            return Err(ApplyError::OtherWorld);
        }
        self.flush();
        let commands = buffer.len();
        let (outcome, settled) = Emptied(&mut buffer.recorder).play(self, &mut buffer.memory);
        if !buffer.is_of(self) {
            // The ids are the other world's, which may still be somewhere.
            return outcome.finish(commands, buffer.on_dead, true);
        }
        buffer.ids.renew(self, settled);
        outcome.finish(commands, buffer.on_dead, false)
    }
}

/// What came out of a playback.
#[derive(Default)]
struct Outcome {
    applied: Applied,
    /// Errors, with the number of records before each.
    errors: Vec<(usize, CommandError)>,
    /// The first panic of a closure.
    panic: Option<Box<dyn Any + Send>>,
}

impl Outcome {
    fn finish(
        mut self,
        commands: usize,
        policy: OnDead,
        other_world: bool,
    ) -> Result<Applied, ApplyError> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        if other_world {
            return Err(ApplyError::OtherWorld);
        }
        if policy == OnDead::Ignore {
            let dead = |fault| matches!(fault, CommandFault::NoSuchEntity(_));
            self.errors.retain(|(_, error)| !dead(error.fault));
        }
        self.errors.sort_by_key(|&(at, _)| at);
        let errors = self.errors.into_iter().map(|(_, error)| error).collect();
        let applied = Applied { commands, ..self.applied };
        match CommandErrors::new(errors, applied) {
            None => Ok(applied),
            Some(errors) if policy == OnDead::Panic => panic!("{errors}"),
            Some(errors) => Err(ApplyError::Commands(errors)),
        }
    }
}

/// A recorder that is empty afterwards, whatever happens.
struct Emptied<'b>(&'b mut Recorder);

impl Drop for Emptied<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

impl Emptied<'_> {
    /// Plays all of it. Returns also how many of the buffer's own ids are settled.
    fn play(self, world: &mut World, memory: &mut Memory) -> (Outcome, usize) {
        let Recorder { records, deeds, values, kinds, unnamed } = &mut *self.0;
        let Memory { meanings, nets, chains, chain, unnamed: ids } = memory;
        let id = world.id();
        meanings.learn(kinds, world);
        let named = name(world, records, core::mem::take(unnamed), ids);
        let mut player = Player {
            world,
            records,
            values,
            kinds,
            meanings,
            nets,
            outcome: Outcome::default(),
            settled: 0,
            spawns: 0..0,
        };
        let mut from = 0;
        for deed in deeds.drain(..) {
            player.run(from..deed.after, chains, chain);
            from = deed.after;
            player.deed(deed);
            if player.world.id() != id {
                return (player.outcome, 0);
            }
        }
        player.run(from..records.len(), chains, chain);
        (player.outcome, player.settled.saturating_sub(named))
    }
}

/// Gives ids to the spawns that have none, as long as there are any. Returns how many it gave.
fn name(world: &mut World, records: &mut [Record], unnamed: usize, ids: &mut Vec<Entity>) -> usize {
    if unnamed == 0 {
        return 0;
    }
    ids.clear();
    world.store.entities.lend_at_most(u32::try_from(unnamed).unwrap_or(u32::MAX), ids);
    let mut next = ids.iter();
    for record in records.iter_mut().filter(|record| record.verb == Verb::SpawnUnnamed) {
        record.verb = Verb::Spawn;
        record.entity = next.next().copied().unwrap_or(Entity::NULL);
    }
    ids.len()
}

/// A playback under way.
struct Player<'p> {
    world: &'p mut World,
    records: &'p [Record],
    values: &'p Arena,
    kinds: &'p Kinds,
    meanings: &'p Meanings,
    nets: &'p mut Nets,
    outcome: Outcome,
    /// Ids of spawns that live or never will.
    settled: usize,
    /// Records of spawns that nothing else was recorded for, to be played together.
    spawns: Range<usize>,
}

impl Player<'_> {
    /// Plays a run of records between two barriers.
    fn run(&mut self, records: Range<usize>, chains: &mut Chains, chain: &mut Vec<u32>) {
        self.world.flush();
        let first = records.start;
        chains.each(&self.records[records], chain, |chain| match *chain {
            [only] if self.records[first + only as usize].verb == Verb::Spawn => {
                self.spawn_later(first + only as usize);
            }
            _ => {
                self.spawn_waiting();
                self.chain(first, chain);
            }
        });
        self.spawn_waiting();
    }

    /// Lets a spawn wait for others of its kind, if its value lies behind the last one's.
    #[inline]
    fn spawn_later(&mut self, at: usize) {
        if let Some(last) = self.spawns.clone().last() {
            let (last, next) = (&self.records[last], &self.records[at]);
            let stride = Arena::stride(self.meanings.get(next.kind).bytes);
            let follows = last.kind == next.kind
                && last.value.byte() + stride == next.value.byte()
                && self.spawns.end == at;
            if follows {
                self.spawns.end += 1;
                return;
            }
        }
        self.spawn_waiting();
        self.spawns = at..at + 1;
    }

    /// Plays the spawns that wait: together, or one by one if that fails.
    #[inline]
    fn spawn_waiting(&mut self) {
        if self.spawns.is_empty() {
            return;
        }
        let spawns = core::mem::take(&mut self.spawns);
        let records = &self.records[spawns.clone()];
        if let [first, _, ..] = records {
            let kind = self.meanings.get(first.kind);
            let bytes = &self.values.bytes()[first.value.byte()..];
            let values = RowValues { bytes, starts: &kind.starts };
            let ids = records.iter().map(|record| record.entity);
            let stride = Arena::stride(kind.bytes);
            if self.world.spawn_lent_rows(ids, kind.bundle, values, stride).is_ok() {
                self.settled += records.len();
                self.outcome.applied.spawned += records.len();
                return;
            }
        }
        spawns.for_each(|at| self.chain(at, &[0]));
    }

    /// Plays the records of one entity, counted from `first`.
    #[inline]
    fn chain(&mut self, first: usize, chain: &[u32]) {
        let records = self.records;
        let at = |&i: &u32| &records[first + i as usize];
        let (head, last) = match chain {
            [] => return,
            [only] => (at(only), at(only)),
            [head, .., last] => (at(head), at(last)),
        };
        let entity = head.entity;
        let done = match (head.verb == Verb::Spawn, last.verb == Verb::Despawn) {
            (true, true) => self.never_live(entity),
            (false, true) => self.despawn(entity),
            (is_spawn, false) => {
                let changes = chain.iter().map(at).map(|record| (record.kind, record.value));
                let net = self.nets.merge(self.world, self.meanings, changes);
                let values = RowValues { bytes: self.values.bytes(), starts: net.starts };
                let Merged { removed, added, .. } = net;
                if is_spawn {
                    self.world.spawn_lent(entity, added, values).map(|()| {
                        self.settled += 1;
                        self.outcome.applied.spawned += 1;
                    })
                } else {
                    self.world.merge(entity, (removed, added), values).map(|changed| {
                        self.outcome.applied.moved += usize::from(changed == Changed::Moved);
                    })
                }
            }
        };
        if let Err(error) = done {
            self.failed(first, chain, error);
        }
    }

    fn despawn(&mut self, entity: Entity) -> Result<(), InsertError> {
        self.world.despawn_flushed(entity)?;
        self.outcome.applied.despawned += 1;
        Ok(())
    }

    /// An entity that is despawned before anybody could see it.
    fn never_live(&mut self, entity: Entity) -> Result<(), InsertError> {
        match self.world.store.entities.end_lent(entity) {
            true => self.settled += 1,
            false => return Err(NoSuchEntity { entity }.into()),
        }
        Ok(())
    }

    /// What all records of an entity come to cannot be: one by one it may be in part.
    #[cold]
    fn failed(&mut self, first: usize, chain: &[u32], error: InsertError) {
        let index = |&i: &u32| first + i as usize;
        match (chain, error) {
            ([only], InsertError::Layout(error)) => {
                let record = &self.records[index(only)];
                if record.verb == Verb::Spawn && self.never_live(record.entity).is_err() {
                    unreachable!("a row that is too large leaves its id lent");
                }
                self.record_failed(index(only), CommandFault::Layout(error));
            }
            (_, InsertError::Layout(_)) => {
                chain.iter().for_each(|&i| self.chain(first, &[i]));
            }
            (_, InsertError::NoSuchEntity(error)) => {
                for i in chain.iter().map(index) {
                    let record = &self.records[i];
                    match record.verb {
                        Verb::Despawn => {}
                        Verb::Spawn if record.entity.is_null() => {
                            let limit = self.world.store.entities.limit();
                            let exhausted = EntitiesExhausted { limit };
                            self.record_failed(i, CommandFault::Exhausted(exhausted));
                        }
                        _ => self.record_failed(i, CommandFault::NoSuchEntity(error)),
                    }
                }
            }
        }
    }

    fn record_failed(&mut self, at: usize, fault: CommandFault) {
        let Record { entity, place, kind, verb, .. } = self.records[at];
        let verb = match (verb, self.meanings.get(kind)) {
            (Verb::Spawn | Verb::SpawnUnnamed, _) => CommandVerb::Spawn,
            (_, kind) if kind.removed.is_empty() => CommandVerb::Insert,
            (_, kind) if kind.added.is_empty() => CommandVerb::Remove,
            _ => CommandVerb::Exchange,
        };
        // Behind a deed that follows as many records.
        self.fail(at + 1, verb, entity, kind, place, fault);
    }

    fn fail(
        &mut self,
        at: usize,
        verb: CommandVerb,
        entity: Entity,
        kind: KindId,
        place: Place,
        fault: CommandFault,
    ) {
        let components = self.kinds.get(kind).names();
        let error = CommandError { verb, entity, components, place, fault };
        self.outcome.errors.push((at, error));
    }

    fn deed(&mut self, Deed { after, place, what }: Deed) {
        match what {
            What::Run(run) => {
                let world = &mut *self.world;
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(world))) {
                    self.outcome.panic.get_or_insert(panic);
                }
            }
            What::Batch { kind, rows, value } => {
                if let Err(error) = self.batch(kind, rows, value) {
                    let fault = match error {
                        SpawnError::Exhausted(error) => CommandFault::Exhausted(error),
                        SpawnError::Layout(error) => CommandFault::Layout(error),
                    };
                    self.fail(after, CommandVerb::Spawn, Entity::NULL, kind, place, fault);
                }
            }
            What::ByQuery { kind, value, change } => {
                match change(self.world, &self.values.bytes()[value.byte()..]) {
                    Ok(matched) => self.outcome.applied.matched += matched,
                    // Only an insertion makes rows wider.
                    Err(error) => {
                        let (verb, fault) = (CommandVerb::Insert, CommandFault::Layout(error));
                        self.fail(after, verb, Entity::NULL, kind, place, fault);
                    }
                }
            }
        }
    }

    /// Spawns a batch, in one go.
    fn batch(&mut self, kind: KindId, rows: usize, value: ValueId) -> Result<(), SpawnError> {
        let kind = self.meanings.get(kind);
        let values =
            RowValues { bytes: &self.values.bytes()[value.byte()..], starts: &kind.starts };
        self.world.spawn_strided(kind.bundle, rows, values, Arena::stride(kind.bytes))?;
        self.outcome.applied.spawned += rows;
        Ok(())
    }
}
