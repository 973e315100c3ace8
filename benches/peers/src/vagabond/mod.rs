//! The benchmark of a published series on entity-component-systems, "Vagabond": three profiles of a
//! game, by its numbers of component types and systems. Making and updating a component should cost
//! the same in all three.
//!
//! A profile with `S` systems has `S` kinds of entities. System `s` adds 1 to type `s` in all
//! entities that hold it, and an entity of kind `k` holds consecutive types, one for each of its
//! components, from type `k` on. Each type without a system is held by one entity, spawned first.
//! So an update touches every component of every entity once, whatever the profile.

mod sides;
mod types;

use crate::builds::Build;
use crate::child;
use crate::cli::{Vagabond, VagabondTurn};
use crate::failure::Failure;
use crate::harness::{Finding, Harness, Phase};
use crate::outcome::Outcome;
use phalanx_figures::{Summary, significant, table, thousands};
use sides::Side;
use std::time::Duration;
use types::{SYSTEMS, TYPES};

/// A game by the size of its vocabulary.
#[derive(Clone, Copy)]
struct Profile {
    name: &'static str,
    components: usize,
    systems: usize,
}

const PROFILES: [Profile; 3] = [
    Profile { name: "A", components: 32, systems: 16 },
    Profile { name: "AA", components: 128, systems: 32 },
    Profile { name: "AAA", components: 512, systems: 64 },
];
const _: () = assert!(PROFILES[2].components == TYPES && PROFILES[2].systems == SYSTEMS);

/// The number of entities, and of components of each.
const SCALES: [(usize, usize); 6] =
    [(1_000, 4), (10_000, 1), (10_000, 4), (10_000, 8), (100_000, 1), (100_000, 4)];

/// The timed part. A unit is a component.
#[derive(Clone, Copy, PartialEq)]
enum Task {
    Create,
    Iterate,
    CreateDestroy,
}

const TASKS: [(Task, &str); 3] = [
    (Task::Create, "create"),
    (Task::Iterate, "iterate"),
    (Task::CreateDestroy, "create, destroy"),
];

/// The libraries that take part, and the functions that measure them.
const SIDES: [(&str, Measure); 3] = [
    (phalanx::World::NAME, measure::<phalanx::World>),
    (hecs::World::NAME, measure::<hecs::World>),
    (shipyard::World::NAME, measure::<shipyard::World>),
];

type Measure = fn(Phase, Task, Scale) -> Result<[f64; 3], Failure>;

pub(crate) fn run(options: &Vagabond) -> Result<(), Failure> {
    let names = PROFILES.map(|p| format!("{} {}/{}", p.name, p.components, p.systems));
    let [a, aa, aaa] = &names;
    let mut rows =
        table::plain(["task", "library", "entities", "components each", a, aa, aaa, "AAA / A"], 2);
    for (_, task) in TASKS {
        for (entities, each) in SCALES {
            eprintln!("{task}: {entities} entities of {each} components");
            for (library, _) in SIDES {
                let [a, aa, aaa] = in_a_child(library, task, (entities, each), options.budget_ms)?;
                let mut cells = vec![task.to_owned(), library.to_owned()];
                cells.extend([thousands(entities), each.to_string()]);
                cells.extend([a, aa, aaa].map(significant));
                cells.push(format!("{:.2}", aaa / a));
                rows.add_row(cells);
            }
        }
    }
    println!("ns a component, by profile (component types / systems)\n{rows}");
    Ok(())
}

/// The medians of a library in the three profiles, from a process of its own.
fn in_a_child(
    library: &str,
    task: &str,
    (entities, each): (usize, usize),
    budget_ms: u64,
) -> Result<[f64; 3], Failure> {
    let numbers = [entities.to_string(), each.to_string(), budget_ms.to_string()];
    let [entities, each, budget] = numbers.each_ref().map(String::as_str);
    let program = Build::this()?.program;
    let text = child::output(&program, ["vagabond-turn", library, task, entities, each, budget]);
    let medians = text.and_then(|text| {
        let medians = child::numbers(&text).and_then(|numbers| numbers.try_into().ok());
        medians.ok_or_else(|| format!("its process printed {text:?}"))
    });
    medians.map_err(|reason| Failure::Wrong(format!("vagabond, {task}: {library}: {reason}")))
}

/// The work of the child: prints the medians.
pub(crate) fn turn(options: &VagabondTurn) -> Result<(), Failure> {
    let unknown = |name: &str| Failure::Usage(format!("vagabond has no `{name}`"));
    let side = SIDES.iter().find(|(name, _)| *name == options.library);
    let (_, measure) = side.ok_or_else(|| unknown(&options.library))?;
    let task = TASKS.iter().find(|(_, name)| *name == options.task);
    let (task, _) = task.ok_or_else(|| unknown(&options.task))?;
    let phase = Phase::Time(Duration::from_millis(options.budget_ms));
    let scale = Scale { entities: options.entities, each: options.each };
    child::keep_freed_pages();
    println!("{}", child::line(&measure(phase, *task, scale)?));
    Ok(())
}

#[derive(Clone, Copy)]
struct Scale {
    entities: usize,
    each: usize,
}

/// The medians of a library in the three profiles, in nanoseconds a component.
fn measure<S: Side>(phase: Phase, task: Task, scale: Scale) -> Result<[f64; 3], Failure> {
    let mut medians = [0.0; 3];
    for (median, profile) in medians.iter_mut().zip(PROFILES) {
        for phase in [Phase::Agree, phase] {
            let found = one::<S>(phase, task, profile, scale)?;
            if let Some(summary) = Summary::of(&found.samples) {
                *median = summary.median / (scale.entities * scale.each) as f64;
            }
        }
    }
    Ok(medians)
}

fn one<S: Side>(
    phase: Phase,
    task: Task,
    profile: Profile,
    scale: Scale,
) -> Result<Finding, Failure> {
    let Scale { entities, each } = scale;
    let found = Harness::measure(phase, S::NAME, "vagabond", entities, |h, _| match task {
        Task::Create => {
            let work = |mut side: S| {
                create(&mut side, profile, scale);
                side
            };
            h.run_fresh("", || vocabulary(profile), work, |mut side| total(&mut side, profile));
        }
        Task::CreateDestroy => {
            let work = |mut side: S| {
                for entity in create(&mut side, profile, scale) {
                    side.destroy(entity);
                }
                side
            };
            h.run_fresh("", || vocabulary(profile), work, |mut side| total(&mut side, profile));
        }
        Task::Iterate => {
            let mut side = vocabulary::<S>(profile);
            create(&mut side, profile, scale);
            h.run(
                "",
                side,
                |side| (0..profile.systems).for_each(|s| side.update(s)),
                |side| total(side, profile),
            );
        }
    });
    let found = found.into_iter().next().expect("one variant was run");
    // A component starts at 1.
    let sum = match task {
        Task::Create => entities * each,
        Task::Iterate => entities * each * (1 + found.steps as usize),
        Task::CreateDestroy => 0,
    };
    let expected = Outcome::Sum(sum as f64);
    if found.outcome == expected {
        return Ok(found);
    }
    let (library, profile) = (S::NAME, profile.name);
    Err(Failure::Wrong(format!(
        "vagabond {profile}, {entities} entities of {each}: {library} has {}, not {expected}",
        found.outcome
    )))
}

/// A world that has seen all component types of a profile.
fn vocabulary<S: Side>(profile: Profile) -> S {
    let mut side = S::default();
    for index in profile.systems..profile.components {
        let entity = side.create();
        side.add(entity, index);
    }
    side
}

/// Component by component, as the published benchmark does.
fn create<S: Side>(side: &mut S, profile: Profile, scale: Scale) -> Vec<S::Id> {
    let make = |i| {
        let entity = side.create();
        for system in i..i + scale.each {
            side.add(entity, system % profile.systems);
        }
        entity
    };
    (0..scale.entities).map(make).collect()
}

/// The sum of all components that belong to systems.
fn total<S: Side>(side: &mut S, profile: Profile) -> Outcome {
    Outcome::Sum((0..profile.systems).map(|s| side.sum(s)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<S: Side>() {
        for (task, name) in TASKS {
            for profile in PROFILES {
                let scale = Scale { entities: 100, each: 3 };
                let right = one::<S>(Phase::Agree, task, profile, scale).is_ok();
                assert!(right, "{}: {name} in {}", S::NAME, profile.name);
            }
        }
    }

    #[test]
    fn the_sums_are_right_for_every_library_after_every_task_in_every_profile() {
        check::<phalanx::World>();
        check::<hecs::World>();
        check::<shipyard::World>();
    }

    /// The claim of the profiles: an update of AAA costs the same as an update of A. Times are
    /// printed; their causes are counted.
    #[test]
    fn an_update_in_aaa_walks_the_rows_and_lines_of_one_in_a_in_four_times_the_turns() {
        let scale = Scale { entities: 10_000, each: 4 };
        let [a, aaa] = [PROFILES[0], PROFILES[2]].map(|profile| {
            let mut world = vocabulary::<phalanx::World>(profile);
            create(&mut world, profile, scale);
            sides::with_phalanx::works(&world, profile.systems)
        });
        let [rows, lines, turns] = std::array::from_fn(|i| aaa[i] as f64 / a[i] as f64);
        assert_eq!((a[0], rows), (40_000, 1.0), "{a:?}, {aaa:?}");
        assert!((1.0..1.1).contains(&lines), "{a:?}, {aaa:?}");
        // A kind of entities is a chunk, and each is walked by a system for each of its components.
        assert_eq!((a[2], turns), (64, 4.0), "{a:?}, {aaa:?}");
    }
}
