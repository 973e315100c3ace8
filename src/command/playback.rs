//! Playback: recorded commands are applied to the world, merged between barriers.
//!
//! Barriers are played back in the order of recording. Between two barriers, the commands of one
//! entity are merged to one change, and entities follow in the order of their last command.

use std::vec;

use crate::entity::Entity;
use crate::payload::Payload;
use crate::store::FirstPanic;
use crate::world::World;

use super::buffer::CommandBuffer;
use super::bundle_kinds::{BundleKinds, ResolvedKinds};
use super::command_errors::{
    Applied, ApplyError, CommandErrorKind, CommandErrors, DeadEntityPolicy,
};
use super::failures::Failures;
use super::player::{Outcome, Player};
use super::record::{Barrier, Record, RecordKind, Recorder, drop_barriers};
use super::scratch::PlaybackScratch;

/// # Playback of commands
impl World {
    /// Applies the commands of a buffer, and empties it; see [`CommandBuffer`] for the order.
    ///
    /// # Errors
    ///
    /// [`ApplyError`] if the buffer belongs to another world, or if some commands had no effect, or
    /// made no relation. In the latter cases all others were applied, and
    /// [`CommandErrors::applied`] counts their effects.
    ///
    /// # Panics
    ///
    /// If a closure or a kernel of the buffer panics, a destructor of
    /// [sparse components](crate::component#sparse-components) does, or a command fails and the
    /// policy is [`DeadEntityPolicy::Panic`]. All other commands were applied, the world is sound
    /// and the buffer is empty.
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
        let CommandBuffer { recorder, scratch, .. } = buffer;
        let played = Payload::catch(|| play(self, recorder, scratch, policy, failures));
        let (mut outcome, loans_ended) = played.unwrap_or_else(|panic| {
            failures.sort();
            self.give_up(buffer, panic)
        });
        let is_same_world = buffer.is_of(self);
        if is_same_world {
            buffer.ids.renew(self, loans_ended);
        } else {
            buffer.give_ids_back(outcome.played, outcome.spawned_by_name);
        }
        buffer.recorder.clear_caught(&mut outcome.panic);
        failures.sort();
        outcome.panic.resume();
        if !is_same_world {
            return Err(ApplyError::OtherWorld);
        }
        assert!(policy != DeadEntityPolicy::Panic || failures.is_empty(), "{failures}");
        Ok(Applied { commands, ..outcome.applied })
    }

    /// Empties a buffer whose playback has ended with a panic, and ends the loans of the spawns
    /// that it has not played. Resumes the panic.
    #[cold]
    fn give_up(&mut self, buffer: &mut CommandBuffer, panic: Payload) -> ! {
        let mut later = FirstPanic::default();
        // No loan ends while an id is reserved. The row of such an id may need a new archetype, and
        // so the hint that has panicked.
        let is_flushed = later.call(|| self.flush()).is_some();
        buffer.give_ids_back(0, Vec::new());
        if is_flushed && buffer.is_of(self) {
            self.flush();
            buffer.ids.renew(self, 0);
        }
        buffer.recorder.clear_caught(&mut later);
        panic.resume()
    }
}

/// Plays all records and barriers. Also returns the number of loans of the buffer's own ids that
/// ended.
fn play(
    world: &mut World,
    recorder: &mut Recorder,
    scratch: &mut PlaybackScratch,
    policy: DeadEntityPolicy,
    failures: &mut Failures,
) -> (Outcome, usize) {
    let Recorder { records, barriers, values, bundle_kinds, sparse, ids_missing } = recorder;
    let PlaybackScratch { resolved, merge_table, groups, group, entities, moves } = scratch;
    let id = world.id();
    resolved.resolve_new(bundle_kinds, world);
    let assigned = assign_ids(world, records, core::mem::take(ids_missing), entities);
    let loans_ended = refuse(world, records, bundle_kinds, resolved, failures);
    let mut player = Player {
        world,
        records,
        values,
        sparse: sparse.as_deref_mut(),
        bundle_kinds,
        resolved,
        merge_table,
        policy,
        failures,
        outcome: Outcome::default(),
        entities,
        moves,
        loans_ended,
        deferred: 0..0,
        failed_parts: Vec::new(),
    };
    let mut from = 0;
    let mut barriers = LeftBarriers(barriers.drain(..));
    while let Some(barrier) = barriers.0.next() {
        player.play_records(from..barrier.after, groups, group);
        from = barrier.after;
        player.play_barrier(barrier);
        if player.world.id() != id {
            drop_barriers(&mut barriers.0, &mut player.outcome.panic);
            player.outcome.played = from;
            return (player.outcome, 0);
        }
    }
    player.play_records(from..records.len(), groups, group);
    (player.outcome, player.loans_ended.saturating_sub(assigned))
}

/// The barriers that are not played yet. Dropped one by one if a panic ends the playback.
struct LeftBarriers<'b>(vec::Drain<'b, Barrier>);

impl Drop for LeftBarriers<'_> {
    fn drop(&mut self) {
        let mut panic = FirstPanic::default();
        drop_barriers(&mut self.0, &mut panic);
        panic.resume_from_drop();
    }
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
    world.store.loan_ids_at_most(u32::try_from(missing).unwrap_or(u32::MAX), ids);
    let mut next = ids.iter();
    for record in records.iter_mut().filter(|record| record.kind == RecordKind::SpawnWithoutId) {
        record.kind = RecordKind::Spawn;
        record.entity = next.next().copied().unwrap_or(Entity::NULL);
    }
    ids.len()
}

/// Removes the records with components that the world refuses, and reports them. Returns the number
/// of loans that it ends.
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
        if record.kind == RecordKind::Spawn && world.store.end_loan(record.entity) {
            loans_ended += 1;
        }
        let command = (record.verb(bundle_kinds), Some(record.bundle_kind));
        let fault = CommandErrorKind::NameTaken(taken);
        let names = || bundle_kinds.get(record.bundle_kind).names();
        failures.add(at + 1, command, (record.entity, record.call_site), fault, names);
        // A despawn of no entity has no effect, and the indices of the other records are kept.
        (record.kind, record.entity) = (RecordKind::Despawn, Entity::NULL);
    }
    loans_ended
}
