//! Passes that write parts of columns or other data: values of chunks, lines of columns, enable
//! bits, the two halves of a double-buffered component.

use phalanx::Previous;
use phalanx::chunks::ChunkValueMut;
use phalanx::prelude::*;

use crate::filtered;
use crate::filters::Only;
use crate::operations::Who;
use crate::outcome::{DONE, Fault, HELD, IDLE, Outcome, WIDE, word};
use crate::parts::{Bounds, Eight, Four, Part, Shape, fits};
use crate::trial::Trial;

type Visit = Vec<Entity>;

impl Trial {
    /// Writes the value of each chunk.
    pub(crate) fn write_values(&mut self, only: Only, number: u32) -> Outcome {
        type Values = PerChunk<Bounds>;
        let chunks = self.matched(only, Values::SET);
        let since = only.since(self.now());
        let old = self.step(|side| {
            let write = |(entities, mut value): (&[Entity], ChunkValueMut<Bounds>)| {
                let first = entities[0].index();
                (first, std::mem::replace(&mut value.0, number.wrapping_add(first)))
            };
            filtered!(side.world, query_mut::<(Entity, PerChunkMut<Bounds>)>, only, since,
                q => q.into_iter().map(write).collect::<Vec<_>>())
        });
        assert_eq!(old.len(), chunks.len(), "chunks with a value");
        let now = self.now();
        for (((list, chunk), rows), old) in chunks.iter().zip(&old) {
            let chunk = &mut self.model.lists.lists[*list].chunks[*chunk];
            assert_eq!(*old, (rows[0].index(), chunk.value), "the value of a chunk");
            chunk.value = number.wrapping_add(rows[0].index());
            chunk.write(Values::SET, now);
        }
        if chunks.is_empty() { IDLE } else { DONE }
    }

    /// Writes every 19th row of each chunk through [`LinesMut`]. Exactly these rows are
    /// reported.
    pub(crate) fn write_lines(&mut self, only: Only, number: u32) -> Outcome {
        let (first, new) = (number as usize % 40, Four::make(number));
        let (since, before) = (only.since(self.now()), self.main.world.version());
        let chunks = self.matched(only, Four::SET);
        let visits = self.step(|side| {
            let mut visits = Vec::new();
            filtered!(side.world, query_mut::<(Entity, LinesMut<Four>)>, only, since, q => {
                for (entities, mut fours) in q {
                    for row in (first..entities.len()).step_by(19) {
                        *fours.row_mut(row) = new;
                        visits.push(entities[row]);
                    }
                }
            });
            visits
        });
        let mut rows = Visit::new();
        let now = self.now();
        for ((list, chunk), entities) in chunks {
            let written = || (first..entities.len()).step_by(19);
            rows.extend(written().map(|row| entities[row]));
            if entities.len() > first {
                self.model.lists.lists[list].chunks[chunk].write(Four::SET, now);
            }
        }
        assert_eq!(visits, rows, "rows that are written");
        rows.iter().for_each(|&entity| self.model.row_mut(entity).write(Four::SET, number));
        let reported = self.main.world.query::<(Entity, &Four)>().filter::<IncludeHidden>();
        let reported = reported.filter_since::<ChangedLines<Four>>(before).rows();
        let reported: Visit = reported.map(|(entity, _)| entity).collect();
        assert_eq!(reported, rows, "rows that are reported");
        if rows.is_empty() { IDLE } else { DONE }
    }

    /// Switches the bits of all rows in the chunks of [`Only::chunks`].
    pub(crate) fn switch_where(&mut self, only: Only, enabled: bool) -> Outcome {
        let since = only.since(self.now());
        let chunks = self.matched(only, Eight::SET);
        let switched = self.step(|side| {
            filtered!(side.world, matching::<Entity>, only, since, q => match enabled {
                true => q.enable::<Eight>(),
                false => q.disable::<Eight>(),
            })
        });
        let (mut expected, now) = (0, self.now());
        for ((list, chunk), entities) in chunks {
            let is_other = |entity: &&Entity| self.model.rows[*entity].is_off() == enabled;
            let others: Visit = entities.iter().filter(is_other).copied().collect();
            expected += others.len();
            if !others.is_empty() {
                self.model.lists.lists[list].chunks[chunk].write(Eight::SET, now);
            }
            others.into_iter().for_each(|entity| self.model.switched(entity, enabled, now));
        }
        assert_eq!(switched, expected, "bits that are switched");
        if expected == 0 { IDLE } else { DONE }
    }

    /// Exchanges the columns of a component and of its previous values.
    pub(crate) fn flip(&mut self) -> Outcome {
        type Old = Previous<Four>;
        self.flush();
        let bytes = self.model.chunk_bytes;
        let mut rows = self.model.rows.values().filter(|row| row.has(Four::SET));
        let all_fit = rows.all(|row| fits(row.set | Old::SET, bytes));
        let flipped = self.step(|side| side.world.flip::<Four>());
        if !all_fit {
            assert_eq!(flipped.as_ref().map_err(Fault::word), Err(WIDE));
            return word(&flipped);
        }
        flipped.expect("all rows fit");
        self.model.forget_writes();
        for row in self.model.rows.values_mut().filter(|row| row.has(Four::SET)) {
            let old = if row.has(Old::SET) { row.numbers[Old::INDEX] } else { 0 };
            let new = row.numbers[Four::INDEX];
            row.write(Old::SET, new);
            row.write(Four::SET, old);
        }
        self.settle(Only { kind: 0, age: 0 });
        DONE
    }

    /// Writes all rows, and despawns the entities that the kernel does not keep.
    pub(crate) fn retain(&mut self, only: Only, number: u32) -> Outcome {
        let chunks = self.matched(only, Four::SET);
        let since = only.since(self.now());
        let ends = |entity: &Entity| entity.index() % 5 == number % 5;
        let ended = self.step(|side| {
            filtered!(side.world, matching::<(&mut Four, Entity)>, only, since, q => {
                q.retain(|(fours, entities), keep| {
                    fours.fill(Four::make(number));
                    keep.iter_mut().zip(entities).for_each(|(keep, entity)| *keep = !ends(entity));
                })
            })
        });
        let mut doomed = Visit::new();
        let now = self.now();
        let rows = chunks.iter().flat_map(|(_, rows)| rows);
        let is_alive = |entity: &&Entity| self.model.alive(**entity).is_some();
        doomed.extend(rows.filter(|entity| ends(entity)).filter(is_alive));
        let is_held = self.model.is_held(&doomed);
        // The entities are despawned after the pass, in a version of their own.
        let of_pass = now - u64::from(!doomed.is_empty() && !is_held);
        for ((list, chunk), entities) in chunks {
            self.model.lists.lists[list].chunks[chunk].write(Four::SET, of_pass);
            entities.iter().for_each(|&e| self.model.row_mut(e).write(Four::SET, number));
        }
        let expected = self.model.despawned(&self.main.world, &doomed);
        assert_eq!(ended, expected, "entities that are not marked");
        if is_held {
            return HELD;
        }
        if doomed.is_empty() { IDLE } else { DONE }
    }

    /// Despawns several entities by their ids, some of them dead or repeated, maybe with the
    /// entities that hold them.
    pub(crate) fn despawn_batch(&mut self, who: &[Who], with_sources: bool) -> Outcome {
        let mut entities: Vec<Entity> = who.iter().map(|&who| self.model.resolve(who)).collect();
        if with_sources {
            entities.extend(self.model.relations.holders(&entities));
        }
        let is_held = self.model.is_held(&entities);
        let ended = self.step(|side| side.world.despawn_batch(&entities));
        let expected = self.model.despawned(&self.main.world, &entities);
        assert_eq!(ended, expected, "{entities:?}");
        match (is_held, ended > 0) {
            (true, _) => HELD,
            (false, true) => DONE,
            (false, false) => IDLE,
        }
    }
}
