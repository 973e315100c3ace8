//! A small made-up world explains where its bytes lie and what a query touches.
//!
//! ```text
//! cargo run --release --example explain
//! cargo run --release --example explain -- --svg .
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use phalanx::CopyBandwidth;
use phalanx::prelude::*;

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Position([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Velocity([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Health(f32);
/// Written once and hardly ever read, but it shares chunks with what is read in every frame.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Biography([u8; 100]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Frozen;
phalanx::component!(Position, Velocity, Health, Biography, Frozen);

kernel! {
    /// One Euler step.
    fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
        for (p, v) in position.iter_mut().zip(velocity) {
            for (p, v) in p.0.iter_mut().zip(v.0) {
                *p += v * dt;
            }
        }
    }
}

/// Explains where the bytes of a small world lie and what a query touches.
#[derive(Parser)]
#[command(name = "explain")]
struct Options {
    /// Draw the widest archetype's last chunk to chunk.svg and the chunks of the world to world.svg
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(help) if !help.use_stderr() => help.exit(),
        // The first line says what is wrong; the others repeat where help is.
        Err(error) => {
            let text = error.to_string();
            let wrong = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            return refuse(&format!("{wrong}; --help explains the options"));
        }
    };
    match run(options.svg.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error),
    }
}

fn run(svg: Option<&Path>) -> Result<(), String> {
    // Created before the run, which should not end with drawings that cannot be written.
    if let Some(folder) = svg {
        fs::create_dir_all(folder).map_err(|error| refusal(folder, &error))?;
    }
    let files = svg.map(|folder| ["chunk.svg", "world.svg"].map(|name| folder.join(name)));
    files.iter().flatten().try_for_each(|path| write(path, ""))?;
    let mut world = populate();
    println!("{}", world.explain());
    step(&mut world);
    if let Some([chunk, map]) = files {
        let explanation = world.explain();
        let widest = explanation.archetypes.iter().max_by_key(|archetype| archetype.row_bytes());
        write(&chunk, &widest.expect("the world has archetypes").to_svg())?;
        write(&map, &explanation.to_svg())?;
        println!("\ndrawn: {} and {}", chunk.display(), map.display());
    }
    Ok(())
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("explain: {message}");
    ExitCode::from(2)
}

fn populate() -> World {
    let mut world = World::new();
    let moving = || (Position::default(), Velocity([1.0, 0.0, 0.0]));
    world.spawn_batch((0..5000).map(|_| moving()));
    world.spawn_batch((0..300).map(|_| (Position::default(), Health(1.0), Biography([0; 100]))));
    world.spawn_batch((0..20).map(|_| (Position::default(), Velocity::default(), Frozen)));
    world
}

/// Moves what is not frozen, then one entity by hand, and says what both touched.
fn step(world: &mut World) {
    let pass = world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>().explain();
    println!("{pass}");
    let start = Instant::now();
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>()
    {
        integrate(position, velocity, 0.016);
    }
    println!("integrate: {}\n", pass.roofline(start.elapsed(), &CopyBandwidth::probe()));

    // One entity is moved by hand: only its chunk has changed since.
    let before = world.version();
    let first = world.query::<(Entity, &Position)>().rows().next().map(|(entity, _)| entity);
    if let Some(position) = first.and_then(|entity| world.get_mut::<Position>(entity).ok()) {
        position.0[0] = 1.0;
    }
    print!("{}", world.query::<&Position>().changed_since(before).explain());
}

fn write(path: &Path, svg: &str) -> Result<(), String> {
    fs::write(path, svg).map_err(|error| refusal(path, &error))
}

fn refusal(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}; choose a folder that can be written", path.display())
}
