//! Playback: recorded commands are applied to the world, merged between barriers.
//!
//! Barriers are played back in the order of recording. Between two barriers, the commands of one
//! entity are merged to one change, and entities follow in the order of their last command
//! ([`EntityGroups`]).

use core::any::Any;
use core::ops::Range;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::entity::{Entity, NoSuchEntity, OutOfIds};
use crate::world::{EntityError, MergeOutcome, RowValues, SpawnError, World};

use super::arena::{Arena, ValueId};
use super::buffer::CommandBuffer;
use super::bundle_kinds::{BundleKindId, BundleKinds, ResolvedKinds};
use super::entity_groups::EntityGroups;
use super::error::{
    Applied, ApplyError, CommandErrorKind, CommandErrors, CommandVerb, DeadEntityPolicy,
};
use super::failures::Failures;
use super::merge_table::{MergeTable, Merged};
use super::record::{Barrier, BarrierKind, CallSite, Record, RecordKind, Recorder};
use super::scratch::PlaybackScratch;

impl World {
    /// Applies the commands of a buffer, and empties it; see [`CommandBuffer`] for the order.
    ///
    /// # Errors
    ///
    /// [`ApplyError`] if the buffer belongs to another world, or if some commands had no effect. In
    /// the latter case all others were applied, and [`CommandErrors::applied`] counts their
    /// effects.
    ///
    /// # Panics
    ///
    /// If a closure or a kernel of the buffer panics, or a command fails and the policy is
    /// [`DeadEntityPolicy::Panic`]. All other commands were applied, the world is sound and the
    /// buffer is empty.
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
    /// their recording, even if it panics.
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
        let (commands, policy) = (buffer.len(), buffer.on_dead_entity);
        let recorder = ClearOnDrop(&mut buffer.recorder);
        let (outcome, loans_ended) = play(self, recorder, &mut buffer.scratch, policy, failures);
        failures.sort();
        let is_same_world = buffer.is_of(self);
        // Ids of the first world are not renewed in another one: copies of them may exist.
        if is_same_world {
            buffer.ids.renew(self, loans_ended);
        }
        if let Some(panic) = outcome.panic {
            resume_unwind(panic);
        }
        if !is_same_world {
            return Err(ApplyError::OtherWorld);
        }
        assert!(policy != DeadEntityPolicy::Panic || failures.is_empty(), "{failures}");
        Ok(Applied { commands, ..outcome.applied })
    }
}

/// The result of a playback.
#[derive(Default)]
struct Outcome {
    applied: Applied,
    /// The first panic of a closure.
    panic: Option<Box<dyn Any + Send>>,
}

/// Clears the recorder when dropped, even if playback panics.
struct ClearOnDrop<'b>(&'b mut Recorder);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// Plays all records and barriers. Also returns how many loans of the buffer's own ids have ended.
fn play(
    world: &mut World,
    recorder: ClearOnDrop<'_>,
    scratch: &mut PlaybackScratch,
    policy: DeadEntityPolicy,
    failures: &mut Failures,
) -> (Outcome, usize) {
    let Recorder { records, barriers, values, bundle_kinds, ids_missing } = &mut *recorder.0;
    let PlaybackScratch { resolved, merge_table, groups, group, assigned_ids } = scratch;
    let id = world.id();
    resolved.resolve_new(bundle_kinds, world);
    let assigned = assign_ids(world, records, core::mem::take(ids_missing), assigned_ids);
    let loans_ended = refuse(world, records, bundle_kinds, resolved, failures);
    let mut player = Player {
        world,
        records,
        values,
        bundle_kinds,
        resolved,
        merge_table,
        policy,
        failures,
        outcome: Outcome::default(),
        loans_ended,
        spawns: 0..0,
    };
    let mut from = 0;
    for barrier in barriers.drain(..) {
        player.play_records(from..barrier.after, groups, group);
        from = barrier.after;
        player.play_barrier(barrier);
        if player.world.id() != id {
            return (player.outcome, 0);
        }
    }
    player.play_records(from..records.len(), groups, group);
    (player.outcome, player.loans_ended.saturating_sub(assigned))
}

/// Assigns ids to the spawns without one, as long as ids are left. Returns the number assigned.
fn assign_ids(
    world: &mut World,
    records: &mut [Record],
    missing: usize,
    ids: &mut Vec<Entity>,
) -> usize {
    if missing == 0 {
        return 0;
    }
    ids.clear();
    world.store.entities.loan_at_most(u32::try_from(missing).unwrap_or(u32::MAX), ids);
    let mut next = ids.iter();
    for record in records.iter_mut().filter(|record| record.kind == RecordKind::SpawnWithoutId) {
        record.kind = RecordKind::Spawn;
        record.entity = next.next().copied().unwrap_or(Entity::NULL);
    }
    ids.len()
}

/// Removes the records whose components the world refuses, and reports them. Returns the number of
/// loans that it ends.
fn refuse(
    world: &mut World,
    records: &mut [Record],
    bundle_kinds: &BundleKinds,
    resolved: &ResolvedKinds,
    failures: &mut Failures,
) -> usize {
    let mut loans_ended = 0;
    if !resolved.has_refused() {
        return loans_ended;
    }
    for (at, record) in
        records.iter_mut().enumerate().filter(|(_, r)| r.kind != RecordKind::Despawn)
    {
        let Some(taken) = resolved.refused(record.bundle_kind) else { continue };
        if record.kind == RecordKind::Spawn && world.store.entities.end_loan(record.entity) {
            loans_ended += 1;
        }
        let command = (record.verb(bundle_kinds), record.bundle_kind, bundle_kinds);
        let fault = CommandErrorKind::NameTaken(taken);
        failures.add(at + 1, command, (record.entity, record.call_site), fault);
        // A despawn of no entity has no effect, and the indices of the other records are kept.
        (record.kind, record.entity) = (RecordKind::Despawn, Entity::NULL);
    }
    loans_ended
}

/// The state of a playback.
struct Player<'p> {
    world: &'p mut World,
    records: &'p [Record],
    values: &'p Arena,
    bundle_kinds: &'p BundleKinds,
    resolved: &'p ResolvedKinds,
    merge_table: &'p mut MergeTable,
    policy: DeadEntityPolicy,
    failures: &'p mut Failures,
    outcome: Outcome,
    /// The number of loans that have ended, with or without a spawn.
    loans_ended: usize,
    /// Adjacent spawns that are groups of their own, to be played together.
    spawns: Range<usize>,
}

impl Player<'_> {
    /// Plays the records between two barriers. `group` is scratch memory.
    fn play_records(
        &mut self,
        records: Range<usize>,
        groups: &mut EntityGroups,
        group: &mut Vec<u32>,
    ) {
        self.world.flush();
        let first = records.start;
        let run = &self.records[records];
        if run.iter().all(|record| record.kind == RecordKind::Despawn) {
            // Nothing to merge: a second despawn of an entity has no effect.
            let despawned = self.world.store.despawn_batch(run.len(), |i| run[i].entity);
            self.outcome.applied.despawned += despawned;
            return;
        }
        groups.each(run, group, |group| match *group {
            [only] if self.records[first + only as usize].kind == RecordKind::Spawn => {
                self.defer_spawn(first + only as usize);
            }
            _ => {
                self.play_spawns();
                self.play_group(first, group);
            }
        });
        self.play_spawns();
    }

    /// Defers a spawn, to be played with others of its kind whose values are consecutive.
    #[inline]
    fn defer_spawn(&mut self, at: usize) {
        if let Some(last) = self.spawns.clone().last() {
            let (last, next) = (&self.records[last], &self.records[at]);
            let stride = Arena::stride(self.resolved.get(next.bundle_kind).bytes);
            let follows = last.bundle_kind == next.bundle_kind
                && last.value.byte() + stride == next.value.byte()
                && self.spawns.end == at;
            if follows {
                self.spawns.end += 1;
                return;
            }
        }
        self.play_spawns();
        self.spawns = at..at + 1;
    }

    /// Plays the deferred spawns: together, or one by one if that fails.
    #[inline]
    fn play_spawns(&mut self) {
        if self.spawns.is_empty() {
            return;
        }
        let spawns = core::mem::take(&mut self.spawns);
        let records = &self.records[spawns.clone()];
        if let [first, _, ..] = records {
            let kind = self.resolved.get(first.bundle_kind);
            let bytes = &self.values.bytes()[first.value.byte()..];
            let values = RowValues { bytes, starts: &kind.starts };
            let ids = records.iter().map(|record| record.entity);
            let stride = Arena::stride(kind.bytes);
            if self.world.spawn_loaned_rows(ids, kind.bundle, values, stride).is_ok() {
                self.loans_ended += records.len();
                self.outcome.applied.spawned += records.len();
                return;
            }
        }
        spawns.for_each(|at| self.play_group(at, &[0]));
    }

    /// Plays the records of one entity, as indices counted from `first`.
    #[inline]
    fn play_group(&mut self, first: usize, group: &[u32]) {
        let records = self.records;
        let at = |&i: &u32| &records[first + i as usize];
        let (head, last) = match group {
            [] => return,
            [only] => (at(only), at(only)),
            [head, .., last] => (at(head), at(last)),
        };
        let entity = head.entity;
        let played = match (head.kind == RecordKind::Spawn, last.kind == RecordKind::Despawn) {
            (true, true) => self.discard_spawn(entity),
            (false, true) => self.despawn(entity),
            (is_spawn, false) => {
                let changes = group.iter().map(at).map(|record| (record.bundle_kind, record.value));
                let merged = self.merge_table.merge(self.world, self.resolved, changes);
                let values = RowValues { bytes: self.values.bytes(), starts: merged.starts };
                let Merged { removed, added, .. } = merged;
                if is_spawn {
                    self.world.spawn_loaned(entity, added, values).map(|()| {
                        self.loans_ended += 1;
                        self.outcome.applied.spawned += 1;
                    })
                } else {
                    self.world.merge(entity, (removed, added), values).map(|outcome| {
                        self.outcome.applied.moved += usize::from(outcome == MergeOutcome::Moved);
                    })
                }
            }
        };
        if let Err(error) = played {
            self.group_failed(first, group, error);
        }
    }

    fn despawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        self.world.despawn_flushed(entity)?;
        self.outcome.applied.despawned += 1;
        Ok(())
    }

    /// Ends the loan of an entity that is not spawned, or that is despawned in the same group.
    fn discard_spawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        match self.world.store.entities.end_loan(entity) {
            true => self.loans_ended += 1,
            false => return Err(NoSuchEntity { entity }.into()),
        }
        Ok(())
    }

    /// Reports the records of a group that failed. If the merged row does not fit a chunk, replays
    /// the records one by one, so that those that can succeed do.
    #[cold]
    fn group_failed(&mut self, first: usize, group: &[u32], error: EntityError) {
        let index = |&i: &u32| first + i as usize;
        match (group, error) {
            ([only], EntityError::Layout(error)) => {
                let record = &self.records[index(only)];
                if record.kind == RecordKind::Spawn && self.discard_spawn(record.entity).is_err() {
                    unreachable!("the id of a row that is too large is not on loan");
                }
                self.record_failed(index(only), CommandErrorKind::Layout(error));
            }
            (_, EntityError::Layout(_)) => {
                group.iter().for_each(|&i| self.play_group(first, &[i]));
            }
            (_, EntityError::NoSuchEntity(error)) => {
                for i in group.iter().map(index) {
                    let record = &self.records[i];
                    match record.kind {
                        RecordKind::Despawn => {}
                        RecordKind::Spawn if record.entity.is_null() => {
                            let limit = self.world.store.entities.limit();
                            let exhausted = OutOfIds::InWorld { limit };
                            self.record_failed(i, CommandErrorKind::Exhausted(exhausted));
                        }
                        _ => self.record_failed(i, CommandErrorKind::NoSuchEntity(error)),
                    }
                }
            }
            (_, error) => unreachable!("a merged change requires no component: {error}"),
        }
    }

    fn record_failed(&mut self, at: usize, fault: CommandErrorKind) {
        let record = &self.records[at];
        let Record { entity, call_site, bundle_kind, .. } = *record;
        // `at + 1` is greater than `after` of any barrier before the record.
        let verb = record.verb(self.bundle_kinds);
        self.report(at + 1, verb, entity, bundle_kind, call_site, fault);
    }

    fn report(
        &mut self,
        at: usize,
        verb: CommandVerb,
        entity: Entity,
        bundle_kind: BundleKindId,
        call_site: CallSite,
        fault: CommandErrorKind,
    ) {
        if self.policy != DeadEntityPolicy::Ignore || !fault.is_stale() {
            let command = (verb, bundle_kind, self.bundle_kinds);
            self.failures.add(at, command, (entity, call_site), fault);
        }
    }

    /// Calls a closure of the user. Keeps its panic, the first one, to be resumed after playback.
    fn catch<R>(&mut self, closure: impl FnOnce(&mut World) -> R) -> Option<R> {
        let world = &mut *self.world;
        match catch_unwind(AssertUnwindSafe(|| closure(world))) {
            Ok(returned) => Some(returned),
            Err(panic) => {
                self.outcome.panic.get_or_insert(panic);
                None
            }
        }
    }

    fn play_barrier(&mut self, Barrier { after, call_site, kind }: Barrier) {
        match kind {
            BarrierKind::Run(closure) => {
                self.catch(closure);
            }
            BarrierKind::Retain(retain) => match self.catch(retain) {
                None => {}
                Some(Ok(despawned)) => self.outcome.applied.matched += despawned,
                Some(Err(fault)) => {
                    let (verb, entity, kind) =
                        (CommandVerb::Despawn, Entity::NULL, BundleKindId::default());
                    self.report(after, verb, entity, kind, call_site, fault);
                }
            },
            BarrierKind::Batch { bundle_kind, rows, value } => {
                if let Err(fault) = self.spawn_batch(bundle_kind, rows, value) {
                    let (verb, entity) = (CommandVerb::Spawn, Entity::NULL);
                    self.report(after, verb, entity, bundle_kind, call_site, fault);
                }
            }
            BarrierKind::ByQuery { verb, bundle_kind, value, change } => {
                let refused = self.resolved.refused(bundle_kind).map(CommandErrorKind::NameTaken);
                let changed = match refused {
                    None => change(self.world, &self.values.bytes()[value.byte()..]),
                    Some(fault) => Err(fault),
                };
                match changed {
                    Ok(matched) => self.outcome.applied.matched += matched,
                    Err(fault) => {
                        self.report(after, verb, Entity::NULL, bundle_kind, call_site, fault);
                    }
                }
            }
        }
    }

    fn spawn_batch(
        &mut self,
        bundle_kind: BundleKindId,
        rows: usize,
        value: ValueId,
    ) -> Result<(), CommandErrorKind> {
        if let Some(taken) = self.resolved.refused(bundle_kind) {
            return Err(CommandErrorKind::NameTaken(taken));
        }
        let kind = self.resolved.get(bundle_kind);
        let values =
            RowValues { bytes: &self.values.bytes()[value.byte()..], starts: &kind.starts };
        let spawned =
            self.world.spawn_strided(kind.bundle, rows, values, Arena::stride(kind.bytes));
        spawned.map_err(|error| match error {
            SpawnError::Exhausted(error) => CommandErrorKind::Exhausted(error),
            SpawnError::Memory(error) => CommandErrorKind::Memory(error),
            SpawnError::Layout(error) => CommandErrorKind::Layout(error),
            other => unreachable!("rows of a bundle need ids and memory only: {other}"),
        })?;
        self.outcome.applied.spawned += rows;
        Ok(())
    }
}
