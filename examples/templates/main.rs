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
//! All faults of all files are printed, each with its file, line and column. The folder `loader`
//! has no code for a single component: the world knows names and fields.
//!
//! # Objects
//!
//! A type is a tree of prototypes, related by `ChildOf`, and an object is a copy of it. Each entity
//! knows its type and node, and the fields that it has for itself. A region is a value that
//! entities share, so that it leaves the game chunk by chunk. A reload goes through all worlds: it
//! writes the fields whose value in the type has changed, but for the ones that an object has for
//! itself. The program compares every field of every entity with its type afterwards.
//!
//! With `--watch 600` the program waits for your changes of the files, and reloads them.
//!
//! The lines with times differ from run to run. The others are the same for the same arguments.

#![forbid(unsafe_code)]

mod folder;
mod generated;
mod loader;
mod objects;
mod report;
mod watch;

use clap::Parser;
use folder::Folder;
use loader::Types;
use objects::{Audit, Copies, Placed, Region, Regions, Workshop};
use phalanx::prelude::*;
use phalanx_examples::options::number;
use phalanx_examples::program;
use report::{Report, expected};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};
use watch::Watch;

/// Loads types, places objects, moves a viewer among them, and reloads a file.
#[derive(Parser)]
#[command(name = "templates")]
struct Options {
    /// The folder with the files of types, such as examples/templates/types
    folder: PathBuf,
    /// Number of types that are made by chance, from 0 to 50000
    #[arg(long, value_name = "N", default_value = "7300", value_parser = number(0..=50_000))]
    types: u32,
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
    let written = written.iter().map(|(path, bytes)| (path.display().to_string(), bytes));
    let known = load(written.clone())?;
    if known.len() == 0 {
        return Err("the folder has no types: write one into a file `*.json`".into());
    }

    // The files of this run are copies, because one of them changes.
    let folder = Folder::new()?;
    for (path, bytes) in written {
        folder.write(&file_name(path.as_ref()), bytes)?;
    }
    let generated = generated::files(&known, options.types);
    for (name, text) in &generated {
        folder.write(name, text.as_bytes())?;
    }
    let mut watch = Watch::new(folder.path());
    let files = watch.changes()?;
    let start = Instant::now();
    let types = load(files.iter().map(|(path, bytes)| (file_name(path), bytes)))?;
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
            folder.write(name, edited.as_bytes())?;
            game.reload(&mut report, &plan, watch.changes()?)?;
        }
    }
    let end = Instant::now() + Duration::from_secs(options.watch.into());
    while Instant::now() < end {
        game.reload(&mut report, &plan, users.changes()?)?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// The name of a file, without its folder.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Loads files. All faults are printed, and the error is their number.
fn load<'f>(files: impl Iterator<Item = (String, &'f Vec<u8>)>) -> Result<Types, Box<dyn Error>> {
    let files: Vec<_> = files.collect();
    let files = files.iter().map(|(name, bytes)| (&**name, &bytes[..]));
    Types::load(objects::schema(), files).map_err(|faults| {
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        let faults = report::count(faults.len(), "fault");
        format!("the types have {faults}: correct the files, and start again").into()
    })
}

/// Moves the viewer from corner to corner and back, and counts what is near.
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
        assert_eq!(game.len(), entities, "the entities of near regions");
        let children = game.relation::<objects::ChildOf>().len();
        assert_eq!(children, entities - near.len(), "each child has its parent");
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
    refused: BTreeMap<String, Vec<u8>>,
}

impl Game {
    /// Reloads files, if some have changed. If they have faults, the faults are printed, and all
    /// types and objects stay.
    fn reload(
        &mut self,
        report: &mut Report,
        plan: &[(Region, Vec<Placed>)],
        changed: Vec<(PathBuf, Vec<u8>)>,
    ) -> Result<(), Box<dyn Error>> {
        if changed.is_empty() {
            return Ok(());
        }
        let before = self.audit()?;
        self.refused.extend(changed.into_iter().map(|(path, bytes)| (file_name(&path), bytes)));
        let names = self.refused.keys().cloned().collect::<Vec<_>>().join(", ");
        let files = self.refused.iter().map(|(name, bytes)| (&**name, &bytes[..]));
        let start = Instant::now();
        let changes = match self.types.reload(files) {
            Ok(changes) => changes,
            Err(faults) => {
                report.refused(&names, &faults)?;
                assert_eq!(self.audit()?, before, "a reload with faults changes no object");
                return Ok(());
            }
        };
        self.refused.clear();
        let expected = expected(&self.types, &changes, plan);
        self.workshop.renew(&self.types, &changes)?;
        let mut renewed = objects::Renewed::default();
        for world in self.regions.worlds_mut() {
            renewed.add(objects::renew(world, &self.types, &changes)?);
        }
        report.reloaded(&names, changes.len(), renewed, start.elapsed())?;
        let after = self.audit()?;
        assert_eq!((after.own, after.own_hash), (before.own, before.own_hash), "own fields stay");
        assert_eq!(renewed.entities, expected.entities, "all entities of changed types");
        if renewed.spawned == 0 && renewed.despawned == 0 {
            assert_eq!(renewed.fields, expected.fields, "all fields that are not overridden");
        }
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
