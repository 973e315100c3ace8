//! Playback: what was recorded happens, merged between two barriers.

use core::any::Any;
use core::ops::Range;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::entity::{EntitiesExhausted, Entity, NoSuchEntity};
use crate::world::{InsertError, MergeOutcome, RowValues, SpawnError, World};

use super::applied::Applied;
use super::arena::{Arena, ValueId};
use super::buffer::CommandBuffer;
use super::bundle_kinds::{BundleKinds, KindId, ResolvedKinds};
use super::entity_groups::EntityGroups;
use super::error::{ApplyError, CommandErrors, CommandFault, CommandVerb, OnDead};
use super::failures::Failures;
use super::merge_table::{MergeTable, Merged};
use super::record::{Barrier, BarrierKind, CallSite, Record, RecordKind, Recorder};

/// BarrierKind a buffer keeps from one playback to the next.
#[derive(Debug, Default)]
pub(super) struct PlaybackScratch {
    meanings: ResolvedKinds,
    nets: MergeTable,
    chains: EntityGroups,
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
        let mut failures = Failures::listed();
        let applied = self.apply_into(buffer, &mut failures)?;
        match CommandErrors::new(failures.into_errors(), applied) {
            None => Ok(applied),
            Some(errors) => Err(ApplyError::Commands(errors)),
        }
    }

    /// [`World::apply`], which adds the commands that have no effect to `failures`, in the order of
    /// their recording. They are there also if it panics.
    ///
    /// # Errors
    ///
    /// [`ApplyError::OtherWorld`].
    pub(crate) fn apply_into(
        &mut self,
        buffer: &mut CommandBuffer,
        failures: &mut Failures,
    ) -> Result<Applied, ApplyError> {
        if !buffer.is_of(self) {
            return Err(ApplyError::OtherWorld);
        }
        self.flush();
        let (commands, policy) = (buffer.len(), buffer.on_dead);
        let recorded = Emptied(&mut buffer.recorder);
        let (outcome, settled) = recorded.play(self, &mut buffer.memory, policy, failures);
        failures.sort();
        let is_same_world = buffer.is_of(self);
        // In another world: the ids are the first one's, which may still be somewhere.
        if is_same_world {
            buffer.ids.renew(self, settled);
        }
        if let Some(panic) = outcome.panic {
            resume_unwind(panic);
        }
        if !is_same_world {
            return Err(ApplyError::OtherWorld);
        }
        assert!(policy != OnDead::Panic || failures.is_empty(), "{failures}");
        Ok(Applied { commands, ..outcome.applied })
    }
}

/// BarrierKind came out of a playback.
#[derive(Default)]
struct Outcome {
    applied: Applied,
    /// The first panic of a closure.
    panic: Option<Box<dyn Any + Send>>,
}

/// BarrierKind a record does, as its report says it.
fn verb_of(record: &Record, kinds: &BundleKinds) -> CommandVerb {
    match record.verb {
        RecordKind::Spawn | RecordKind::SpawnUnnamed => CommandVerb::Spawn,
        RecordKind::Change | RecordKind::Despawn => kinds.get(record.kind).verb(),
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
    fn play(
        self,
        world: &mut World,
        memory: &mut PlaybackScratch,
        policy: OnDead,
        failures: &mut Failures,
    ) -> (Outcome, usize) {
        let Recorder { records, deeds, values, kinds, unnamed } = &mut *self.0;
        let PlaybackScratch { meanings, nets, chains, chain, unnamed: ids } = memory;
        let id = world.id();
        meanings.learn(kinds, world);
        let named = name(world, records, core::mem::take(unnamed), ids);
        let settled = refuse(world, records, kinds, meanings, failures);
        let mut player = Player {
            world,
            records,
            values,
            kinds,
            meanings,
            nets,
            policy,
            failures,
            outcome: Outcome::default(),
            settled,
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
    for record in records.iter_mut().filter(|record| record.verb == RecordKind::SpawnUnnamed) {
        record.verb = RecordKind::Spawn;
        record.entity = next.next().copied().unwrap_or(Entity::NULL);
    }
    ids.len()
}

/// Takes out the records whose components the world refuses, and reports them. Returns how many ids
/// are settled by that.
fn refuse(
    world: &mut World,
    records: &mut [Record],
    kinds: &BundleKinds,
    meanings: &ResolvedKinds,
    failures: &mut Failures,
) -> usize {
    let mut settled = 0;
    if meanings.are_whole() {
        return settled;
    }
    for (at, record) in
        records.iter_mut().enumerate().filter(|(_, r)| r.verb != RecordKind::Despawn)
    {
        let Some(taken) = meanings.refused(record.kind) else { continue };
        if record.verb == RecordKind::Spawn && world.store.entities.end_lent(record.entity) {
            settled += 1;
        }
        let command = (verb_of(record, kinds), record.kind, kinds);
        let fault = CommandFault::NameTaken(taken);
        failures.add(at + 1, command, (record.entity, record.place), fault);
        // A despawn of no entity: it does nothing, and others keep their places.
        (record.verb, record.entity) = (RecordKind::Despawn, Entity::NULL);
    }
    settled
}

/// A playback under way.
struct Player<'p> {
    world: &'p mut World,
    records: &'p [Record],
    values: &'p Arena,
    kinds: &'p BundleKinds,
    meanings: &'p ResolvedKinds,
    nets: &'p mut MergeTable,
    policy: OnDead,
    failures: &'p mut Failures,
    outcome: Outcome,
    /// Ids of spawns that live or never will.
    settled: usize,
    /// Records of spawns that nothing else was recorded for, to be played together.
    spawns: Range<usize>,
}

impl Player<'_> {
    /// Plays a run of records between two barriers.
    fn run(&mut self, records: Range<usize>, chains: &mut EntityGroups, chain: &mut Vec<u32>) {
        self.world.flush();
        let first = records.start;
        chains.each(&self.records[records], chain, |chain| match *chain {
            [only] if self.records[first + only as usize].verb == RecordKind::Spawn => {
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
        let done = match (head.verb == RecordKind::Spawn, last.verb == RecordKind::Despawn) {
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
                        self.outcome.applied.moved += usize::from(changed == MergeOutcome::Moved);
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

    /// BarrierKind all records of an entity come to cannot be: one by one it may be in part.
    #[cold]
    fn failed(&mut self, first: usize, chain: &[u32], error: InsertError) {
        let index = |&i: &u32| first + i as usize;
        match (chain, error) {
            ([only], InsertError::Layout(error)) => {
                let record = &self.records[index(only)];
                if record.verb == RecordKind::Spawn && self.never_live(record.entity).is_err() {
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
                        RecordKind::Despawn => {}
                        RecordKind::Spawn if record.entity.is_null() => {
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
        let record = &self.records[at];
        let Record { entity, place, kind, .. } = *record;
        // Behind a deed that follows as many records.
        self.fail(at + 1, verb_of(record, self.kinds), entity, kind, place, fault);
    }

    fn fail(
        &mut self,
        at: usize,
        verb: CommandVerb,
        entity: Entity,
        kind: KindId,
        place: CallSite,
        fault: CommandFault,
    ) {
        if self.policy != OnDead::Ignore || !fault.is_stale() {
            self.failures.add(at, (verb, kind, self.kinds), (entity, place), fault);
        }
    }

    fn deed(&mut self, Barrier { after, place, what }: Barrier) {
        match what {
            BarrierKind::Run(run) => {
                let world = &mut *self.world;
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(world))) {
                    self.outcome.panic.get_or_insert(panic);
                }
            }
            BarrierKind::Batch { kind, rows, value } => {
                if let Err(fault) = self.batch(kind, rows, value) {
                    self.deed_failed(after, CommandVerb::Spawn, kind, place, fault);
                }
            }
            BarrierKind::ByQuery { verb, kind, value, change } => {
                let refused = self.meanings.refused(kind).map(CommandFault::NameTaken);
                let changed = match refused {
                    None => change(self.world, &self.values.bytes()[value.byte()..]),
                    Some(fault) => Err(fault),
                };
                match changed {
                    Ok(matched) => self.outcome.applied.matched += matched,
                    Err(fault) => self.deed_failed(after, verb, kind, place, fault),
                }
            }
        }
    }

    fn deed_failed(
        &mut self,
        after: usize,
        verb: CommandVerb,
        kind: KindId,
        place: CallSite,
        fault: CommandFault,
    ) {
        self.fail(after, verb, Entity::NULL, kind, place, fault);
    }

    /// Spawns a batch, in one go.
    fn batch(&mut self, kind: KindId, rows: usize, value: ValueId) -> Result<(), CommandFault> {
        if let Some(taken) = self.meanings.refused(kind) {
            return Err(CommandFault::NameTaken(taken));
        }
        let kind = self.meanings.get(kind);
        let values =
            RowValues { bytes: &self.values.bytes()[value.byte()..], starts: &kind.starts };
        let spawned =
            self.world.spawn_strided(kind.bundle, rows, values, Arena::stride(kind.bytes));
        spawned.map_err(|error| match error {
            SpawnError::Exhausted(error) => CommandFault::Exhausted(error),
            SpawnError::Memory(error) => CommandFault::PlaybackScratch(error),
            SpawnError::Layout(error) => CommandFault::Layout(error),
        })?;
        self.outcome.applied.spawned += rows;
        Ok(())
    }
}
