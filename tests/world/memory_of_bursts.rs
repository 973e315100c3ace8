//! The memory of a burst of commands and events: counted by the schedule and by the allocator, and
//! freed on demand, or after runs without another burst.

#![cfg(not(miri))] // The allocator that counts is not Miri's.

use phalanx::prelude::*;

use crate::memory::bytes;

#[component]
struct Place(u64);
#[component]
struct Heat(u64);
#[component(enableable)]
struct Burning(u64);
struct Sparks([u64; 2]);

/// The records of the systems in the next run.
#[derive(Clone, Copy, PartialEq)]
enum Burst {
    Nothing,
    Spawns,
    ScatteredChanges,
    Batches,
    Switches,
    Parallel,
    Events,
}

const ALL: [Burst; 6] = [
    Burst::Spawns,
    Burst::ScatteredChanges,
    Burst::Batches,
    Burst::Switches,
    Burst::Parallel,
    Burst::Events,
];

const COUNT: u64 = 10_000;

fn record(
    burst: Res<Burst>,
    mut commands: Commands,
    places: Query<(Entity, &Place)>,
    burning: Query<Entity, IgnoreEnabled>,
) {
    match *burst {
        Burst::Spawns => (0..COUNT).for_each(|i| _ = commands.spawn(Heat(i))),
        Burst::Batches => commands.spawn_batch((0..COUNT).map(Heat)),
        Burst::ScatteredChanges => {
            let all: Vec<Entity> = places.iter().flat_map(|(ids, _)| ids.to_vec()).collect();
            for i in 0..all.len() {
                let entity = all[i * 7_919 % all.len()];
                commands.insert(entity, Heat(1));
                commands.insert(all[i], Place(2));
                commands.remove::<Heat>(entity);
            }
        }
        Burst::Switches => burning.iter().flatten().for_each(|&entity| {
            commands.set_enabled::<Burning>(entity, false);
        }),
        Burst::Parallel => places.par().record(&mut *commands, |(ids, _), writer| {
            ids.iter().for_each(|&id| writer.insert(id, Heat(3)));
        }),
        Burst::Events | Burst::Nothing => {}
    }
}

fn send(burst: Res<Burst>, mut sparks: EventWriter<Sparks>) {
    if *burst == Burst::Events {
        sparks.extend((0..COUNT).map(|i| Sparks([i; 2])));
    }
}

fn receive(mut sparks: EventReader<Sparks>, mut sum: Local<u64>) {
    *sum += sparks.read().iter().map(|spark| spark.0[0]).sum::<u64>();
}

/// A world and a schedule that have run without a burst.
fn warm() -> (World, Schedule) {
    let mut world = World::new();
    world.spawn_batch((0..COUNT).map(|i| (Place(i), Burning(i))));
    world.insert_resource(Burst::Nothing);
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(record);
    schedule.add((send, receive)).chain();
    schedule.run(&mut world).unwrap();
    (world, schedule)
}

fn run(world: &mut World, schedule: &mut Schedule, burst: Burst, runs: usize) {
    *world.resource_mut::<Burst>().unwrap() = burst;
    (0..runs).for_each(|_| schedule.run(world).unwrap());
}

/// Two bursts, since buffers of events alternate, followed by a small run.
fn after_a_burst(burst: Burst) -> (World, Schedule) {
    let (mut world, mut schedule) = warm();
    run(&mut world, &mut schedule, burst, 2);
    run(&mut world, &mut schedule, Burst::Nothing, 2);
    (world, schedule)
}

/// The memory of the schedule and of the queues of its world.
fn held(world: &World, schedule: &Schedule) -> usize {
    schedule.memory_bytes() + world.memory().event_bytes
}

#[test]
fn the_memory_of_a_burst_is_counted_and_given_back_on_demand() {
    for burst in ALL {
        let (mut world, mut schedule) = after_a_burst(burst);
        let said = schedule.memory_bytes();
        let (freed, change) = bytes(|| schedule.compact());
        let out = 0usize.wrapping_sub(change);
        assert_eq!(freed, said - schedule.memory_bytes(), "{}", burst as u8);
        // A table has a fixed part, and a few entries more than it reports.
        let slack = said / 4 + 4_096;
        assert!(out.abs_diff(freed) <= slack, "{}: said {freed}, freed {out}", burst as u8);
        assert!(schedule.memory_bytes() < 8_192, "{}: {}", burst as u8, schedule.memory_bytes());
        world.memory_mut().compact(usize::MAX);
        assert!(world.memory().event_bytes < 1_024, "{}", world.memory().event_bytes);
        run(&mut world, &mut schedule, burst, 1);
        world.check().unwrap();
    }
}

#[test]
fn the_memory_of_a_burst_is_given_back_after_idle_runs() {
    for burst in ALL {
        let (mut world, mut schedule) = after_a_burst(burst);
        let before = held(&world, &schedule);
        // A list of switches is freed after its playback.
        let is_kept = burst != Burst::Switches;
        assert!(!is_kept || before > 100_000, "{}: a burst of {before} bytes", burst as u8);
        run(&mut world, &mut schedule, Burst::Nothing, 128);
        let after = held(&world, &schedule);
        assert!(after < 16_384, "{}: {after} bytes are held", burst as u8);
    }
}

#[test]
fn what_every_run_uses_is_kept() {
    for burst in ALL {
        let (mut world, mut schedule) = warm();
        run(&mut world, &mut schedule, burst, 3);
        let before = held(&world, &schedule);
        run(&mut world, &mut schedule, burst, 130);
        let after = held(&world, &schedule);
        assert!(after >= before / 2, "{}: {after} bytes of {before}", burst as u8);
    }
}
