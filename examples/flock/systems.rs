//! The systems. Each is a plain function, and its parameters are all that it can touch.

use crate::grid::Grid;
use crate::model::{
    Hatched, Life, Population, Position, Predator, Random, STEP, Sky, Velocity, boid, child,
};
use phalanx::prelude::*;

/// Boids keep this distance.
const CROWD: f32 = 0.45;
/// How hard, in units of length and seconds, each rule pulls.
const SEPARATION: f32 = 30.0;
const ALIGNMENT: f32 = 4.0;
const COHESION: f32 = 5.0;
const FEAR: f32 = 60.0;
/// How far off a predator is feared.
const FEAR_DISTANCE: f32 = 5.0;
/// How slow and how fast a boid can fly.
const SPEEDS: (f32, f32) = (3.0, 6.0);
/// How fast a predator flies, how fast it turns, and how near it must come.
const HUNTING_SPEED: f32 = 9.0;
const HUNTING_TURN: f32 = 2.0;
const REACH: f32 = 0.5;

/// All systems, in the order in which they would run on one thread.
///
/// What each asks for says which of them run side by side: `fill_grid` and `grow_old` share nothing,
/// and `steer` writes velocities of boids while `hunt` writes those of predators. Only one thing has
/// to be said: `hatch` makes up for the dead, so it comes when they are gone.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(fill_grid);
    schedule.add(grow_old);
    schedule.add(steer);
    schedule.add(hunt);
    schedule.add(fly);
    schedule.add(hatch).after("grow_old").after("hunt");
    schedule
}

/// Sorts all boids into the grid, so that `steer` finds neighbours.
fn fill_grid(boids: Query<(&Position, &Velocity), Without<Predator>>, mut grid: ResMut<Grid>) {
    grid.fill(boids);
}

/// Time passes, and who has none left dies.
fn grow_old(boids: Query<(Entity, &mut Life)>, mut commands: Commands) {
    for (entities, life) in boids {
        // In most chunks nobody dies, and the kernel's pass is the only one.
        if age(life, STEP) <= 0.0 {
            let dead = entities.iter().zip(life).filter(|(_, life)| life.0 <= 0.0);
            dead.for_each(|(&entity, _)| commands.despawn(entity));
        }
    }
}

/// Turns each boid by what it sees. The heavy one: its chunks are shared among threads.
///
/// Two queries, and `Without` keeps them apart: those that steer are not those they flee from.
fn steer(
    boids: Query<(&Position, &mut Velocity), Without<Predator>>,
    predators: Query<&Position, With<Predator>>,
    grid: Res<Grid>,
    sky: Res<Sky>,
) {
    let (grid, sky) = (&*grid, *sky);
    let predators: Vec<Position> = predators.into_iter().flatten().copied().collect();
    boids.par_for_each_chunk(|(position, velocity)| {
        steer_chunk(position, velocity, grid, &predators, sky);
    });
}

/// Predators go after their prey, and look for another one when it is dead.
fn hunt(
    predators: Query<(&Position, &mut Velocity, &mut Predator)>,
    boids: Query<Entity, Without<Predator>>,
    places: Lookup<Position>,
    sky: Res<Sky>,
    mut random: ResMut<Random>,
    mut commands: Commands,
) {
    let boids: Vec<_> = boids.into_iter().collect();
    for (position, velocity, predator) in predators.rows() {
        let Some(&prey) = places.get(predator.prey) else {
            if let Some(&boid) = any_row(&boids, &mut random) {
                predator.prey = boid;
            }
            continue;
        };
        let (x, y) = sky.way(*position, prey);
        let distance = (x * x + y * y).sqrt();
        if distance < REACH {
            // It may die of age in the same frame: the second end of an entity is none.
            commands.despawn(predator.prey);
            continue;
        }
        let turned = Velocity {
            x: velocity.x + x / distance * HUNTING_SPEED * HUNTING_TURN * STEP,
            y: velocity.y + y / distance * HUNTING_SPEED * HUNTING_TURN * STEP,
        };
        *velocity = at_speed(turned, HUNTING_SPEED, HUNTING_SPEED);
    }
}

/// All that has a velocity flies, predators too: a query does not ask what else an entity has.
fn fly(flyers: Query<(&mut Position, &Velocity)>, sky: Res<Sky>) {
    for (position, velocity) in flyers {
        advance(position, velocity, *sky, STEP);
    }
}

/// As many boids hatch as are missing, each beside one that lives.
fn hatch(
    boids: Query<(&Position, &Velocity), Without<Predator>>,
    population: Res<Population>,
    sky: Res<Sky>,
    mut hatched: ResMut<Hatched>,
    mut random: ResMut<Random>,
    mut commands: Commands,
) {
    let missing = population.0.saturating_sub(boids.count_rows());
    let parents: Vec<_> = boids.into_iter().collect();
    commands.spawn_batch((0..missing).map(|_| {
        if parents.is_empty() {
            return boid(*sky, &mut random);
        }
        let (position, velocity) = parents[random.below(parents.len())];
        let row = random.below(position.len());
        child(position[row], velocity[row], &mut random)
    }));
    hatched.0 += missing;
}

/// A row of a query that was collected chunk by chunk, if there is one.
fn any_row<'r, T>(chunks: &[&'r [T]], random: &mut Random) -> Option<&'r T> {
    let chunk = (!chunks.is_empty()).then(|| chunks[random.below(chunks.len())])?;
    Some(&chunk[random.below(chunk.len())])
}

/// The same direction, neither slower nor faster than this.
#[inline(always)]
fn at_speed(velocity: Velocity, slowest: f32, fastest: f32) -> Velocity {
    let speed = (velocity.x * velocity.x + velocity.y * velocity.y).sqrt();
    // Who stands still has no direction, and is given none.
    let scale = if speed > 0.0 { speed.clamp(slowest, fastest) / speed } else { 1.0 };
    Velocity { x: velocity.x * scale, y: velocity.y * scale }
}

/// What flies over the edge comes back on the other side.
#[inline(always)]
fn wrapped(place: f32, size: f32) -> f32 {
    let place = if place >= size { place - size } else { place };
    if place < 0.0 { place + size } else { place }
}

/// How hard, and to where, the sight of predators drives a boid.
#[inline(always)]
fn fear(position: Position, predators: &[Position], sky: Sky) -> (f32, f32) {
    let mut fear = (0.0, 0.0);
    for &predator in predators {
        let (x, y) = sky.way(predator, position);
        let distance2 = x * x + y * y;
        if distance2 < FEAR_DISTANCE * FEAR_DISTANCE {
            let push = FEAR / (distance2 + 1.0);
            fear = (fear.0 + x * push, fear.1 + y * push);
        }
    }
    fear
}

kernel! {
    /// Cohesion, separation and alignment of the boids of a chunk, and their fear.
    fn steer_chunk(
        position: &[Position],
        velocity: &mut [Velocity],
        grid: &Grid,
        predators: &[Position],
        sky: Sky,
    ) {
        for (p, v) in position.iter().zip(velocity) {
            let seen = grid.look(*p, CROWD);
            let fear = fear(*p, predators, sky);
            // Who sees nobody has nobody to follow.
            let share = 1.0 / seen.count.max(1.0);
            let company = if seen.count > 0.0 { 1.0 } else { 0.0 };
            let pull = |v: f32, way: f32, velocity: f32, escape: f32, fear: f32| {
                COHESION * way * share
                    + ALIGNMENT * (velocity * share - v) * company
                    + SEPARATION * escape
                    + fear
            };
            let turned = Velocity {
                x: v.x + STEP * pull(v.x, seen.way.0, seen.velocity.0, seen.escape.0, fear.0),
                y: v.y + STEP * pull(v.y, seen.way.1, seen.velocity.1, seen.escape.1, fear.1),
            };
            *v = at_speed(turned, SPEEDS.0, SPEEDS.1);
        }
    }

    /// One Euler step.
    fn advance(position: &mut [Position], velocity: &[Velocity], sky: Sky, dt: f32) {
        for (p, v) in position.iter_mut().zip(velocity) {
            p.x = wrapped(p.x + v.x * dt, sky.width);
            p.y = wrapped(p.y + v.y * dt, sky.height);
        }
    }

    /// Time passes. The least that anybody has left.
    fn age(life: &mut [Life], dt: f32) -> f32 {
        for life in &mut *life {
            life.0 -= dt;
        }
        phalanx::fold::min(scalars::<f32>(life)).unwrap_or(f32::INFINITY)
    }
}
