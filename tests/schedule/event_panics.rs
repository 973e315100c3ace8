//! Events and panics: of systems, of parallel passes, of destructors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx::prelude::*;

use super::events::{Number, see, seeing_world, seen, send};
use super::{A, panic_text, world};

#[test]
fn par_a_pass_that_panics_sends_nothing() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(|rows: Query<&A>, mut numbers: EventWriter<Number>, mut runs: Local<u32>| {
        *runs += 1;
        numbers.send(Number(*runs));
        rows.par().record(&mut numbers, |rows, numbers| {
            numbers.extend(rows.iter().map(|_| Number(0)));
            assert_ne!(*runs, 1, "the first time");
        });
    });
    schedule.add(send::<9>);
    schedule.add(see);
    assert!(panic_text(|| schedule.run(&mut world).unwrap()).contains("the first time"));
    assert_eq!(seen(&mut world), [9], "all other systems have run");
    schedule.run(&mut world).unwrap();
    let seen = seen(&mut world);
    assert_eq!((seen.len(), seen[0], seen[601]), (602, 2, 9));
}

#[test]
fn an_iterator_that_panics_has_sent_what_came_before() {
    fn numbers() -> impl Iterator<Item = Number> {
        (0..5).map(|number| {
            assert!(number < 3, "number {number}");
            Number(number)
        })
    }
    let mut world = seeing_world();
    assert_eq!(panic_text(|| world.send_batch(numbers())), "number 3");
    let mut schedule = Schedule::new();
    schedule.add(|mut events: EventWriter<Number>| {
        assert_eq!(panic_text(|| events.extend(numbers())), "number 3");
    });
    schedule.add(see);
    schedule.run(&mut world).unwrap();
    assert_eq!(seen(&mut world), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn events_of_a_system_that_panics_are_dropped_also_those_of_its_conditions() {
    fn ask(mut numbers: EventWriter<Number>) -> bool {
        numbers.send(Number(1));
        true
    }
    fn refuse(mut numbers: EventWriter<Number>) -> bool {
        numbers.send(Number(2));
        false
    }
    fn fail(mut numbers: EventWriter<Number>) {
        numbers.send(Number(3));
        panic!("halfway");
    }
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(fail).run_if(ask);
    schedule.add(|| ()).run_if(ask).run_if(refuse).run_if(ask);
    schedule.add((send::<4>, see));
    for _ in 0..2 {
        let text = panic_text(|| schedule.run(&mut world).unwrap());
        assert_eq!(text, "system `fail` panicked: halfway");
        assert_eq!(seen(&mut world), [1, 2, 4]);
    }
}

#[test]
fn what_a_system_has_read_before_it_panics_counts_as_read() {
    let mut world = seeing_world();
    let mut schedule = Schedule::new();
    schedule.add(|mut numbers: EventReader<Number>, mut runs: Local<u32>| {
        *runs += 1;
        assert!(*runs != 1, "before it reads");
        assert_eq!(numbers.read().len(), [2, 0][*runs as usize - 2]);
        assert!(*runs != 2, "after it has read");
    });
    world.send(Number(1));
    panic_text(|| schedule.run(&mut world).unwrap());
    world.send(Number(2));
    panic_text(|| schedule.run(&mut world).unwrap());
    schedule.run(&mut world).unwrap();
}

/// Counts its drops, and panics in some of them.
struct Fragile(Arc<AtomicUsize>, bool);

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        assert!(!self.1, "broken");
    }
}

#[test]
fn destructors_that_panic_stop_neither_the_others_nor_the_run() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let fragile = |n: usize| Fragile(Arc::clone(&dropped), n % 2 == 1);
    let mut world = world();
    world.insert_resource(0usize);
    let mut schedule = Schedule::new();
    schedule.add(|mut events: EventReader<Fragile>, mut count: ResMut<usize>| {
        *count += events.read().len();
    });
    world.send_batch((0..6).map(fragile));
    schedule.run(&mut world).unwrap();
    world.send_batch((0..4).map(fragile));
    let text = panic_text(|| schedule.run(&mut world).unwrap());
    assert_eq!(text, "the destructor of an event panicked: broken");
    assert_eq!((dropped.load(Ordering::Relaxed), *world.resource::<usize>().unwrap()), (6, 10));
    assert_eq!(panic_text(|| schedule.run(&mut world).unwrap()), text);
    schedule.run(&mut world).unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 10);
}

#[test]
fn destructors_of_events_that_are_never_sent_may_panic() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&dropped);
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.add(move |mut events: EventWriter<Fragile>| {
        events.extend((0..5).map(|_| Fragile(Arc::clone(&own), true)));
        panic!("halfway");
    });
    let text = panic_text(|| schedule.run(&mut world).unwrap());
    assert!(text.ends_with("halfway"), "{text}");
    assert_eq!(dropped.load(Ordering::Relaxed), 5);
    world.send_batch((0..3).map(|_| Fragile(Arc::clone(&dropped), true)));
    assert_eq!(panic_text(|| drop(world)), "broken");
    assert_eq!(dropped.load(Ordering::Relaxed), 8);
}
