//! Random changes of all kinds that a state can have, for the tests of snapshots.

use phalanx::chunks::{PerChunk, PerChunkMut};
use phalanx::prelude::*;

use crate::common::components::{Big, Byte, Four, Nth, Other, Tag, Twelve};
use crate::common::effort::effort;

#[component(enableable)]
#[derive(Debug, PartialEq)]
pub(crate) struct Awake(pub(crate) u32);
#[component(cleanup)]
#[derive(Debug, PartialEq)]
pub(crate) struct Trace(pub(crate) u32);

#[component]
#[derive(Debug, PartialEq)]
pub(crate) struct Bounds(pub(crate) f32, pub(crate) f32);

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Team(pub(crate) u32);

/// Pseudo-random numbers, the same for the same seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// A change that a number chooses.
pub(crate) fn change(world: &mut World, seed: u64) {
    change_or_share(world, seed, true);
}

/// A change that a number chooses. Entities get shared values only if `shares`.
pub(crate) fn change_or_share(world: &mut World, seed: u64, shares: bool) {
    let mut chance = Chance(seed);
    chance.below(2);
    let all: Vec<Entity> =
        world.query::<Entity>().filter::<(IncludeHidden, IgnoreEnabled)>().rows().collect();
    let one = all.get(chance.below(all.len())).copied().unwrap_or(Entity::NULL);
    let number = u32::try_from(chance.below(1000)).expect("small");
    let rows = if cfg!(miri) { 20 } else { 1500 };
    let many = u32::try_from(chance.below(rows)).expect("small");
    match chance.below(24) {
        0 => _ = world.spawn((Four(number), Twelve([number; 3]))),
        1 => _ = world.spawn_batch((0..many).map(|i| (Four(i), Twelve([i; 3])))),
        2 => _ = world.spawn_batch((0..many).map(|i| (Four(i), Awake(i), Tag))),
        3 => _ = world.spawn((Big([number; 250]), Byte(1))),
        4 | 5 => _ = world.despawn(one),
        6 => _ = world.insert(one, Trace(number)),
        7 => _ = world.remove::<Trace>(one),
        8 => _ = world.insert(one, Awake(number)),
        9 => _ = world.set_enabled::<Awake>(one, number % 2 == 0),
        10 if shares => _ = world.insert_shared(one, Team(number % 40)),
        10 => _ = world.spawn_at(Entity::from_bits((u64::from(number) << 32) | 1), Four(number)),
        11 => _ = world.get_mut::<Four>(one).map(|four| four.0 = number),
        12 => {
            for (chunk, mut bounds) in world.query_mut::<(&Four, PerChunkMut<Bounds>)>() {
                *bounds = Bounds(chunk[0].0 as f32, number as f32);
            }
        }
        13 => _ = world.insert(one, PerChunk::<Bounds>::TAG),
        14 => world.query_mut::<&mut Four>().into_iter().flatten().for_each(|four| four.0 ^= 1),
        15 => _ = world.matching::<&Awake>().insert(Other),
        16 => _ = world.matching::<&Four>().with::<Other>().remove::<Other>(),
        17 => _ = world.insert(one, Disabled),
        18 => _ = world.instantiate(one, 3),
        19 => _ = world.reserve_entity(),
        20 => _ = world.memory_mut().retire_archetypes(),
        21 => _ = world.memory_mut().compact(10_000),
        22 => {
            let half: Vec<_> = all.iter().copied().skip(number as usize % 2).step_by(2).collect();
            for entity in half.into_iter().take(rows) {
                world.despawn(entity).ok();
            }
        }
        _ => world.flip::<Nth<1>>().expect("it fits"),
    }
}

/// The number of changes in a random test.
pub(crate) fn steps() -> u64 {
    if cfg!(miri) { 60 } else { effort(180).into() }
}
