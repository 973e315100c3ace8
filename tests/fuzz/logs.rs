//! Logs of rows, read by cursors: inserted and removed components, and despawned entities.
//!
//! The logs are read after most operations. A table of entities is updated from them, as a program
//! would do it, and is compared with the model from time to time. Without a playback since the last
//! reading, the entries are also compared one by one.

use std::collections::BTreeSet;

use phalanx::logs::LogCursor;
use phalanx::prelude::*;

use crate::operations::Op;
use crate::outcome::{DONE, Outcome};
use crate::parts::{Four, Part, Shape};
use crate::trial::{Side, Trial};

/// The readers of a world.
pub(crate) struct Cursors {
    inserted: LogCursor<Insertions<Four>>,
    removed: LogCursor<Removals<Four>>,
    despawned: LogCursor<Despawns>,
}

/// The entries that the cursors have read.
#[derive(Debug, PartialEq)]
struct Told {
    inserted: Vec<(Entity, Four)>,
    removed: Vec<(Entity, Four)>,
    despawned: Vec<Entity>,
    missed: u64,
}

impl Cursors {
    pub(crate) fn new(world: &mut World) -> Self {
        let (inserted, removed) = (world.cursor(), world.cursor());
        Self { inserted, removed, despawned: world.cursor::<Despawns>() }
    }

    fn read(&mut self, world: &World) -> Told {
        let pairs = |(entities, values): (&[Entity], &[Four])| {
            assert_eq!(entities.len(), values.len(), "a value for each");
            entities.iter().copied().zip(values.iter().copied()).collect()
        };
        let of_rows = self.inserted.missed(world) + self.removed.missed(world);
        let missed = of_rows + self.despawned.missed(world);
        Told {
            inserted: pairs(self.inserted.read(world)),
            removed: pairs(self.removed.read(world)),
            despawned: self.despawned.read(world).to_vec(),
            missed,
        }
    }
}

/// The knowledge of a program that reads the logs.
#[derive(Debug, Default)]
pub(crate) struct Table {
    bearers: BTreeSet<Entity>,
    despawned: BTreeSet<Entity>,
    /// The entities that were alive at the last comparison.
    living: Vec<Entity>,
    /// The number of operations since the last reading, and whether one of them was a playback.
    waiting: usize,
    is_merged: bool,
}

impl Trial {
    /// Reads the effects of an operation, or leaves them for a later reading.
    pub(crate) fn read_logs(&mut self, op: &Op, outcome: Outcome) {
        if let (Op::PutBack { .. }, DONE) = (op, outcome) {
            return self.forget_logs();
        }
        self.table.waiting += 1;
        // Commands are logged with their joint effect.
        self.table.is_merged |= matches!(op, Op::Apply { .. } | Op::RunSchedule { .. });
        if !self.now().is_multiple_of(4) {
            self.read_all_logs();
        }
    }

    fn read_cursors(&mut self) -> Told {
        let before = self.before;
        let told = self.step_aside(|Side { world, cursors, .. }| cursors.read(world));
        self.before = before;
        told
    }

    /// Starts the table again after a restore, which drops all unread entries.
    fn forget_logs(&mut self) {
        let Told { inserted, removed, despawned, .. } = self.read_cursors();
        assert!(
            inserted.is_empty() && removed.is_empty() && despawned.is_empty(),
            "all is dropped"
        );
        let (rows, living) = (&self.model.rows, self.model.living.clone());
        let bearers = rows.iter().filter(|(_, row)| row.has(Four::SET));
        let bearers = bearers.map(|(&entity, _)| entity).collect();
        self.table = Table { bearers, living, ..Table::default() };
        self.model.gained.clear();
        (self.model.lost, self.model.ended) = Default::default();
    }

    fn read_all_logs(&mut self) {
        let told = self.read_cursors();
        let mut lost = std::mem::take(&mut self.model.lost);
        let mut ended = std::mem::take(&mut self.model.ended);
        let mut gained = std::mem::take(&mut self.model.gained);
        let waiting = std::mem::take(&mut self.table.waiting);
        assert_eq!(told.missed, 0, "all was read in time");
        if !std::mem::take(&mut self.table.is_merged) {
            let mut removed: Vec<_> = told.removed.iter().map(|&(e, four)| (e, four.0)).collect();
            removed.sort_unstable();
            lost.sort_unstable();
            assert_eq!(removed, lost, "what entities have lost");
            let mut despawned = told.despawned.clone();
            despawned.sort_unstable();
            ended.sort_unstable();
            assert_eq!(despawned, ended, "who was despawned");
            let mut inserted: Vec<_> = told.inserted.iter().map(|&(entity, _)| entity).collect();
            inserted.sort_unstable();
            gained.sort_unstable();
            assert_eq!(inserted, gained, "who has got one");
            for &(entity, four) in told.inserted.iter().filter(|_| waiting == 1) {
                let row = self.model.row(entity).filter(|row| row.has(Four::SET));
                let number = row.map(|row| row.numbers[Four::INDEX]);
                assert_eq!(Some(four.0), number, "what {entity} has got");
            }
        }
        for (entity, _) in told.removed {
            self.table.bearers.remove(&entity);
        }
        let still = |entity: &Entity| self.model.needs(*entity, Four::SET).is_ok();
        let new = told.inserted.iter().map(|&(entity, _)| entity).filter(still);
        self.table.bearers.extend(new);
        self.table.despawned.extend(told.despawned);
    }

    /// Compares the table with the model.
    pub(crate) fn compare_logs(&mut self) {
        self.read_all_logs();
        let rows = self.model.rows.iter().filter(|(_, row)| row.has(Four::SET));
        assert!(self.table.bearers.iter().eq(rows.map(|(entity, _)| entity)), "who has one");
        for entity in std::mem::take(&mut self.table.living) {
            let is_alive = self.model.alive(entity).is_some();
            assert!(is_alive || self.table.despawned.contains(&entity), "{entity} has gone");
        }
        self.table.living.clone_from(&self.model.living);
        self.table.despawned.clear();
    }
}
