//! Records in worlds with relations or sparse cleanup components, run by run.
//!
//! ```text
//!  records   insert a   remove f   despawn b   despawn c   insert d
//!            └── rows, then parts ┘ └─── together ──────┘  └ rows, then parts
//! ```
//!
//! A despawn follows the relations that earlier records have made or removed, leaves the sparse
//! cleanup components that they have inserted, and decides which entities later records find alive.
//! So the sparse parts before a despawn are played first.
//! Despawns that follow each other are one call: a source that goes keeps no target, whatever the
//! order of the two.

use core::ops::Range;

use rustc_hash::FxHashMap;

use super::command_errors::{CommandErrorKind, CommandVerb};
use super::entity_groups::EntityGroups;
use super::player::Player;
use super::record::{Record, RecordKind};

impl Player<'_> {
    /// Whether despawns among some records may depend on sparse parts before them. Decided by
    /// types: the number of relations must not change the order of play.
    pub(super) fn may_follow_parts(&self, records: &[Record]) -> bool {
        let have_parts = || self.sparse.as_ref().is_some_and(|sparse| sparse.have_relations());
        let sets = self.world.store.sparse();
        (sets.has_relations() || sets.has_cleanup() || have_parts())
            && records.iter().any(is_despawn)
    }

    /// Plays the records between two barriers.
    #[cold]
    pub(super) fn play_by_runs(
        &mut self,
        records: Range<usize>,
        groups: &mut EntityGroups,
        group: &mut Vec<u32>,
    ) {
        let mut first = records.start;
        for run in self.records[records].chunk_by(|a, b| is_despawn(a) == is_despawn(b)) {
            let range = first..first + run.len();
            first = range.end;
            if run.iter().any(is_despawn) {
                self.play_despawns(range.clone());
            } else {
                self.play_rows(range.clone(), groups, group);
            }
            self.play_parts(range);
        }
    }

    /// Plays despawns together, as far as relations do not refuse them.
    fn play_despawns(&mut self, records: Range<usize>) {
        let run = &self.records[records.clone()];
        let named: Vec<_> = run.iter().map(|record| record.entity).collect();
        let mut refused = FxHashMap::default();
        self.world.flush();
        let ended = self.catch(|world| world.store.despawn_most(&named, &mut refused));
        self.outcome.applied.despawned += ended.unwrap_or_default();
        for (at, record) in records.zip(run) {
            if let Some(&error) = refused.get(&record.entity) {
                let fault = CommandErrorKind::Relation(error);
                let (verb, call_site) = (CommandVerb::Despawn, record.call_site);
                self.report(at + 1, verb, record.entity, None, call_site, fault);
            }
        }
    }
}

fn is_despawn(record: &Record) -> bool {
    record.kind == RecordKind::Despawn
}
