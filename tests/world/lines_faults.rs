//! Regressions of versions of lines.

use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx::prelude::*;

use crate::common::components::{small_world, sound};

#[component(lines)]
#[derive(Debug, PartialEq)]
struct Heat(u32);
#[component(lines)]
#[derive(Debug, PartialEq)]
struct Byte(u8);
#[component(enableable, lines)]
#[derive(Debug, PartialEq)]
struct Valve(u32);
#[component(enableable)]
struct Awake;

/// Rows in lines that are reported.
fn rows<C: Component>(world: &World, since: Version) -> usize {
    world
        .query::<(&C,)>()
        .filter::<IgnoreEnabled>()
        .filter_since::<ChangedLines<C>>(since)
        .count_rows()
}

#[test]
fn a_body_in_parallel_may_switch_what_chose_its_rows() {
    let mut world = small_world();
    let ids = world.spawn_batch((0..100).map(|i| (Heat(i), Awake))).to_vec();
    ids[..64].iter().for_each(|&id| assert_eq!(world.set_enabled::<Awake>(id, false), Ok(true)));
    let since = world.version();
    let asleep =
        world.query_mut::<(&mut Heat, EnabledMut<Awake>)>().filter::<WithDisabled<Awake>>();
    asleep.par().for_each_chunk(|(heats, mut awake)| {
        heats.fill(Heat(7));
        awake.fill(true);
    });
    assert_eq!(rows::<Heat>(&world, since), 64);
    assert_eq!(world.query::<&Heat>().changed_since(since).count_rows(), 100);
}

#[test]
fn lines_that_several_threads_write_in_parallel_are_all_reported() {
    let mut world = small_world();
    world.spawn_batch((0..64).map(Heat));
    for _ in 0..if cfg!(miri) { 3 } else { 2000 } {
        world.query_mut::<&mut Heat>().into_iter().for_each(|heats| heats[0].0 += 1);
        let since = world.version();
        let gate = AtomicUsize::new(0);
        let write = |line: &mut phalanx::lines::LineSlice<'_, Heat>| {
            gate.fetch_add(1, Ordering::SeqCst);
            while gate.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            line.row_mut(0).0 += 1;
        };
        for mut heats in world.query_mut::<LinesMut<Heat>>() {
            let mut lines: Vec<_> = heats.lines_mut().collect();
            let (first, rest) = lines.split_at_mut(1);
            std::thread::scope(|scope| {
                scope.spawn(|| write(&mut first[0]));
                write(&mut rest[0]);
            });
        }
        assert_eq!(rows::<Heat>(&world, since), 2, "two rows, and no other");
    }
}

#[test]
fn worlds_that_differ_in_lines_have_other_hashes() {
    let written = |row: usize| {
        let mut world = small_world();
        let ids = world.spawn_batch([Heat(0); 100]).to_vec();
        world.get_mut::<Heat>(ids[row]).expect("alive").0 = 0;
        world.hash()
    };
    assert_eq!(written(15), written(15));
    assert_ne!(written(0), written(15), "two rows of a line");
}

#[test]
fn rows_of_several_chunks_that_come_to_one_leave_its_other_lines() {
    let mut world = small_world();
    let there = world.spawn_batch((0..200).map(|i| (Byte(0), Heat(i)))).to_vec();
    let len = if cfg!(miri) { 2_100 } else { 20_000 };
    let here = world.spawn_batch((0..len).map(Heat)).to_vec();
    let since = world.version();
    world.get_mut::<Heat>(here[0]).expect("alive").0 += 1;
    let mut commands = world.command_buffer(0).expect("room");
    let some = here[..40].iter().chain(&here[here.len() - 40..]);
    some.for_each(|&entity| commands.insert(entity, Byte(1)));
    world.apply(&mut commands).expect("all live");
    // From row 200 on, which is in the middle of a line.
    assert_eq!(rows::<Byte>(&world, since), 80);
    let query = world.query::<(Entity, &Heat)>().filter_since::<ChangedLines<Heat>>(since);
    assert!(query.contains(here[0]) && !query.contains(there[0]));
    sound(&world);
}

#[test]
fn a_switch_by_query_changes_the_lines_of_the_rows_it_sees() {
    let mut world = small_world();
    let ids = world.spawn_batch((0..200).map(Valve)).to_vec();
    ids[1..].iter().for_each(|&id| assert_eq!(world.set_enabled::<Valve>(id, false), Ok(true)));
    let since = world.version();
    assert_eq!(world.matching::<&Valve>().disable::<Valve>(), 1);
    assert_eq!(rows::<Valve>(&world, since), 1);
}

#[test]
fn bits_of_rows_outside_of_a_mask_may_be_switched() {
    let mut world = small_world();
    let ids = world.spawn_batch((0..200).map(Valve)).to_vec();
    ids[100..].iter().for_each(|&id| assert_eq!(world.set_enabled::<Valve>(id, false), Ok(true)));
    let since = world.version();
    for (_, (_, mut on)) in world.query_mut::<(&Valve, EnabledMut<Valve>)>().masked() {
        on.assign(|row| row % 2 == 0);
    }
    assert_eq!(rows::<Valve>(&world, since), 200);
}
