//! Versions of rows: a write is reported at its rows only.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::prelude::*;

use crate::common::components::{Other, Tag, small_world, sound};

#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heat(u32);
#[component(enableable, lines)]
#[derive(Debug, PartialEq)]
struct Valve(u16);

const LINE: usize = VECTOR_ROWS;

/// The place of a row: archetype, chunk, and number.
type Row = (usize, usize, usize);

/// The place of each entity of the world with a `C`.
fn rows_of<C: Component>(world: &World) -> Vec<(Entity, Row)> {
    let mut all = Vec::new();
    for chunk in world.query::<(Entity, &C)>().filter::<IgnoreEnabled>().chunks() {
        let place = |row| (chunk.archetype(), chunk.index(), row);
        all.extend((0..).zip(chunk.entities()).map(|(row, &entity)| (entity, place(row))));
    }
    all
}

/// The rows of some of the entities.
fn rows_with<C: Component>(world: &World, entities: &[Entity]) -> BTreeSet<Row> {
    let wanted: BTreeSet<_> = entities.iter().copied().collect();
    let all = rows_of::<C>(world).into_iter();
    all.filter(|(entity, _)| wanted.contains(entity)).map(|(_, row)| row).collect()
}

/// The rows that are reported as changed: by run, and the same row by row.
fn changed<C: Component>(world: &World, since: Version) -> BTreeSet<Row> {
    let query =
        world.query::<(&C,)>().filter::<IgnoreEnabled>().filter_since::<ChangedLines<C>>(since);
    let mut rows = BTreeSet::new();
    for chunk in query.chunks() {
        rows.extend(chunk.rows().map(|row| (chunk.archetype(), chunk.index(), row)));
    }
    let entities = world.query::<(Entity, &C)>().filter::<IgnoreEnabled>();
    let by_row: Vec<_> =
        entities.filter_since::<ChangedLines<C>>(since).rows().map(|(entity, _)| entity).collect();
    assert_eq!(by_row.len(), rows.len());
    assert_eq!(rows_with::<C>(world, &by_row), rows);
    rows
}

/// A world with lines that were not changed since the version, with rows in three archetypes.
fn filled() -> (World, Vec<Entity>, Version) {
    let mut world = small_world();
    let rows = if cfg!(miri) { 70 } else { 3000 };
    let mut entities = world.spawn_batch((0..rows).map(Heat)).to_vec();
    entities.extend(world.spawn_batch((0..rows).map(|i| (Heat(i), Tag))));
    entities.extend(world.spawn_batch((0..rows / 2).map(|i| (Heat(i), Valve(7), Tag))));
    let since = world.version();
    (world, entities, since)
}

#[track_caller]
fn assert_changed<C: Component>(world: &World, since: Version, written: &[Entity]) {
    assert_eq!(changed::<C>(world, since), rows_with::<C>(world, written));
    sound(world);
}

/// A reader that missed a change of some rows finds more rows, and misses none.
#[track_caller]
fn assert_found<C: Component>(world: &World, since: Version, written: &[Entity]) {
    assert!(changed::<C>(world, since).is_superset(&rows_with::<C>(world, written)));
    sound(world);
}

#[test]
fn every_way_to_write_a_row_stamps_its_line_alone() {
    let (mut world, all, since) = filled();
    let some: Vec<_> = all.iter().copied().step_by(37).collect();
    assert_changed::<Heat>(&world, since, &[]);
    world.get_mut::<Heat>(some[1]).expect("alive").0 += 1;
    assert_changed::<Heat>(&world, since, &some[1..2]);

    let before = world.version();
    let mut heats = world.lookup_mut::<Heat>();
    some.iter().for_each(|&entity| heats.get_mut(entity).expect("alive").0 += 1);
    some.iter().for_each(|&entity| heats.get_mut(entity).expect("alive").0 += 1);
    assert_changed::<Heat>(&world, before, &some);

    let before = world.version();
    let mut query = world.query_mut::<&mut Heat>();
    query.get_mut(some[2]).expect("alive").0 += 1;
    assert_changed::<Heat>(&world, before, &some[2..3]);

    let before = world.version();
    world.query_mut::<&mut Heat>().lookup_mut().get_mut(some[3]).expect("alive").0 += 1;
    assert_changed::<Heat>(&world, before, &some[3..4]);

    let before = world.version();
    let [a, b] = world.get_disjoint_mut::<Heat, 2>([some[0], all[all.len() - 1]]).expect("two");
    core::mem::swap(a, b);
    assert_changed::<Heat>(&world, before, &[some[0], all[all.len() - 1]]);

    let before = world.version();
    world.insert(some[1], Heat(9)).expect("it is overwritten");
    assert_changed::<Heat>(&world, before, &some[1..2]);

    let before = world.version();
    let seven = 7_u32.to_ne_bytes();
    world.reflect_mut().insert(some[2], [(Heat::NAME, &seven[..])]).expect("a Heat");
    assert_changed::<Heat>(&world, before, &some[2..3]);
}

#[test]
fn a_slice_changes_all_its_lines() {
    let (mut world, all, _) = filled();
    for write in 0..5 {
        let since = world.version();
        world.get_mut::<Heat>(all[3]).expect("alive").0 += 1;
        match write {
            0 => world.query_mut::<&mut Heat>().into_iter().for_each(|heats| heats[0].0 += 1),
            1 => world.query_mut::<&mut Heat>().for_each_chunk(|heats| heats[0].0 += 1),
            2 => world.query_mut::<&mut Heat>().rows().for_each(|heat| heat.0 += 1),
            3 => world.query_mut::<&mut Heat>().chunks().for_each(drop),
            _ => world.query_mut::<(&mut Heat,)>().contiguous_chunks().for_each(drop),
        }
        assert_changed::<Heat>(&world, since, &all);
        let since = world.version();
        world.get_mut::<Heat>(all[40]).expect("alive").0 += 1;
        assert_changed::<Heat>(&world, since, &all[40..41]);
    }
}

#[test]
fn a_system_sees_each_changed_line_once() {
    fn hit(mut heats: LookupMut<Heat>, targets: Res<Vec<Entity>>) {
        targets.iter().for_each(|&target| heats.get_mut(target).expect("alive").0 += 1);
    }
    fn seen(changed: Query<Entity, ChangedLines<Heat>>, mut found: ResMut<BTreeSet<Entity>>) {
        found.clear();
        found.extend(changed.rows());
    }
    let (mut world, all, _) = filled();
    world.insert_resource(Vec::<Entity>::new());
    world.insert_resource(BTreeSet::<Entity>::new());
    let mut schedule = Schedule::new();
    schedule.add((hit, seen)).chain();
    schedule.run(&mut world).expect("no system fails");
    for step in [1, 29, 300, usize::MAX] {
        let targets: Vec<_> = all.iter().copied().skip(5).step_by(step).collect();
        let wanted: BTreeSet<_> = targets.iter().copied().collect();
        world.insert_resource(targets);
        schedule.run(&mut world).expect("no system fails");
        let found = world.resource::<BTreeSet<Entity>>().expect("inserted").clone();
        assert_eq!(found, wanted);
        world.insert_resource(Vec::<Entity>::new());
        schedule.run(&mut world).expect("no system fails");
        assert!(world.resource::<BTreeSet<Entity>>().expect("inserted").is_empty());
    }
}

#[test]
fn rows_that_come_are_new_and_those_that_move_are_as_old_as_they_were() {
    let (mut world, all, since) = filled();
    let mut written = vec![world.spawn(Heat(1))];
    assert_changed::<Heat>(&world, since, &written);
    let before = world.version();
    written.extend_from_slice(world.spawn_batch([Heat(2); 40]));
    assert_changed::<Heat>(&world, before, &written[1..]);
    assert_found::<Heat>(&world, since, &written);

    // To another archetype: the line there is as old as the row was.
    let before = world.version();
    world.insert(all[0], Other).expect("alive");
    world.remove::<Tag>(all[all.len() - 1]).expect("it has one");
    assert_changed::<Heat>(&world, before, &[]);
    assert_found::<Heat>(&world, since, &written);

    // A changed row takes its version along, also into the gap of a removed row.
    let before = world.version();
    let alone = world.query::<Entity>().with::<Heat>().without::<Tag>();
    let plain = alone.without::<Other>().without::<Valve>();
    let last = plain.rows().last().expect("most have a heat alone");
    world.get_mut::<Heat>(last).expect("alive").0 = 5;
    world.despawn(all[1]).expect("alive");
    assert_changed::<Heat>(&world, before, &[last]);
    world.insert(last, (Other, Tag)).expect("alive");
    assert_changed::<Heat>(&world, before, &[last]);
}

#[test]
fn changes_by_query_keep_the_lines_of_what_they_move() {
    let (mut world, all, since) = filled();
    let written: Vec<_> = all.iter().copied().step_by(97).collect();
    let mut heats = world.lookup_mut::<Heat>();
    written.iter().for_each(|&entity| heats.get_mut(entity).expect("alive").0 += 1);
    let before = world.version();
    // Chunks change owner: no line is newer, and each keeps its version.
    assert!(world.matching::<&Heat>().without::<Valve>().insert(Other).expect("it fits") > 0);
    assert_changed::<Heat>(&world, before, &[]);
    assert_changed::<Heat>(&world, since, &written);
    // Rows are copied.
    assert!(world.matching::<&Heat>().with::<Other>().insert(Valve(1)).expect("it fits") > 0);
    assert_changed::<Heat>(&world, before, &[]);
    assert_changed::<Heat>(&world, since, &written);
    // The inserted column is new, in all rows that got it.
    let new: Vec<_> = world.query::<Entity>().with::<Other>().rows().collect();
    assert_changed::<Valve>(&world, before, &new);
    // All are overwritten.
    let before = world.version();
    world.matching::<&Heat>().with::<Other>().insert(Heat(3)).expect("it fits");
    assert_changed::<Heat>(&world, before, &new);
}

#[test]
fn commands_and_batches_stamp_lines() {
    let (mut world, all, since) = filled();
    let some: Vec<_> = all.iter().copied().step_by(211).collect();
    let mut commands = world.command_buffer(0).expect("room");
    some.iter().for_each(|&entity| commands.insert(entity, Heat(1)));
    some.iter().step_by(2).for_each(|&entity| commands.insert(entity, Other));
    world.apply(&mut commands).expect("all live");
    assert_changed::<Heat>(&world, since, &some);
    let before = world.version();
    let copies = world.instantiate(some[0], 30).expect("alive").to_vec();
    assert_changed::<Heat>(&world, before, &copies);
    let before = world.version();
    world.despawn_batch(&all[..all.len() / 2]);
    sound(&world);
    assert_changed::<Heat>(&world, before, &[]);
}

#[test]
fn a_kernel_reports_what_it_takes_for_writing() {
    let (mut world, all, since) = filled();
    for mut heats in world.query_mut::<LinesMut<Heat>>() {
        assert!(!heats.is_empty() && heats.iter().all(|heat| heat.0 < 10_000));
        heats.rows_mut(3..3);
        assert!(!heats.set(0, Heat(heats[0].0)), "the same value");
    }
    assert_changed::<Heat>(&world, since, &[]);
    assert_eq!(world.query::<&Heat>().changed_since(since).count_rows(), 0, "no chunk either");

    let targets: BTreeSet<_> = all.iter().copied().step_by(53).collect();
    let chosen: Vec<_> = targets.iter().copied().collect();
    for way in 0..5 {
        let before = world.version();
        let wanted = |entity: &Entity| targets.contains(entity);
        let mut query = world.query_mut::<(Entity, LinesMut<Heat>)>();
        match way {
            0 => query.iter_mut().for_each(|(ids, mut heats)| {
                (0..ids.len()).filter(|&i| wanted(&ids[i])).for_each(|i| heats.row_mut(i).0 += 1);
            }),
            1 => query.iter_mut().for_each(|(ids, mut heats)| {
                for (ids, mut heats) in ids.chunks(LINE).zip(heats.lines_mut()) {
                    assert_eq!(ids.len(), heats.len());
                    for i in (0..ids.len()).filter(|&i| wanted(&ids[i])) {
                        heats.rows_mut(i..i + 1)[0].0 += 1;
                    }
                }
            }),
            2 => query.rows().filter(|(id, _)| wanted(id)).for_each(|(_, mut heat)| heat.0 += 1),
            3 => query.reborrow().for_each_chunk(|(ids, mut heats)| {
                for i in (0..ids.len()).filter(|&i| wanted(&ids[i])) {
                    let next = Heat(heats[i].0 + 1);
                    assert!(heats.set(i, next));
                }
            }),
            _ => {
                for &entity in &chosen {
                    query.get_mut(entity).expect("alive").1.0 += 1;
                }
            }
        }
        // Each call for an entity has a version of its own.
        match way {
            4 => assert_found::<Heat>(&world, before, &chosen),
            _ => assert_changed::<Heat>(&world, before, &chosen),
        }
    }
}

#[test]
fn kernels_in_parallel_report_their_lines() {
    let (mut world, all, _) = filled();
    let targets: BTreeSet<_> = all.iter().copied().step_by(19).collect();
    let chosen: Vec<_> = targets.iter().copied().collect();
    let before = world.version();
    world.query_mut::<(Entity, LinesMut<Heat>)>().par().for_each_chunk(|(ids, mut heats)| {
        for i in (0..ids.len()).filter(|&i| targets.contains(&ids[i])) {
            heats.row_mut(i).0 += 1;
        }
    });
    assert_changed::<Heat>(&world, before, &chosen);
}

#[test]
fn rows_that_a_query_does_not_see_keep_their_lines() {
    let (mut world, _, _) = filled();
    let valves = rows_of::<Valve>(&world);
    let off: BTreeSet<_> = valves.iter().map(|(_, row)| row.2).filter(|row| row % 3 == 0).collect();
    for &(entity, (_, _, row)) in &valves {
        if off.contains(&row) {
            world.set_enabled::<Valve>(entity, false).expect("alive");
        }
    }
    let on: Vec<_> = valves.iter().filter(|(_, row)| !off.contains(&row.2)).collect();
    let on: Vec<_> = on.into_iter().map(|&(entity, _)| entity).collect();
    for way in 0..6 {
        let before = world.version();
        let mut query = world.query_mut::<(&mut Heat, &mut Valve)>();
        match way {
            0 => query.into_iter().for_each(drop),
            1 => query.rows().for_each(|(heat, _)| heat.0 += 1),
            2 => query.masked().for_each(drop),
            3 => query.for_each_chunk(|_| ()),
            4 => query.chunks().for_each(drop),
            _ => drop(query.scatter::<Valve>(&vec![Valve(2); on.len()])),
        }
        assert_changed::<Valve>(&world, before, &on);
        if way < 5 {
            assert_changed::<Heat>(&world, before, &on);
        }
    }
    // A query of changed lines that writes stamps the lines that it saw.
    let before = world.version();
    let mut heats = world.lookup_mut::<Heat>();
    on.iter().step_by(40).for_each(|&entity| heats.get_mut(entity).expect("alive").0 += 1);
    let few: Vec<_> = on.iter().copied().step_by(40).collect();
    let middle = world.version();
    let query = world.query_mut::<&mut Heat>().filter_since::<ChangedLines<Heat>>(before);
    query.rows().for_each(|heat| heat.0 += 1);
    assert_changed::<Heat>(&world, middle, &few);
}

#[test]
fn switching_a_component_changes_its_line() {
    let (mut world, all, _) = filled();
    let with_valve = all[all.len() - 1];
    let before = world.version();
    world.set_enabled::<Valve>(with_valve, false).expect("it has one");
    assert_changed::<Valve>(&world, before, &[with_valve]);
    let before = world.version();
    assert_eq!(world.set_enabled::<Valve>(with_valve, false), Ok(false));
    assert_changed::<Valve>(&world, before, &[]);
    assert_eq!(world.lookup_mut::<Valve>().set_enabled(with_valve, true), Ok(false));
    assert_changed::<Valve>(&world, before, &[with_valve]);
}

#[test]
fn filters_of_lines_agree_with_lookups_counts_and_changes_by_query() {
    let (mut world, all, since) = filled();
    let written = all[100 % all.len()];
    world.get_mut::<Heat>(written).expect("alive").0 += 1;
    let seen = [written];
    let query = world.query::<(Entity, &Heat)>().filter_since::<ChangedLines<Heat>>(since);
    assert_eq!(query.count_rows(), seen.len());
    assert!(all.iter().all(|&entity| query.contains(entity) == seen.contains(&entity)));
    assert!(query.get(written).is_ok());
    assert_eq!(query.explain().rows(), seen.len());
    // Every other filter holds as well, in any order.
    let both = world
        .query::<(&Heat,)>()
        .changed_since::<Heat>(since)
        .filter_since::<ChangedLines<Heat>>(since);
    assert_eq!(both.count_rows(), seen.len());
    let both = world
        .query::<(&Heat,)>()
        .filter_since::<ChangedLines<Heat>>(since)
        .changed_since::<Heat>(since);
    assert_eq!(both.count_rows(), seen.len());
    let none = world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(since).without::<Heat>();
    assert_eq!(none.count_rows(), 0);
    let all_bits =
        world.query::<&Heat>().filter_since::<ChangedLines<Heat>>(since).filter::<IgnoreEnabled>();
    assert_eq!(all_bits.count_rows(), seen.len());
    assert_eq!(
        world.matching::<&Heat>().filter_since::<ChangedLines<Heat>>(since).despawn(),
        seen.len()
    );
    assert!(seen.iter().all(|&entity| !world.contains(entity)));
    sound(&world);
}

#[test]
#[should_panic(expected = "cannot be narrowed")]
fn padded_slices_have_no_lines_to_choose() {
    let world = small_world();
    let _ = world.query::<&Heat>().padded().filter_since::<ChangedLines<Heat>>(Version::NEVER);
}

/// Random changes, one at a time. A reader of each change sees exactly the changed rows; readers of
/// any age miss none.
#[test]
#[expect(clippy::too_many_lines, reason = "an arm for each kind of change")]
fn after_each_of_many_changes_exactly_their_rows_are_new() {
    let (mut world, mut all, start) = filled();
    let mut state = 7_u32;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    // The version of the last change of each entity, and the versions that readers have seen.
    let mut changes: BTreeMap<Entity, Version> = BTreeMap::new();
    let mut readers = [start; 4];
    let mut saved = (world.snapshot().expect("memory"), all.clone(), changes.clone());
    for _ in 0..if cfg!(miri) { 20 } else { 500 } {
        let before = world.version();
        let which = random(all.len());
        let entity = all[which];
        let mut written = Vec::new();
        match random(14) {
            0 | 1 => {
                world.get_mut::<Heat>(entity).expect("alive").0 += 1;
                written.push(entity);
            }
            2 => {
                let mut heats = world.lookup_mut::<Heat>();
                for _ in 0..5 {
                    let entity = all[random(all.len())];
                    heats.get_mut(entity).expect("alive").0 += 1;
                    written.push(entity);
                }
            }
            3 => {
                world.insert(entity, (Heat(0), Other)).expect("alive");
                written.push(entity);
            }
            4 => drop(world.insert(entity, Tag)),
            5 => drop(world.remove::<Tag>(entity)),
            6 => drop(world.remove::<Other>(entity)),
            7 => {
                all.swap_remove(which);
                world.despawn(entity).expect("alive");
            }
            8 => {
                written.extend_from_slice(world.spawn_batch([(Heat(1), Other), (Heat(2), Other)]));
                all.extend_from_slice(&written);
            }
            9 => {
                written.push(world.spawn((Heat(4), Tag)));
                all.extend_from_slice(&written);
            }
            10 => {
                for (ids, mut heats) in world.query_mut::<(Entity, LinesMut<Heat>)>() {
                    let (from, to) = (random(ids.len()), random(ids.len()));
                    let rows = from.min(to)..from.max(to).min(from.min(to) + 90);
                    heats.rows_mut(rows.clone()).iter_mut().for_each(|heat| heat.0 += 1);
                    written.extend_from_slice(&ids[rows]);
                }
            }
            11 => {
                let mut commands = world.command_buffer(0).expect("room");
                for _ in 0..3 {
                    let entity = all[random(all.len())];
                    commands.insert(entity, Heat(7));
                    written.push(entity);
                }
                world.apply(&mut commands).expect("all live");
            }
            12 if random(20) == 0 => {
                let query = world.query_mut::<(Entity, &mut Heat)>().without::<Tag>();
                query.for_each_chunk(|(ids, _)| written.extend_from_slice(ids));
                // A row that comes to such a chunk counts as written with it: readers begin again.
                readers = [world.version(); 4];
            }
            12 => saved = (world.snapshot().expect("memory"), all.clone(), changes.clone()),
            _ if random(10) == 0 => {
                world.restore(&saved.0).expect("a state of this world");
                (all, changes) = (saved.1.clone(), saved.2.clone());
                // A restore is a change of any row: readers begin again.
                readers = [world.version(); 4];
                continue;
            }
            _ => {}
        }
        assert_changed::<Heat>(&world, before, &written);
        let now = world.version();
        changes.extend(written.into_iter().map(|entity| (entity, now)));
        // Readers of different ages, one of which reads now.
        let late: Vec<_> = readers
            .iter()
            .map(|since| changes.iter().filter(move |(_, at)| *at > since).map(|(id, _)| *id))
            .map(Vec::from_iter)
            .collect();
        let which = random(readers.len());
        assert_found::<Heat>(&world, readers[which], &late[which]);
        if random(1 << which) == 0 {
            readers[which] = now;
        }
    }
}
