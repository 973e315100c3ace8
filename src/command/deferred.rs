//! Records of one bundle kind that follow each other, played together.
//!
//! Most systems record such commands: spawns, changes and despawns, each the only one of its
//! entity. Played together they cost less than one by one: rows are written and moved column by
//! column, with one version, and despawns prefetch memory for the next ones. A spawn without
//! neighbours is played as it was recorded: its bundle needs no merge.

use core::ops::Range;

use crate::store::RowValues;
use crate::world::EntityError;

use super::arena::{Arena, ValueId};
use super::merge_table::NetChangeValues;
use super::player::Player;
use super::record::{Record, RecordKind};

impl Player<'_> {
    /// Plays records that are each the only one of its entity.
    pub(super) fn play_lone(&mut self, records: Range<usize>) {
        let mut left = records;
        while !left.is_empty() {
            let pairs = self.records[left.clone()].windows(2);
            let joined = pairs.take_while(|pair| self.joins(&pair[0], &pair[1])).count();
            let run = left.start..left.start + joined + 1;
            left.start = run.end;
            self.play_run(run);
        }
    }

    /// Defers the only record of its entity, to be played with others.
    #[inline]
    pub(super) fn defer(&mut self, at: usize) {
        let follows = !self.deferred.is_empty() && self.deferred.end == at;
        if follows && self.joins(&self.records[at - 1], &self.records[at]) {
            self.deferred.end += 1;
            return;
        }
        self.play_deferred();
        self.deferred = at..at + 1;
    }

    /// Whether two records that follow each other are played together.
    #[inline(always)]
    fn joins(&self, last: &Record, next: &Record) -> bool {
        (last.kind, last.bundle_kind) == (next.kind, next.bundle_kind)
            && match next.kind {
                RecordKind::Despawn => self.world.store.sparse().is_empty(),
                RecordKind::Change => {
                    !(self.may_be_alone() && (self.is_alone(last) || self.is_alone(next)))
                }
                _ => self.is_next_value(last, next),
            }
    }

    /// Returns `true` if the values of two records of one kind are consecutive.
    fn is_next_value(&self, last: &Record, next: &Record) -> bool {
        let stride = Arena::stride(self.resolved.get(next.bundle_kind).bytes);
        last.value.byte() + stride == next.value.byte()
    }

    /// Plays the deferred records.
    #[inline]
    pub(super) fn play_deferred(&mut self) {
        if !self.deferred.is_empty() {
            let deferred = core::mem::take(&mut self.deferred);
            self.play_run(deferred);
        }
    }

    /// Plays one record, or several that are played together.
    #[inline]
    fn play_run(&mut self, run: Range<usize>) {
        let records = &self.records[run.clone()];
        let played = match records {
            [only] if only.kind == RecordKind::Spawn => {
                if let Err(error) = self.spawn(only) {
                    self.group_failed(run.start, &[0], error);
                }
                true
            }
            [first, _, ..] => match first.kind {
                RecordKind::Despawn => {
                    self.despawn_all(records);
                    true
                }
                RecordKind::Change => {
                    self.play_changes(run.start, records);
                    true
                }
                _ => self.play_spawns(records),
            },
            _ => false,
        };
        if !played {
            run.for_each(|at| self.play_group(at, &[0]));
        }
    }

    /// Despawns the entities of records with one version. A second despawn of an entity has no
    /// effect.
    pub(super) fn despawn_all(&mut self, records: &[Record]) {
        let entity = |i: usize| records[i].entity;
        let ended = self.catch(|world| world.store.despawn_batch(records.len(), entity));
        self.outcome.applied.despawned += ended.and_then(Result::ok).unwrap_or_default();
    }

    /// Plays spawns of one bundle kind together, or none of them: returns `false`.
    fn play_spawns(&mut self, records: &[Record]) -> bool {
        let kind = self.resolved.get(records[0].bundle_kind);
        let bytes = &self.values.bytes()[records[0].value.byte()..];
        let values = RowValues { bytes, starts: &kind.starts };
        let ids = records.iter().map(|record| record.entity);
        let stride = Arena::stride(kind.bytes);
        let spawned = self.world.store.spawn_loaned_rows(ids, kind.bundle, values, stride);
        if spawned.is_ok() {
            self.loans_ended += records.len();
            self.outcome.applied.spawned += records.len();
        }
        spawned.is_ok()
    }

    /// Plays changes of one bundle kind. The first record has the number `start`. One net change
    /// for all of them.
    fn play_changes(&mut self, start: usize, records: &[Record]) {
        let kind = records[0].bundle_kind;
        let change = [(kind, ValueId::default())].into_iter();
        let NetChangeValues { removed, added, starts } =
            self.merge_table.merge(self.world, self.resolved, change);
        let bytes = self.values.bytes();
        self.entities.clear();
        self.entities.extend(records.iter().map(|record| record.entity));
        let mut failed = Vec::new();
        self.outcome.applied.moved += self.world.store.exchange_bytes_batch(
            (self.entities, self.moves),
            (removed, added),
            |n| RowValues { bytes: &bytes[records[n].value.byte()..], starts },
            |n, error| failed.push((n, error)),
        );
        for (n, error) in failed {
            self.group_failed(start + n, &[0], error);
        }
    }

    /// Plays a spawn as it was recorded.
    #[inline]
    pub(super) fn spawn(&mut self, record: &Record) -> Result<(), EntityError> {
        let kind = self.resolved.get(record.bundle_kind);
        let bytes = &self.values.bytes()[record.value.byte()..];
        let values = RowValues { bytes, starts: &kind.starts };
        self.world.store.spawn_loaned(record.entity, kind.bundle, values)?;
        self.count_spawn();
        Ok(())
    }

    #[inline]
    pub(super) const fn count_spawn(&mut self) {
        self.loans_ended += 1;
        self.outcome.applied.spawned += 1;
    }
}
