//! The state of a playback, which executes records and barriers.

use core::ops::Range;

use crate::archetype::MoveScratch;
use crate::entity::{Entity, NoSuchEntity, OutOfIds};
use crate::store::{FirstPanic, RelationError, RowValues};
use crate::world::{EntityError, SpawnError, World};

use super::arena::{Arena, ValueId};
use super::bundle_kinds::{BundleKindId, BundleKinds, ResolvedKinds};
use super::command_errors::{Applied, CommandErrorKind, CommandVerb, DeadEntityPolicy};
use super::entity_groups::EntityGroups;
use super::failures::Failures;
use super::merge_table::{MergeTable, NetChangeValues};
use super::record::{Barrier, BarrierKind, ByQuery, CallSite, Record, RecordKind};
use super::sparse_values::{BatchParts, SparseValues};
use super::switches::Switches;

/// The result of a playback.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) applied: Applied,
    /// The first panic of a closure or of a destructor.
    pub(super) panic: FirstPanic,
    /// If a closure exchanged the world: the number of records that were played before.
    pub(super) played: usize,
    /// The ids of spawns by name, which are no records, whose loans have ended.
    pub(super) spawned_by_name: Vec<Entity>,
}

/// The state of a playback.
pub(super) struct Player<'p> {
    pub(super) world: &'p mut World,
    pub(super) records: &'p [Record],
    pub(super) values: &'p Arena,
    pub(super) sparse: Option<&'p mut SparseValues>,
    pub(super) bundle_kinds: &'p BundleKinds,
    pub(super) resolved: &'p ResolvedKinds,
    pub(super) merge_table: &'p mut MergeTable,
    pub(super) policy: DeadEntityPolicy,
    pub(super) failures: &'p mut Failures,
    pub(super) outcome: Outcome,
    /// Scratch memory.
    pub(super) entities: &'p mut Vec<Entity>,
    pub(super) moves: &'p mut MoveScratch,
    /// The number of loans that have ended, with or without a spawn.
    pub(super) loans_ended: usize,
    /// Adjacent records of one kind, each the only one of its entity: to be played together.
    pub(super) deferred: Range<usize>,
    /// The records before the next barrier that failed, while sparse parts are to be played.
    pub(super) failed_parts: Vec<usize>,
}

impl Player<'_> {
    /// Plays the records between two barriers, and then their sparse parts; by runs where these
    /// decide the effect of a despawn. `group` is scratch memory.
    pub(super) fn play_records(
        &mut self,
        records: Range<usize>,
        groups: &mut EntityGroups,
        group: &mut Vec<u32>,
    ) {
        // Before the notes are held, and before the first change: it may panic.
        self.world.store.know_types();
        self.world.store.hold_set_notes();
        if self.may_follow_parts(&self.records[records.clone()]) {
            self.play_by_runs(records, groups, group);
        } else {
            self.play_rows(records.clone(), groups, group);
            self.play_parts(records);
        }
        self.world.store.record_combined_sets();
    }

    pub(super) fn play_parts(&mut self, records: Range<usize>) {
        let Self { world, sparse, records: all, failed_parts, outcome, .. } = self;
        let Some(sparse) = sparse else { return };
        if sparse.is_empty() {
            return;
        }
        failed_parts.sort_unstable();
        // A record whose name is refused has become a despawn.
        let entity_of = |at: usize| {
            let record: &Record = &all[at];
            let has_effect =
                record.kind != RecordKind::Despawn && failed_parts.binary_search(&at).is_err();
            has_effect.then_some(record.entity)
        };
        let refused = sparse.play(&mut world.store, records, entity_of, &mut outcome.panic);
        failed_parts.clear();
        for (at, error) in refused {
            self.record_failed(at, CommandErrorKind::Relation(error));
        }
        self.failed_parts.clear();
    }

    pub(super) fn play_rows(
        &mut self,
        records: Range<usize>,
        groups: &mut EntityGroups,
        group: &mut Vec<u32>,
    ) {
        self.world.flush();
        let first = records.start;
        let run = &self.records[records.clone()];
        if run.iter().all(|record| record.kind == RecordKind::Despawn) {
            // Merging is not needed.
            return self.despawn_all(run);
        }
        if groups.are_lone(run) {
            return self.play_lone(records);
        }
        groups.each(run, group, |group| match *group {
            [only] => self.defer(first + only as usize),
            _ => {
                self.play_deferred();
                self.play_group(first, group);
            }
        });
        self.play_deferred();
    }

    /// Whether a change may be one that must not be played with others: an entity may be gone.
    #[inline(always)]
    pub(super) fn may_be_alone(&self) -> bool {
        self.world.store.has_cleanup() || self.world.store.sparse().has_cleanup()
    }

    /// Whether a change, the only one of its entity, must not be played with others.
    #[inline]
    pub(super) fn is_alone(&self, record: &Record) -> bool {
        self.gives_gone_sparse(record) || self.frees_gone_sparse(record)
    }

    /// Whether a record gives a sparse component to an entity that is gone. It is refused. The
    /// columns alone may be a removal of cleanup components, which is not.
    #[inline]
    fn gives_gone_sparse(&self, record: &Record) -> bool {
        let store = &self.world.store;
        store.has_cleanup()
            && record.kind == RecordKind::Change
            && self.resolved.get(record.bundle_kind).adds_sparse
            && store.is_gone(record.entity)
    }

    /// Whether a record only removes sparse cleanup components of an entity that is gone. Its
    /// change of columns is empty, and would be refused.
    #[inline]
    fn frees_gone_sparse(&self, record: &Record) -> bool {
        let store = &self.world.store;
        store.sparse().has_cleanup()
            && record.kind == RecordKind::Change
            && self.resolved.get(record.bundle_kind).only_removes_sparse_cleanup
            && store.is_gone(record.entity)
    }

    /// Plays the records of one entity, as indices counted from `first`.
    #[inline]
    pub(super) fn play_group(&mut self, first: usize, group: &[u32]) {
        let records = self.records;
        let at = |&i: &u32| &records[first + i as usize];
        let (head, last) = match group {
            [] => return,
            [only] => (at(only), at(only)),
            [head, .., last] => (at(head), at(last)),
        };
        let entity = head.entity;
        if group.len() > 1 && self.needs_single_steps(first, group) {
            return group.iter().for_each(|&i| self.play_group(first, &[i]));
        }
        let played = match (head.kind == RecordKind::Spawn, last.kind == RecordKind::Despawn) {
            (true, true) => self.discard_spawn(entity),
            (false, true) => self.despawn(entity),
            // Records of one entity that is gone are played one by one.
            (false, false) if self.frees_gone_sparse(head) => Ok(()),
            (false, false) if self.gives_gone_sparse(head) => Err(NoSuchEntity { entity }.into()),
            (is_spawn, false) => {
                let changes = group.iter().map(at).map(|record| (record.bundle_kind, record.value));
                let merged = self.merge_table.merge(self.world, self.resolved, changes);
                let values = RowValues { bytes: self.values.bytes(), starts: merged.starts };
                let NetChangeValues { removed, added, .. } = merged;
                if is_spawn {
                    let spawned = self.world.store.spawn_loaned(entity, added, values);
                    spawned.map(|()| self.count_spawn())
                } else {
                    let bundles = (removed, added);
                    self.world.store.exchange_bytes(entity, bundles, values).map(|has_moved| {
                        self.outcome.applied.moved += usize::from(has_moved);
                    })
                }
            }
        };
        if let Err(error) = played {
            self.group_failed(first, group, error);
        }
    }

    /// Whether the records of a group must be played one by one, because their net change has
    /// another effect: a change of cleanup components precedes a despawn, or the entity is gone and
    /// each record is refused or accepted by itself.
    fn needs_single_steps(&self, first: usize, group: &[u32]) -> bool {
        let store = &self.world.store;
        let at = |&i: &u32| &self.records[first + i as usize];
        let [head, .., last] = group else { return false };
        if !store.has_cleanup() {
            return false;
        }
        if at(last).kind != RecordKind::Despawn {
            return store.is_gone(at(head).entity);
        }
        group.iter().map(at).any(|record| {
            let kind = self.resolved.get(record.bundle_kind);
            let added = kind.added.iter().map(|&(id, _)| id);
            let mut changed = added.chain(kind.removed.iter().copied());
            record.kind != RecordKind::Despawn
                && changed.any(|id| store.registry().info(id).is_cleanup())
        })
    }

    fn despawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        if self.world.store.sparse().is_empty() {
            self.world.store.despawn(entity)?;
        } else if let Some(despawned) = self.catch(|world| world.store.despawn(entity)) {
            despawned?;
        } // A panic is of a destructor of a sparse component: the entity is despawned.
        self.outcome.applied.despawned += 1;
        Ok(())
    }

    /// Ends the loan of an entity that is not spawned, or that is despawned in the same group.
    fn discard_spawn(&mut self, entity: Entity) -> Result<(), EntityError> {
        match self.world.store.end_loan(entity) {
            true => self.loans_ended += 1,
            false => return Err(NoSuchEntity { entity }.into()),
        }
        Ok(())
    }

    /// Reports the records of a group that failed. If the merged row does not fit a chunk, replays
    /// the records one by one, so that as few as possible fail.
    #[cold]
    pub(super) fn group_failed(&mut self, first: usize, group: &[u32], error: EntityError) {
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
            // Inserts fail, but cleanup components can be removed.
            ([_, _, ..], EntityError::NoSuchEntity(error))
                if self.world.store.is_gone(error.entity) =>
            {
                group.iter().for_each(|&i| self.play_group(first, &[i]));
            }
            (_, EntityError::NoSuchEntity(error)) => {
                for i in group.iter().map(index) {
                    let record = &self.records[i];
                    match record.kind {
                        RecordKind::Despawn => {}
                        RecordKind::Spawn if record.entity.is_null() => {
                            let limit = self.world.store.entities().limit();
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
        if self.sparse.is_some() {
            self.failed_parts.push(at);
        }
        let record = &self.records[at];
        let Record { entity, call_site, bundle_kind, .. } = *record;
        // `at + 1` is greater than `after` of any barrier before the record.
        let verb = record.verb(self.bundle_kinds);
        self.report(at + 1, verb, entity, Some(bundle_kind), call_site, fault);
    }

    pub(super) fn report(
        &mut self,
        at: usize,
        verb: CommandVerb,
        entity: Entity,
        bundle_kind: Option<BundleKindId>,
        call_site: CallSite,
        fault: CommandErrorKind,
    ) {
        if self.is_reported(&fault) {
            let (command, kinds) = ((verb, bundle_kind), self.bundle_kinds);
            let names = || bundle_kind.map_or(vec![], |id| kinds.get(id).names());
            self.failures.add(at, command, (entity, call_site), fault, names);
        }
    }

    /// Whether the policy asks for a report of a fault.
    pub(super) fn is_reported(&self, fault: &CommandErrorKind) -> bool {
        self.policy != DeadEntityPolicy::Ignore || !fault.is_stale()
    }

    /// Calls a closure that runs the user's code, if only destructors. Keeps its panic, the first
    /// one, to be resumed after playback.
    pub(super) fn catch<R>(&mut self, closure: impl FnOnce(&mut World) -> R) -> Option<R> {
        let world = &mut *self.world;
        self.outcome.panic.call(|| closure(world))
    }

    pub(super) fn play_barrier(&mut self, Barrier { after, call_site, kind }: Barrier) {
        match kind {
            BarrierKind::Run(closure) => {
                self.catch(|world| closure.call(world));
            }
            BarrierKind::Change { verb, entity, change } => {
                match self.catch(|world| change.call(world)) {
                    None => {}
                    Some(Ok(matched)) => self.outcome.applied.matched += matched,
                    Some(Err(fault)) => {
                        self.report(after, verb, entity, None, call_site, fault);
                    }
                }
            }
            BarrierKind::Named { entity, change } => {
                self.play_named(after, (entity, call_site), &change);
            }
            BarrierKind::Link { source, link } => self.play_link(after, (source, call_site), &link),
            BarrierKind::Switches { bundle_kind, switches } => {
                self.play_switches(after, bundle_kind, &switches);
            }
            BarrierKind::Batch { bundle_kind, rows, value, parts } => {
                self.play_batch((after, call_site), bundle_kind, (rows, value, parts));
            }
            BarrierKind::ByQuery { verb, bundle_kind, value, change } => {
                self.play_by_query((after, call_site), (verb, bundle_kind), (value, change));
            }
        }
    }

    fn play_switches(&mut self, after: usize, bundle_kind: BundleKindId, switches: &Switches) {
        let refused = self.resolved.refused(bundle_kind).map(CommandErrorKind::NameTaken);
        let mut failed = Vec::new();
        match refused {
            Some(fault) => failed.extend(switches.list.iter().map(|&one| (one, fault.clone()))),
            None => {
                let mut fail = |&one: &_, fault| failed.push((one, fault));
                self.catch(|world| switches.play(world, &mut fail));
            }
        }
        for (switch, fault) in failed {
            let (verb, entity) = (switch.verb(), switch.entity);
            self.report(after, verb, entity, Some(bundle_kind), switch.call_site, fault);
        }
    }

    fn play_batch(
        &mut self,
        (after, call_site): (usize, CallSite),
        bundle_kind: BundleKindId,
        (rows, value, mut parts): (usize, ValueId, Option<Box<dyn BatchParts>>),
    ) {
        let spawned = self.spawn_batch(bundle_kind, rows, value, &mut parts);
        // Parts of rows that were not spawned: their destructors may panic.
        self.catch(|_| drop(parts));
        let failed = match spawned {
            Ok(refused) => refused
                .into_iter()
                .map(|(entity, error)| (entity, CommandErrorKind::Relation(error)))
                .collect(),
            Err(fault) => vec![(Entity::NULL, fault)],
        };
        for (entity, fault) in failed {
            let verb = CommandVerb::Spawn;
            self.report(after, verb, entity, Some(bundle_kind), call_site, fault);
        }
    }

    fn play_by_query(
        &mut self,
        (after, call_site): (usize, CallSite),
        (verb, bundle_kind): (CommandVerb, BundleKindId),
        (value, change): (ValueId, ByQuery),
    ) {
        let refused = self.resolved.refused(bundle_kind).map(CommandErrorKind::NameTaken);
        let values = self.values;
        let changed = match refused {
            None => self.catch(|world| change(world, &values.bytes()[value.byte()..])),
            Some(fault) => Some(Err(fault)),
        };
        match changed {
            None => {}
            Some(Ok(matched)) => self.outcome.applied.matched += matched,
            Some(Err(fault)) => {
                self.report(after, verb, Entity::NULL, Some(bundle_kind), call_site, fault);
            }
        }
    }

    fn spawn_batch(
        &mut self,
        bundle_kind: BundleKindId,
        rows: usize,
        value: ValueId,
        parts: &mut Option<Box<dyn BatchParts>>,
    ) -> Result<Vec<(Entity, RelationError)>, CommandErrorKind> {
        let mut refused = Vec::new();
        if let Some(taken) = self.resolved.refused(bundle_kind) {
            return Err(CommandErrorKind::NameTaken(taken));
        }
        // Destructors of sparse components, which commands before this one may have run, drop
        // buffers.
        self.world.flush();
        let kind = self.resolved.get(bundle_kind);
        let values =
            RowValues { bytes: &self.values.bytes()[value.byte()..], starts: &kind.starts };
        let spawned =
            self.world.store.spawn_strided(kind.bundle, rows, values, Arena::stride(kind.bytes));
        let entities = spawned.map_err(|error| match error {
            SpawnError::Exhausted(error) => CommandErrorKind::Exhausted(error),
            SpawnError::Memory(error) => CommandErrorKind::Memory(error),
            SpawnError::Layout(error) => CommandErrorKind::Layout(error),
            other => unreachable!("rows of a bundle need ids and memory only: {other}"),
        })?;
        if let Some(parts) = parts.take() {
            let entities = entities.to_vec();
            let Self { world, outcome, .. } = self;
            refused = parts.put(&mut world.store, &entities, &mut outcome.panic);
            world.store.record_sets();
        }
        self.outcome.applied.spawned += rows;
        Ok(refused)
    }
}
