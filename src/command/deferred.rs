//! Records of one bundle kind that follow each other, played together.
//!
//! Most systems record such commands: spawns and changes, each the only one of its entity. Played
//! together they cost less than one by one: rows are written and moved column by column, with one
//! version. A spawn without neighbours is played as it was recorded: its bundle needs no merge.

use crate::store::RowValues;
use crate::world::EntityError;

use super::arena::{Arena, ValueId};
use super::merge_table::NetChangeValues;
use super::player::Player;
use super::record::{Record, RecordKind};

impl Player<'_> {
    /// Defers a spawn or a change, to be played with others.
    #[inline]
    pub(super) fn defer(&mut self, at: usize) {
        if let Some(last) = self.deferred.clone().last() {
            let (last, next) = (&self.records[last], &self.records[at]);
            let follows = self.deferred.end == at
                && (last.kind, last.bundle_kind) == (next.kind, next.bundle_kind);
            if follows && (next.kind == RecordKind::Change || self.is_next_value(last, next)) {
                self.deferred.end += 1;
                return;
            }
        }
        self.play_deferred();
        self.deferred = at..at + 1;
    }

    /// Returns `true` if the values of two records of one kind are consecutive.
    fn is_next_value(&self, last: &Record, next: &Record) -> bool {
        let stride = Arena::stride(self.resolved.get(next.bundle_kind).bytes);
        last.value.byte() + stride == next.value.byte()
    }

    /// Plays the deferred records.
    #[inline]
    pub(super) fn play_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        let deferred = core::mem::take(&mut self.deferred);
        let records = &self.records[deferred.clone()];
        let played = match records {
            [first, _, ..] if first.kind == RecordKind::Change => {
                self.play_changes(deferred.start, records);
                true
            }
            [_, _, ..] => self.play_spawns(records),
            _ => false,
        };
        if !played {
            deferred.for_each(|at| self.play_group(at, &[0]));
        }
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
