//! Programs that are written only by mistake: other worlds in place of this one, buffers that
//! change hands, values with a drop that panics, and everything at once.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use phalanx::Lookup;
use phalanx::prelude::*;
use phalanx::schedule::ScheduleError;

use super::{A, B, C, Mark, panic_text, world};

/// A world that numbers its components differently from [`world`].
fn other_world() -> World {
    let mut other = World::new();
    other.query_mut::<(&C, &B)>().iter_mut().for_each(drop);
    other.spawn_batch((0..100).map(A));
    other
}

/// A system of one command, which replaces the world by `other`, once.
fn exchange(other: World) -> impl FnMut(Commands<'_>) + Send + 'static {
    let mut other = Some(other);
    move |mut commands| {
        if let Some(mut other) = other.take() {
            commands.run(move |world| mem::swap(world, &mut other));
        }
    }
}

#[test]
fn a_command_that_puts_another_world_in_place_ends_the_run() {
    for threads in [1, 2] {
        let mut world = world();
        let ran = Arc::new(AtomicUsize::new(0));
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(exchange(other_world())).named("exchange");
        schedule.add(|mut commands: Commands| {
            commands.spawn(Mark);
        });
        schedule.sync();
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            schedule.add(move |a: Query<&mut A>| {
                ran.fetch_add(1, Ordering::Relaxed);
                a.into_iter().flatten().for_each(|a| a.0 += 1);
            });
        }
        let error = schedule.run(&mut world).unwrap_err();
        assert_eq!(error, ScheduleError::OtherWorld);
        assert_eq!(ran.load(Ordering::Relaxed), 0, "nothing runs with what was claimed elsewhere");
        assert!(world.query::<&A>().iter().flatten().map(|a| a.0).eq(0..100));
        assert_eq!(schedule.run(&mut world), Err(ScheduleError::OtherWorld));
        schedule.reset();
        schedule.run(&mut world).unwrap();
        assert!(world.query::<&A>().iter().flatten().map(|a| a.0).eq(2..102));
        assert_eq!(world.query::<&Mark>().count_rows(), 1);
        world.check().unwrap();
    }
}

#[test]
fn a_system_that_is_skipped_in_another_world_has_no_times_of_an_earlier_run() {
    let mut world = world();
    let mut runs = 0;
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(move |mut commands: Commands| {
        runs += 1;
        if runs == 2 {
            commands.run(|world| *world = World::new());
        }
    });
    schedule.sync();
    schedule.add(|| {
        let start = Instant::now();
        while start.elapsed().is_zero() {}
    });
    schedule.run(&mut world).unwrap();
    let timings = schedule.timings();
    assert!(timings.systems[1].ran && !timings.systems[1].total.is_zero());
    assert_eq!(schedule.run(&mut world), Err(ScheduleError::OtherWorld));
    let timings = schedule.timings();
    assert!(!timings.systems[1].ran);
    assert!(timings.systems[1].total.is_zero(), "{timings}");
}

mod first {
    use phalanx::prelude::*;
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    pub(super) struct Twin(pub u8);
    impl_component!(Twin as "twin");
}

mod second {
    use phalanx::prelude::*;
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    pub(super) struct Twin(pub u8);
    impl_component!(Twin as "twin");
}

#[test]
fn a_world_that_a_system_cannot_be_bound_to_leaves_nothing_behind_for_the_next() {
    let mut world = world();
    world.spawn(first::Twin(0));
    let mut schedule = Schedule::new();
    for _ in 0..2 {
        schedule.add(|a: Query<&mut A>| a.into_iter().flatten().for_each(|a| a.0 += 1));
    }
    schedule.add(|_: Query<&second::Twin>| ());
    let text = panic_text(|| drop(schedule.run(&mut world)));
    assert!(text.contains("twin"), "{text}");
    let mut other = other_world();
    assert_eq!(schedule.run(&mut other), Err(ScheduleError::OtherWorld));
    schedule.reset();
    schedule.run(&mut other).unwrap();
    assert!(other.query::<&A>().iter().flatten().map(|a| a.0).eq(2..102));
}

#[test]
fn changes_of_a_component_that_a_system_does_not_name_are_not_looked_at() {
    let spies: [fn(Query<(&B,)>); 2] = [
        |b| b.changed_since::<A>(Version::NEVER).into_iter().for_each(drop),
        |b| _ = b.filter_since::<(Without<C>, (Arrived, Changed<A>))>(Version::NEVER),
    ];
    let mut world = world();
    for spy in spies {
        let mut schedule = Schedule::new();
        schedule.add(|a: Query<&mut A>| a.into_iter().for_each(drop));
        schedule.add(spy).named("spy");
        let text = panic_text(|| drop(schedule.run(&mut world)));
        let wanted =
            format!("system `spy` panicked: a system that filters by changes of `{}`", A::NAME);
        assert!(text.starts_with(&wanted), "{text}");
    }
    // A system that names it may access it.
    let mut schedule = Schedule::new();
    schedule.add(|b: Query<(&B, Option<&A>)>| {
        assert!(b.changed_since::<A>(Version::NEVER).into_iter().count() > 0);
    });
    schedule.add(|b: Query<(&B,), (Changed<A>,)>| {
        assert!(b.changed_since::<A>(Version::NEVER).into_iter().count() > 0);
    });
    // A component that was never named has not changed.
    schedule.add(|b: Query<(&B,)>| {
        assert_eq!(b.changed_since::<second::Twin>(Version::NEVER).into_iter().count(), 0);
    });
    schedule.run(&mut world).unwrap();
}

#[test]
fn a_buffer_that_keeps_its_lane_beyond_the_run_takes_no_id_of_another() {
    let mut world = world();
    let spare = Arc::new(Mutex::new(world.command_buffer(0).unwrap()));
    let again = Arc::clone(&spare);
    let mut schedule = Schedule::new();
    // In the first run the buffer is dropped with its lane, in the second it comes back elsewhere.
    schedule.add(move |mut commands: Commands, mut run: Local<u32>| {
        *run += 1;
        match *run {
            1 => mem::swap(&mut *commands, &mut *spare.lock().unwrap()),
            _ => drop((0..5).map(|_| commands.try_spawn(A(1))).collect::<Vec<_>>()),
        }
    });
    schedule.add(move |mut commands: Commands, mut run: Local<u32>| {
        *run += 1;
        if *run == 2 {
            mem::swap(&mut *commands, &mut *again.lock().unwrap());
            drop((0..5).map(|_| commands.try_spawn(B(1))).collect::<Vec<_>>());
        }
    });
    schedule.add(|mut commands: Commands, mut run: Local<u32>| {
        for _ in 0..3 * *run {
            commands.spawn(C(1));
        }
        *run += 1;
    });
    for _ in 0..4 {
        let _ = schedule.run(&mut world);
        world.check().unwrap();
    }
    let (before, more) = (world.len(), if cfg!(miri) { 50 } else { 5000 });
    world.spawn_batch((0..more).map(C));
    world.check().unwrap();
    assert_eq!(world.len() as u64, before as u64 + more);
}

/// A value with a destructor that panics.
struct Sore;

impl Drop for Sore {
    fn drop(&mut self) {
        panic!("sore");
    }
}

#[test]
fn a_recorded_closure_whose_drop_panics_stops_no_other() {
    for threads in [1, 2] {
        let mut world = world();
        let before = world.len();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        schedule.add(|mut commands: Commands| {
            commands.spawn(Mark);
        });
        schedule
            .add(|mut commands: Commands, mut run: Local<u32>| {
                *run += 1;
                if *run == 1 {
                    let sore = Sore;
                    commands.spawn(Mark);
                    commands.run(move |_| drop(sore));
                    panic!("torn");
                }
            })
            .named("torn");
        schedule.add(|mut commands: Commands| {
            commands.spawn(Mark);
        });
        let text = panic_text(|| drop(schedule.run(&mut world)));
        assert_eq!(text, "system `torn` panicked: torn");
        world.check().unwrap();
        assert_eq!(world.len(), before + 2, "what the others recorded was applied");
        schedule.run(&mut world).unwrap();
        assert_eq!(world.len(), before + 4);
        world.check().unwrap();
    }
}

/// A schedule that does everything systems can do, and spawns and moves entities in each run.
fn storm() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(|mut a: Query<&mut A, Without<Mark>>, b: Lookup<B>, mut seen: Local<Vec<A>>| {
        seen.clear();
        a.copies().gather_into(&mut seen);
        seen.reverse();
        a.scatter(&seen).unwrap();
        assert!(a.explain().to_string().contains('A'), "it reads A");
        assert_eq!(b.get(Entity::NULL).ok(), None, "the null id is dead");
        a.par().for_each_chunk(|a| a.iter_mut().for_each(|a| a.0 = a.0.wrapping_mul(3)));
    });
    schedule.add(|a: Query<(&mut A, Option<&C>, &Mark), Changed<B>>| {
        a.rows().for_each(|(a, c, _)| a.0 += 1 + c.map_or(0, |c| c.0));
    });
    schedule.add(|b: Query<&mut B>| {
        b.padded().for_each_chunk(|b| b.iter_mut().for_each(|b| b.0 = b.0.wrapping_add(9)));
    });
    schedule.add(|c: Query<(Entity, Option<&mut C>), With<Mark>>, mut commands: Commands| {
        for (entity, c) in c.rows().step_by(7) {
            match c {
                Some(c) if c.0 > 2 => commands.despawn(entity),
                Some(c) => c.0 += 1,
                None => commands.insert(entity, C(1)),
            }
        }
    });
    schedule.add(|all: Query<(Entity, &A), Without<C>>, mut commands: Commands| {
        let chunks: Vec<_> = all.into_iter().collect();
        let mut writers = commands.par_writers(chunks.len());
        rayon::scope(|scope| {
            for ((entities, a), writer) in chunks.into_iter().zip(writers.iter_mut()) {
                scope.spawn(move |_| {
                    for (&entity, a) in entities.iter().zip(a).filter(|(_, a)| a.0 % 11 == 0) {
                        writer.spawn((A(a.0), B(1)));
                        writer.exchange::<B, _>(entity, Mark);
                    }
                });
            }
        });
    });
    schedule.add(|mut commands: Commands, mut runs: Local<u64>| {
        *runs += 1;
        let newest = (0..300 * *runs).map(|i| commands.spawn((A(i), B(i)))).last();
        commands.insert(newest.unwrap(), Mark);
        commands.run(|world| {
            world.matching::<&A>().without::<B>().insert((B(2), Mark)).unwrap();
        });
    });
    // A world in a system, with systems of its own on the same threads.
    schedule.add(|mut inner: Local<Option<(World, Schedule)>>, _: Query<&A>| {
        let (inner, schedule) = inner.get_or_insert_with(|| {
            let mut schedule = Schedule::new();
            schedule.add(|a: Query<&mut A>| a.into_iter().flatten().for_each(|a| a.0 += 1));
            schedule.add(|b: Query<&mut B>| b.into_iter().flatten().for_each(|b| b.0 += 1));
            (world(), schedule)
        });
        schedule.run(inner).unwrap();
    });
    schedule
}

/// The observable state of a world.
fn seen(world: &World) -> Vec<(Entity, [Option<u64>; 3], bool, Version)> {
    world
        .query::<(Entity, Option<&A>, Option<&B>, Option<&C>, Option<&Mark>)>()
        .chunks()
        .flat_map(|chunk| {
            let versions = [
                chunk.order_version(),
                chunk.arrival_version(),
                chunk.version::<A>().unwrap_or_default(),
                chunk.version::<B>().unwrap_or_default(),
                chunk.version::<C>().unwrap_or_default(),
            ];
            let newest = versions.into_iter().max().unwrap();
            let (entities, a, b, c, mark) = chunk.slices();
            (0..entities.len()).map(move |i| {
                let values = [a.map(|a| a[i].0), b.map(|b| b[i].0), c.map(|c| c[i].0)];
                (entities[i], values, mark.is_some(), newest)
            })
        })
        .collect()
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn a_storm_leaves_the_same_world_on_any_number_of_threads() {
    const RUNS: usize = 6;
    let run = |schedule: &mut Schedule| {
        let mut world = world();
        for _ in 0..RUNS {
            schedule.run(&mut world).unwrap();
            world.check().unwrap();
        }
        seen(&world)
    };
    let alone = run(storm().threads(1));
    assert!(alone.len() > 600);
    for threads in [2, 3, 4] {
        assert!(run(storm().threads(threads)) == alone, "{threads} threads");
        assert!(run(storm().threads(threads).shuffle(threads as u64)) == alone, "shuffled");
    }
}
