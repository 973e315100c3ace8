//! Rows in an order: sorts by keys, and the rows with keys in a range.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::rows::SortKey;

use crate::filtered;
use crate::filters::Only;
use crate::outcome::{DONE, IDLE, Outcome};
use crate::parts::{Byte, Four, Part, Shape};
use crate::relations::ChildOf;
use crate::trial::{Side, Trial};

/// A key of few values.
pub(crate) struct Coarse;

impl SortKey for Coarse {
    type Columns = Four;
    type Key = u32;

    fn key(four: &Four) -> u32 {
        four.0.wrapping_mul(0x9e37_79b9) >> 27
    }
}

impl Trial {
    /// Sorts the rows of each archetype by a key of their ids that many of them share.
    pub(crate) fn sort(&mut self, only: Only, number: u32) -> Outcome {
        let key = move |entity: Entity| entity.index().wrapping_mul(number | 1) >> 27;
        let chunks = self.matched(only, Four::SET);
        let since = only.since(self.now());
        let moved = self.step(|side| {
            filtered!(side.world, matching::<(&Four, Entity)>, only, since, q => {
                q.sort_by_key(|(_, entity)| key(entity))
            })
        });
        self.sorted(chunks, key, moved)
    }

    /// Sorts the rows of each archetype by a key of their values.
    pub(crate) fn sort_by(&mut self, only: Only) -> Outcome {
        let chunks = self.matched(only, Four::SET);
        let since = only.since(self.now());
        let moved = self.step(|side| {
            filtered!(side.world, matching::<(&Four,)>, only, since, q => q.sort_by::<Coarse>())
        });
        let rows = chunks.iter().flat_map(|(_, rows)| rows);
        let keys: BTreeMap<_, _> = rows.map(|&entity| (entity, self.coarse(entity))).collect();
        self.sorted(chunks, |entity| keys[&entity], moved)
    }

    /// Sorts the rows of each archetype by their place in the tree, which the world tells: it is
    /// compared with the model after each operation.
    pub(crate) fn sort_by_level(&mut self, only: Only) -> Outcome {
        let chunks = self.matched(only, Four::SET);
        let since = only.since(self.now());
        // Rows in no tree have no place, and come first.
        let levels = self.look(|world| world.relation::<ChildOf>().levels());
        let places: BTreeMap<Entity, u32> = levels.entities().iter().copied().zip(1..).collect();
        let moved = self.step(|side| {
            filtered!(side.world, matching::<(&Four,)>, only, since, q => {
                q.sort_by_level::<ChildOf>()
            })
        });
        self.sorted(chunks, |entity| places.get(&entity).copied().unwrap_or(0), moved)
    }

    /// The key of an entity that has a [`Four`].
    fn coarse(&self, entity: Entity) -> u32 {
        Coarse::key(&Four::of(&self.model.rows[&entity].numbers))
    }

    /// Sorts the rows of chunks in the model.
    fn sorted(
        &mut self,
        chunks: Vec<((usize, usize), Vec<Entity>)>,
        key: impl Fn(Entity) -> u32,
        moved: usize,
    ) -> Outcome {
        let mut seen = BTreeMap::<usize, Vec<usize>>::new();
        for ((list, chunk), rows) in chunks {
            let first = chunk * self.model.lists.lists[list].room;
            seen.entry(list).or_default().extend(first..first + rows.len());
        }
        let now = self.now();
        let mut expected = 0;
        for (list, rows) in seen {
            expected += self.model.sorted(list, &rows, &key, now);
        }
        assert_eq!(moved, expected, "rows with new places");
        if moved == 0 { IDLE } else { DONE }
    }

    /// Finds the rows with keys in a range by the bounds of chunks, and writes another component of
    /// them if there is a number.
    pub(crate) fn between(&mut self, only: Only, from: u32, number: Option<u32>) -> Outcome {
        let (since, range) = (only.since(self.now()), from % 32..=from % 32 + from % 9);
        let written = if number.is_some() { Byte::SET } else { 0 };
        let mut chunks = self.matched(only, Four::SET | written);
        for (_, rows) in &mut chunks {
            rows.retain(|&entity| range.contains(&self.coarse(entity)));
        }
        let rows: Vec<Entity> = chunks.iter().flat_map(|(_, rows)| rows).copied().collect();
        let Some(number) = number else {
            let found = self.step_aside(|Side { world, bounds, .. }| {
                filtered!(world, query::<(Entity, &Four)>, only, since, q => {
                    bounds.between(q, range.clone()).rows().map(|row| row.0).collect::<Vec<_>>()
                })
            });
            assert_eq!(found, rows, "rows with keys in {range:?}");
            return if rows.is_empty() { IDLE } else { DONE };
        };
        let found = self.step(|Side { world, bounds, .. }| {
            let mut found = Vec::new();
            filtered!(world, query_mut::<(Entity, &Four, &mut Byte)>, only, since, q => {
                for (entities, _, bytes) in bounds.between(q, range.clone()) {
                    bytes.fill(Byte::part(number));
                    found.extend_from_slice(entities);
                }
            });
            found
        });
        assert_eq!(found, rows, "rows with keys in {range:?}");
        let now = self.now();
        for ((list, chunk), rows) in chunks.iter().filter(|(_, rows)| !rows.is_empty()) {
            self.model.lists.lists[*list].chunks[*chunk].write(Byte::SET, now);
            rows.iter().for_each(|&entity| self.model.row_mut(entity).write(Byte::SET, number));
        }
        if rows.is_empty() { IDLE } else { DONE }
    }
}
