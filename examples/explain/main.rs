//! Explains the use of the bytes of a small world, and the memory that a query touches.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin explain
//! cargo run --release -p phalanx-examples --bin explain -- --svg .
//! ```

mod drawing;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use phalanx::Level;
use phalanx::explain::CopyBandwidth;
use phalanx::prelude::*;
use phalanx_examples::output::Output;
use phalanx_examples::program;

#[component]
struct Position([f32; 3]);
#[component]
struct Velocity([f32; 3]);
#[component]
struct Health(f32);
/// Rarely read, but in the same chunks as components that are read in every frame.
#[component]
struct Biography([u8; 100]);
#[component]
struct Frozen;

/// One Euler step.
#[kernel]
fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        for (p, v) in p.0.iter_mut().zip(v.0) {
            *p += v * dt;
        }
    }
}

/// Explains the use of the bytes of a small world, and the memory that a query touches.
#[derive(Parser)]
#[command(name = "explain")]
struct Options {
    /// Draw the widest archetype's last chunk to chunk.svg and the chunks of the world to world.svg
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    // The files are created first, so that an unwritable folder is an error before the run.
    let drawings = options.svg.as_deref().map(create).transpose()?;
    let mut world = populate();
    let mut out = io::stdout().lock();
    writeln!(out, "{}", world.explain())?;
    step(&mut world, &mut out)?;
    if let Some([chunk, map]) = drawings {
        let explanation = world.explain();
        let widest = explanation.archetypes.iter().max_by_key(|archetype| archetype.row_bytes());
        let widest = widest.expect("the world has no archetypes");
        writeln!(out, "\ndrawn: {} and {}", chunk.path().display(), map.path().display())?;
        chunk.write(|file| file.write_all(drawing::chunk_svg(widest).as_bytes()))?;
        map.write(|file| file.write_all(drawing::world_svg(&explanation).as_bytes()))?;
    }
    Ok(())
}

fn populate() -> World {
    let mut world = World::new();
    let moving = || (Position::default(), Velocity([1.0, 0.0, 0.0]));
    world.spawn_batch((0..5000).map(|_| moving()));
    world.spawn_batch((0..300).map(|_| (Position::default(), Health(1.0), Biography([0; 100]))));
    world.spawn_batch((0..20).map(|_| (Position::default(), Velocity::default(), Frozen)));
    world
}

/// Moves all entities that are not frozen, followed by one entity by hand, and prints the touched
/// memory.
fn step(world: &mut World, out: &mut impl Write) -> io::Result<()> {
    let pass = world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>().explain();
    writeln!(out, "{pass}")?;
    let start = Instant::now();
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>()
    {
        integrate(position, velocity, 0.016);
    }
    let roofline = pass.roofline(start.elapsed(), &CopyBandwidth::probe());
    writeln!(out, "integrate: {roofline}\n")?;

    // One entity is moved by hand: only its chunk has changed.
    let before = world.version();
    let first = world.query::<(Entity, &Position)>().rows().next().map(|(entity, _)| entity);
    if let Some(position) = first.and_then(|entity| world.get_mut::<Position>(entity).ok()) {
        position.0[0] = 1.0;
    }
    write!(out, "{}", world.query::<&Position>().changed_since(before).explain())
}

/// Creates the files of the two drawings, and their folder if it does not exist.
fn create(folder: &Path) -> Result<[Output; 2], String> {
    fs::create_dir_all(folder).map_err(|error| {
        let cannot = program::cannot("write", folder, error);
        format!("{cannot}; choose a folder that can be written")
    })?;
    let create = |name| Output::create(&folder.join(name));
    Ok([create("chunk.svg")?, create("world.svg")?])
}
