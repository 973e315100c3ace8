//! Conditions, and steps of one length.

use std::time::Duration;

use phalanx::prelude::*;

use super::{A, Log, Mark, note, panic_text, panic_text_and_file, world};

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
    // Each condition counts its own runs: both say yes in the first, the third, the fifth.
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
    schedule.add(|a: Query<&mut A, With<Mark>>| a.flatten().for_each(|a| a.0 = 1000));
    schedule.add(note("seen")).run_if(|a: Query<&A, With<Mark>>| a.flatten().all(|a| a.0 == 1000));
    schedule.add(|a: Query<&mut A, With<Mark>>| a.flatten().for_each(|a| a.0 = 0));
    for threads in [1, 2] {
        schedule.threads(threads).run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world), ["seen"], "it stands between the two writers");
    }
}

#[test]
fn a_condition_can_look_for_changes() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(note("changed")).run_if(|mut a: Query<&A, Changed<A>>| a.next().is_some());
    for (write, want) in [(false, 1), (false, 0), (true, 1), (false, 0)] {
        if write {
            world.query_mut::<&mut A>().for_each(drop);
        }
        schedule.run(&mut world).unwrap();
        assert_eq!(Log::take(&mut world).len(), want);
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
            "system `paused` did not run: the condition of `paused` cannot be asked: the world has \
             no resource `bool`"
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
    schedule.set("some").run_if(every(2)).run_if(|a: Query<&A>| a.rows_len() > 0);
    schedule.add(note("b")).in_set("some").in_set("some").run_if(every(4));
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
