//! A level that is filled on another thread while the game runs, and merged in one frame.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin streaming
//! ```
//!
//! # Features
//!
//! **Two worlds.** A world is `Send`: the loading thread fills one of its own, with the usual
//! calls, and shares no data with the game. No frame waits for it.
//!
//! **One call.** `World::merge` takes the entities over. Their components stay in place in memory,
//! which changes owner. Only the id of each entity remains to be made, so a million of them fit in
//! a frame.
//!
//! **References.** Each soldier has the `Entity` of its leader. `#[component]` knows that field by
//! its type, and it has the new id afterwards, which the example checks. The map of ids finds the
//! leader for the game.
//!
//! The lines with times differ from run to run. The others are the same for the same arguments.

#![forbid(unsafe_code)]

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::options::number;
use phalanx_examples::program;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

#[component]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}
#[component]
struct Velocity {
    x: f32,
    y: f32,
    z: f32,
}
#[component]
struct Soldier {
    leader: Entity,
}

#[kernel]
fn advance(position: &mut [Position], velocity: &[Velocity], step: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * step;
        p.y += v.y * step;
        p.z += v.z * step;
    }
}

/// Runs a game while a level is filled, merges the level, and prints the longest frames.
#[derive(Parser)]
#[command(name = "streaming", allow_negative_numbers = true)]
struct Options {
    /// Number of entities of the level, from 1 to 10000000
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = number(1..=10_000_000))]
    entities: u32,
    /// Number of entities of the game before
    #[arg(long, value_name = "N", default_value = "100000", value_parser = number(1..=10_000_000))]
    present: u32,
    /// Number of frames after the merge
    #[arg(long, value_name = "N", default_value = "60", value_parser = number(1..=100_000))]
    frames: u32,
    /// Frames a second
    #[arg(long, value_name = "N", default_value = "60", value_parser = number(1..=1_000))]
    rate: u32,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let level = Level::try_current()?;
    let Options { entities, present, frames, rate } = *options;
    let mut out = io::stdout().lock();
    writeln!(out, "{present} entities, and a level of {entities}; kernels at {level}")?;

    let mut game = World::new();
    game.spawn_batch((0..present).map(mover));
    let step = Duration::from_secs(1) / rate;
    let loading = thread::spawn(move || fill(entities));

    let mut before = Duration::ZERO;
    while !loading.is_finished() {
        before = before.max(frame(&mut game, step, |_| ()));
    }
    let (filled, leader, filling) = loading.join().map_err(|_| "the level cannot be filled")?;
    let (mut result, mut merging) = (None, Duration::ZERO);
    let with_merge = frame(&mut game, step, |game| {
        let start = Instant::now();
        result = Some(game.merge(filled));
        merging = start.elapsed();
    });
    let merged = result.expect("a frame has run")?;
    let leader = merged.get(leader).expect("the leader is alive");
    drop(merged);
    let after = (0..frames).map(|_| frame(&mut game, step, |_| ())).max();

    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    writeln!(out, "the level was filled in       {:8.2} ms", ms(filling))?;
    writeln!(out, "the longest frame meanwhile   {:8.2} ms", ms(before))?;
    writeln!(out, "the frame with the merge      {:8.2} ms", ms(with_merge))?;
    writeln!(out, "the merge alone               {:8.2} ms", ms(merging))?;
    writeln!(out, "the longest frame after it    {:8.2} ms", ms(after.unwrap_or_default()))?;
    let follow = game.query::<&Soldier>().rows().filter(|soldier| soldier.leader == leader);
    writeln!(out, "{} entities, of which {} follow the leader", game.len(), follow.count())?;
    Ok(())
}

/// Runs a frame and sleeps until the next one. Returns the time that it has taken.
fn frame(game: &mut World, step: Duration, work: impl FnOnce(&mut World)) -> Duration {
    let start = Instant::now();
    work(game);
    for (position, velocity) in game.query_mut::<(&mut Position, &Velocity)>() {
        advance(position, velocity, step.as_secs_f32());
    }
    let taken = start.elapsed();
    thread::sleep(step.saturating_sub(taken));
    taken
}

/// A world with a leader and its soldiers, and the time that it took to fill it.
fn fill(entities: u32) -> (World, Entity, Duration) {
    let start = Instant::now();
    let mut level = World::new();
    let (position, velocity) = mover(0);
    let leader = level.spawn((position, velocity));
    level.spawn_batch((1..entities).map(|number| {
        let (position, velocity) = mover(number);
        (position, velocity, Soldier { leader })
    }));
    (level, leader, start.elapsed())
}

/// A moving entity: one row in every thousand.
fn mover(number: u32) -> (Position, Velocity) {
    let small = |n: u32| f32::from(u16::try_from(n).unwrap_or(u16::MAX));
    let [row, place] = [number / 1000, number % 1000].map(small);
    (Position { x: place, y: 0.0, z: row }, Velocity { x: 0.0, y: 0.0, z: 1.0 })
}
