//! Buffers beside several worlds: a closure exchanges the world, or a system its buffer. Each id on
//! loan goes back to its own world, and no call ends the loan of another buffer.

use std::mem;
use std::panic;
use std::sync::{Arc, Mutex};

use phalanx::command::ApplyError;
use phalanx::prelude::*;

#[component]
struct Number(u64);

/// A closure that exchanges the world at hand with `other`, and `other` itself.
fn exchange(other: World) -> (Arc<Mutex<World>>, impl FnOnce(&mut World) + Send + 'static) {
    let other = Arc::new(Mutex::new(other));
    let place = Arc::clone(&other);
    (other, move |world| mem::swap(world, &mut *place.lock().unwrap()))
}

/// No id of the world is on loan.
fn assert_no_loans(world: &mut World) {
    world.check().unwrap();
    assert!(world.snapshot().is_ok(), "an id is on loan");
}

#[test]
fn ids_given_at_playback_go_back_if_a_closure_exchanges_the_world() {
    let mut world = World::builder().entities_max(3).build();
    let mut buffer = world.command_buffer(1).unwrap();
    let (other, exchange) = exchange(World::new());
    buffer.run(exchange);
    buffer.par_writers(1)[0].spawn(Number(1));
    buffer.spawn(Number(2));
    assert_eq!(world.apply(&mut buffer), Err(ApplyError::OtherWorld));
    assert_no_loans(&mut world);
    mem::swap(&mut world, &mut *other.lock().unwrap());
    assert!(world.is_empty());
    assert_no_loans(&mut world);
    assert_eq!(world.spawn_batch([(); 3]).len(), 3);
    world.clear();
    // The buffer of the world goes on.
    buffer.insert(Entity::NULL, Number(3));
    assert_eq!(buffer.len(), 1);
    assert!(matches!(world.apply(&mut buffer), Err(ApplyError::Commands(_))));
    let entity = buffer.spawn(Number(4));
    world.apply(&mut buffer).unwrap();
    assert_eq!(world.get::<Number>(entity).unwrap().0, 4);
    drop(buffer);
    assert_no_loans(&mut world);
}

#[test]
fn a_buffer_of_an_exchanged_world_ends_no_loan_of_another_buffer() {
    let mut world = World::new();
    let before = world.snapshot().unwrap();
    let mut first = world.command_buffer(1).unwrap();
    let spawned = first.spawn(Number(1));
    let (other, exchange) = exchange(World::new());
    first.run(exchange);
    assert_eq!(world.apply(&mut first), Err(ApplyError::OtherWorld));
    mem::swap(&mut world, &mut *other.lock().unwrap());
    assert_eq!(world.get::<Number>(spawned).unwrap().0, 1);
    world.restore(&before).unwrap();
    let mut second = world.command_buffer(1).unwrap();
    let entity = second.spawn(Number(2));
    world.apply(&mut first).unwrap();
    drop(first);
    world.apply(&mut second).unwrap();
    assert_eq!(world.get::<Number>(entity).unwrap().0, 2);
    drop(second);
    assert_no_loans(&mut world);
}

/// The id of a played spawn is on loan to a second buffer, when the first one, whose closure has
/// exchanged the world, gives its ids back.
fn a_played_spawn_ends_no_loan_of_another_buffer(spawn: fn(&mut CommandBuffer) -> Entity) {
    let mut world = World::new();
    world.register::<Number>();
    let before = world.snapshot().unwrap();
    let mut first = world.command_buffer(1).unwrap();
    let spawned = spawn(&mut first);
    let kept = Arc::new(Mutex::new(None));
    let place = Arc::clone(&kept);
    first.run(move |world| {
        let mut old = mem::take(world);
        assert!(old.contains(spawned));
        old.restore(&before).unwrap();
        let mut second = old.command_buffer(1).unwrap();
        assert_eq!(second.spawn(Number(2)), spawned, "the id is free again");
        *place.lock().unwrap() = Some((old, second));
    });
    assert_eq!(world.apply(&mut first), Err(ApplyError::OtherWorld));
    let (mut old, mut second) = kept.lock().unwrap().take().unwrap();
    old.apply(&mut second).unwrap();
    assert_eq!(old.get::<Number>(spawned).unwrap().0, 2);
    drop((first, second));
    assert_no_loans(&mut old);
}

#[test]
fn ids_that_were_spawned_before_an_exchange_may_be_on_loan_to_another_buffer() {
    a_played_spawn_ends_no_loan_of_another_buffer(|buffer| buffer.spawn(Number(1)));
}

#[test]
fn ids_that_were_spawned_by_name_before_an_exchange_may_be_on_loan_to_another_buffer() {
    a_played_spawn_ends_no_loan_of_another_buffer(|buffer| {
        buffer.spawn_named([(Number::NAME, &1u64.to_ne_bytes()[..])]).unwrap()
    });
}

#[test]
#[cfg(not(miri))] // Starts rayon.
fn a_parallel_panic_while_commands_are_dropped_keeps_none_of_them() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("stop");
        }
    }
    let mut world = World::new();
    let (other, exchange) = exchange(World::new());
    let (mut exchange, mut bomb, mut is_first) = (Some(exchange), Some(Bomb), true);
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| {
        if let Some(exchange) = exchange.take() {
            commands.run(exchange);
        }
    });
    let bombs = move |mut commands: Commands| {
        if let Some(bomb) = bomb.take() {
            commands.run(move |_| drop(bomb));
        }
    };
    schedule.add(bombs).named("bombs");
    schedule.add(move |mut commands: Commands| {
        if mem::take(&mut is_first) {
            commands.spawn(Number(1));
        }
    });
    let run = panic::AssertUnwindSafe(|| schedule.run(&mut world));
    let panicked = panic::catch_unwind(run).expect_err("a destructor panics");
    let text = panicked.downcast_ref::<String>().expect("a text");
    assert!(text.contains("`bombs`"), "{text}");
    mem::swap(&mut world, &mut *other.lock().unwrap());
    assert_no_loans(&mut world);
    schedule.run(&mut world).unwrap();
    assert!(world.is_empty(), "a command of the run before was applied");
}

#[test]
#[cfg(not(miri))] // Starts rayon.
fn a_parallel_system_with_the_buffer_of_another_world_takes_no_ids() {
    let (mut here, mut there) = (World::new(), World::new());
    let foreign = Arc::new(Mutex::new(there.command_buffer(0).unwrap()));
    let mut other = there.command_buffer(1).unwrap();
    let mut schedule = Schedule::new();
    let place = Arc::clone(&foreign);
    let taken = Arc::new(Mutex::new(0));
    let count = Arc::clone(&taken);
    schedule.add(move |mut commands: Commands| {
        // The buffer of another world is in place in the second run, and leaves in the third.
        *count.lock().unwrap() += u32::from(commands.try_spawn(Number(1)).is_ok());
        mem::swap(&mut *commands, &mut *place.lock().unwrap());
    });
    assert!(schedule.run(&mut here).is_err());
    assert!(schedule.run(&mut here).is_ok());
    assert_eq!(*taken.lock().unwrap(), 1);
    here.apply(&mut foreign.lock().unwrap()).unwrap_err();
    let entity = other.spawn(Number(2));
    there.apply(&mut other).unwrap();
    assert_eq!(there.get::<Number>(entity).unwrap().0, 2);
    drop((other, schedule, foreign));
    assert_no_loans(&mut there);
    assert_no_loans(&mut here);
}

#[test]
#[cfg(not(miri))] // Starts rayon.
fn parallel_commands_after_an_exchange_of_worlds_are_lost_once_and_for_all() {
    let mut world = World::new();
    let (other, exchange) = exchange(World::new());
    let mut exchange = Some(exchange);
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| {
        if let Some(exchange) = exchange.take() {
            commands.run(exchange);
        }
    });
    let mut has_run = false;
    schedule.add(move |mut commands: Commands| {
        if !mem::replace(&mut has_run, true) {
            commands.spawn(Number(1));
        }
    });
    assert!(schedule.run(&mut world).is_err());
    mem::swap(&mut world, &mut *other.lock().unwrap());
    schedule.run(&mut world).unwrap();
    assert!(world.is_empty(), "a command of the run before was applied");
    drop(schedule);
    assert_no_loans(&mut world);
}
