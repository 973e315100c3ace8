//! The time to make one entity: every spawn is timed on its own.

use crate::child;
use crate::cli::InstantiateTurn;
use crate::failure::Failure;
use crate::numbers::thousands;
use crate::stats::Summary;
use crate::table::table as empty_table;
use bytemuck::{Pod, Zeroable};
use std::hint::black_box;
use std::time::Instant;

/// A cell with its place, like the entities of the paper.
#[derive(Clone, Copy, Pod, Zeroable, shipyard::Component)]
#[repr(C)]
struct Place {
    x: u32,
    y: u32,
}

#[derive(Clone, Copy, Pod, Zeroable, shipyard::Component)]
#[repr(C)]
struct Alive(u32);

phalanx::impl_component!(Place, Alive);

impl specs::Component for Place {
    type Storage = specs::VecStorage<Self>;
}

impl specs::Component for Alive {
    type Storage = specs::VecStorage<Self>;
}

fn cell(i: u32) -> (Place, Alive) {
    (Place { x: i % 500, y: i / 500 }, Alive(i & 1))
}

/// Makes this number of entities, and returns the time of each.
type Spawn = fn(u32) -> Vec<f64>;

/// The libraries that take part.
const SIDES: [(&str, Spawn); 5] = [
    ("the clock alone", clock),
    ("phalanx", phalanx),
    ("hecs", hecs),
    ("shipyard", shipyard),
    ("specs", specs),
];

/// The table for this number of entities, each library from a process of its own.
pub(crate) fn table(entities: usize) -> Result<String, Failure> {
    let mut rows = empty_table(&["library", "mean", "median", "sd", "least", "most"], 1);
    for (library, _) in SIDES {
        let text = child::output(["instantiate-turn", library, &entities.to_string()]);
        let summary = text.and_then(|text| {
            let samples = child::numbers(&text).and_then(|samples| Summary::of(&samples));
            samples.ok_or_else(|| "its process printed no times".to_owned())
        });
        let s = summary
            .map_err(|reason| Failure::Wrong(format!("making an entity: {library}: {reason}")))?;
        let times = [s.mean, s.median, s.standard_deviation, s.min, s.max];
        let cells = times.map(|ns| format!("{ns:.0}"));
        rows.add_row([vec![library.to_owned()], cells.to_vec()].concat());
    }
    let title = "time to make one entity of two components, each timed for itself, in ns";
    let published = "the paper's medians, on a clock that ticks every 100 ns: 6600 by archetypes, \
                     1000 by sparse sets";
    Ok(format!("{title}; {} entities\n{rows}\n{published}", thousands(entities)))
}

/// The task of the child: prints the times.
pub(crate) fn turn(options: &InstantiateTurn) -> Result<(), Failure> {
    let side = SIDES.iter().find(|(name, _)| *name == options.library);
    let (_, spawn) = side
        .ok_or_else(|| Failure::Usage(format!("`{}` makes no entities here", options.library)))?;
    child::keep_freed_pages();
    println!("{}", child::line(&spawn(options.entities)));
    Ok(())
}

fn clock(count: u32) -> Vec<f64> {
    spawn_each(count, |i| _ = black_box(cell(i)))
}

fn spawn_each(count: u32, mut spawn: impl FnMut(u32)) -> Vec<f64> {
    let time = |i| {
        let start = Instant::now();
        spawn(i);
        start.elapsed().as_nanos() as f64
    };
    (0..count).map(time).collect()
}

fn phalanx(count: u32) -> Vec<f64> {
    let mut world = phalanx::World::new();
    let samples = spawn_each(count, |i| _ = black_box(world.spawn(cell(i))));
    assert_eq!(world.len(), count as usize, "all were made");
    samples
}

fn hecs(count: u32) -> Vec<f64> {
    let mut world = hecs::World::new();
    let samples = spawn_each(count, |i| _ = black_box(world.spawn(cell(i))));
    assert_eq!(world.len(), count, "all were made");
    samples
}

fn shipyard(count: u32) -> Vec<f64> {
    let mut world = shipyard::World::new();
    let samples = spawn_each(count, |i| _ = black_box(world.add_entity(cell(i))));
    let made = world.run(|alive: shipyard::View<Alive>| alive.len());
    assert_eq!(made, count as usize, "all were made");
    samples
}

fn specs(count: u32) -> Vec<f64> {
    use specs::{Builder, Join, WorldExt};
    let mut world = specs::World::new();
    world.register::<Place>();
    world.register::<Alive>();
    let samples = spawn_each(count, |i| {
        let (place, alive) = cell(i);
        black_box(world.create_entity().with(place).with(alive).build());
    });
    assert_eq!(world.read_storage::<Alive>().join().count(), count as usize, "all were made");
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_makes_every_entity() {
        for (library, spawn) in SIDES {
            assert_eq!(spawn(200).len(), 200, "{library}");
        }
    }
}
