//! The swarm: the entities of the world, and the passes of a frame.

use crate::birth::{Births, probes};
use crate::model::{
    Charge, Heat, Life, Position, Velocity, Weightless, accelerate, advance, age, alarms, bounce,
    collect_dead, swirl, warm,
};
use crate::stopwatch::{Stopwatch, read, rewritten};
use phalanx::prelude::*;
use phalanx_examples::hash::fnv1a;

/// Seconds of a frame.
const DT: f32 = 1.0 / 60.0;

/// The number of particles of each kind at the end of every frame: dead ones are replaced.
struct Population {
    dust: usize,
    charged: usize,
    weightless: usize,
}

pub(crate) struct Swarm {
    world: World,
    population: Population,
    births: Births,
    frame: u32,
    alarms: Alarms,
}

/// The number of alarms per chunk of probes, updated only for chunks with changed heat.
#[derive(Default)]
pub(crate) struct Alarms {
    by_chunk: Vec<u32>,
    read: Version,
    /// The number of chunks visited in each frame.
    visits: Vec<usize>,
}

impl Swarm {
    pub(crate) fn new(entities: usize, seed: u64) -> Self {
        let share = |percent| entities / 100 * percent + entities % 100 * percent / 100;
        let (charged, weightless, probes) = (share(20), share(5), probes(share(15)));
        let dust = entities - charged - weightless - probes.len();
        let mut swarm = Self {
            world: World::new(),
            population: Population { dust, charged, weightless },
            births: Births::new(seed),
            frame: 0,
            alarms: Alarms::default(),
        };
        swarm.world.spawn_batch(probes);
        swarm.replace_dead(&mut Stopwatch::new(false));
        swarm
    }

    pub(crate) const fn world(&self) -> &World {
        &self.world
    }

    pub(crate) const fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// Runs all passes of one frame.
    pub(crate) fn step(&mut self, watch: &mut Stopwatch) {
        self.move_all(watch);
        self.warm_floor(watch);
        self.alarms.update(&self.world, watch);
        self.bury_dead(watch);
        self.replace_dead(watch);
        self.frame += 1;
    }

    /// Moves all particles: queries return slices, kernels compute on them.
    fn move_all(&mut self, watch: &mut Stopwatch) {
        let world = &mut self.world;

        let heavy = world.query_mut::<(&Position, &mut Velocity)>().without::<Weightless>();
        let bytes = read::<Position>() + rewritten::<Velocity>();
        watch.kernel("accelerate", bytes, heavy, |(p, v)| accelerate(p, v, DT));

        let charged = world.query_mut::<(&mut Velocity, &Charge)>();
        let bytes = rewritten::<Velocity>() + read::<Charge>();
        watch.kernel("swirl", bytes, charged, |(v, c)| swirl(v, c, DT));

        let moving = world.query_mut::<(&mut Position, &Velocity)>();
        let bytes = rewritten::<Position>() + read::<Velocity>();
        watch.kernel("advance", bytes, moving, |(p, v)| advance(p, v, DT));

        let moving = world.query_mut::<(&mut Position, &mut Velocity)>();
        let bytes = rewritten::<Position>() + rewritten::<Velocity>();
        watch.kernel("bounce", bytes, moving, |(p, v)| bounce(p, v));

        let mortal = world.query_mut::<&mut Life>();
        watch.kernel("age", rewritten::<Life>(), mortal, |life| age(life, DT));
    }

    /// Moves a comet along a rose curve over the floor. It heats few probes, and the chunks of the
    /// others keep their version.
    fn warm_floor(&mut self, watch: &mut Stopwatch) {
        let angle = self.frame as f32 * DT;
        let radius = 0.85 * (3.0 * angle).cos();
        let comet = Position { x: radius * angle.cos(), y: radius * angle.sin(), z: -1.0 };
        let floor = self.world.query_mut::<(&Position, &mut Heat)>();
        let bytes = read::<Position>() + rewritten::<Heat>();
        watch.kernel("warm", bytes, floor, |(position, heat)| {
            if warm(position, heat, comet) { Modified::Yes } else { Modified::No }
        });
    }

    /// Despawns the dead. A query borrows the world, so the ids are collected first.
    fn bury_dead(&mut self, watch: &mut Stopwatch) {
        let mut dead = Vec::new();
        watch.time("find the dead", Some(read::<Life>()), || {
            let mortals = self.world.query::<(Entity, &Life)>();
            let mortals_len = mortals.count_rows();
            mortals.for_each_chunk(|(entities, life)| collect_dead(entities, life, &mut dead));
            mortals_len
        });
        watch.time("despawn", None, || {
            assert_eq!(self.world.despawn_batch(&dead), dead.len(), "an entity is not alive");
            dead.len()
        });
    }

    /// Fills up each kind, one archetype at a time.
    fn replace_dead(&mut self, watch: &mut Stopwatch) {
        let Self { world, population, births, .. } = self;
        let time = self.frame as f32 * DT;
        let living = world.query::<&Life>();
        let plain = living.without::<Charge>().without::<Weightless>().count_rows();
        let charged = world.query::<&Charge>().count_rows();
        let weightless = world.query::<&Life>().with::<Weightless>().count_rows();
        // Created before the measurement: random numbers are not part of the cost of spawning.
        let dust: Vec<_> = (plain..population.dust).map(|_| births.dust(time)).collect();
        let charged: Vec<_> = (charged..population.charged).map(|_| births.charged(time)).collect();
        let weightless: Vec<_> =
            (weightless..population.weightless).map(|_| births.weightless(time)).collect();
        watch.time("spawn", None, || {
            world.spawn_batch(dust).len()
                + world.spawn_batch(charged).len()
                + world.spawn_batch(weightless).len()
        });
    }

    /// A checksum of the bits of all positions: equal worlds have equal checksums.
    pub(crate) fn checksum(&self) -> u64 {
        fnv1a(self.world.query::<&Position>().into_iter().flat_map(scalars::<u32>).copied())
    }
}

impl Alarms {
    fn update(&mut self, world: &World, watch: &mut Stopwatch) {
        let mut visited = 0;
        watch.time("alarm (changed chunks)", Some(read::<Heat>()), || {
            let mut rows = 0;
            for chunk in world.query::<&Heat>().changed_since(self.read).chunks() {
                let index = chunk.index();
                if index >= self.by_chunk.len() {
                    self.by_chunk.resize(index + 1, 0);
                }
                (visited, rows) = (visited + 1, rows + chunk.len());
                self.by_chunk[index] = alarms(chunk.slices());
            }
            rows
        });
        self.read = world.version();
        self.visits.push(visited);
    }

    /// The number of probes that raise the alarm.
    pub(crate) fn total(&self) -> u32 {
        self.by_chunk.iter().sum()
    }

    /// The number of chunks of probes.
    pub(crate) const fn chunks_len(&self) -> usize {
        self.by_chunk.len()
    }

    /// The number of chunks visited in each frame.
    pub(crate) fn visits(&self) -> &[usize] {
        &self.visits
    }
}
