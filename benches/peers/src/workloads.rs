//! The workloads: their names, their sizes, their unit, and their expected outcomes.

use crate::changes::{self, Part, Pattern};
use crate::churn;
use crate::data::*;
use crate::events;
use crate::frame;
use crate::hierarchy;
use crate::libs::{Library, Run, ways};
use crate::many;
use crate::outcome::Outcome;
use crate::passing::{self, Groups};
use crate::relations::{self, Task};
use crate::snapshots::{self, Call, Written};

/// A task that every library is given in the same form.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// The task, in a few words.
    pub(crate) what: &'static str,
    /// The thing that `size` counts.
    pub(crate) size: &'static str,
    /// The unit of times, in the singular.
    pub(crate) unit: &'static str,
    pub(crate) sizes: &'static [usize],
    /// Units of one iteration at a size.
    pub(crate) units: fn(usize) -> usize,
    /// The outcome at a size after a number of steps, from a closed form or a plain simulation.
    pub(crate) expected: fn(usize, u64) -> Outcome,
    /// The libraries that can do it, by their names.
    ways: &'static [(&'static str, Run)],
}

/// All workloads, in the order of the table.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload {
        what: "spawn 10,000 entities of 100 bytes in four components, at once",
        expected: |size, _| expected_rows(size),
        ways: ways!((insert::batch) [raw phalanx hecs bevy_ecs flecs_ecs shipyard legion specs]),
        ..plain("simple_insert/batch", &[10_000])
    },
    Workload {
        what: "the same, one by one",
        expected: |size, _| expected_rows(size),
        ways: ways!((insert::one)[all and gecs]),
        ..plain("simple_insert/one", &[10_000])
    },
    Workload {
        what: "position += velocity, beside two more components",
        expected: |size, steps| expected_positions(size, steps, 1.0),
        ways: ways!((iterate::simple_iter)[all]),
        ..plain("simple_iter", &[10_000])
    },
    Workload {
        what: "position += velocity * dt",
        expected: |size, steps| expected_positions(size, steps, DT),
        ways: ways!((iterate::pos_vel)[all]),
        ..plain("pos_vel", &[10_000, 100_000, 1_000_000, 8_000_000])
    },
    Workload {
        what: "the sum of one of two columns of 12 bytes",
        expected: |size, _| expected_tallies(size),
        ways: ways!((iterate::sum_column)[all]),
        ..plain("sum_column", &[100_000, 8_000_000])
    },
    Workload {
        what: "data *= 2 over 26 archetypes of 20 entities",
        expected: expected_doubled,
        ways: ways!((iterate::fragmented_iter)[all]),
        ..plain("fragmented_iter", &[26 * FRAGMENT_ROWS])
    },
    Workload {
        what: "data *= 2 over 20,000 entities in many archetypes",
        size: "archetypes",
        units: |_| MANY_ENTITIES,
        expected: |_, steps| expected_doubled(MANY_ENTITIES, steps),
        ways: ways!((iterate::many_archetypes)[all]),
        ..plain("many_archetypes", &[1_000, 4_096, 10_000])
    },
    Workload {
        what: "make 100 archetypes more, beside 100 cached queries; ask each for its first row",
        size: "archetypes",
        unit: "new archetype",
        units: |_| NEW_ARCHETYPES,
        expected: |size, _| expected_matches(size),
        ways: ways!((archetypes::new_archetypes) [phalanx hecs bevy_ecs flecs_ecs legion evenio]),
        ..plain("new_archetypes", &[10_000])
    },
    Workload {
        what: "add a tag to 10,000 entities of many archetypes in random order, and remove it",
        size: "archetypes",
        unit: "pair",
        units: |_| COLD_ENTITIES,
        expected: |_, steps| expected_kept(MANY_ENTITIES, COLD_ENTITIES, steps),
        ways: ways!((structure::cold_archetypes) [all but raw]),
        ..plain("cold_archetypes", &[1_000])
    },
    Workload {
        what: "100 inversions of a 4x4 matrix",
        expected: expected_matrices,
        ways: ways!((heavy::serial)[all]),
        ..plain("heavy_compute/serial", &[1_000])
    },
    Workload {
        what: "the same, on all threads",
        expected: expected_matrices,
        ways: ways!((heavy::parallel)[all]),
        ..plain("heavy_compute/par", &[1_000])
    },
    Workload {
        what: "add a component and remove it, one entity at a time",
        unit: "pair",
        expected: |size, steps| expected_kept(size, size, steps),
        ways: ways!((structure::add_remove_one) [all but raw]),
        ..plain("add_remove/one", &[10_000])
    },
    Workload {
        what: "the same for all matches of a query, one by one where there is no such call",
        unit: "pair",
        expected: |size, steps| expected_kept(size, size, steps),
        ways: ways!((structure::add_remove_query) [all but raw]),
        ..plain("add_remove/query", &[10_000])
    },
    Workload {
        what: "add a tag to entities of 200 bytes in eight components, and remove it",
        unit: "pair",
        expected: expected_wide,
        ways: ways!((structure::add_remove_wide) [all but raw]),
        ..plain("add_remove/wide", &[10_000])
    },
    Workload {
        what: "set a tag on every second entity and unset it on the others, in turn",
        unit: "pair",
        units: |size| size / 2,
        expected: |_, steps| passing::expected(Groups::Halves, steps),
        ways: ways!((passing::toggle)[all]),
        ..plain("toggle", &[passing::TOGGLED_ENTITIES])
    },
    Workload {
        what: "add a component to 1 % of the entities, at random, and remove it from the last 1 %",
        unit: "pair",
        units: |_| passing::SPARSE_HOLDERS,
        expected: |_, steps| passing::expected(Groups::Random, steps),
        ways: ways!((passing::sparse)[all]),
        ..plain("sparse_add_remove", &[passing::SPARSE_ENTITIES])
    },
    Workload {
        what: "record insertions and play them back, then record removals and play them back",
        unit: "pair",
        expected: |size, steps| expected_kept(size, size, steps),
        ways: ways!((commands::commands) [phalanx hecs bevy_ecs flecs_ecs legion specs evenio]),
        ..plain("commands", &[10_000])
    },
    Workload {
        what: "copies of one entity of 100 bytes in four components",
        size: "copies",
        unit: "copy",
        // The prototype is in the same world.
        expected: |size, _| expected_copies(size + 1),
        ways: ways!((copies::instantiate) [raw phalanx hecs bevy_ecs flecs_ecs shipyard legion]),
        ..plain("instantiate", &[1_000])
    },
    Workload {
        what: "spawn and despawn, one entity at a time",
        unit: "pair",
        expected: |size, steps| Outcome::Count(0).held(size * steps as usize),
        ways: ways! {
            (structure::create_destroy)
            [phalanx hecs bevy_ecs flecs_ecs shipyard legion specs evenio gecs]
        },
        ..plain("create_destroy", &[10_000])
    },
    Workload {
        what: "spawn an entity and despawn the oldest of 10,000, in turn",
        unit: "pair",
        expected: |_, steps| churn::expected_pairs(steps),
        ways: ways!((churn::spawn_despawn) [raw phalanx hecs bevy_ecs gecs]),
        ..plain("spawn_despawn", &[churn::RESIDENTS])
    },
    Workload {
        what: "despawn 1,000 random entities of 100,000 in 50 archetypes, and spawn 1,000 others",
        unit: "replaced entity",
        units: |_| churn::REPLACED,
        expected: |_, steps| churn::expected_churn(steps),
        ways: ways!((churn::churn) [raw phalanx hecs bevy_ecs gecs]),
        ..plain("churn", &[churn::CHURN_ENTITIES])
    },
    Workload {
        what: "50 queries, each over two archetypes of 20 rows, twenty times over",
        unit: "query",
        units: |_| many::STARTS,
        expected: |_, steps| many::expected(steps),
        ways: ways!((many::query_many) [raw phalanx hecs bevy_ecs evenio]),
        ..plain("query_many", &[2 * many::QUERIES * MANY_QUERIES_ROWS])
    },
    Workload {
        what: "a frame of twelve systems on one thread: look-ups, births, deaths, a change filter",
        expected: |_, steps| frame::expected(steps),
        ways: ways!((frame::frame) [raw phalanx hecs bevy_ecs]),
        ..plain("frame", &[frame::BEACONS + frame::MOVERS])
    },
    Workload {
        what: "the same frame on two threads, by the scheduler",
        expected: |_, steps| frame::expected(steps),
        ways: ways!((frame::two_threads) [phalanx bevy_ecs]),
        ..plain("frame/two_threads", &[frame::BEACONS + frame::MOVERS])
    },
    Workload {
        what: "1,000,000 random reads by entity",
        unit: "lookup",
        units: |_| GET_LOOKUPS,
        expected: |size, _| expected_lookups(size),
        ways: ways!((access::random_get)[all and gecs]),
        ..plain("random_get", &[GET_ENTITIES])
    },
    Workload {
        what: "1,000,000 random reads by entity, over 16 archetypes",
        unit: "lookup",
        units: |_| GET_LOOKUPS,
        expected: |size, _| expected_lookups(size),
        ways: ways!((access::random_get_mixed)[all]),
        ..plain("random_get_mixed", &[GET_ENTITIES])
    },
    Workload {
        what: "1,000,000 random writes by entity",
        unit: "lookup",
        units: |_| GET_LOOKUPS,
        expected: expected_writes,
        ways: ways!((access::random_get_mut)[all and gecs]),
        ..plain("random_get_mut", &[GET_ENTITIES])
    },
    Workload {
        what: "place the nodes of a forest of eight levels: the place of the parent plus an offset",
        size: "nodes",
        unit: "node",
        expected: |_, steps| hierarchy::expected(steps),
        ways: ways!((hierarchy::propagate)[all and gecs]),
        ..plain("hierarchy", &[hierarchy::NODES])
    },
    Workload {
        what: "for each of 1,000 targets, sum the values of the entities that are related to it",
        unit: "relation",
        expected: |_, steps| relations::expected(Task::Visit, steps),
        ways: ways! {
            (relations::relate, Task::Visit)
            [raw phalanx hecs bevy_ecs flecs_ecs shipyard specs]
        },
        ..plain("relations/visit", &[relations::SOURCES])
    },
    Workload {
        what: "give 1,000 random entities of these another target",
        unit: "change",
        units: |_| relations::CHANGED,
        expected: |_, steps| relations::expected(Task::Change, steps),
        ways: ways! {
            (relations::relate, Task::Change)
            [raw phalanx hecs bevy_ecs flecs_ecs shipyard specs]
        },
        ..plain("relations/change", &[relations::SOURCES])
    },
    Workload {
        what: "delete ten of the 1,000 targets, so that the entities related to them have none",
        unit: "relation",
        units: |_| relations::DELETED_SOURCES,
        expected: |_, steps| relations::expected(Task::Delete, steps),
        ways: ways! {
            (relations::relate, Task::Delete)
            [raw phalanx hecs bevy_ecs flecs_ecs shipyard specs]
        },
        ..plain("relations/delete", &[relations::SOURCES])
    },
    Workload {
        what: "Conway's Life, an entity a cell, neighbours by entity",
        size: "cells",
        unit: "cell",
        expected: |size, steps| Outcome::cells(&life_reference(Grid::of(size), steps)),
        ways: ways!((life::game_of_life)[all and gecs]),
        ..plain("game_of_life", &[10_000, 50_000])
    },
    Workload {
        what: "three systems that swap two components, by the library's scheduler",
        unit: "swap",
        units: |size| size / 4 * 6,
        expected: expected_swaps,
        ways: ways! {
            (systems::by_hand) [raw]
            (systems::scheduler) [phalanx bevy_ecs flecs_ecs shipyard legion specs]
        },
        ..plain("schedule/scheduler", &[40_000])
    },
    Workload {
        what: "the same three loops, one after the other, without a scheduler",
        unit: "swap",
        units: |size| size / 4 * 6,
        expected: expected_swaps,
        ways: ways!((systems::by_hand)[all]),
        ..plain("schedule/by_hand", &[40_000])
    },
    Workload {
        what: "write 10,000 events; two readers read all of them",
        size: "events",
        unit: "event",
        expected: |_, steps| events::expected(steps),
        ways: ways!((events::write_and_read) [raw phalanx bevy_ecs flecs_ecs specs evenio]),
        ..plain("events", &[events::EVENTS])
    },
    Workload {
        what: "write 1 % of the entities, neighbours; then visit exactly these",
        unit: "changed entity",
        units: |_| CHANGED_ROWS,
        expected: |_, steps| changes::expected(Pattern::Run, steps),
        ways: ways! {
            (changes::changed, (Pattern::Run, Part::Frame))
            [raw phalanx hecs bevy_ecs shipyard specs]
        },
        ..plain("changed_filter/frame", &[CHANGED_ENTITIES])
    },
    Workload {
        what: "of that, the visit alone",
        unit: "changed entity",
        units: |_| CHANGED_ROWS,
        expected: |_, steps| changes::expected(Pattern::Run, steps),
        ways: ways! {
            (changes::changed, (Pattern::Run, Part::Scan))
            [raw phalanx hecs bevy_ecs shipyard specs]
        },
        ..plain("changed_filter/scan", &[CHANGED_ENTITIES])
    },
    Workload {
        what: "write every hundredth entity, then visit exactly these",
        unit: "changed entity",
        units: |_| CHANGED_ROWS,
        expected: |_, steps| changes::expected(Pattern::Scattered, steps),
        ways: ways! {
            (changes::changed, (Pattern::Scattered, Part::Frame))
            [raw phalanx hecs bevy_ecs shipyard specs]
        },
        ..plain("changed_scattered/frame", &[CHANGED_ENTITIES])
    },
    Workload {
        what: "of that, the visit alone",
        unit: "changed entity",
        units: |_| CHANGED_ROWS,
        expected: |_, steps| changes::expected(Pattern::Scattered, steps),
        ways: ways! {
            (changes::changed, (Pattern::Scattered, Part::Scan))
            [raw phalanx hecs bevy_ecs shipyard specs]
        },
        ..plain("changed_scattered/scan", &[CHANGED_ENTITIES])
    },
    Workload {
        what: "write all entities; then take a snapshot of the world into memory that is kept",
        expected: |size, steps| snapshots::expected_taken(size, Written::All, steps),
        ways: ways! {
            (snapshots::written, (Call::Take, Written::All))
            [raw phalanx hecs bevy_ecs flecs_ecs legion]
        },
        ..plain("snapshot_take/all", &[SNAPSHOT_ENTITIES])
    },
    Workload {
        what: "the same after 1 % of the entities, neighbours, were written",
        expected: |size, steps| snapshots::expected_taken(size, Written::Part, steps),
        ways: ways! {
            (snapshots::written, (Call::Take, Written::Part))
            [raw phalanx hecs bevy_ecs flecs_ecs legion]
        },
        ..plain("snapshot_take/part", &[SNAPSHOT_ENTITIES])
    },
    Workload {
        what: "write all entities; then put the world back to a snapshot",
        expected: |size, steps| snapshots::expected_restored(size, Written::All, steps),
        ways: ways! {
            (snapshots::written, (Call::Restore, Written::All))
            [raw phalanx hecs bevy_ecs flecs_ecs legion]
        },
        ..plain("snapshot_restore/all", &[SNAPSHOT_ENTITIES])
    },
    Workload {
        what: "the same after 1 % of the entities, neighbours, were written",
        expected: |size, steps| snapshots::expected_restored(size, Written::Part, steps),
        ways: ways! {
            (snapshots::written, (Call::Restore, Written::Part))
            [raw phalanx hecs bevy_ecs flecs_ecs legion]
        },
        ..plain("snapshot_restore/part", &[SNAPSHOT_ENTITIES])
    },
    Workload {
        what: "the same after 1 % of the entities were despawned, and as many spawned",
        expected: |size, steps| snapshots::expected_restored(size, Written::Part, steps),
        ways: ways!((snapshots::replaced) [phalanx hecs bevy_ecs]),
        ..plain("snapshot_restore/replaced", &[SNAPSHOT_ENTITIES])
    },
    Workload {
        what: "make empty worlds",
        size: "worlds",
        unit: "world",
        // One entity is put into each of them.
        expected: |size, _| expected_positions(size, 0, DT),
        ways: ways! {
            (insert::world_new)
            [phalanx hecs bevy_ecs flecs_ecs shipyard legion specs evenio gecs]
        },
        ..plain("world_new", &[16])
    },
];

const fn plain(name: &'static str, sizes: &'static [usize]) -> Workload {
    Workload {
        name,
        what: "",
        size: "entities",
        unit: "entity",
        sizes,
        units: |size| size,
        expected: |_, _| Outcome::Count(0),
        ways: &[],
    }
}

impl Workload {
    /// By its name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        WORKLOADS.iter().find(|workload| workload.name == name)
    }

    /// The function of a library; none if the library cannot do it.
    pub(crate) fn way(&self, library: &Library) -> Option<Run> {
        self.ways.iter().find(|(name, _)| *name == library.name).map(|&(_, run)| run)
    }

    /// Whether `filter` names it: by the whole name, or by the part before the `/`.
    pub(crate) fn is_named(&self, filter: &str) -> bool {
        self.name == filter || self.name.split_once('/').is_some_and(|(group, _)| group == filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different_and_every_workload_is_described() {
        let names: BTreeSet<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
        assert_eq!(names.len(), WORKLOADS.len());
        assert!(WORKLOADS.iter().all(|w| !w.what.is_empty() && !w.sizes.is_empty()));
    }

    #[test]
    fn a_library_has_one_way_at_most() {
        for workload in WORKLOADS {
            let names: BTreeSet<_> = workload.ways.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), workload.ways.len(), "{}", workload.name);
            assert!(names.iter().all(|name| Library::find(name).is_some()), "{names:?}");
            assert!(!names.is_empty(), "{}", workload.name);
        }
    }

    #[test]
    fn a_filter_is_a_name_or_a_group() {
        let batch = Workload::find("simple_insert/batch").expect("there is one");
        assert!(batch.is_named("simple_insert/batch") && batch.is_named("simple_insert"));
        assert!(!batch.is_named("simple") && !batch.is_named("simple_insert/one"));
    }

    #[test]
    fn outcomes_after_no_step_and_after_some_are_told_apart() {
        for name in [
            "simple_iter",
            "pos_vel",
            "fragmented_iter",
            "heavy_compute/serial",
            "heavy_compute/par",
            "snapshot_restore/part",
            "add_remove/one",
            "add_remove/query",
            "add_remove/wide",
            "cold_archetypes",
            "commands",
            "create_destroy",
            "schedule/by_hand",
            "game_of_life",
        ] {
            let workload = Workload::find(name).expect("there is one");
            let size = workload.sizes[0];
            assert_ne!((workload.expected)(size, 0), (workload.expected)(size, 3), "{name}");
        }
    }
}
