//! Structural changes, one entity at a time, and the creation of a world.
//!
//! The limit of the first two is the least work of any archetype store: dense `Vec`s, a location
//! for each entity, swap removal. It knows its tables when it is compiled, keeps no versions and
//! looks up no types.

use std::hint::black_box;

use phalanx::prelude::*;

use super::programs::structure::{AddRemove, AddRemoveCommands, Added, Kept};
use super::sides::{Workload, fresh, steady};
use super::timed::timed;
use super::{position, velocity, world};

const ENTITIES: usize = 10_000;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![add_remove(), create_destroy(), world_new()]
}

/// Adds a component to every entity in turn, and afterwards removes it from every entity in turn.
fn add_remove() -> Workload {
    Workload::new("add_remove", ENTITIES, ENTITIES)
        .limit(|| steady(TwoTables::new(), TwoTables::add_and_remove, TwoTables::check))
        .phalanx("phalanx", |chunk| timed(AddRemove::new(chunk, ENTITIES)))
        .phalanx("phalanx_commands", |chunk| timed(AddRemoveCommands::new(chunk, ENTITIES)))
}

/// Spawns entities one by one, and afterwards despawns them in the same order.
fn create_destroy() -> Workload {
    Workload::new("create_destroy", ENTITIES, ENTITIES)
        .limit(|| {
            let state = (Slots::default(), Vec::with_capacity(ENTITIES), 0);
            steady(
                state,
                |(slots, ids, lived)| {
                    ids.extend((0..ENTITIES).map(|i| slots.spawn((position(i), velocity(i)))));
                    *lived += slots.ids.len();
                    for id in ids.drain(..) {
                        slots.despawn(id);
                    }
                },
                |(slots, _, lived), steps| check_lived(*lived, slots.ids.len(), ENTITIES, steps),
            )
        })
        .phalanx("phalanx", |chunk| {
            let state = (world(chunk), Vec::with_capacity(ENTITIES), 0);
            steady(
                state,
                |(world, entities, lived)| {
                    for i in 0..ENTITIES {
                        entities.push(world.spawn((position(i), velocity(i))));
                    }
                    *lived += world.len();
                    for entity in entities.drain(..) {
                        world.despawn(entity).expect("alive");
                    }
                },
                |(world, _, lived), steps| check_lived(*lived, world.len(), ENTITIES, steps),
            )
        })
}

/// Asserts that `entities` lived in each of the passes, and that none is left.
pub(crate) fn check_lived(lived: usize, left: usize, entities: usize, steps: u64) {
    assert_eq!(lived as u64, entities as u64 * steps, "all were spawned");
    assert_eq!(left, 0, "all were despawned");
}

/// An empty world. An empty `Vec` costs no time to make, so the workload has no limit.
fn world_new() -> Workload {
    const WORLDS: usize = 64;
    Workload::new("world_new", WORLDS, WORLDS).phalanx("phalanx", |chunk| {
        fresh(
            || Vec::with_capacity(WORLDS),
            move |mut worlds: Vec<World>| {
                worlds.extend((0..WORLDS).map(|_| world(black_box(chunk))));
                worlds
            },
            |worlds| assert!(worlds.iter().all(World::is_empty), "a new world is empty"),
        )
    })
}

/// Entities in one of two tables, the second with one column more.
#[derive(Default)]
struct TwoTables {
    /// The row of each entity, in the table that holds it.
    rows: Vec<u32>,
    ids: [Vec<u32>; 2],
    kept: [Vec<Kept>; 2],
    added: Vec<Added>,
    gained: u64,
}

impl TwoTables {
    fn new() -> Self {
        let mut tables = Self::default();
        for (id, i) in (0u32..).zip(0..ENTITIES) {
            tables.rows.push(id);
            tables.ids[0].push(id);
            tables.kept[0].push(Kept(i as f32));
        }
        tables
    }

    fn add_and_remove(&mut self) {
        for (id, _) in (0u32..).zip(0..ENTITIES) {
            self.transfer(id, 0, 1);
            self.added.push(Added(1.0));
        }
        for (id, _) in (0u32..).zip(0..ENTITIES) {
            let row = self.rows[id as usize] as usize;
            self.transfer(id, 1, 0);
            self.gained += u64::from(self.added.swap_remove(row).0 > 0.0);
        }
    }

    fn transfer(&mut self, id: u32, source: usize, target: usize) {
        let row = self.rows[id as usize];
        self.ids[source].swap_remove(row as usize);
        if let Some(&moved) = self.ids[source].get(row as usize) {
            self.rows[moved as usize] = row;
        }
        let kept = self.kept[source].swap_remove(row as usize);
        self.rows[id as usize] = len_u32(&self.ids[target]);
        self.ids[target].push(id);
        self.kept[target].push(kept);
    }

    fn check(&mut self, passes: u64) {
        assert_eq!(self.gained, passes * ENTITIES as u64, "all were added");
        assert!(self.added.is_empty(), "all were removed");
        for (i, &row) in self.rows.iter().enumerate() {
            assert_eq!(self.kept[0][row as usize], Kept(i as f32), "the other stays");
        }
    }
}

/// One table with generational ids and rows of type `R`.
#[derive(Default)]
pub(crate) struct Slots<R: Row> {
    pub(crate) generations: Vec<u32>,
    rows: Vec<u32>,
    free: Vec<u32>,
    pub(crate) ids: Vec<u32>,
    pub(crate) columns: R::Columns,
}

impl<R: Row> Slots<R> {
    pub(crate) fn spawn(&mut self, row: R) -> (u32, u32) {
        let at = len_u32(&self.ids);
        let index = self.free.pop().unwrap_or_else(|| {
            self.generations.push(1);
            self.rows.push(0);
            len_u32(&self.rows) - 1
        });
        self.rows[index as usize] = at;
        self.ids.push(index);
        row.push(&mut self.columns);
        (index, self.generations[index as usize])
    }

    pub(crate) fn despawn(&mut self, (index, generation): (u32, u32)) {
        assert_eq!(self.generations[index as usize], generation, "alive");
        self.generations[index as usize] += 1;
        let row = self.rows[index as usize];
        self.ids.swap_remove(row as usize);
        if let Some(&moved) = self.ids.get(row as usize) {
            self.rows[moved as usize] = row;
        }
        R::swap_remove(&mut self.columns, row as usize);
        self.free.push(index);
    }
}

/// A row of the limit's table: a tuple, for which each column is a `Vec`.
pub(crate) trait Row {
    type Columns: Default;
    fn push(self, columns: &mut Self::Columns);
    fn swap_remove(columns: &mut Self::Columns, row: usize);
}

macro_rules! rows {
    ($($column:ident: $n:tt),+) => {
        impl<$($column),+> Row for ($($column,)+) {
            type Columns = ($(Vec<$column>,)+);

            fn push(self, columns: &mut Self::Columns) {
                $(columns.$n.push(self.$n);)+
            }

            fn swap_remove(columns: &mut Self::Columns, row: usize) {
                $(columns.$n.swap_remove(row);)+
            }
        }
    };
}

rows!(A: 0, B: 1);
rows!(A: 0, B: 1, C: 2);

fn len_u32<T>(slice: &[T]) -> u32 {
    u32::try_from(slice.len()).expect("fewer than 2^32 rows")
}
