//! Runs of a schedule in the background, while the caller goes on.

use std::sync::mpsc;

use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;

use super::{A, panic_text, world};

#[test]
fn a_run_in_the_background_is_a_run() {
    let build = || {
        let mut schedule = Schedule::new();
        schedule.add(|rows: Query<&mut A>| rows.rows().for_each(|a| a.0 += 3));
        schedule
    };
    let (mut expected, mut direct) = (world(), build());
    direct.run(&mut expected).unwrap();
    direct.run(&mut expected).unwrap();
    let finished = build().start(world()).join();
    assert_eq!(finished.result, Ok(()));
    let again = finished.schedule.start(finished.world).join();
    assert_eq!(again.result, Ok(()));
    assert_eq!(again.world.hash(), expected.hash());
}

#[test]
fn the_caller_goes_on_until_it_joins() {
    let (send, receive) = mpsc::channel();
    let (done, wait) = mpsc::channel();
    let receive = std::sync::Mutex::new(receive);
    let mut schedule = Schedule::new();
    schedule.add(move || receive.lock().unwrap().recv().unwrap());
    schedule.add(move || done.send(()).unwrap());
    let run = schedule.start(world());
    assert!(!run.is_finished(), "the system waits for the caller");
    send.send(()).unwrap();
    wait.recv().unwrap();
    assert_eq!(run.join().result, Ok(()));
}

#[test]
fn an_error_is_given_back_with_the_world() {
    struct Missing;
    let mut schedule = Schedule::new();
    schedule.add(|_: Res<Missing>| ());
    let len = world().len();
    let mut finished = schedule.start(world()).join();
    assert!(matches!(finished.result, Err(ScheduleError::MissingResource { .. })));
    assert_eq!(finished.world.len(), len);
    finished.world.insert_resource(Missing);
    assert_eq!(finished.schedule.run(&mut finished.world), Ok(()));
}

#[test]
fn a_panic_reaches_the_thread_that_joins() {
    let mut schedule = Schedule::new();
    schedule.add(|| panic!("in the background"));
    let run = schedule.start(world());
    let text = panic_text(|| drop(run.join()));
    assert!(text.contains("in the background"), "{text}");
}

#[test]
fn dropping_a_run_waits_for_it() {
    let (send, receive) = mpsc::channel();
    let mut schedule = Schedule::new();
    schedule.add(move || send.send(()).unwrap());
    drop(schedule.start(world()));
    assert_eq!(receive.try_recv(), Ok(()), "it ran, and is over");
    let mut schedule = Schedule::new();
    schedule.add(|| panic!("nobody joins"));
    drop(schedule.start(world()));
}
