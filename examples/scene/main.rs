//! An editor of scenes: loads entities from JSON, lists, changes and copies them, and saves them.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin scene -- examples/scene/village.json --copy 0 \
//!     --set 4 game.health '{"points": 50}' --save more.json
//! ```
//!
//! No component has code of its own here: the world returns the fields of a component, and takes
//! and returns its values as bytes. So a component may exist at run time only, as one from a mod:
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin scene -- examples/scene/village.json \
//!     --define mod.fuel '[["litres", "f32"], ["cans", "u32"]]' \
//!     --set 2 mod.fuel '{"litres": 4.5, "cans": 3}'
//! ```

#![forbid(unsafe_code)]

mod entities;
mod values;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::output::Output;
use phalanx_examples::program;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[component(name = "game.position")]
#[derive(Debug)]
struct Position {
    x: f32,
    y: f32,
}
#[component(name = "game.health")]
#[derive(Debug)]
struct Health {
    points: u16,
}
#[component(name = "game.door")]
#[derive(Debug)]
struct Door {
    is_open: bool,
    keys: u8,
}
#[component(name = "game.mood")]
#[derive(Debug)]
enum Mood {
    Calm,
    Afraid,
    Angry,
}
#[component(name = "game.villager")]
#[derive(Debug)]
struct Villager;

/// Loads a scene, lists its entities, and changes, copies and saves them if asked to.
#[derive(Parser)]
#[command(name = "scene")]
struct Options {
    /// The scene, such as examples/scene/village.json
    scene: PathBuf,
    /// Define a component that no type of the program is: its fields and their types
    #[arg(long, num_args = 2, value_names = ["COMPONENT", "JSON"])]
    define: Vec<String>,
    /// Copy the entity with this number
    #[arg(long, value_name = "ENTITY")]
    copy: Vec<usize>,
    /// Give an entity a component, after the copies
    #[arg(long, num_args = 3, value_names = ["ENTITY", "COMPONENT", "JSON"])]
    set: Vec<String>,
    /// Write the scene to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let mut world = World::new();
    world.register::<(Position, Health, Door, Mood, Villager)>();
    for layout in options.define.chunks(2) {
        let [name, fields] = layout else { unreachable!("two arguments each") };
        let fields: Vec<(String, String)> = serde_json::from_str(fields)?;
        let fields = fields.iter().map(|(name, type_name)| (name.as_str(), type_name.as_str()));
        world.reflect_mut().register_layout(name, fields)?;
    }
    let mut entities = load(&mut world, &options.scene)?;
    for &number in &options.copy {
        let entity = world.instantiate(numbered(&entities, number)?, 1)?[0];
        entities.push(entity);
    }
    for change in options.set.chunks(3) {
        let [number, name, value] = change else { unreachable!("three arguments each") };
        let entity = numbered(&entities, number.parse().map_err(|_| "ENTITY is a number")?)?;
        let info = entities::component(&world, name)?;
        let value = (info.name(), entities::read_value(info, value)?);
        insert(&mut world, entity, &[value])?;
    }
    for (number, &entity) in entities.iter().enumerate() {
        writeln!(io::stdout(), "{number}: {:?}", world.entity(entity)?)?;
    }
    match &options.save {
        Some(path) => save(&world, &entities, path),
        None => Ok(()),
    }
}

fn numbered(entities: &[Entity], number: usize) -> Result<Entity, String> {
    let entity = entities.get(number).copied();
    entity.ok_or_else(|| match entities.len().checked_sub(1) {
        Some(last) => format!("there is no entity {number}: choose one from 0 to {last}"),
        None => format!("there is no entity {number}: the scene has no entities"),
    })
}

/// Spawns the entities of a file.
fn load(world: &mut World, path: &Path) -> Result<Vec<Entity>, Box<dyn Error>> {
    let text = fs::read(path).map_err(|error| program::cannot("read", path, error))?;
    let scene =
        entities::read(world, &text).map_err(|error| program::cannot("load", path, error))?;
    let mut entities = Vec::new();
    for components in &scene {
        let entity = world.spawn(());
        insert(world, entity, components)?;
        entities.push(entity);
    }
    Ok(entities)
}

/// Inserts components in one move.
fn insert(
    world: &mut World,
    entity: Entity,
    components: &[(&'static str, Vec<u8>)],
) -> Result<(), Box<dyn Error>> {
    world
        .reflect_mut()
        .insert(entity, components.iter().map(|(name, bytes)| (*name, &bytes[..])))?;
    Ok(())
}

/// Writes the entities to a file, which stays as it is if they cannot be written as JSON.
fn save(world: &World, entities: &[Entity], path: &Path) -> Result<(), Box<dyn Error>> {
    let scene =
        entities::write(world, entities).map_err(|error| program::cannot("save", path, error))?;
    Ok(Output::create(path)?.write(|file| file.write_all(scene.as_bytes()))?)
}
