//! Animals that walk over a meadow, rest, and hunt.

use crate::chance::Chance;
use phalanx::prelude::*;

/// In metres, two columns.
#[component(split, name = "position")]
pub(crate) struct Position { pub(crate) x: f32, pub(crate) y: f32 }
/// In metres a second: one column, in Arrow a list of two.
#[component(name = "velocity")]
pub(crate) struct Velocity { x: f32, y: f32 }
#[component(name = "energy")]
pub(crate) struct Energy(pub(crate) f32);
#[component(name = "kind")]
pub(crate) enum Kind { Hare, Deer, Wolf }
/// The animal that a wolf follows.
#[component(name = "prey")]
pub(crate) struct Prey(pub(crate) Entity);
#[component(name = "resting")]
pub(crate) struct Resting;

/// The sides of the meadow, in metres.
const SIDE: f32 = 1000.0;
/// Seconds of a step.
const STEP: f32 = 0.1;

/// The simulation.
pub(crate) struct Herd {
    pub(crate) world: World,
}

impl Herd {
    /// A herd of this size, always the same for one size: one of 50 is a wolf with a prey, one of
    /// ten rests.
    pub(crate) fn new(animals: u32) -> Self {
        let mut world = World::new();
        let (wolves, resting) = (animals / 50, animals / 10);
        let walking = animals - wolves - resting;
        let grazers = walking + resting;
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
            let mut random = Random::new(grazers + i);
            let target = Prey(prey[random.0.below(grazers) as usize]);
            (random.position(), random.velocity(), random.energy(), Kind::Wolf, target)
        }));
        Self { world }
    }

    /// Moves walking animals, which lose energy by speed and turn at the walls. Resting ones gain
    /// energy.
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

#[kernel]
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

#[kernel]
fn rest(energy: &mut [Energy]) {
    for energy in energy {
        energy.0 = (energy.0 + STEP).min(100.0);
    }
}

/// The initial values of an animal, determined by its number.
struct Random(Chance);

impl Random {
    fn new(animal: u32) -> Self {
        Self(Chance::new(animal.into()))
    }

    fn position(&mut self) -> Position {
        let mut side = || self.0.part() * (SIDE - 1.0);
        Position { x: side(), y: side() }
    }

    fn velocity(&mut self) -> Velocity {
        let mut speed = || self.0.part() * 6.0 - 3.0;
        Velocity { x: speed(), y: speed() }
    }

    fn energy(&mut self) -> Energy {
        Energy(50.0 + self.0.part() * 50.0)
    }

    fn grazer(&mut self) -> Kind {
        if self.0.below(4) == 0 { Kind::Deer } else { Kind::Hare }
    }
}
