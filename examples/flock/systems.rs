//! The systems. Each is a plain function that can access only its parameters.

use crate::grid::Grid;
use crate::model::{
    Hatched, Life, Population, Position, Predator, Random, STEP, Sky, Velocity, boid, child,
};
use phalanx::prelude::*;

/// The distance that boids keep.
const CROWD: f32 = 0.45;
/// The strength of each rule, in units of length and seconds.
const SEPARATION: f32 = 30.0;
const ALIGNMENT: f32 = 4.0;
const COHESION: f32 = 5.0;
const FEAR: f32 = 60.0;
/// The distance within which boids flee from a predator.
const FEAR_DISTANCE: f32 = 5.0;
/// The lowest and the highest speed of a boid.
const SPEEDS: (f32, f32) = (3.0, 6.0);
/// The speed of a predator, its rate of turn, and the distance at which it catches its prey.
const HUNTING_SPEED: f32 = 9.0;
const HUNTING_TURN: f32 = 2.0;
const REACH: f32 = 0.5;

/// All systems, in the order in which they run on one thread.
///
/// The parameters determine which of them can run in parallel: `fill_grid` and `grow_old` share no
/// data, and `steer` writes velocities of boids while `hunt` writes velocities of predators. Only
/// one constraint is explicit: `hatch` replaces dead boids, so it runs after they are despawned.
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

/// Decrements the lifetimes and despawns boids with no time left.
fn grow_old(boids: Query<(Entity, &mut Life)>, mut commands: Commands) {
    for (entities, life) in boids {
        // In most chunks no boid dies, and the pass of the kernel is the only one.
        if age(life, STEP) <= 0.0 {
            let dead = entities.iter().zip(life).filter(|(_, life)| life.0 <= 0.0);
            dead.for_each(|(&entity, _)| commands.despawn(entity));
        }
    }
}

/// Turns each boid according to its view. This is the most expensive system: its chunks are divided
/// among threads.
///
/// `Without` makes the two queries disjoint: boids steer, and flee from predators.
fn steer(
    boids: Query<(&Position, &mut Velocity), Without<Predator>>,
    predators: Query<&Position, With<Predator>>,
    grid: Res<Grid>,
    sky: Res<Sky>,
) {
    let (grid, sky) = (&*grid, *sky);
    let predators: Vec<Position> = predators.into_iter().flatten().copied().collect();
    boids.par().for_each_chunk(|(position, velocity)| {
        steer_chunk(position, velocity, grid, &predators, sky);
    });
}

/// Predators chase their prey, and choose another one after its death.
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
        let Ok(&prey) = places.get(predator.prey) else {
            if let Some(&boid) = any_row(&boids, &mut random) {
                predator.prey = boid;
            }
            continue;
        };
        let (x, y) = sky.way(*position, prey);
        let distance = (x * x + y * y).sqrt();
        if distance < REACH {
            // It may die of age in the same frame: a second despawn of an entity has no effect.
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

/// Moves all entities with a velocity, boids and predators: a query ignores other components.
fn fly(flyers: Query<(&mut Position, &Velocity)>, sky: Res<Sky>) {
    for (position, velocity) in flyers {
        advance(position, velocity, *sky, STEP);
    }
}

/// Hatches the missing boids, each beside a live one.
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

/// A random row of a query that was collected chunk by chunk; `None` without rows.
fn any_row<'r, T>(chunks: &[&'r [T]], random: &mut Random) -> Option<&'r T> {
    let chunk = (!chunks.is_empty()).then(|| chunks[random.below(chunks.len())])?;
    Some(&chunk[random.below(chunk.len())])
}

/// The same direction with the speed clamped to this range.
#[inline(always)]
fn at_speed(velocity: Velocity, slowest: f32, fastest: f32) -> Velocity {
    let speed = (velocity.x * velocity.x + velocity.y * velocity.y).sqrt();
    // A velocity of zero has no direction and stays zero.
    let scale = if speed > 0.0 { speed.clamp(slowest, fastest) / speed } else { 1.0 };
    Velocity { x: velocity.x * scale, y: velocity.y * scale }
}

/// Wraps a coordinate that is outside of the sky to the other side.
#[inline(always)]
fn wrapped(place: f32, size: f32) -> f32 {
    let place = if place >= size { place - size } else { place };
    if place < 0.0 { place + size } else { place }
}

/// The acceleration of a boid away from the predators that it sees.
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

/// Applies cohesion, separation, alignment and fear to the boids of a chunk.
#[kernel]
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
        // Without neighbours the alignment is zero.
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
#[kernel]
fn advance(position: &mut [Position], velocity: &[Velocity], sky: Sky, dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x = wrapped(p.x + v.x * dt, sky.width);
        p.y = wrapped(p.y + v.y * dt, sky.height);
    }
}

/// Decrements the lifetimes and returns the least.
#[kernel]
fn age(life: &mut [Life], dt: f32) -> f32 {
    for life in &mut *life {
        life.0 -= dt;
    }
    phalanx::simd::fold::min(scalars::<f32>(life)).unwrap_or(f32::INFINITY)
}
