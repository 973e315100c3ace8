//! Animals that walk over a meadow, rest, and hunt.

use phalanx::prelude::*;

component! {
    /// In metres, two columns.
    #[split]
    pub(crate) struct Position as "position" { pub(crate) x: f32, pub(crate) y: f32 }
    /// In metres a second: one column, in Arrow a list of two.
    pub(crate) struct Velocity as "velocity" { x: f32, y: f32 }
    pub(crate) struct Energy as "energy" (pub(crate) f32);
    pub(crate) enum Kind as "kind" { Hare, Deer, Wolf }
    /// The animal that a wolf follows.
    pub(crate) struct Prey as "prey" (pub(crate) Entity);
    pub(crate) struct Resting as "resting";
}

/// The sides of the meadow, in metres.
const SIDE: f32 = 1000.0;
/// Seconds of a step.
const STEP: f32 = 0.1;

/// The simulation.
pub(crate) struct Herd {
    pub(crate) world: World,
}

impl Herd {
    /// A herd of so many animals, the same for the same number: one of 50 is a wolf with a prey,
    /// one of ten rests.
    pub(crate) fn new(animals: u32) -> Self {
        let mut world = World::new();
        let (wolves, resting) = (animals / 50, animals / 10);
        let walking = animals - wolves - resting;
        let hares = world
            .spawn_batch((0..walking).map(|i| {
                let mut random = Random::new(i);
                (random.position(), random.velocity(), random.energy(), random.grazer())
            }))
            .to_vec();
        let sleepers = world
            .spawn_batch((0..resting).map(|i| {
                let mut random = Random::new(walking + i);
                (random.position(), random.energy(), random.grazer(), Resting)
            }))
            .to_vec();
        let prey: Vec<_> = hares.into_iter().chain(sleepers).collect();
        world.spawn_batch((0..wolves).map(|i| {
            let mut random = Random::new(walking + resting + i);
            let target = Prey(prey[random.below(prey.len())]);
            (random.position(), random.velocity(), random.energy(), Kind::Wolf, target)
        }));
        Self { world }
    }

    /// Moves what walks, with energy lost by speed and a wall around the meadow. What rests gains.
    pub(crate) fn step(&mut self) {
        for (position, velocity, energy) in
            self.world.query_mut::<(&mut Position, &mut Velocity, &mut Energy)>()
        {
            walk(position.x, position.y, velocity, energy);
        }
        for energy in self.world.query_mut::<&mut Energy>().with::<Resting>() {
            rest(energy);
        }
    }
}

kernel! {
    fn walk(x: &mut [f32], y: &mut [f32], velocity: &mut [Velocity], energy: &mut [Energy]) {
        for (((x, y), velocity), energy) in x.iter_mut().zip(y).zip(velocity).zip(energy) {
            *x += velocity.x * STEP;
            *y += velocity.y * STEP;
            if *x < 0.0 || *x >= SIDE {
                velocity.x = -velocity.x;
                *x += velocity.x * STEP;
            }
            if *y < 0.0 || *y >= SIDE {
                velocity.y = -velocity.y;
                *y += velocity.y * STEP;
            }
            let square = velocity.x * velocity.x + velocity.y * velocity.y;
            energy.0 = (energy.0 - square * STEP * 0.05).max(0.0);
        }
    }
}

kernel! {
    fn rest(energy: &mut [Energy]) {
        for energy in energy {
            energy.0 = (energy.0 + STEP).min(100.0);
        }
    }
}

/// Numbers that look random, the same for the same animal.
struct Random(u64);

impl Random {
    fn new(animal: u32) -> Self {
        Self(u64::from(animal))
    }

    /// The generator `splitmix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("it is less than a length")
    }

    fn position(&mut self) -> Position {
        Position { x: self.unit() * (SIDE - 1.0), y: self.unit() * (SIDE - 1.0) }
    }

    fn velocity(&mut self) -> Velocity {
        Velocity { x: self.unit() * 6.0 - 3.0, y: self.unit() * 6.0 - 3.0 }
    }

    fn energy(&mut self) -> Energy {
        Energy(50.0 + self.unit() * 50.0)
    }

    fn grazer(&mut self) -> Kind {
        if self.next().is_multiple_of(4) { Kind::Deer } else { Kind::Hare }
    }
}
