//! The lines that the program prints.

use crate::loader::{Fault, Types, Visible};
use crate::objects::{Audit, Moved, Regions, Renewed};
use phalanx::prelude::*;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

type Printed = Result<(), Box<dyn Error>>;

/// Prints to stdout.
pub(crate) struct Report {
    out: io::Stdout,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { out: io::stdout() }
    }

    pub(crate) fn types(
        &mut self,
        types: &Types,
        known: usize,
        files: usize,
        time: Duration,
    ) -> Printed {
        let (all, files) = (types.len(), count(files, "file"));
        writeln!(self.out, "{all} types in {files}: {known} written, {} generated", all - known)?;
        Ok(writeln!(self.out, "  loaded and checked in {}", rate(all, "types", time))?)
    }

    pub(crate) fn prototypes(&mut self, types: &Types, world: &World, time: Duration) -> Printed {
        let entities: usize = (0..types.len()).map(|number| types.get(number).nodes.len()).sum();
        check(world.len() == entities, "a prototype for each node")?;
        let (archetypes, bytes) = (archetypes(world), bytes(world) / types.len());
        writeln!(
            self.out,
            "{entities} prototypes in {archetypes} archetypes: {bytes} bytes a type"
        )?;
        Ok(writeln!(self.out, "  made in {}", rate(types.len(), "types", time))?)
    }

    pub(crate) fn objects(&mut self, objects: u32, regions: &Regions, time: Duration) -> Printed {
        let objects = objects as usize;
        let entities: usize = regions.worlds().map(World::len).sum();
        let most = regions.worlds().map(archetypes).max().unwrap_or_default();
        let all: usize = regions.worlds().map(bytes).sum();
        let rows: usize = regions.worlds().map(|world| world.memory().row_bytes).sum();
        let [all, rows] = [all, rows].map(|bytes| bytes / objects.max(1));
        let worlds = regions.worlds().count() - 1;
        writeln!(self.out, "{objects} objects of {entities} entities in {worlds} regions")?;
        writeln!(
            self.out,
            "  at most {most} archetypes a region, {all} bytes an object: {rows} in rows"
        )?;
        Ok(writeln!(self.out, "  placed in {}", rate(objects, "objects", time))?)
    }

    pub(crate) fn step(
        &mut self,
        step: u32,
        at: u32,
        Moved { came, left }: Moved,
        game: &World,
        time: Duration,
    ) -> Printed {
        let (entities, archetypes, ms) = (game.len(), archetypes(game), ms(time));
        let came = count(came, "region");
        Ok(writeln!(
            self.out,
            "step {step}, at {at},{at}: {came} came, {left} left: {entities} entities in \
             {archetypes} archetypes, {ms:.2} ms"
        )?)
    }

    pub(crate) fn watching(&mut self, folder: &Path, seconds: u32) -> Printed {
        let folder = folder.display().to_string();
        let folder = Visible(&folder);
        Ok(writeln!(self.out, "watching {folder} for {seconds} s: change a file")?)
    }

    /// A folder that cannot be read while it is watched.
    pub(crate) fn unreadable(&mut self, error: &str) -> Printed {
        Ok(writeln!(self.out, "{}: all stays as it is", Visible(error))?)
    }

    pub(crate) fn refused(&mut self, names: &[String], faults: &[Fault]) -> Printed {
        let (was, has) = if names.len() == 1 { ("was", "has") } else { ("were", "have") };
        let (names, count) = (names.join(", "), count(faults.len(), "fault"));
        let names = Visible(&names);
        writeln!(self.out, "{names} {was} changed, and {has} {count}: all stays as it is")?;
        faults.iter().try_for_each(|fault| writeln!(self.out, "  {fault}"))?;
        Ok(())
    }

    pub(crate) fn reloaded(
        &mut self,
        names: &[String],
        types: usize,
        renewed: Renewed,
        time: Duration,
    ) -> Printed {
        let Renewed { entities, fields, spawned, despawned } = renewed;
        let (types, ms) = (count(types, "type"), ms(time));
        let (was, it) = if names.len() == 1 { ("was", "it") } else { ("were", "them") };
        let names = names.join(", ");
        let names = Visible(&names);
        writeln!(self.out, "{names} {was} changed, and with {it} {types}: {ms:.2} ms")?;
        Ok(writeln!(
            self.out,
            "  {entities} entities of them: {fields} fields renewed, {spawned} children came, \
             {despawned} left"
        )?)
    }

    pub(crate) fn own(&mut self, Audit { entities, own, .. }: Audit) -> Printed {
        Ok(writeln!(
            self.out,
            "  all {entities} entities are as their types say, but for {own} fields of their own"
        )?)
    }
}

/// A check that the program makes of itself: a difference is an error.
pub(crate) fn check(holds: bool, what: &str) -> Printed {
    let error = || format!("the program has an error: its objects do not have {what}").into();
    if holds { Ok(()) } else { Err(error()) }
}

/// A number of things.
pub(crate) fn count(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A time, and how many there are in a second.
fn rate(count: usize, unit: &str, time: Duration) -> String {
    let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let a_second = count / time.as_secs_f64().max(1e-9);
    format!("{:.1} ms: {a_second:.0} {unit} a second", ms(time))
}

/// The archetypes that have entities.
fn archetypes(world: &World) -> usize {
    world.reflect().archetypes().filter(|archetype| !archetype.is_empty()).count()
}

/// All memory of a world but free slabs.
fn bytes(world: &World) -> usize {
    let memory = world.memory();
    memory.block_bytes + memory.bookkeeping_bytes + memory.sparse_bytes
}
