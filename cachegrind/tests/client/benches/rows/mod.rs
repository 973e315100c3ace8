//! The rows: counted programs, and their limits.

use client::*;
use phalanx::prelude::*;
use phalanx_cachegrind::{Row, Work};

fn moving() -> World {
    let mut world = World::new();
    world.spawn_batch((0..100_000).map(|_| (Position([0.0; 3]), Velocity([1.0; 3]))));
    world
}

fn move_all(world: &mut World) {
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>() {
        step(position, velocity, 0.5);
    }
}

/// Bodies, and their pulls.
type Bodies = (World, Vec<Pull>);

fn pulls() -> Vec<Pull> {
    (0..512).map(|i| [(i % 8) as f32, (i / 8 % 8) as f32, (i / 64) as f32, 1.0]).collect()
}

fn bodies() -> Bodies {
    let mut world = World::new();
    world.spawn_batch(
        pulls().into_iter().map(|[x, y, z, _]| (Position([x, y, z]), Force([0.0; 3]))),
    );
    (world, pulls())
}

fn columns() -> Bodies {
    let mut world = World::new();
    let rest = (ForceX(0.0), ForceY(0.0), ForceZ(0.0));
    let row = |[x, y, z, _]: Pull| (X(x), Y(y), Z(z), rest.0, rest.1, rest.2);
    world.spawn_batch(pulls().into_iter().map(row));
    (world, pulls())
}

/// All pairs of bodies, which fit in the cache.
fn pairs((world, pulls): &mut Bodies) -> Work {
    Work::of_units((world.len() * pulls.len()) as u64, 0.0)
}

fn n_body_scalar((world, pulls): &mut Bodies) {
    for (position, force) in world.query_mut::<(&Position, &mut Force)>() {
        pull_bodies(position, force, pulls);
    }
}

fn n_body_vectors((world, pulls): &mut Bodies) {
    type Columns<'a> = (&'a X, &'a Y, &'a Z, &'a mut ForceX, &'a mut ForceY, &'a mut ForceZ);
    for (x, y, z, fx, fy, fz) in world.query_mut::<Columns<'_>>() {
        pull_columns(x, y, z, fx, fy, fz, pulls);
    }
}

/// All rows.
pub fn rows() -> [Row; 3] {
    [
        Row::new("step", moving, move_all, |world| {
            Work::of_query(&world.query_mut::<(&mut Position, &Velocity)>().explain())
        })
        .ratio_max(1.02)
        .instructions_max(2.0)
        .code_misses_max(0.001),
        Row::new("n_body_scalar", bodies, n_body_scalar, pairs).unit("pair").passes(1, 3),
        // Counted 3.05. The scalar row has seven times the count, so the kernel runs eight at a
        // time.
        Row::new("n_body_vectors", columns, n_body_vectors, pairs)
            .unit("pair")
            .passes(1, 3)
            .instructions_max(4.0),
    ]
}
