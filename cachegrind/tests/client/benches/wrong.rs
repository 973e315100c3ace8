//! One row for each thing that can be wrong.

use std::hint::black_box;
use std::process::ExitCode;

use client::*;
use phalanx::prelude::*;
use phalanx_cachegrind::{Row, Work, Workload};

fn world() -> World {
    let mut world = World::new();
    world.spawn_batch((0..20_000).map(|_| (Position([0.0; 3]), Velocity([1.0; 3]))));
    world
}

fn work(world: &mut World) -> Work {
    Work::of_query(&world.query_mut::<(&mut Position, &Velocity)>().explain())
}

/// Adds one float of each row.
fn pass(world: &mut World) {
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>().rows() {
        position.0[0] += black_box(velocity.0[0]);
    }
}

/// A program with a failing check.
struct Wrong(World);

impl Workload for Wrong {
    fn pass(&mut self) {
        pass(&mut self.0);
    }

    fn work(&mut self) -> Work {
        work(&mut self.0)
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        Err(format!("the sum is 0 after {passes} passes"))
    }
}

fn main() -> ExitCode {
    phalanx_cachegrind::main([
        Row::new("too_many", world, pass, work).instructions_max(1.0).ratio_max(0.5),
        Row::new("within", world, pass, work).ratio_max(1.1),
        Row::of("wrong_result", || Wrong(world())),
        Row::new("panics", world, |_| panic!("no such body"), work),
        Row::new("nothing", world, |_| (), work),
        Row::new("untouched", world, |world| drop(black_box(world.explain())), work),
        Row::new("no_units", World::new, pass, work),
        Row::new("cached", || 7_u64, |n| *n += 1, |_| Work::of_units(1, 0.0)).ratio_max(1.1),
        Row::new("grows", world, grow, work),
    ])
}

fn grow(world: &mut World) {
    world.spawn_batch((0..20_000).map(|_| (Position([0.0; 3]), Velocity([1.0; 3]))));
    pass(world);
}
