//! The state of world and schedule after a failure.

use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;

use super::{A, Log, Mark, note, panic_text, world};

#[test]
fn a_panic_comes_through_with_the_systems_name_after_the_others_have_finished() {
    for threads in [1, 2, 4] {
        let mut world = world();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(note("before"));
        schedule
            .add(|a: Query<&mut A>, mut commands: Commands, mut run: Local<u32>| {
                *run += 1;
                commands.spawn(Mark);
                for a in a.into_iter().flatten() {
                    a.0 += 1;
                    assert!(*run != 1 || a.0 != 200, "200 is too much");
                }
            })
            .named("torn");
        schedule.add(|_: Query<&A>, log: Res<Log>| log.note("reads after"));
        schedule.add(note("stage two")).after("torn");
        let entities = world.len();
        let text = panic_text(|| drop(schedule.run(&mut world)));
        assert_eq!(text, "system `torn` panicked: 200 is too much");
        let mut ran = Log::take(&mut world);
        ran.sort();
        assert_eq!(ran, ["before", "reads after", "stage two"]);
        world.check().unwrap();
        assert_eq!(world.len(), entities, "what it recorded is dropped");
        // World and schedule remain usable.
        schedule.run(&mut world).unwrap();
        assert_eq!(world.len(), entities + 1);
        world.check().unwrap();
    }
}

#[test]
fn of_several_panics_the_first_in_order_comes_through() {
    for threads in [1, 2] {
        let mut world = world();
        let mut schedule = Schedule::new();
        schedule.threads(threads).shuffle(threads as u64);
        schedule.add(|| ());
        schedule.add(|| std::panic::panic_any(7)).named("a");
        schedule.add(|| panic!("second")).named("b");
        assert_eq!(panic_text(|| drop(schedule.run(&mut world))), "system `a` panicked");
    }
}

#[test]
fn a_panicking_command_leaves_the_rest_applied() {
    let mut world = world();
    let entities = world.len();
    let mut schedule = Schedule::new();
    schedule
        .add(|mut commands: Commands, mut run: Local<u32>| {
            *run += 1;
            commands.spawn(Mark);
            if *run == 1 {
                commands.run(|_| panic!("no"));
            }
            commands.spawn(Mark);
        })
        .named("first");
    schedule.add(|mut commands: Commands| {
        commands.spawn(Mark);
    });
    let text = panic_text(|| drop(schedule.run(&mut world)));
    assert_eq!(text, "a command of system `first` panicked: no");
    assert_eq!(world.len(), entities + 3);
    world.check().unwrap();
    schedule.run(&mut world).unwrap();
    assert_eq!(world.len(), entities + 6);
}

#[test]
fn several_errors_all_come_through() {
    let mut schedule = Schedule::new();
    schedule.add(|_: Res<u8>| ()).named("a");
    schedule.add(|_: Res<u16>| ()).named("b");
    let error = schedule.run(&mut world()).unwrap_err();
    let ScheduleError::Several(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.len(), 2);
    assert!(error.to_string().contains("`u8`") && error.to_string().contains("`u16`"), "{error}");
}

#[test]
fn another_world_is_refused_until_the_schedule_is_reset() {
    let (mut first, mut second) = (world(), world());
    let mut schedule = Schedule::new();
    schedule.add(|mut run: Local<u32>, changed: Query<&A, Changed<A>>, log: Res<Log>| {
        *run += 1;
        log.note(&format!("run {}: {}", *run, changed.into_iter().count() > 0));
    });
    schedule.run(&mut first).unwrap();
    schedule.run(&mut first).unwrap();
    assert_eq!(schedule.run(&mut second), Err(ScheduleError::OtherWorld));
    assert_eq!(Log::take(&mut second), [""; 0], "nothing has run");
    schedule.run(&mut first).unwrap();
    assert_eq!(Log::take(&mut first), ["run 1: true", "run 2: false", "run 3: false"]);
    schedule.reset();
    schedule.run(&mut second).unwrap();
    assert_eq!(Log::take(&mut second), ["run 1: true"], "as if it were the first");
}

#[test]
fn two_worlds_run_their_schedules_side_by_side() {
    let counts: Vec<usize> = std::thread::scope(|threads| {
        let run = |spawns: u64| {
            move || {
                let mut world = World::new();
                let mut schedule = Schedule::new();
                schedule.add(move |mut commands: Commands| {
                    for i in 0..spawns {
                        commands.spawn(A(i));
                    }
                });
                (0..10).for_each(|_| schedule.run(&mut world).unwrap());
                world.len()
            }
        };
        let handles = [1, 2].map(|spawns| threads.spawn(run(spawns)));
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    assert_eq!(counts, [10, 20]);
}

#[test]
fn a_skipped_system_does_not_hold_back_those_after_it() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|_: Res<u8>, _: Commands| ()).named("skipped");
    schedule.add(note("after")).after("skipped");
    assert!(schedule.run(&mut world).is_err());
    assert_eq!(Log::take(&mut world), ["after"]);
}

#[test]
fn what_becomes_of_the_dead_stays_said_until_the_schedule_is_reset() {
    let mut world = world();
    let mut schedule = Schedule::new();
    let mut is_said = false;
    schedule.add(move |mut commands: Commands| {
        if !is_said {
            commands.on_dead_entity(DeadEntityPolicy::Ignore);
            is_said = true;
        }
        commands.insert(Entity::NULL, Mark);
    });
    (0..3).for_each(|_| schedule.run(&mut world).unwrap());
    assert!(schedule.report().is_empty());
    schedule.reset();
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.report().count(), 1);
}

#[test]
fn a_structural_change_by_query_is_recorded() {
    let mut world = world();
    let entities = world.len();
    let mut schedule = Schedule::new();
    schedule.add(|mut commands: Commands| commands.despawn_where::<&Mark, ()>());
    schedule.run(&mut world).unwrap();
    assert_eq!(world.len(), entities / 2);
}

/// A payload of a panic, with a destructor that panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload's destructor");
    }
}

#[test]
#[cfg_attr(miri, ignore = "a payload that panics is leaked")]
fn payloads_whose_destructors_panic_leave_the_rest_applied() {
    for threads in [1, 2] {
        let mut world = world();
        let entities = world.len();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(|| std::panic::panic_any(Bomb)).named("a");
        schedule.add(|| std::panic::panic_any(Bomb)).named("b");
        schedule.add(|mut commands: Commands| commands.run(|_| std::panic::panic_any(Bomb)));
        schedule.add(|mut commands: Commands| _ = commands.spawn(Mark));
        assert_eq!(panic_text(|| drop(schedule.run(&mut world))), "system `a` panicked");
        assert_eq!(world.len(), entities + 1);
        world.check().unwrap();
    }
}

#[test]
fn a_destructor_that_panics_in_a_reset_leaves_no_state_of_the_old_world() {
    #[derive(Default)]
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("stop");
        }
    }
    #[derive(Default)]
    struct Counts {
        changed: usize,
        events: Vec<u32>,
    }
    let mut schedule = Schedule::new();
    schedule.add(|_: Local<Bomb>, query: Query<&A, Changed<A>>, mut counts: ResMut<Counts>| {
        counts.changed += query.count_rows();
    });
    schedule.add(|mut events: EventReader<u32>, mut counts: ResMut<Counts>| {
        counts.events.extend(events.read());
    });
    let [mut first, mut second] = [World::new(), World::new()];
    for world in [&mut first, &mut second] {
        world.insert_resource(Counts::default());
    }
    for _ in 0..100 {
        first.send(1u32);
        schedule.run(&mut first).unwrap();
    }
    assert_eq!(panic_text(|| schedule.reset()), "stop");
    second.spawn(A(1));
    second.send(7u32);
    schedule.run(&mut second).unwrap();
    let counts = second.resource::<Counts>().unwrap();
    assert_eq!((counts.changed, &counts.events[..]), (1, &[7][..]));
    std::mem::forget(schedule);
}
