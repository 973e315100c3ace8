//! Conditions, and steps of one length.

use std::time::Duration;

use phalanx::prelude::*;

use super::{A, B, Log, Mark, note, panic_text, panic_text_and_file, world};

/// A resource of conditions.
struct Paused(bool);

fn not_paused(paused: Res<Paused>) -> bool {
    !paused.0
}

/// A condition that notes its name and returns this answer.
fn answer(
    name: &'static str,
    answer: bool,
) -> impl FnMut(Res<'_, Log>) -> bool + Clone + Send + 'static {
    move |log| {
        log.note(name);
        answer
    }
}

#[test]
fn a_system_runs_if_all_its_conditions_say_so() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("always"));
    schedule.add(note("even")).run_if(|mut run: Local<u32>| {
        *run += 1;
        run.is_multiple_of(2)
    });
    schedule.add(note("third")).run_if(every(3));
    // Each condition counts its own runs: both return `true` in the first, the third and the fifth
    // run.
    schedule.add(note("both")).run_if(every(2)).run_if(|_: Res<Log>| true);
    schedule.add(note("never")).run_if(every(1)).run_if(|| false);
    let runs: Vec<String> = (0..4)
        .map(|_| {
            schedule.run(&mut world).unwrap();
            Log::take(&mut world).join(" ")
        })
        .collect();
    assert_eq!(runs, ["always third both", "always even", "always both", "always even third"]);
    let ran: Vec<bool> = schedule.timings().systems.iter().map(|system| system.ran).collect();
    assert_eq!(ran, [true, true, true, false, false]);
}

#[test]
fn a_condition_reads_the_world_at_its_systems_turn() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|a: Query<&mut A, With<Mark>>| a.into_iter().flatten().for_each(|a| a.0 = 1000));
    schedule
        .add(note("seen"))
        .run_if(|a: Query<&A, With<Mark>>| a.into_iter().flatten().all(|a| a.0 == 1000));
    schedule.add(|a: Query<&mut A, With<Mark>>| a.into_iter().flatten().for_each(|a| a.0 = 0));
    for threads in [1, 2] {
        schedule.threads(threads).run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["seen"], "it stands between the two writers");
    }
}

#[test]
fn a_condition_can_look_for_changes() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(note("changed")).run_if(|a: Query<&A, Changed<A>>| !a.is_empty());
    for (write, want) in [(false, 1), (false, 0), (true, 1), (false, 0)] {
        if write {
            world.query_mut::<&mut A>().iter_mut().for_each(drop);
        }
        schedule.run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world).len(), want);
    }
}

#[test]
fn a_change_made_while_an_earlier_condition_says_no_is_seen_afterwards() {
    for threads in [1, 2] {
        let mut world = world();
        world.insert_resource(Paused(false));
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule
            .add(|a: Query<&A, Changed<A>>, log: Res<Log>| {
                log.note(&a.into_iter().flatten().count().to_string());
            })
            .run_if(not_paused)
            .run_if(|a: Query<&A, Changed<A>>| !a.is_empty());
        schedule.add(|_: Query<&B>| ());
        let mut run = |paused: bool, write: bool| {
            world.resource_mut::<Paused>().unwrap().0 = paused;
            if write {
                world.query_mut::<&mut A>().iter_mut().for_each(drop);
            }
            schedule.run(&mut world).unwrap();
            Log::take(&mut world)
        };
        assert_eq!(run(false, false), ["600"], "everything is new at first");
        assert_eq!(run(false, false), [""; 0]);
        assert_eq!(run(true, true), [""; 0], "paused");
        assert_eq!(run(true, false), [""; 0], "still paused");
        assert_eq!(run(false, false), ["600"], "what changed meanwhile");
        assert_eq!(run(false, false), [""; 0], "and it is seen once");
    }
}

#[test]
fn conditions_are_asked_in_order_until_the_first_no() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule
        .add(note("never"))
        .run_if(answer("first", true))
        .run_if(answer("second", false))
        .run_if(|_: Res<u8>| panic!("this one is not asked, so its resource may be missing"))
        .run_if(answer("fourth", true));
    schedule.run(&mut world).unwrap();
    assert_eq!(Log::take(&mut world), ["first", "second"]);
    assert!(!schedule.timings().systems[0].ran);
}

#[test]
fn a_condition_counts_how_often_it_is_asked() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("all")).run_if(every(2)).run_if(every(2));
    let ran = |_: &u32| {
        schedule.run(&mut world).unwrap();
        !Log::take(&mut world).is_empty()
    };
    let runs: Vec<u32> = (1..=13).filter(ran).collect();
    assert_eq!(runs, [1, 5, 9, 13], "each second of runs 1, 3, 5, …");
}

#[test]
fn a_system_that_was_skipped_sees_all_changes_since_it_last_began() {
    let mut world = world();
    world.insert_resource(Paused(false));
    let mut schedule = Schedule::new();
    schedule.set("game").run_if(not_paused);
    schedule
        .add(|a: Query<&A, Changed<A>>, b: Query<&B, Changed<B>>, log: Res<Log>| {
            log.note(&format!("A {} B {}", a.into_iter().count() > 0, b.into_iter().count() > 0));
        })
        .in_set("game");
    let mut run = |paused: bool, write: fn(&mut World)| {
        world.resource_mut::<Paused>().unwrap().0 = paused;
        write(&mut world);
        schedule.run(&mut world).unwrap();
        Log::take(&mut world)
    };
    assert_eq!(run(false, |_| ()), ["A true B true"]);
    assert_eq!(run(true, |world| world.query_mut::<&mut A>().iter_mut().for_each(drop)), [""; 0]);
    assert_eq!(run(true, |world| world.query_mut::<&mut B>().iter_mut().for_each(drop)), [""; 0]);
    assert_eq!(run(false, |_| ()), ["A true B true"]);
    assert_eq!(run(false, |_| ()), ["A false B false"]);
}

#[test]
fn conditions_of_sets_are_asked_first_in_the_order_in_which_the_sets_were_joined() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.set("inner").run_if(answer("inner 1", true));
    schedule
        .add(note("ran"))
        .run_if(answer("own 1", true))
        .in_set("outer")
        .in_set("inner")
        .run_if(answer("own 2", true));
    schedule.set("outer").run_if(answer("outer 1", true)).run_if(answer("outer 2", true));
    schedule.set("inner").run_if(answer("inner 2", true));
    schedule.run(&mut world).unwrap();
    let asked = ["outer 1", "outer 2", "inner 1", "inner 2", "own 1", "own 2", "ran"];
    assert_eq!(Log::take(&mut world), asked);
}

#[test]
fn members_of_a_set_stay_in_step_whatever_their_own_conditions_say() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("a")).in_set("some");
    // Evaluated before the set's condition, and `false` when that one returns `true` for the second
    // time.
    schedule
        .add(note("b"))
        .run_if(|mut run: Local<u32>| {
            *run += 1;
            *run != 2
        })
        .in_set("some");
    schedule.set("some").run_if(every(2));
    let runs: Vec<String> = (0..7)
        .map(|_| {
            schedule.run(&mut world).unwrap();
            Log::take(&mut world).join(" ")
        })
        .collect();
    assert_eq!(runs, ["a b", "", "a", "", "a b", "", "a b"]);
}

#[test]
fn a_condition_that_panics_is_named_and_keeps_its_system_from_running() {
    for threads in [1, 2] {
        let mut world = world();
        let before = world.len();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule
            .add(|a: Query<&A, Changed<A>>, log: Res<Log>| {
                log.note(&a.into_iter().flatten().count().to_string());
            })
            .named("torn")
            .run_if(answer("asked", true))
            .run_if(|mut commands: Commands, mut run: Local<u32>| {
                *run += 1;
                commands.spawn(Mark);
                assert!(*run != 1, "no answer");
                true
            })
            .run_if(answer("asked last", true));
        schedule.add(|mut commands: Commands| {
            commands.spawn(Mark);
        });
        let text = panic_text(|| drop(schedule.run(&mut world)));
        assert_eq!(text, "a condition of system `torn` panicked: no answer");
        assert_eq!(Log::take(&mut world), ["asked"]);
        assert!(!schedule.timings().systems[0].ran);
        assert_eq!(world.len(), before + 1, "what the condition recorded is dropped");
        schedule.run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["asked", "asked last", "600"]);
        assert!(schedule.timings().systems[0].ran);
        assert_eq!(world.len(), before + 3);
    }
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn conditions_are_asked_alike_on_any_number_of_threads() {
    /// Systems that change and read the same values, each with conditions that do so as well.
    fn schedule() -> Schedule {
        let mut schedule = Schedule::new();
        schedule.set("odd").run_if(every(2));
        schedule.set("seen").run_if(|a: Query<&A, Changed<A>>| !a.is_empty());
        for i in 0..12u32 {
            let entry =
                schedule.add(move |a: Query<&mut A, With<Mark>>, b: Query<&B, Changed<B>>| {
                    let seen = b.into_iter().flatten().count() as u64 + u64::from(i);
                    a.into_iter()
                        .flatten()
                        .for_each(|a| a.0 = a.0.wrapping_mul(31).wrapping_add(seen));
                });
            let entry = entry.run_if(move |mut b: Query<&mut B, Without<Mark>>| {
                let sum = b.iter_mut().flatten().fold(u64::from(i), |sum, b| sum.wrapping_add(b.0));
                b.into_iter().flatten().for_each(|b| b.0 = b.0.wrapping_add(1));
                sum % 3 != 0
            });
            let entry = if i % 3 == 0 { entry.in_set("odd") } else { entry };
            let entry = if i % 4 == 0 { entry.in_set("seen") } else { entry };
            entry.run_if(every(1 + i % 3));
        }
        schedule.add(|_: Query<&A>, _: Query<&B>| ());
        schedule
    }
    let run = |schedule: &mut Schedule| {
        let mut world = world();
        let frame = |_| {
            schedule.run(&mut world).unwrap();
            let systems = &schedule.timings().systems;
            (world.hash(), systems.iter().map(|system| system.ran).collect::<Vec<_>>())
        };
        (0..7).map(frame).collect::<Vec<_>>()
    };
    let alone = run(schedule().threads(1));
    let skipped = alone.iter().flat_map(|(_, ran)| ran).filter(|&&ran| !ran).count();
    assert!((10..80).contains(&skipped), "{skipped} of 91");
    for threads in [2, 3] {
        assert!(run(schedule().threads(threads)) == alone, "{threads} threads");
        assert!(run(schedule().threads(threads).shuffle(threads as u64)) == alone, "shuffled");
    }
}

#[test]
fn a_missing_resource_of_a_condition_is_an_error() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(note("paused")).named("paused").run_if(|paused: Res<bool>| *paused);
    let error = schedule.run(&mut world).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "system `paused` did not run: the condition of `paused` cannot be evaluated: the \
             world has no resource `bool`"
        ),
        "{error}"
    );
    assert_eq!(Log::take(&mut world), [""; 0]);
}

#[test]
fn steps_of_one_length_take_up_all_the_time() {
    let step = Duration::from_micros(700);
    let mut clock = FixedStep::new(step).steps_max(1000);
    let (mut time, mut steps) = (Duration::ZERO, 0);
    for frame in (0..500).map(|i| Duration::from_nanos(i * i * 97 % 40_000_000)) {
        time += frame;
        steps += clock.advance(frame);
        assert_eq!(step * steps + clock.remainder(), time);
        assert!(clock.remainder() < step && (0.0..1.0).contains(&clock.overstep()));
    }
    assert!(steps > 1000, "{steps}");
}

#[test]
fn a_frame_that_is_too_long_is_cut() {
    let mut clock = FixedStep::new(Duration::from_millis(10));
    assert_eq!(clock.advance(Duration::from_millis(80)), 8, "just as long as may be");
    assert_eq!(clock.advance(Duration::MAX), 8);
    assert_eq!(clock.remainder(), Duration::ZERO, "the rest is given up");
    assert_eq!(clock.advance(Duration::from_millis(9)), 0);
    assert_eq!(clock.advance(Duration::from_millis(1)), 1);
}

#[test]
fn numbers_that_make_no_sense_are_refused_at_the_callers_line_with_advice() {
    let refused = |run: fn(), advice: &str| {
        let (text, file) = panic_text_and_file(run);
        assert!(text.ends_with(advice) && file == file!(), "{file}: {text}");
    };
    refused(|| drop(every(0)), "`every(0)` would never run: give at least 1");
    refused(|| _ = Schedule::new().threads(0), "give at least 1");
    let clock = || FixedStep::new(Duration::from_millis(1));
    assert_eq!(clock().steps_max(1).advance(Duration::from_secs(1)), 1);
    refused(|| _ = FixedStep::new(Duration::ZERO), "give a longer `Duration`");
    refused(|| _ = FixedStep::new(Duration::MAX).steps_max(0), "give at least 1");
}

#[test]
fn a_condition_of_a_set_is_asked_by_each_member_also_by_those_who_join_later() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(note("a")).in_set("some");
    schedule.set("some").run_if(every(2)).run_if(|a: Query<&A>| a.count_rows() > 0);
    schedule.add(note("b")).in_set("some").in_set("some").run_if(every(2));
    schedule.add(note("c"));
    let runs: Vec<String> = (0..5)
        .map(|_| {
            schedule.run(&mut world).unwrap();
            Log::take(&mut world).join(" ")
        })
        .collect();
    assert_eq!(runs, ["a b c", "c", "a c", "c", "a b c"]);
    let text = schedule.to_string();
    assert_eq!(text.matches("run if: reads A").count(), 2, "{text}");
    assert_eq!(text.matches("run if: keeps its own state").count(), 3, "{text}");
}

#[test]
fn a_condition_of_a_set_can_record_commands_and_is_refused_like_any() {
    let mut world = world();
    let before = world.len();
    let mut schedule = Schedule::new();
    schedule.add(|| panic!("never")).in_set("some");
    schedule.set("some").run_if(|mut commands: Commands| {
        commands.spawn(Mark);
        false
    });
    schedule.run(&mut world).unwrap();
    assert_eq!((world.len(), schedule.timings().sync_points), (before + 1, 1));
    let text = panic_text(|| {
        Schedule::new().set("some").run_if(|_: ResMut<u8>, _: Res<u8>| true);
    });
    assert!(
        text.starts_with("the condition of `some`: parameters 1 ")
            && text.contains("resource `u8`"),
        "{text}"
    );
}
