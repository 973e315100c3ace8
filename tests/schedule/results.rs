//! Systems and conditions that return a `Result`.

use std::error::Error;

use phalanx::error::NotSingle;
use phalanx::prelude::*;
use phalanx::schedule::SystemError;

use super::{A, B, Log, Mark, note, world};

type Boxed = Box<dyn Error + Send + Sync>;

/// The name of the system that failed, whether a condition of it did, and the error.
fn failed(ran: Result<(), ScheduleError>) -> (String, bool, SystemError) {
    match ran {
        Err(ScheduleError::Failed { system, of_condition, error }) => (system, of_condition, error),
        other => panic!("a system fails, and not {other:?}"),
    }
}

#[test]
fn an_error_names_the_system_and_discards_its_commands_and_events_alone() {
    for threads in [1, 2, 4] {
        let mut world = world();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(note("before"));
        schedule
            .add(|a: Query<&mut A>, mut commands: Commands, mut sent: EventWriter<u32>| {
                commands.spawn(Mark);
                sent.send(7);
                a.rows().take(3).for_each(|a| a.0 = 1_000);
                Err::<(), _>("the third of three")
            })
            .named("torn");
        schedule.add(|mut commands: Commands, mut sent: EventWriter<u32>| {
            commands.spawn(B(5));
            sent.send(8);
        });
        schedule.add(|_: Query<&A>, log: Res<Log>| log.note("reads after"));
        schedule.add(note("stage two")).after("torn");
        let (entities, marks) = (world.len(), world.query::<&Mark>().count_rows());
        for run in 1..=2 {
            let (system, of_condition, error) = failed(schedule.run(&mut world));
            assert_eq!((&system[..], of_condition), ("torn", false));
            assert_eq!(error.to_string(), "the third of three");
            let mut ran = Log::take(&mut world);
            ran.sort();
            assert_eq!(ran, ["before", "reads after", "stage two"]);
            assert_eq!(world.len(), entities + run, "only the other system has spawned");
            assert_eq!(world.query::<&Mark>().count_rows(), marks);
            assert!(world.events::<u32>().iter().all(|&event| event == 8));
            assert_eq!(world.query::<&A>().rows().filter(|a| a.0 == 1_000).count(), 3, "it stays");
            world.check().unwrap();
        }
    }
}

#[test]
fn a_system_that_failed_has_begun_and_misses_no_change() {
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(|changed: Query<&A, Changed<A>>| match changed.count_rows() {
        0 => Ok(()),
        rows => Err(rows.to_string()),
    });
    assert_eq!(failed(schedule.run(&mut world)).2.to_string(), "600");
    assert_eq!(schedule.run(&mut world), Ok(()), "it has seen them");
    world.query_mut::<&mut A>().rows().next().unwrap().0 = 5;
    assert!(schedule.run(&mut world).is_err());
    assert!(schedule.timings().systems[0].ran);
}

#[test]
fn a_condition_that_fails_keeps_its_system_from_running() {
    let mut world = world();
    let mut schedule = Schedule::new();
    let is_single = |marks: Query<Entity, With<Mark>>| marks.single().map(|_| true);
    schedule.add(note("guarded")).named("guarded").run_if(is_single).run_if(|| true);
    schedule.add(note("member")).named("member").in_set("set");
    schedule.set("set").run_if(is_single);
    let Err(ScheduleError::Several(all)) = schedule.run(&mut world) else { panic!("two fail") };
    let texts: Vec<_> = all.iter().map(ToString::to_string).collect();
    let start = |name| format!("system `{name}` did not run: its condition failed: the query `");
    assert!(texts[0].starts_with(&start("guarded")) && texts[1].starts_with(&start("member")));
    assert_eq!(Log::take(&mut world), Vec::<String>::new());
    assert!(!schedule.timings().systems[0].ran);

    let mut world = World::new();
    world.insert_resource(Log::default());
    world.spawn(Mark);
    schedule.reset();
    schedule.run(&mut world).unwrap();
    assert_eq!(Log::take(&mut world).len(), 2);
}

#[test]
fn the_error_is_kept_with_its_type_and_is_the_source() {
    let mut schedule = Schedule::new();
    schedule.add(|marks: Query<&Mark>| -> Result<(), Boxed> {
        marks.single()?;
        "7".parse::<u8>()?;
        Ok(())
    });
    let error = schedule.run(&mut World::new()).unwrap_err();
    assert_eq!(error, error.clone());
    let source = error.source().expect("the error of the system").to_string();
    let (_, _, inner) = failed(Err(error));
    assert_eq!(inner.downcast_ref::<NotSingle>().map(|error| error.rows), Some(0));
    assert_eq!((inner.downcast_ref::<std::fmt::Error>(), inner.to_string()), (None, source));
}

#[test]
fn systems_of_all_outputs_stand_in_one_tuple() {
    fn fine() -> Result<(), NotSingle> {
        Ok(())
    }
    fn boxed() -> Result<(), Boxed> {
        Ok(())
    }
    let mut schedule = Schedule::new();
    let never = |_: Query<&Mark>| panic!("its condition fails or is false");
    schedule.add((fine, || (), (boxed, never))).run_if(|| Ok::<_, Boxed>(false));
    schedule.add(never).after(fine).run_if(|| false);
    schedule.run(&mut World::new()).unwrap();
}
