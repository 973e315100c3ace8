//! The systems of one step, and their order.

use crate::grid::{Grid, Mark};
use crate::model::{
    ARENA, BITE_DAMAGE, BULLET_DAMAGE, BULLET_SPEED, BULLET_STEPS, Bullet, EnemiesMax, Enemy,
    Health, Player, Position, REACH, RELOAD, SIGHT, STEP, Score, Velocity, enemy,
};
use crate::random::Random;
use phalanx::prelude::*;
use rayon::prelude::*;

/// The most enemies that come in one step.
const WAVE: usize = 2;

/// All systems, in the order in which they run on one thread.
///
/// Two systems that share a component or a resource, one of them to write it, keep this order
/// without further requests. None has to see the commands of another in the same step, so the
/// schedule has one sync point, at the end.
pub(crate) fn schedule() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add((come, patrol, chase, fly, burn_out));
    schedule.add(fill_grid);
    schedule.add((shoot, hit, bite));
    schedule.add(bury);
    // A bullet can burn out and hit in the same step. The second despawn has no effect and is not
    // an error; a command that changes a dead entity would be an error.
    schedule.strict(cfg!(debug_assertions));
    schedule
}

/// New enemies come from the edge, until the limit of the rules is reached.
fn come(
    enemies: Query<&Enemy>,
    most: Res<EnemiesMax>,
    mut random: ResMut<Random>,
    mut commands: Commands,
) {
    let missing = most.0.saturating_sub(enemies.count_rows()).min(WAVE);
    commands.spawn_batch((0..missing).map(|_| enemy(&mut random)));
}

/// Players walk in circles, and count the steps until they can shoot.
fn patrol(players: Query<(&mut Velocity, &mut Player)>) {
    for (velocity, player) in players.rows() {
        // A turn by the angle with a sine of 0.028 and a cosine of 0.9996: library functions have
        // bits that depend on the system. The sum of the squares of both is 1.
        let Velocity { x, y } = *velocity;
        *velocity = Velocity { x: x * 0.999_608 - y * 0.028, y: x * 0.028 + y * 0.999_608 };
        player.reload = player.reload.saturating_sub(1);
    }
}

/// Enemies run towards the nearest player.
fn chase(
    enemies: Query<(&Position, &mut Velocity, &Enemy)>,
    players: Query<&Position, With<Player>>,
) {
    let players: Vec<Position> = players.copies().gather();
    enemies.par().for_each_chunk(|(positions, velocities, kinds)| {
        for ((p, v), kind) in positions.iter().zip(velocities).zip(kinds) {
            let ways = players.iter().map(|player| (player.x - p.x, player.y - p.y));
            let nearest = ways.min_by(|a, b| square(*a).total_cmp(&square(*b)));
            *v = nearest.map_or_else(Velocity::default, |way| along(way, kind.speed()));
        }
    });
}

/// Everything that has a velocity moves.
fn fly(bodies: Query<(&mut Position, &Velocity)>) {
    bodies.par().for_each_chunk(|(position, velocity)| advance(position, velocity, STEP));
}

/// Bullets end after some steps.
fn burn_out(bullets: Query<(Entity, &mut Bullet)>, mut commands: Commands) {
    bullets.par().record(&mut commands, |(entities, bullets), commands| {
        for (&entity, bullet) in entities.iter().zip(bullets) {
            bullet.steps -= 1;
            if bullet.steps == 0 {
                commands.despawn(entity);
            }
        }
    });
}

/// Sorts the enemies into the grid, after they moved.
fn fill_grid(enemies: Query<(Entity, &Position, &Enemy)>, mut grid: ResMut<Grid>) {
    grid.fill(enemies);
}

/// Players shoot at the nearest enemy that they see.
fn shoot(
    players: Query<(&Position, &mut Player)>,
    grid: Res<Grid>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    for (&position, player) in players.rows() {
        let target = grid.nearest(position, SIGHT).filter(|_| player.reload == 0);
        let Some(Mark { position: target, .. }) = target else { continue };
        player.reload = RELOAD;
        score.shots += 1;
        let velocity = along((target.x - position.x, target.y - position.y), BULLET_SPEED);
        commands.spawn((position, velocity, Bullet { steps: BULLET_STEPS }));
    }
}

/// Bullets hit the nearest enemy within reach, and are used up.
///
/// The search goes through the chunks in parallel and changes no state. `collect` keeps the order
/// of the chunks, so the result is the same on any number of threads.
fn hit(
    bullets: Query<(Entity, &Position), With<Bullet>>,
    grid: Res<Grid>,
    mut health: LookupMut<Health>,
    mut score: ResMut<Score>,
    mut commands: Commands,
) {
    let grid = &*grid;
    let hits: Vec<Vec<(Entity, Mark)>> = bullets
        .par()
        .chunks()
        .map(|(entities, positions)| {
            let rows = entities.iter().zip(positions);
            rows.filter_map(|(&bullet, &p)| Some((bullet, *grid.nearest(p, REACH)?))).collect()
        })
        .collect();
    for (bullet, enemy) in hits.into_iter().flatten() {
        let Ok(health) = health.get_mut(enemy.entity) else { continue };
        if health.0 <= 0 {
            continue; // another bullet was faster: this one flies on
        }
        health.0 -= BULLET_DAMAGE;
        commands.despawn(bullet);
        score.hits += 1;
        if health.0 <= 0 {
            score.kills += 1;
            score.points += enemy.kind.points();
        }
    }
}

/// Enemies that reach a player bite, in every step.
fn bite(
    players: Query<(&Position, &mut Health), With<Player>>,
    grid: Res<Grid>,
    mut score: ResMut<Score>,
) {
    for (&position, health) in players.rows() {
        for _ in grid.within(position, REACH) {
            health.0 -= BITE_DAMAGE;
            score.bites += 1;
        }
    }
}

/// Despawns players and enemies without health.
fn bury(bodies: Query<(Entity, &Health)>, mut commands: Commands) {
    bodies.par().record(&mut commands, |(entities, health), commands| {
        let dead = entities.iter().zip(health).filter(|(_, health)| health.0 <= 0);
        dead.for_each(|(&entity, _)| commands.despawn(entity));
    });
}

/// Moves bodies by their velocities. They stay in the arena.
#[kernel]
fn advance(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in scalars_mut::<f32>(position).iter_mut().zip(scalars::<f32>(velocity)) {
        *p = (*p + v * dt).clamp(0.0, ARENA);
    }
}

fn square((x, y): (f32, f32)) -> f32 {
    x * x + y * y
}

/// A velocity of this speed along a way. For a way of length zero it is zero.
fn along(way: (f32, f32), speed: f32) -> Velocity {
    let length = square(way).sqrt();
    if length == 0.0 {
        return Velocity::default();
    }
    Velocity { x: way.0 / length * speed, y: way.1 / length * speed }
}
