//! Objects that are data: types in files, prototypes, 100,000 objects in regions that come and go,
//! and a file that changes while the program runs.
//!
//! ```text
//! cargo run --release -p phalanx-examples --bin templates -- examples/templates/types
//! ```
//!
//! # Types
//!
//! A file has types by their names. A type may have a `parent`, which it begins as, `components`
//! with the fields that it overrides, and `children` by their names, each with the `type` that it
//! begins as. A child that is inherited is overridden by its name, at any depth:
//!
//! ```json
//! "ruin": {
//!   "parent": "house",
//!   "components": { "health": { "points": 150 }, "burnt": {} },
//!   "children": {
//!     "kitchen": { "children": { "lamp": { "components": { "light": { "power": 0 } } } } }
//!   }
//! }
//! ```
//!
//! - A new component needs all its fields, one that is inherited the ones that change.
//! - Inherited components and children cannot be removed.
//! - A child with a `type` replaces the inherited child of its name, with all below it.
//! - An object has at most 1000 entities, and all components together have at most 64 fields. The
//!   names of children down to an entity, each with a `/`, have at most 256 bytes.
//!
//! All faults of all files are printed, each with its file, line and column. The folder `loader`
//! has no code for a single component: the world knows names and fields.
//!
//! # Objects
//!
//! A type is a tree of prototypes, related by `ChildOf`, and an object is a copy of it. Each entity
//! knows its type and node, and the fields that it has for itself. A region is a value that
//! entities share, so that it leaves the game chunk by chunk. A reload goes through all worlds: it
//! writes the fields with another value in the type, but for the ones that an object has for
//! itself. The program compares every field of every entity with its type afterwards.
//!
//! The program adds types that it makes by chance, 7300 to the folder of the example and none to
//! another one, or `--types N`. Their files are only in memory. It edits one of them twice, with a
//! fault and without.
//!
//! With `--watch 600` the program waits for your changes of the files, and reloads them.
//!
//! The lines with times differ from run to run. The others are the same for the same arguments.

#![forbid(unsafe_code)]

mod generated;
mod loader;
mod objects;
mod report;
mod watch;

use clap::Parser;
use loader::Types;
use objects::{Audit, Copies, Placed, Region, Regions, Workshop};
use phalanx::prelude::*;
use phalanx_examples::options::number;
use phalanx_examples::program;
use report::{Report, check};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};
use watch::{Contents, Watch};

/// Loads types, places objects, moves a viewer among them, and reloads a file.
#[derive(Parser)]
#[command(name = "templates")]
struct Options {
    /// The folder with the files of types, such as examples/templates/types
    folder: PathBuf,
    /// Number of types that are made by chance, from 0 to 50000 [default: 7300 for the folder of
    /// the example, and 0 for another one]
    #[arg(long, value_name = "N", value_parser = number(0..=50_000))]
    types: Option<u32>,
    /// Number of objects
    #[arg(long, value_name = "N", default_value = "100000", value_parser = number(0..=2_000_000))]
    objects: u32,
    /// Number of regions in a row of the square
    #[arg(long, value_name = "N", default_value = "8", value_parser = number(1..=64))]
    side: u32,
    /// Number of steps of the viewer
    #[arg(long, value_name = "N", default_value = "14", value_parser = number(0..=100_000))]
    steps: u32,
    /// How objects of one type are copied
    #[arg(long, value_enum, default_value = "node")]
    copies: Copies,
    /// Watch the folder for this time in the end, and reload the files that you change
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = number(0..=86_400))]
    watch: u32,
}

fn main() -> ExitCode {
    program::start(run)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    Level::try_current()?;
    let mut report = Report::new();
    let mut users = Watch::new(&options.folder);
    let written = users.changes()?;
    let known = load(written.iter().map(|(path, bytes)| (path_name(path), bytes)))?;
    if known.len() == 0 {
        return Err("the folder has no types: write one into a file `*.json`".into());
    }

    let default = if is_shipped(&options.folder) { 7300 } else { 0 };
    let generated = generated::files(&known, options.types.unwrap_or(default))?;
    let made = generated.iter().map(|(name, text)| (name.clone(), Ok(text.clone().into_bytes())));
    let written = written.into_iter().map(|(path, bytes)| (file_name(&path), bytes));
    let files: Vec<(String, Contents)> = written.chain(made).collect();
    let start = Instant::now();
    let types = load(files.iter().map(|(name, bytes)| (name.clone(), bytes)))?;
    report.types(&types, known.len(), files.len(), start.elapsed())?;

    let start = Instant::now();
    let mut workshop = Workshop::new(&types)?;
    report.prototypes(&types, workshop.world(), start.elapsed())?;
    let plan = objects::plan(&types, options.side, options.objects);
    let start = Instant::now();
    let place = |(region, placed): &(Region, Vec<Placed>)| {
        workshop.place(&types, *region, placed, options.copies)
    };
    let worlds = plan.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let mut regions = Regions::new(options.side, worlds);
    report.objects(options.objects, &regions, start.elapsed())?;

    stream(&mut report, options, &types, &plan, &mut regions)?;
    let mut game = Game { types, workshop, regions, refused: BTreeMap::new() };
    if let Some((name, text)) = generated.first() {
        for edited in edited(text)? {
            game.reload(&mut report, &plan, [(name.clone(), Ok(edited.into_bytes()))])?;
        }
    }
    if options.watch > 0 {
        report.watching(&options.folder, options.watch)?;
    }
    let end = Instant::now() + Duration::from_secs(options.watch.into());
    let mut told = None;
    while Instant::now() < end {
        match users.changes() {
            Ok(changed) => {
                let changed = changed.into_iter().map(|(path, bytes)| (file_name(&path), bytes));
                game.reload(&mut report, &plan, changed)?;
                told = None;
            }
            Err(error) if told.as_ref() == Some(&error) => {}
            Err(error) => {
                report.unreadable(&error)?;
                told = Some(error);
            }
        }
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Whether a folder is the one of the example.
fn is_shipped(folder: &Path) -> bool {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/templates/types");
    let [folder, shipped] =
        [folder, Path::new(shipped)].map(|folder| fs::canonicalize(folder).ok());
    folder.is_some() && folder == shipped
}

/// The name of a file, without its folder.
fn file_name(path: &Path) -> String {
    path_name(Path::new(path.file_name().unwrap_or_default()))
}

/// A path as text. Paths that are not UTF-8 are escaped, so that each has a name of its own.
fn path_name(path: &Path) -> String {
    path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned)
}

/// Loads files. All faults are printed, and the error is their number.
fn load<'f>(files: impl Iterator<Item = (String, &'f Contents)>) -> Result<Types, Box<dyn Error>> {
    let files: Vec<_> = files.collect();
    let files = files.iter().map(|(name, contents)| (&**name, bytes(contents)));
    Types::load(objects::schema(), files).map_err(|faults| {
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        let faults = report::count(faults.len(), "fault");
        format!("the types have {faults}: correct the files, and start again").into()
    })
}

/// The bytes of a file, or why it cannot be read.
fn bytes(contents: &Contents) -> Result<&[u8], &str> {
    contents.as_deref().map_err(String::as_str)
}

/// Moves the viewer from corner to corner and back, and counts the entities near it.
fn stream(
    report: &mut Report,
    options: &Options,
    types: &Types,
    plan: &[(Region, Vec<Placed>)],
    regions: &mut Regions,
) -> Result<(), Box<dyn Error>> {
    let last = options.side - 1;
    for step in 0..=options.steps {
        let turn = step % (2 * last).max(1);
        let at = turn.min(2 * last - turn.min(2 * last));
        let start = Instant::now();
        let moved = regions.view(at, at)?;
        report.step(step, at, moved, regions.game(), start.elapsed())?;
        let near = |(region, _): &&(Region, _)| objects::is_near(options.side, region.0, (at, at));
        let near: Vec<_> = plan.iter().filter(near).flat_map(|(_, placed)| placed).collect();
        let entities: usize = near.iter().map(|one| types.get(one.kind).nodes.len()).sum();
        let game = regions.game();
        check(game.len() == entities, "the entities of near regions")?;
        let children = game.relation::<objects::ChildOf>().len();
        check(children + near.len() == entities, "a parent for each child")?;
    }
    Ok(())
}

/// A file of generated types after a careless edit, and after a good one.
fn edited(text: &str) -> Result<[String; 2], serde_json::Error> {
    let mut types: serde_json::Value = serde_json::from_str(text)?;
    let mut with = |points: u32| {
        types[generated::name(0)]["components"]["health"]["points"] = points.into();
        format!("{types:#}\n")
    };
    Ok([with(70_000), with(7300)])
}

/// All that a reload changes.
struct Game {
    types: Types,
    workshop: Workshop,
    regions: Regions,
    /// Files that were refused: the next change may be the other half of theirs.
    refused: BTreeMap<String, Contents>,
}

impl Game {
    /// Reloads files, if some have changed. If they have faults, the faults are printed, and all
    /// types and objects stay.
    fn reload(
        &mut self,
        report: &mut Report,
        plan: &[(Region, Vec<Placed>)],
        changed: impl IntoIterator<Item = (String, Contents)>,
    ) -> Result<(), Box<dyn Error>> {
        let mut changed = changed.into_iter().peekable();
        if changed.peek().is_none() {
            return Ok(());
        }
        let before = self.audit()?;
        self.refused.extend(changed);
        let names: Vec<_> = self.refused.keys().cloned().collect();
        let files = self.refused.iter().map(|(name, contents)| (&**name, bytes(contents)));
        let start = Instant::now();
        let changes = match self.types.reload(files) {
            Ok(changes) => changes,
            Err(faults) => {
                report.refused(&names, &faults)?;
                return check(self.audit()? == before, "the values from before the faults");
            }
        };
        let loaded = start.elapsed();
        self.refused.clear();
        let expected = objects::expected(&self.types, &changes, plan);
        let start = Instant::now();
        self.workshop.renew(&self.types, &changes)?;
        let mut renewed = objects::Renewed::default();
        for world in self.regions.worlds_mut() {
            renewed.add(objects::renew(world, &self.types, &changes)?);
        }
        report.reloaded(&names, changes.len(), renewed, loaded + start.elapsed())?;
        let after = self.audit()?;
        let own = |audit: Audit| (audit.own, audit.own_hash);
        check(own(after) == own(before), "the fields of their own")?;
        check(renewed.entities == expected.entities, "all entities of changed types")?;
        check(renewed.fields == expected.fields, "all fields that have changed")?;
        report.own(after)
    }

    /// Compares all objects with their types.
    fn audit(&self) -> Result<Audit, Box<dyn Error>> {
        let mut all = Audit::default();
        for world in self.regions.worlds() {
            all.add(objects::audit(world, &self.types)?);
        }
        Ok(all)
    }
}
