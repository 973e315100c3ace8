//! A sparse component that some entities get and lose again, and look-ups of its values.
//!
//! The limit is a sparse set by hand: an array of positions by the index of the entity, and dense
//! arrays of ids and values. It does not ask whether an entity is alive, has no versions, and no
//! row knows of its values.

use phalanx::prelude::*;

use super::programs::random::random;
use super::sides::{Workload, steady};
use super::{position, world};

const ENTITIES: usize = 100_000;
/// The entities that get a value.
const CHOSEN: usize = 10_000;

#[component(sparse, plain, name = "bench.timer")]
struct Timer(f32);

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        pairs("sparse_pairs", false),
        pairs("sparse_pairs_random", true),
        look_ups("sparse_get", false),
        look_ups("sparse_get_random", true),
    ]
}

/// The numbers of the chosen entities: every tenth, or random ones in random order.
fn chosen(is_random: bool) -> Vec<usize> {
    let mut all: Vec<_> = (0..ENTITIES).collect();
    if is_random {
        let mut random = random(11);
        all.sort_by_cached_key(|_| random());
        all.truncate(CHOSEN);
    } else {
        all.retain(|i| i % (ENTITIES / CHOSEN) == 0);
    }
    all
}

/// The same numbers for the set by hand.
fn ids(is_random: bool) -> Vec<u32> {
    let narrow = |i| u32::try_from(i).expect("few entities");
    chosen(is_random).into_iter().map(narrow).collect()
}

/// A sparse set by hand.
struct Set {
    positions: Vec<u32>,
    ids: Vec<u32>,
    values: Vec<f32>,
}

impl Set {
    const NONE: u32 = u32::MAX;

    fn new() -> Self {
        let positions = vec![Self::NONE; ENTITIES];
        Self { positions, ids: Vec::new(), values: Vec::new() }
    }

    fn insert(&mut self, id: u32, value: f32) {
        let position = &mut self.positions[id as usize];
        match self.values.get_mut(*position as usize) {
            Some(known) => *known = value,
            None => {
                *position = u32::try_from(self.ids.len()).expect("few values");
                self.ids.push(id);
                self.values.push(value);
            }
        }
    }

    fn remove(&mut self, id: u32) -> Option<f32> {
        let position = self.positions[id as usize];
        if position == Self::NONE {
            return None;
        }
        self.positions[id as usize] = Self::NONE;
        self.ids.swap_remove(position as usize);
        if let Some(&moved) = self.ids.get(position as usize) {
            self.positions[moved as usize] = position;
        }
        Some(self.values.swap_remove(position as usize))
    }

    fn get(&self, id: u32) -> Option<f32> {
        self.values.get(self.positions[id as usize] as usize).copied()
    }
}

/// The state of a side: a world, its chosen entities, and a count of values.
struct Frame {
    world: World,
    chosen: Vec<Entity>,
    gained: usize,
}

impl Frame {
    fn new(chunk: ChunkSize, is_random: bool) -> Self {
        let mut world = world(chunk);
        let all = world.spawn_batch((0..ENTITIES).map(position)).to_vec();
        let chosen = chosen(is_random).into_iter().map(|i| all[i]).collect();
        Self { world, chosen, gained: 0 }
    }
}

/// What a side does for all chosen entities.
type Change = fn(&mut World, &[Entity]);

/// Each of the chosen entities gets a value, and then each loses it.
fn pairs(name: &'static str, is_random: bool) -> Workload {
    let side = move |[insert, remove]: [Change; 2]| {
        move |chunk| {
            steady(
                Frame::new(chunk, is_random),
                move |Frame { world, chosen, gained }| {
                    insert(world, chosen);
                    *gained += world.sparse::<Timer>().len();
                    remove(world, chosen);
                },
                |frame, passes| {
                    assert!(frame.world.sparse::<Timer>().is_empty(), "all were removed");
                    assert_eq!(frame.gained as u64, CHOSEN as u64 * passes, "all were inserted");
                },
            )
        }
    };
    Workload::new(name, ENTITIES, CHOSEN)
        .limit(move || {
            steady(
                (Set::new(), ids(is_random), 0),
                |(set, ids, gained)| {
                    ids.iter().for_each(|&id| set.insert(id, 1.0));
                    *gained += set.ids.len();
                    ids.iter().for_each(|&id| _ = set.remove(id).expect("it has one"));
                },
                |(set, _, gained), passes| {
                    assert!(set.ids.is_empty(), "all were removed");
                    assert_eq!(*gained as u64, CHOSEN as u64 * passes, "all were inserted");
                },
            )
        })
        .phalanx("phalanx", side(BY_WORLD))
        .phalanx("phalanx_commands", side(BY_COMMANDS))
        .phalanx("phalanx_system", side(BY_SYSTEM))
        .phalanx("phalanx_view", side(BY_VIEW))
}

const BY_WORLD: [Change; 2] = [
    |world, chosen| {
        for &one in chosen {
            world.insert(one, Timer(1.0)).expect("alive");
        }
    },
    |world, chosen| {
        for &one in chosen {
            world.remove::<Timer>(one).expect("it has one");
        }
    },
];

const BY_VIEW: [Change; 2] = [
    |world, chosen| insert_all(world.sparse_mut(), chosen),
    |world, chosen| remove_all(world.sparse_mut(), chosen),
];

const BY_SYSTEM: [Change; 2] = [
    |world, chosen| world.run(|timers: SparseMut<Timer>| insert_all(timers, chosen)),
    |world, chosen| world.run(|timers: SparseMut<Timer>| remove_all(timers, chosen)),
];

const BY_COMMANDS: [Change; 2] = [
    |world, chosen| {
        world.run(|mut commands: Commands| {
            for &one in chosen {
                commands.insert(one, Timer(1.0));
            }
        });
    },
    |world, chosen| {
        world.run(|mut commands: Commands| {
            for &one in chosen {
                commands.remove::<Timer>(one);
            }
        });
    },
];

fn insert_all(mut timers: SparseMut<'_, Timer>, chosen: &[Entity]) {
    for &one in chosen {
        timers.insert(one, Timer(1.0)).expect("alive");
    }
}

fn remove_all(mut timers: SparseMut<'_, Timer>, chosen: &[Entity]) {
    for &one in chosen {
        timers.remove(one).expect("it has one");
    }
}

/// The sum of the values of the chosen entities, all of which have one.
fn look_ups(name: &'static str, is_random: bool) -> Workload {
    Workload::new(name, ENTITIES, CHOSEN)
        .limit(move || {
            let ids = ids(is_random);
            let mut set = Set::new();
            ids.iter().for_each(|&id| set.insert(id, 0.5));
            steady(
                (set, ids, 0.0f64),
                |(set, ids, sum)| {
                    *sum += f64::from(
                        ids.iter().map(|&id| set.get(id).expect("it has one")).sum::<f32>(),
                    );
                },
                |(.., sum), passes| check_sum(*sum, passes),
            )
        })
        .phalanx("phalanx_view", move |chunk| {
            let mut frame = Frame::new(chunk, is_random);
            for &one in &frame.chosen {
                frame.world.insert(one, Timer(0.5)).expect("alive");
            }
            steady(
                (frame, 0.0f64),
                |(frame, sum)| {
                    let timers = frame.world.sparse::<Timer>();
                    let values =
                        frame.chosen.iter().map(|&one| timers.get(one).expect("it has one").0);
                    *sum += f64::from(values.sum::<f32>());
                },
                |(_, sum), passes| check_sum(*sum, passes),
            )
        })
}

/// Exact, because each value is a half.
fn check_sum(sum: f64, passes: u64) {
    assert_eq!(sum, 0.5 * CHOSEN as f64 * passes as f64, "the sum of values");
}
