//! Events: the readers that see them, their order, and how long they are kept.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use phalanx::logs::LogCursor;
use phalanx::prelude::*;
use phalanx::schedule::Subject;
use phalanx::schedule::on_event;

use super::{A, B, Mark, panic_text, world};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub(super) u32);

/// The numbers that a system has read.
#[derive(Default)]
pub(super) struct Seen(Vec<u32>);

pub(super) fn send<const N: u32>(mut numbers: EventWriter<Number>) {
    numbers.send(Number(N));
}

pub(super) fn see(mut numbers: EventReader<Number>, mut seen: ResMut<Seen>) {
    seen.0.extend(numbers.read().iter().map(|number| number.0));
}

pub(super) fn seeing_world() -> World {
    let mut world = world();
    world.insert_resource(Seen::default());
    world
}

pub(super) fn seen(world: &mut World) -> Vec<u32> {
    std::mem::take(&mut world.resource_mut::<Seen>().unwrap().0)
}

fn kept(world: &World) -> Vec<u32> {
    world.events::<Number>().iter().map(|number| number.0).collect()
}

#[test]
fn a_reader_sees_the_systems_before_it_now_and_those_after_it_in_the_next_run() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, see, send::<2>));
    let mut all = Vec::new();
    for run in 0..3 {
        world.send(Number(10 + run));
        schedule.run(&mut world).unwrap();
        all.push(seen(&mut world));
    }
    assert_eq!(all, [vec![10, 1], vec![2, 11, 1], vec![2, 12, 1]]);
    assert_eq!(kept(&world), [2, 12, 1, 2], "the last is not read yet");
}

#[test]
fn a_requested_order_decides_what_is_seen() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(send::<1>).after(see);
    schedule.add(see).after(send::<2>);
    schedule.add(send::<2>);
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), [2]);
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), [1, 2]);
}

#[test]
fn each_reader_reads_each_event_once() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, send::<2>));
    schedule.add(|mut one: EventReader<Number>, mut other: EventReader<Number>| {
        assert_eq!((one.len(), other.len(), one.missed()), (2, 2, 0));
        assert_eq!(one.read(), [Number(1), Number(2)]);
        assert!(one.is_empty() && one.read().is_empty() && !other.is_empty());
        assert_eq!(other.read().len(), 2);
    });
    // It reads only when enough events have arrived.
    schedule.add(|mut batch: EventReader<Number>, mut seen: ResMut<Seen>| {
        if batch.len() >= 6 {
            seen.0.extend(batch.read().iter().map(|number| number.0));
        }
    });
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(seen(&mut world), [1, 2, 1, 2, 1, 2]);
    schedule.run(&mut world).unwrap();
    assert_eq!(kept(&world), [1, 2]);
}

#[test]
fn a_system_reads_its_own_events_in_its_next_run() {
    fn halve(mut numbers: EventReader<Number>, mut halves: EventWriter<Number>) {
        let halved = numbers.read().iter().map(|number| Number(number.0 / 2));
        halves.extend(halved.filter(|half| half.0 > 0));
    }
    let mut world = world();
    world.send(Number(9));
    let mut schedule = Schedule::new();
    schedule.add(halve);
    let lens = [4, 2, 1].map(|want| {
        schedule.run(&mut world).unwrap();
        let events = kept(&world);
        assert_eq!(events.last(), Some(&want), "{events:?}");
        events.len()
    });
    assert_eq!(lens, [2, 2, 2], "one that was read in the run, one that was sent");
    schedule.run(&mut world).unwrap();
    schedule.run(&mut world).unwrap();
    assert_eq!(kept(&world), []);
}

#[test]
fn closures_of_commands_see_the_events_of_their_stage() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(|mut numbers: EventWriter<Number>, mut commands: Commands| {
        numbers.send(Number(1));
        commands.run(|world| {
            assert_eq!(kept(world), [1, 2]);
            world.send(Number(3));
        });
    });
    schedule.add(send::<2>);
    schedule.sync();
    schedule.add(see);
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), [1, 2, 3]);
}

#[test]
fn two_writers_go_side_by_side_and_a_reader_waits_for_both() {
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, send::<2>)).in_set("senders");
    schedule.add((see, |_: EventReader<String>| ()));
    let text = schedule.to_string();
    let waits: Vec<_> = text.lines().map(str::trim).filter(|l| l.starts_with("waits")).collect();
    assert_eq!(waits.len(), 2, "{text}");
    for (waits, number) in waits.iter().zip(1..) {
        let end = format!("send<{number}>: the events of type `schedule::events::Number`");
        assert!(waits.ends_with(&end), "{text}");
    }
    assert!(text.contains("sends events Number\n"), "{text}");
    assert!(text.contains("reads events Number\n"), "{text}");
    let dot = schedule.to_graphviz().unwrap();
    assert!(dot.contains("reads events String"), "{dot}");
    let reason = Subject::Events("Number");
    assert_eq!(reason.to_string(), "the events of type `Number`");
}

#[test]
fn a_world_that_is_explained_shows_its_queues() {
    let mut world = World::new();
    world.send_batch([Number(1); 3]);
    let explanation = world.explain();
    assert_eq!((explanation.events.len(), explanation.events[0].kept), (1, 3));
    assert_eq!(explanation.events[0].bytes, world.memory().event_bytes);
    assert!(explanation.to_string().contains("3 events of `"), "{explanation}");
    (0..2).for_each(|_| world.memory_mut().age_logs());
    assert!(world.memory_mut().compact(0).bytes_freed > 0);
    assert_eq!(world.memory().event_bytes, 0);
}

/// Writers, readers and commands of one type, interleaved.
fn busy() -> Schedule {
    fn relay(mut numbers: EventReader<Number>, mut more: EventWriter<Number>) {
        let read = numbers.read();
        more.extend(read.iter().filter(|n| n.0 % 7 == 1).map(|n| Number(n.0 * 2 + 1)));
    }
    fn mark(rows: Query<(&A, &mut B)>, mut numbers: EventWriter<Number>) {
        rows.par().record(&mut numbers, |(a, b), numbers| {
            for (a, b) in a.iter().zip(b).filter(|(a, _)| a.0 % 3 == 0) {
                b.0 += 1;
                numbers.send(Number(u32::try_from(a.0 + b.0).unwrap()));
            }
        });
    }
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, mark, send::<2>, see, relay, send::<3>, mark, see));
    schedule.add(|mut commands: Commands| commands.run(|world| world.send(Number(4))));
    schedule.sync();
    schedule.add((see, send::<5>, mark, send::<6>));
    schedule.add(see).run_if(every(3));
    schedule
}

#[test]
fn par_the_order_does_not_depend_on_threads_or_on_shuffling() {
    let run = |change: &dyn Fn(&mut Schedule)| {
        let (mut world, mut schedule) = (seeing_world(), busy());
        change(&mut schedule);
        for _ in 0..6 {
            schedule.run(&mut world).unwrap();
        }
        (seen(&mut world), kept(&world))
    };
    let want = run(&|schedule| _ = schedule.threads(1));
    assert!(want.0.len() > 5000 && want.1.len() > 200, "{} {}", want.0.len(), want.1.len());
    for threads in [1, 2, 4] {
        for seed in 0..if cfg!(miri) { 1 } else { 10 } {
            assert_eq!(run(&|schedule| _ = schedule.threads(threads).shuffle(seed)), want);
        }
    }
    let background = || {
        let (mut world, mut schedule) = (seeing_world(), busy());
        for _ in 0..6 {
            let finished = schedule.start(world).join();
            finished.result.unwrap();
            (world, schedule) = (finished.world, finished.schedule);
        }
        (seen(&mut world), kept(&world))
    };
    assert_eq!(background(), want);
}

#[test]
fn par_a_pass_sends_in_the_order_of_the_chunks() {
    let mut world = seeing_world();
    world.spawn_batch((0..20_000).map(A));
    let mut schedule = Schedule::new();
    schedule.add(
        |rows: Query<(Entity, &A)>,
         mut numbers: EventWriter<Number>,
         mut texts: EventWriter<String>,
         mut commands: Commands| {
            texts.send("first".to_owned());
            let targets = (&mut numbers, &mut commands, &mut texts);
            rows.par().record(targets, |(entities, rows), (numbers, commands, texts)| {
                for (&entity, a) in entities.iter().zip(rows) {
                    numbers.send(Number(u32::try_from(a.0).unwrap()));
                    if a.0 % 1000 == 7 {
                        texts.send(a.0.to_string());
                        commands.despawn(entity);
                    }
                }
            });
            assert_eq!((numbers.len(), texts.len()), (20_600, 23));
        },
    );
    schedule.add(see);
    let want: Vec<u64> = world.query::<&A>().rows().map(|a| a.0).collect();
    schedule.run(&mut world).unwrap();
    assert!(seen(&mut world).into_iter().map(u64::from).eq(want), "the order of a pass");
    assert_eq!(world.events::<String>()[..4], ["first", "7", "7", "7"]);
    assert_eq!(world.events::<String>()[22], "19007");
    assert_eq!(world.len(), 20_600 - 22);
}

#[test]
fn a_system_that_is_skipped_keeps_its_events_within_the_bound_and_counts_those_it_misses() {
    let mut world = world();
    world.memory_mut().keep_log::<Events<Number>>(64 * size_of::<Number>());
    world.insert_resource(Seen::default());
    let mut schedule = Schedule::new();
    schedule.add(|mut numbers: EventWriter<Number>, mut run: Local<u32>| {
        numbers.send(Number(*run));
        *run += 1;
    });
    schedule.add(see).run_if(every(60)).named("often");
    let slow = |mut numbers: EventReader<Number>, mut missed: ResMut<u64>| {
        *missed += numbers.missed();
        *missed += 1000 * numbers.read().len() as u64;
        assert_eq!(numbers.read().len(), 0);
    };
    world.insert_resource(0u64);
    schedule.add(slow).run_if(every(100));
    for _ in 0..101 {
        schedule.run(&mut world).unwrap();
        assert!(kept(&world).len() <= 65);
    }
    assert_eq!(seen(&mut world), (0..61).collect::<Vec<_>>());
    // The first run had one; of 100 others the last 64 were kept, and the one of the run itself.
    assert_eq!(*world.resource::<u64>().unwrap(), 1000 + 65_000 + 35);
}

#[test]
fn a_reader_misses_nothing_however_many_runs_of_other_schedules_lie_between() {
    let mut world = seeing_world();
    let (mut rare, mut others) = (Schedule::new(), Schedule::new());
    rare.add(see);
    others.add(send::<1>);
    rare.run(&mut world).unwrap();
    // Ten schedules a frame, and a reader in every seventh frame.
    for _ in 0..10 {
        for _ in 0..7 * 10 {
            others.run(&mut world).unwrap();
        }
        rare.run(&mut world).unwrap();
    }
    assert_eq!(seen(&mut world).len(), 700);
    others.run(&mut world).unwrap();
    assert_eq!(kept(&world).len(), 1, "those that were read are gone");
}

#[test]
fn schedules_that_run_less_often_miss_nothing() {
    let mut world = seeing_world();
    let (mut frame, mut physics) = (Schedule::new(), Schedule::new());
    frame.add(|mut numbers: EventWriter<Number>, mut frames: Local<u32>| {
        *frames += 1;
        numbers.send(Number(*frames));
    });
    physics.add(|mut numbers: EventReader<Number>, mut echo: EventWriter<String>| {
        echo.extend(numbers.read().iter().map(|number| number.0.to_string()));
    });
    let mut echo = world.cursor::<Events<String>>();
    let mut echoed = Vec::new();
    let mut clock = FixedStep::new(Duration::from_millis(50));
    // The first run of `physics` registers its reader.
    physics.run(&mut world).unwrap();
    for millis in [4, 90, 3, 160, 1, 1, 1, 1, 49] {
        frame.run(&mut world).unwrap();
        for _ in 0..clock.advance(Duration::from_millis(millis)) {
            physics.run(&mut world).unwrap();
        }
        echoed.extend(echo.read(&world).iter().cloned());
    }
    assert_eq!(echoed.join(" "), "1 2 3 4 5 6 7 8 9");
}

#[test]
fn events_that_no_reader_reads_take_bounded_memory() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add(|mut numbers: EventWriter<[u64; 4]>| numbers.extend([[7; 4]; 3])).named("send");
    schedule.add(|numbers: EventReader<u64>| assert!(numbers.is_empty())).named("nothing to read");
    let runs = if cfg!(miri) { 100 } else { 100_000 };
    for _ in 0..runs {
        schedule.run(&mut world).unwrap();
    }
    assert!(world.events::<[u64; 4]>().len() <= 6);
    assert!(world.memory().event_bytes < 2000, "{} bytes", world.memory().event_bytes);
    // A reader that is never asked holds as much back as it may, and not more.
    world.memory_mut().keep_log::<Events<[u64; 4]>>(64 * 3 * size_of::<[u64; 4]>());
    let cursor = world.cursor::<Events<[u64; 4]>>();
    for _ in 0..(runs / 10).max(100) {
        schedule.run(&mut world).unwrap();
        assert!(world.events::<[u64; 4]>().len() <= 65 * 3);
    }
    assert!(cursor.missed(&world) > 0);
    drop(cursor);
    (0..3).for_each(|_| schedule.run(&mut world).unwrap());
    assert!(world.events::<[u64; 4]>().len() <= 6);
}

#[test]
fn events_without_a_size_are_read_once_too() {
    #[derive(Clone)]
    struct Ping;
    let mut world = World::new();
    world.insert_resource(0usize);
    let mut schedule = Schedule::new();
    schedule.add(|mut pings: EventWriter<Ping>| pings.extend(vec![Ping; 1000]));
    schedule.add(|mut pings: EventReader<Ping>, mut count: ResMut<usize>| {
        *count += pings.read().len();
    });
    (0..5).for_each(|_| schedule.run(&mut world).unwrap());
    assert_eq!(*world.resource::<usize>().unwrap(), 5000);
    assert!(world.memory().event_bytes < 500, "{}", world.memory().event_bytes);
}

#[test]
fn a_condition_that_reads_is_true_once() {
    let mut world = world();
    world.insert_resource(0u32);
    let mut schedule = Schedule::new();
    let count = |mut count: ResMut<u32>| *count += 1;
    schedule.add(count).run_if(on_event::<Number>);
    schedule.add(|_: Query<&A, With<Mark>>| ()).run_if(on_event::<Number>);
    for run in 0..6 {
        if run % 3 == 1 {
            world.send_batch([Number(1); 5]);
        }
        schedule.run(&mut world).unwrap();
    }
    assert_eq!(*world.resource::<u32>().unwrap(), 2);
}

#[test]
fn a_schedule_and_a_cursor_belong_to_one_world() {
    let (mut first, mut second) = (seeing_world(), seeing_world());
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, see, send::<2>));
    let mut cursor = first.cursor::<Events<Number>>();
    schedule.run(&mut first).unwrap();
    assert_eq!(schedule.run(&mut second), Err(ScheduleError::OtherWorld));
    assert_eq!(kept(&second), []);
    schedule.reset();
    second.send(Number(5));
    schedule.run(&mut second).unwrap();
    assert_eq!((seen(&mut first), seen(&mut second)), (vec![1], vec![5, 1]));
    // The reset has removed the reader of the first world.
    assert_eq!(cursor.read(&first).len(), 2);
    first.memory_mut().age_logs();
    assert_eq!(kept(&first), []);
    let text = panic_text(|| drop(cursor.read(&second)));
    assert_eq!(text, "the cursor was made by another world");
}

#[test]
fn a_command_that_replaces_the_world_takes_the_events_along() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(|mut numbers: EventWriter<Number>, mut commands: Commands| {
        numbers.send(Number(1));
        commands.run(|world| *world = World::new());
    });
    schedule.sync();
    schedule.add(see);
    assert_eq!(schedule.run(&mut world), Err(ScheduleError::OtherWorld));
    assert_eq!(kept(&world), []);
}

#[test]
fn a_missing_resource_leaves_the_events_for_later() {
    let mut world = World::new();
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, see));
    assert!(schedule.run(&mut world).is_err());
    world.insert_resource(Seen::default());
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), [1, 1]);
}

#[test]
fn a_forgotten_guard_is_released_by_the_next_run() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add((send::<1>, see));
    for _ in 0..3 {
        schedule.run(&mut world).unwrap();
        forget(world.events::<Number>());
    }
    assert_eq!(seen(&mut world), [1, 1, 1]);
    let mut cursor: LogCursor<Events<Number>> = world.cursor();
    assert_eq!(*cursor.read(&world), [Number(1)]);
    let text = catch_unwind(AssertUnwindSafe(|| world.memory_mut().keep_log::<Events<Number>>(0)));
    assert!(text.is_err(), "none would be kept");
}

#[test]
fn events_without_a_size_are_dropped_without_a_schedule_too() {
    struct Tick;
    let mut world = World::new();
    let mut cursor = world.cursor::<Events<Tick>>();
    for _ in 0..20_000 {
        world.send(Tick);
        assert_eq!(cursor.read(&world).len(), 1);
    }
    assert!(world.events::<Tick>().len() <= 2_048);
}
