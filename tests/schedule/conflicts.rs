//! Systems that may run at the same time, tried with systems that wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use phalanx::Lookup;
use phalanx::prelude::*;
use phalanx::schedule::System;

use super::{A, B, C, Mark, world};

/// A place where two systems can meet.
#[derive(Default)]
struct Meeting {
    inside: AtomicUsize,
    met: AtomicBool,
}

impl Meeting {
    /// Stays until another system comes, or for this long.
    fn attend(&self, wait: Duration) {
        if self.inside.fetch_add(1, Ordering::SeqCst) == 1 {
            self.met.store(true, Ordering::SeqCst);
        }
        let began = Instant::now();
        while !self.met.load(Ordering::SeqCst) && began.elapsed() < wait {
            thread::yield_now();
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Long for two threads to find each other, also in turn on one processor.
const LONG: Duration = Duration::from_secs(20);
/// Short, because this wait always times out.
const SHORT: Duration = Duration::from_millis(10);

/// The half of a pair that has a parameter `P`.
macro_rules! attending {
    ($place:expr, $wait:expr, $parameter:ty) => {{
        let (place, wait) = (Arc::clone($place), $wait);
        move |_: $parameter| place.attend(wait)
    }};
}

fn meet<M: 'static, N: 'static>(
    world: &mut World,
    place: &Meeting,
    first: impl System<M>,
    second: impl System<N>,
) -> bool {
    let mut schedule = Schedule::new();
    schedule.threads(2);
    schedule.add(first).named("first");
    schedule.add(second).named("second");
    schedule.run(world).unwrap();
    place.met.load(Ordering::SeqCst)
}

/// Asserts that two systems of one parameter each can be inside at the same time, or never are.
macro_rules! assert_pair {
    ($world:expr, beside, $first:ty, $second:ty) => {{
        let place = Arc::new(Meeting::default());
        let (first, second) = (attending!(&place, LONG, $first), attending!(&place, LONG, $second));
        let met = meet($world, &place, first, second);
        assert!(met, "{} beside {}", stringify!($first), stringify!($second));
    }};
    ($world:expr, apart, $first:ty, $second:ty) => {{
        let place = Arc::new(Meeting::default());
        let (first, second) =
            (attending!(&place, SHORT, $first), attending!(&place, SHORT, $second));
        let met = meet($world, &place, first, second);
        assert!(!met, "{} and {} met", stringify!($first), stringify!($second));
    }};
}

#[test]
fn all_nine_pairs_of_none_read_and_write() {
    let world = &mut world();
    assert_pair!(world, beside, Query<&B>, Query<&B>);
    assert_pair!(world, beside, Query<&B>, Query<&A>);
    assert_pair!(world, beside, Query<&B>, Query<&mut A>);
    assert_pair!(world, beside, Query<&A>, Query<&B>);
    assert_pair!(world, beside, Query<&A>, Query<&A>);
    assert_pair!(world, apart, Query<&A>, Query<&mut A>);
    assert_pair!(world, beside, Query<&mut A>, Query<&B>);
    assert_pair!(world, apart, Query<&mut A>, Query<&A>);
    assert_pair!(world, apart, Query<&mut A>, Query<&mut A>);
}

#[test]
fn all_nine_pairs_for_a_resource() {
    let world = &mut world();
    world.insert_resource(1u32);
    world.insert_resource(1u64);
    assert_pair!(world, beside, Res<u64>, Res<u64>);
    assert_pair!(world, beside, Res<u64>, Res<u32>);
    assert_pair!(world, beside, Res<u64>, ResMut<u32>);
    assert_pair!(world, beside, Res<u32>, Res<u64>);
    assert_pair!(world, beside, Res<u32>, Res<u32>);
    assert_pair!(world, apart, Res<u32>, ResMut<u32>);
    assert_pair!(world, beside, ResMut<u32>, Res<u64>);
    assert_pair!(world, apart, ResMut<u32>, Res<u32>);
    assert_pair!(world, apart, ResMut<u32>, ResMut<u32>);
}

#[test]
fn all_nine_pairs_for_events() {
    let world = &mut world();
    assert_pair!(world, beside, EventReader<u64>, EventReader<u64>);
    assert_pair!(world, beside, EventReader<u64>, EventReader<u32>);
    assert_pair!(world, beside, EventReader<u64>, EventWriter<u32>);
    assert_pair!(world, beside, EventReader<u32>, EventReader<u64>);
    assert_pair!(world, beside, EventReader<u32>, EventReader<u32>);
    assert_pair!(world, apart, EventReader<u32>, EventWriter<u32>);
    assert_pair!(world, beside, EventWriter<u32>, EventReader<u64>);
    assert_pair!(world, apart, EventWriter<u32>, EventReader<u32>);
    assert_pair!(world, beside, EventWriter<u32>, EventWriter<u32>);
}

#[test]
fn hidden_entities_are_those_of_systems_that_name_them() {
    let world = &mut world();
    world.spawn((A(0), Disabled));
    assert_pair!(world, beside, Query<&mut A, With<Disabled>>, Query<&mut A>);
    assert_pair!(world, beside, Query<&mut A, With<Prototype>>, Query<&mut A, Without<Disabled>>);
    assert_pair!(world, beside, Query<(&mut A, &Disabled)>, Query<&A>);
    assert_pair!(world, apart, Query<(&mut A, Option<&Disabled>)>, Query<&A>);
    assert_pair!(world, apart, Query<&mut A, With<Disabled>>, Query<&A, IncludeHidden>);
    assert_pair!(world, apart, Query<&A, IncludeHidden>, Query<&mut A>);
    // Lookups find hidden entities, too.
    assert_pair!(world, apart, Query<&mut A, With<Disabled>>, Lookup<A>);
    assert_pair!(world, apart, Query<&A, With<Disabled>>, LookupMut<A>);
    assert_pair!(world, apart, Query<&mut A>, Lookup<A>);
}

#[test]
fn other_parameters_clash_by_what_they_read() {
    let world = &mut world();
    assert_pair!(world, apart, Lookup<A>, Query<&mut A>);
    assert_pair!(world, beside, Lookup<B>, Query<&mut A>);
    assert_pair!(world, apart, LookupMut<A>, Query<&A>);
    assert_pair!(world, apart, LookupMut<A>, Lookup<A>);
    assert_pair!(world, apart, LookupMut<A>, LookupMut<A>);
    assert_pair!(world, apart, Query<&mut A, With<Mark>>, LookupMut<A>);
    assert_pair!(world, beside, LookupMut<A>, LookupMut<B>);
    assert_pair!(world, beside, LookupMut<A>, Query<(&B, Entity), With<A>>);
    assert_pair!(world, apart, Query<&B, Changed<A>>, Query<&mut A>);
    assert_pair!(world, apart, Query<Option<&A>>, Query<&mut A>);
    assert_pair!(world, beside, Query<&B, With<A>>, Query<&mut A>);
    assert_pair!(world, beside, Query<Entity>, Query<&mut A>);
    assert_pair!(world, beside, Commands, Commands);
    assert_pair!(world, beside, Local<u32>, Local<u32>);
}

#[test]
fn disjoint_archetypes_do_not_conflict() {
    let world = &mut world();
    world.spawn((A(0), C(0)));
    // Apart by their filters, in any world.
    assert_pair!(world, beside, Query<&mut A, With<Mark>>, Query<&mut A, Without<Mark>>);
    // Apart by the archetypes of this world: none has both `Mark` and `C`.
    assert_pair!(world, beside, Query<(&mut A, &C)>, Query<&mut A, With<Mark>>);
    world.spawn((A(0), C(0), Mark));
    assert_pair!(world, apart, Query<(&mut A, &C)>, Query<&mut A, With<Mark>>);
}

#[test]
fn an_archetype_made_between_runs_parts_what_it_joins() {
    let mut world = world();
    world.spawn((A(0), C(0)));
    world.insert_resource(LONG);
    let place = Arc::new(Meeting::default());
    let mut schedule = Schedule::new();
    schedule.threads(2);
    let [first, second] = [Arc::clone(&place), Arc::clone(&place)];
    schedule.add(move |_: Query<(&mut A, &C)>, wait: Res<Duration>| first.attend(*wait));
    schedule.add(move |_: Query<&mut A, With<Mark>>, wait: Res<Duration>| second.attend(*wait));
    schedule.run(&mut world).unwrap();
    assert!(place.met.swap(false, Ordering::SeqCst), "they are disjoint");
    world.spawn((A(0), C(0), Mark));
    world.insert_resource(SHORT);
    schedule.run(&mut world).unwrap();
    assert!(!place.met.load(Ordering::SeqCst), "one archetype is matched by both");
}

#[test]
fn writers_of_one_component_never_overlap() {
    let writers = Arc::new(AtomicUsize::new(0));
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(4);
    for _ in 0..12 {
        let inside = Arc::clone(&writers);
        schedule.add(move |a: Query<&mut A>| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "another writer is inside");
            a.into_iter().flatten().for_each(|a| a.0 += 1);
            inside.fetch_sub(1, Ordering::SeqCst);
        });
        schedule.add(|_: Query<&B>| thread::yield_now());
    }
    for _ in 0..if cfg!(miri) { 2 } else { 200 } {
        schedule.run(&mut world).unwrap();
    }
}

#[test]
fn archetypes_that_take_the_place_of_others_are_looked_at_again() {
    let mut world = World::new();
    let apart = [world.spawn((A(1), B(1))), world.spawn((A(1), C(1)))];
    let place = Arc::new(Meeting::default());
    type First<'w> = Query<'w, &'static mut A, With<B>>;
    type Second<'w> = Query<'w, &'static mut A, With<C>>;
    let mut schedule = Schedule::new();
    schedule.threads(2);
    schedule.add(attending!(&place, SHORT, First)).named("first");
    schedule.add(attending!(&place, SHORT, Second)).named("second");
    // No entity has all three, so they may meet or not.
    schedule.run(&mut world).unwrap();
    for entity in apart {
        world.despawn(entity).expect("alive");
    }
    assert_eq!(world.memory_mut().retire_archetypes(), 2);
    world.spawn((A(1), B(1), C(1)));
    world.spawn(A(1));
    assert_eq!(world.reflect().archetypes().len(), 2, "as many as before");
    place.met.store(false, Ordering::SeqCst);
    schedule.run(&mut world).unwrap();
    assert!(!place.met.load(Ordering::SeqCst), "both write the same column");
}

#[component(enableable)]
struct Awake;

#[test]
fn enable_bits_are_a_part_of_their_component() {
    let world = &mut world();
    world.spawn((A(0), Awake));
    assert_pair!(world, beside, Query<&A, With<Awake>>, Query<&A, With<Awake>>);
    assert_pair!(world, beside, Query<Enabled<Awake>>, Query<&B, Without<Awake>>);
    assert_pair!(world, apart, Query<&A, With<Awake>>, Query<EnabledMut<Awake>>);
    assert_pair!(world, apart, Query<&A, Without<Awake>>, Query<EnabledMut<Awake>>);
    assert_pair!(world, apart, Query<&A, AnyOf<(Awake, Mark)>>, Query<EnabledMut<Awake>>);
    assert_pair!(world, apart, Query<&A, WithDisabled<Awake>>, LookupMut<Awake>);
    assert_pair!(world, apart, Query<Enabled<Awake>>, Query<EnabledMut<Awake>>);
    assert_pair!(world, apart, Query<EnabledMut<Awake>>, Query<EnabledMut<Awake>>);
    assert_pair!(world, beside, Query<&mut A, (With<Awake>, IgnoreEnabled)>, LookupMut<Awake>);
    // Different rows of one chunk, distinguished only by bits.
    assert_pair!(world, apart, Query<&mut A, With<Awake>>, Query<&mut A, Without<Awake>>);
    assert_pair!(world, beside, Query<(&mut A, EnabledMut<Awake>)>, Query<&B>);
    // A filter reads the bits of a component, which `&mut` writes as a whole.
    assert_pair!(world, apart, Query<&mut Awake>, Query<&A, With<Awake>>);
    assert_pair!(world, apart, Query<&mut Awake>, Query<&A, Without<Awake>>);
    assert_pair!(world, apart, Query<&mut Awake>, Query<&A, AnyOf<(Awake, Mark)>>);
    assert_pair!(world, beside, Query<&mut Awake>, Query<&A, (With<Awake>, IgnoreEnabled)>);
}
