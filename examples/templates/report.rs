//! The lines that the program prints, and the counts that they must have.

use crate::loader::{Change, Fault, Node, Types};
use crate::objects::{Audit, Moved, Placed, Region, Regions, Renewed};
use phalanx::prelude::*;
use std::error::Error;
use std::io::{self, Write};
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
        let all = types.len();
        writeln!(
            self.out,
            "{all} types in {files} files: {known} written, {} generated",
            all - known
        )?;
        Ok(writeln!(self.out, "  loaded and checked in {}", rate(all, "types", time))?)
    }

    pub(crate) fn prototypes(&mut self, types: &Types, world: &World, time: Duration) -> Printed {
        let entities: usize = (0..types.len()).map(|number| types.get(number).nodes.len()).sum();
        assert_eq!(world.len(), entities, "a prototype for each node");
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

    pub(crate) fn refused(&mut self, name: &str, faults: &[Fault]) -> Printed {
        let count = count(faults.len(), "fault");
        writeln!(self.out, "{name} was changed, and has {count}: all stays as it is")?;
        faults.iter().try_for_each(|fault| writeln!(self.out, "  {fault}"))?;
        Ok(())
    }

    pub(crate) fn reloaded(
        &mut self,
        name: &str,
        types: usize,
        renewed: Renewed,
        time: Duration,
    ) -> Printed {
        let Renewed { entities, fields, spawned, despawned } = renewed;
        let (types, ms) = (count(types, "type"), ms(time));
        writeln!(self.out, "{name} was changed, and with it {types}: {ms:.2} ms")?;
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

/// The counts that a change of values must have.
pub(crate) struct Expected {
    pub(crate) entities: usize,
    pub(crate) fields: usize,
}

/// Counts entities and fields by the plan of the objects. Types whose children change are counted
/// as they were before.
pub(crate) fn expected(
    types: &Types,
    changes: &[Change],
    plan: &[(Region, Vec<Placed>)],
) -> Expected {
    let mut expected = Expected { entities: 0, fields: 0 };
    for placed in plan.iter().flat_map(|(_, placed)| placed) {
        let Some(change) = changes.iter().find(|change| change.number == placed.kind) else {
            continue;
        };
        let new = &types.get(placed.kind).nodes;
        expected.entities += change.old.len();
        for (number, (old, new)) in change.old.iter().zip(new).enumerate() {
            let own = (number == 0).then_some(placed);
            expected.fields += differing(types, old, new, own);
        }
    }
    expected
}

/// The fields in which two nodes differ, without the ones that an object has for itself.
fn differing(types: &Types, old: &Node, new: &Node, own: Option<&Placed>) -> usize {
    let schema = types.schema();
    let own = own.map(|placed| placed.own.given(schema)).unwrap_or_default();
    let mut fields = 0;
    for value in new.values.iter() {
        let component = schema.component(value.component);
        for (at, field) in component.fields.iter().enumerate() {
            let cells = field.offset..field.offset + field.size;
            let before = old.values.of(value.component).map(|old| &old.bytes[cells.clone()]);
            let differs = before != Some(&value.bytes[cells]);
            fields += usize::from(differs && !own.contains(component.number(at)));
        }
    }
    fields
}
