//! Commands that had no effect: the ones that are reported, the ones that are errors, and the ones
//! that panic.

use phalanx::command::{CommandErrorKind, CommandVerb};
use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;
use phalanx::schedule::{CommandReport, FailedCommands};

use super::{A, B, Mark, note, panic_text, world};

/// More bytes than fit in a chunk of [`world`].
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Wide([u8; 4096]);
impl_component!(Wide as "Wide");

/// A world, and ids of it that are not alive.
fn world_and_dead(len: usize) -> (World, Vec<Entity>) {
    let mut world = world();
    let dead = world.spawn_batch(vec![Mark; len]).to_vec();
    dead.iter().for_each(|&entity| world.despawn(entity).unwrap());
    (world, dead)
}

/// The system and the count of each entry.
fn counts(report: &CommandReport) -> Vec<(&str, u64)> {
    report.as_slice().iter().map(|failed| (&*failed.system, failed.count)).collect()
}

#[test]
fn a_command_whose_entity_another_system_despawned_does_not_end_the_loop()
-> Result<(), ScheduleError> {
    for threads in [1, 2] {
        let mut world = world();
        let prey = world.spawn_batch((0..3).map(A)).to_vec();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        let targets = prey.clone();
        schedule.add(move |mut commands: Commands, mut frame: Local<usize>| {
            commands.despawn(targets[*frame]);
            *frame += 1;
        });
        schedule
            .add(move |mut commands: Commands, mut frame: Local<usize>| {
                commands.insert(prey[*frame], Mark);
                *frame += 1;
            })
            .named("mark");
        for _ in 0..3 {
            schedule.run(&mut world)?;
        }
        assert_eq!(counts(schedule.report()), [("mark", 3)]);
    }
    Ok(())
}

#[test]
fn a_stale_command_is_reported_with_system_entity_and_place() {
    let (mut world, dead) = world_and_dead(1);
    let (entities, dead) = (world.len(), dead[0]);
    let mut schedule = Schedule::new();
    let line = line!() + 3;
    schedule
        .add(move |mut commands: Commands| {
            commands.insert(dead, Mark);
            commands.spawn(Mark);
        })
        .named("late");
    assert!(schedule.report().is_empty());
    assert_eq!(schedule.report().to_string(), "every command had an effect");
    schedule.run(&mut world).unwrap();
    assert_eq!(world.len(), entities + 1, "the rest was applied");
    let [FailedCommands { system, first, count }] = schedule.report().as_slice() else {
        panic!("one entry: {}", schedule.report())
    };
    assert_eq!((system.as_str(), first.entity, *count), ("late", dead, 1));
    assert_eq!((first.verb, &first.components[..]), (CommandVerb::Insert, &["Mark"][..]));
    assert_eq!((first.place.file(), first.place.line()), (file!(), line));
    let text = schedule.report().to_string();
    let start = format!(
        "a command of system `late`: insert of `Mark`, recorded at {}:{line}:22, had no effect on {dead}: ",
        file!()
    );
    assert!(text.starts_with(&start) && text.contains("not alive"), "{text}");

    schedule.run(&mut world).unwrap();
    let text = schedule.report().to_string();
    assert!(text.starts_with("the first of 2 commands of system `late`: insert"), "{text}");
}

#[test]
fn a_strict_schedule_returns_them_as_errors() {
    let (mut world, dead) = world_and_dead(2);
    let entities = world.len();
    let mut schedule = Schedule::new();
    let both = dead.clone();
    schedule
        .add(move |mut commands: Commands| {
            both.iter().for_each(|&entity| commands.insert(entity, Mark));
            commands.spawn(Mark);
        })
        .named("a");
    let error = schedule.strict(true).run(&mut world).unwrap_err();
    let ScheduleError::Commands(failed) = &error else { panic!("{error}") };
    assert_eq!((failed.first.entity, failed.count), (dead[0], 2), "{error}");
    assert!(error.to_string().starts_with("the first of 2 commands of system `a`: "), "{error}");
    assert_eq!(world.len(), entities + 1, "the rest was applied");
    assert_eq!(counts(schedule.report()), [("a", 2)], "and reported as well");

    // The failures of this run, not all in the report.
    schedule.add(move |mut commands: Commands| commands.remove::<Mark>(dead[1])).named("b");
    schedule.add(|mut commands: Commands| commands.despawn(Entity::NULL)).named("not an error");
    let error = schedule.run(&mut world).unwrap_err();
    let ScheduleError::Several(errors) = &error else { panic!("{error}") };
    let [ScheduleError::Commands(a), ScheduleError::Commands(b)] = &errors[..] else {
        panic!("{error}")
    };
    assert_eq!([(&*a.system, a.count), (&*b.system, b.count)], [("a", 2), ("b", 1)]);
    assert_eq!(counts(schedule.report()), [("a", 4), ("b", 1)]);

    schedule.strict(false).run(&mut world).unwrap();
    assert_eq!(counts(schedule.report()), [("a", 6), ("b", 2)]);
}

#[test]
fn each_policy_does_in_a_schedule_what_it_says() {
    let (mut world, dead) = world_and_dead(1);
    let (entities, dead) = (world.len(), dead[0]);
    let schedule = |policy: DeadEntityPolicy| {
        let mut schedule = Schedule::new();
        schedule
            .add(move |mut commands: Commands| {
                commands.on_dead_entity(policy);
                commands.insert(dead, Mark);
                commands.spawn(Mark);
            })
            .named("late");
        schedule.add(|mut commands: Commands| _ = commands.spawn(Mark));
        schedule
    };
    let mut ignoring = schedule(DeadEntityPolicy::Ignore);
    ignoring.strict(true).run(&mut world).unwrap();
    assert!(ignoring.report().is_empty(), "{}", ignoring.report());
    assert_eq!(world.len(), entities + 2);

    let mut panicking = schedule(DeadEntityPolicy::Panic);
    let text = panic_text(|| drop(panicking.run(&mut world)));
    let start = "a command of system `late` panicked: insert of `Mark`, recorded at ";
    assert!(text.starts_with(start), "{text}");
    assert_eq!(world.len(), entities + 4, "the rest was applied, also of the others");
    assert_eq!(counts(panicking.report()), [("late", 1)], "it can be read afterwards");
}

#[test]
fn a_despawn_of_the_dead_is_neither_error_nor_reported() {
    let (mut world, dead) = world_and_dead(1);
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| commands.despawn(dead[0]));
    schedule.strict(true).run(&mut world).unwrap();
    assert!(schedule.report().is_empty());
}

#[test]
fn a_row_that_is_too_wide_is_an_error_and_reported() {
    let mut world = world();
    let alive = world.spawn_batch((0..3).map(A)).to_vec();
    let mut schedule = Schedule::new();
    schedule
        .add(move |mut commands: Commands| {
            for &entity in &alive {
                commands.insert(entity, Wide([0; 4096]));
                commands.insert(entity, Mark);
            }
        })
        .named("widen");
    schedule
        .add(|mut commands: Commands| commands.insert_where::<&B, With<Mark>, _>(Wide([0; 4096])))
        .named("widen all");
    let error = schedule.run(&mut world).unwrap_err();
    let ScheduleError::Several(errors) = &error else { panic!("{error}") };
    let [ScheduleError::Commands(each), ScheduleError::Commands(all)] = &errors[..] else {
        panic!("{error}")
    };
    assert_eq!((&*each.system, each.count), ("widen", 3));
    assert!(matches!(each.first.fault, CommandErrorKind::Layout(_)), "{error}");
    assert_eq!((&*all.system, all.first.entity), ("widen all", Entity::NULL));
    assert_eq!(counts(schedule.report()), [("widen", 3), ("widen all", 1)]);
    assert_eq!(world.query::<&Mark>().count_rows(), 303, "the rest was applied");
    world.check().unwrap();
}

#[test]
fn ids_that_are_used_up_are_an_error_and_reported() {
    let mut world = World::builder().entities_max(4).build();
    let mut schedule = Schedule::new();
    schedule.add(|mut commands: Commands| commands.spawn_batch([Mark; 9])).named("batch");
    schedule
        .add(|mut commands: Commands| {
            commands
                .par_writers(2)
                .iter_mut()
                .for_each(|writer| (0..3).for_each(|_| writer.spawn(Mark)));
        })
        .named("writers");
    let error = schedule.run(&mut world).unwrap_err();
    let ScheduleError::Several(errors) = &error else { panic!("{error}") };
    let faults = errors.iter().map(|error| match error {
        ScheduleError::Commands(failed) => {
            (&*failed.system, failed.first.fault.clone(), failed.count)
        }
        other => panic!("{other}"),
    });
    let exhausted = CommandErrorKind::Exhausted(phalanx::error::OutOfIds::InWorld { limit: 4 });
    assert!(faults.eq([("batch", exhausted.clone(), 1), ("writers", exhausted, 2)]), "{error}");
    assert_eq!((world.len(), schedule.report().count()), (4, 3));
    // A spawn that asks for its id panics at its recording.
    let mut schedule = Schedule::new();
    schedule.add(|mut commands: Commands| _ = commands.spawn(Mark)).named("one");
    let text = panic_text(|| drop(schedule.run(&mut world)));
    assert!(text.starts_with("system `one` panicked: cannot spawn: not enough"), "{text}");
    assert!(schedule.report().is_empty());
}

mod twin {
    use phalanx::prelude::*;
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    pub(super) struct Twin(pub u8);
    impl_component!(Twin as "A");
}

#[test]
fn two_types_of_one_name_are_no_stale_command() {
    let (mut world, dead) = world_and_dead(1);
    let entities = world.len();
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| commands.insert(dead[0], Mark)).named("stale");
    schedule.add(|mut commands: Commands| _ = commands.spawn(twin::Twin(1))).named("twin");
    schedule.add(|mut commands: Commands| _ = commands.spawn(Mark));
    let error = schedule.run(&mut world).expect_err("the name is taken");
    let ScheduleError::Commands(failed) = &error else { panic!("{error}") };
    assert!(matches!(failed.first.fault, CommandErrorKind::NameTaken(_)), "{error}");
    assert_eq!(world.len(), entities + 1, "what the others recorded was applied");
    assert_eq!(counts(schedule.report()), [("stale", 1), ("twin", 1)]);
}

#[test]
fn a_panic_leaves_the_report_of_all_that_was_applied() {
    for threads in [1, 2] {
        let (mut world, dead) = world_and_dead(1);
        let entities = world.len();
        let late = |mut commands: Commands<'_>, dead| {
            commands.insert(dead, Mark);
            commands.spawn(Mark);
        };
        let dead = dead[0];
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(move |commands: Commands| late(commands, dead)).named("before");
        schedule
            .add(move |mut commands: Commands| {
                commands.insert(dead, Mark);
                panic!("torn");
            })
            .named("torn");
        schedule
            .add(move |mut commands: Commands| {
                commands.insert(dead, Mark);
                commands.run(|_| panic!("closure"));
                commands.remove::<Mark>(dead);
            })
            .named("closure");
        schedule.add(move |commands: Commands| late(commands, dead)).named("after").after("torn");
        let text = panic_text(|| drop(schedule.run(&mut world)));
        assert_eq!(text, "system `torn` panicked: torn");
        assert_eq!(world.len(), entities + 2);
        let want = [("before", 1), ("closure", 1), ("closure", 1), ("after", 1)];
        assert_eq!(counts(schedule.report()), want, "what `torn` recorded was dropped");
        world.check().unwrap();
    }
}

#[test]
fn a_hundred_thousand_stale_commands_are_one_entry() {
    const STALE: u32 = if cfg!(miri) { 500 } else { 100_000 };
    let (mut world, dead) = world_and_dead(STALE as usize);
    let stale = u64::from(STALE);
    let mut schedule = Schedule::new();
    let first = dead[0];
    schedule.add(move |mut commands: Commands| {
        dead.iter().for_each(|&entity| commands.insert(entity, Mark));
    });
    for run in 1..=3 {
        schedule.run(&mut world).unwrap();
        let report = schedule.report();
        assert_eq!((report.count(), report.as_slice().len()), (run * stale, 1));
        assert_eq!(report.as_slice()[0].first.entity, first);
    }
    // An error of a strict schedule is not larger either.
    let error = schedule.strict(true).run(&mut world).unwrap_err();
    assert!(matches!(&error, ScheduleError::Commands(failed) if failed.count == stale), "{error}");
}

#[test]
fn entries_are_places_kinds_and_systems_in_the_order_of_recording() {
    let (mut world, dead) = world_and_dead(3);
    let alive = world.spawn(Mark);
    let mut schedule = Schedule::new();
    for name in ["a", "b"] {
        let dead = dead.clone();
        schedule
            .add(move |mut commands: Commands| {
                // Playback visits them by entity.
                for &entity in [&dead[2], &dead[0], &alive, &dead[1], &dead[0]] {
                    commands.insert(entity, A(1));
                }
                commands.remove::<A>(dead[2]);
                commands.run(|_| ());
                commands.exchange::<A, _>(dead[1], B(1));
            })
            .named(name);
    }
    schedule.run(&mut world).unwrap();
    let report = schedule.take_report();
    let entries = report.as_slice().iter().map(|FailedCommands { system, first, count }| {
        (&**system, first.verb, first.entity, *count)
    });
    let of = |system| {
        [
            (system, CommandVerb::Insert, dead[2], 4),
            (system, CommandVerb::Remove, dead[2], 1),
            (system, CommandVerb::Exchange, dead[1], 1),
        ]
    };
    assert_eq!(entries.collect::<Vec<_>>(), [of("a"), of("b")].concat());
    assert_eq!((report.count(), report.to_string().lines().count()), (12, 6));
    assert!(schedule.report().is_empty(), "it was taken");
    schedule.run(&mut world).unwrap();
    assert_eq!(schedule.report(), &report, "the next run's");
    schedule.reset();
    assert!(schedule.report().is_empty(), "the ids were those of the world before");
}

/// A schedule that records stale commands in all ways, in several stages.
fn stale(dead: &[Entity]) -> Schedule {
    fn asks(mut commands: Commands<'_>) -> bool {
        commands.insert(Entity::NULL, A(0));
        true
    }
    let mut schedule = Schedule::new();
    schedule.set("some").run_if(asks);
    for i in 0..8 {
        let dead = dead.to_vec();
        let entry = schedule.add(move |a: Query<(Entity, &A)>, mut commands: Commands| {
            let chunks: Vec<_> = a.into_iter().collect();
            let mut writers = commands.par_writers(chunks.len());
            rayon::scope(|scope| {
                for ((entities, _), writer) in chunks.into_iter().zip(writers.iter_mut()) {
                    let dead = &dead;
                    scope.spawn(move |_| {
                        for (entity, dead) in entities.iter().zip(dead).skip(i) {
                            writer.insert(*dead, Mark);
                            writer.remove::<Mark>(*entity);
                        }
                    });
                }
            });
            drop(writers);
            dead.iter().rev().for_each(|&entity| commands.remove::<(A, Mark)>(entity));
            commands.spawn_batch([A(i as u64); 3]);
            commands.insert(dead[i], B(1));
        });
        let name = format!("{i}");
        let entry = if i % 2 == 0 { entry.in_set("some") } else { entry };
        let entry = if i > 5 { entry.after("1") } else { entry };
        entry.named(&name);
    }
    schedule
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn the_report_is_the_same_on_any_number_of_threads() {
    let run = |threads: usize, seed: Option<u64>| {
        let (mut world, dead) = world_and_dead(20);
        let mut schedule = stale(&dead);
        schedule.threads(threads);
        if let Some(seed) = seed {
            schedule.shuffle(seed);
        }
        let mut reports = Vec::new();
        for _ in 0..3 {
            schedule.run(&mut world).unwrap();
            reports.push((schedule.report().clone(), schedule.report().to_string()));
        }
        (reports, world.hash())
    };
    let want = run(1, None);
    assert_eq!(want.0[0].0.as_slice().len(), 8 * 3 + 4);
    for seed in 0..8 {
        for threads in [1, 2, 4] {
            assert!(run(threads, Some(seed)) == want, "{threads} threads, shuffle {seed}");
        }
    }
}

#[test]
fn a_schedule_within_a_system_reports_for_itself() {
    let (mut world, dead) = world_and_dead(1);
    let dead = dead[0];
    let (seen, inner_report) = std::sync::mpsc::channel();
    let mut outer = Schedule::new();
    outer.add(move |mut inner: Local<Option<(World, Schedule)>>, mut commands: Commands| {
        let (inner_world, schedule) = inner.get_or_insert_with(|| {
            let mut schedule = Schedule::new();
            schedule.add(|mut commands: Commands| commands.insert(Entity::NULL, A(1)));
            (super::world(), schedule)
        });
        schedule.run(inner_world).unwrap();
        seen.send(schedule.report().count()).unwrap();
        commands.insert(dead, Mark);
    });
    outer.add(|_: Query<&A>| ());
    for run in 1..=2 {
        outer.run(&mut world).unwrap();
        assert_eq!((inner_report.recv().unwrap(), outer.report().count()), (run, run));
    }
}

#[test]
fn a_schedule_that_a_command_runs_on_the_same_world_reports_for_itself() {
    let mut world = world();
    let entities = world.len();
    let (seen, inner_report) = std::sync::mpsc::channel();
    let mut inner = Schedule::new();
    inner
        .add(|mut commands: Commands| {
            commands.spawn(Mark);
            commands.insert(Entity::NULL, A(1));
        })
        .named("inner");
    let mut inner = Some(inner);
    let mut outer = Schedule::new();
    outer
        .add(move |mut commands: Commands| {
            commands.spawn(Mark);
            let (inner, seen) = (inner.take(), seen.clone());
            commands.run(move |world| {
                let Some(mut inner) = inner else { return };
                inner.run(world).unwrap();
                seen.send(inner.take_report()).unwrap();
            });
            commands.insert(Entity::NULL, Mark);
        })
        .named("outer");
    outer.add(|mut commands: Commands| _ = commands.spawn(Mark));
    outer.run(&mut world).unwrap();
    assert_eq!(world.len(), entities + 3);
    assert_eq!(counts(&inner_report.recv().unwrap()), [("inner", 1)]);
    assert_eq!(counts(outer.report()), [("outer", 1)]);
    outer.run(&mut world).unwrap();
    assert_eq!(world.len(), entities + 5);
    world.check().unwrap();
}

#[test]
fn a_missing_resource_is_an_error_beside_a_report() {
    let (mut world, dead) = world_and_dead(1);
    let mut schedule = Schedule::new();
    schedule.add(note("runs"));
    schedule.add(move |mut commands: Commands| commands.insert(dead[0], Mark)).named("late");
    schedule.add(|_: Res<u8>| ()).named("poor");
    let error = schedule.run(&mut world).unwrap_err();
    let is_missing =
        matches!(&error, ScheduleError::MissingResource { system, .. } if system == "poor");
    assert!(is_missing, "{error}");
    assert_eq!(counts(schedule.report()), [("late", 1)]);
}
