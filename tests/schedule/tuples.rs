//! Systems added several at a time, and ordered by their functions.

use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;

use super::{A, Log, note, world};

fn first(log: Res<Log>) {
    log.note("first");
}

fn second(log: Res<Log>) {
    log.note("second");
}

fn third(log: Res<Log>) {
    log.note("third");
}

/// Writes and reads one component.
fn clashing(_: Query<&mut A>, _: Query<&A>) {}

/// The names that the systems of a schedule note, which must be the same in any permitted order.
fn noted(schedule: &mut Schedule) -> Vec<String> {
    schedule.reset();
    let mut world = world();
    let mut orders = Vec::new();
    for seed in 0..20 {
        schedule.threads(1).shuffle(seed);
        schedule.run(&mut world).expect("the order is possible");
        orders.push(Log::take(&mut world));
    }
    assert!(orders.iter().all(|order| *order == orders[0]), "{orders:?}");
    orders.remove(0)
}

#[test]
fn a_chain_runs_in_the_order_of_the_tuple() {
    let mut schedule = Schedule::new();
    schedule.add((third, first, second)).chain();
    assert_eq!(noted(&mut schedule), ["third", "first", "second"]);
}

#[test]
fn functions_order_as_names_do() {
    let mut schedule = Schedule::new();
    schedule.add(third).after(second).named("renamed");
    schedule.add(second).after(first);
    schedule.add(note("zeroth")).before(first).before(third);
    schedule.add(first);
    assert_eq!(noted(&mut schedule), ["zeroth", "first", "second", "third"]);
}

#[test]
fn a_renamed_system_is_found_by_its_function_and_not_by_its_old_name() {
    let mut schedule = Schedule::new();
    schedule.add(first).named("other");
    schedule.add(second).after(first);
    assert_eq!(schedule.check(), Ok(()));
    schedule.add(third).after("first");
    assert!(matches!(schedule.check(), Err(ScheduleError::UnknownName { .. })));
}

#[test]
fn tuples_nest_and_are_ordered_as_one() {
    let mut schedule = Schedule::new();
    schedule.add((note("a"), (note("b"), note("c")))).in_set("early").chain().before(first);
    schedule.add(second).after("early").after(first);
    schedule.add((first,)).then((third, note("last"))).after(second).chain();
    assert_eq!(noted(&mut schedule), ["a", "b", "c", "first", "second", "third", "last"]);
}

#[test]
fn those_after_several_wait_for_all_of_them() {
    let mut schedule = Schedule::new();
    schedule.add((first, second)).chain().then(third);
    assert_eq!(noted(&mut schedule), ["first", "second", "third"]);
    let mut schedule = Schedule::new();
    schedule.add(third).then((first, note("with it"))).after("before all").chain();
    schedule.add(note("zeroth")).named("before all").before(third);
    assert_eq!(noted(&mut schedule), ["zeroth", "third", "first", "with it"]);
}

#[test]
fn a_condition_of_several_is_one_for_each() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add((first, second)).chain().run_if(every(3));
    let runs = |schedule: &mut Schedule, world: &mut World| {
        schedule.run(world).expect("no error");
        Log::take(world).len()
    };
    let counts: Vec<_> = (0..6).map(|_| runs(&mut schedule, &mut world)).collect();
    assert_eq!(counts.iter().sum::<usize>(), 4, "{counts:?}");
    assert!(counts.iter().all(|&count| count == 0 || count == 2), "{counts:?}");
}

#[test]
fn sets_are_ordered_by_functions_too() {
    let mut schedule = Schedule::new();
    schedule.add((note("b"), note("a"))).in_set("pair").chain();
    schedule.set("pair").after(first).before(third);
    schedule.add(third);
    schedule.add(first);
    assert_eq!(noted(&mut schedule), ["first", "b", "a", "third"]);
}

#[test]
fn a_function_that_was_not_added_is_an_error_that_names_it() {
    let mut schedule = Schedule::new();
    schedule.add(first).after(second);
    let error = schedule.check().expect_err("it was not added");
    let text = error.to_string();
    assert!(text.contains("`first`") && text.contains("tuples::second`"), "{text}");
    assert!(text.contains("add it"), "{text}");
    schedule.add(second);
    assert_eq!(noted(&mut schedule), ["second", "first"]);
}

#[test]
fn a_system_after_its_own_function_is_a_cycle() {
    let mut schedule = Schedule::new();
    schedule.add(first).after(first);
    assert!(matches!(schedule.check(), Err(ScheduleError::Cycle { .. })));
    schedule.add(first).named("again");
    assert_eq!(schedule.check(), Ok(()), "after the other one");
}

#[test]
fn all_of_a_tuple_are_added_or_none() {
    let mut schedule = Schedule::new();
    schedule.add(third);
    let error = schedule.try_add((first, clashing, second)).expect_err("it clashes with itself");
    assert_eq!(error.system, "clashing");
    assert_eq!(noted(&mut schedule), ["third"]);
    schedule.try_add((first, second)).expect("they do not").chain().after(third);
    assert_eq!(noted(&mut schedule), ["third", "first", "second"]);
}
