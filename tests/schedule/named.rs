//! Systems of queries that are data: their access, their conflicts, and names that are unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx::prelude::*;
use phalanx::reflect::{BytesError, NamedQuery};
use phalanx::schedule::NamedSystem;

use super::{A, B, Mark, panic_text, world};

#[component(name = "named.on", enableable)]
struct On(bool);
#[component(name = "named.pool", hidden)]
struct Pooled;
#[component(name = "named.note", sparse)]
struct Note(u32);

/// A system that adds a number to each value of `name`, and counts the rows.
fn add(
    name: &str,
    number: u64,
    rows: &Arc<AtomicUsize>,
) -> NamedSystem<impl FnMut(&mut Chunk) + Send + use<>> {
    add_in(NamedQuery::new().write(name), number, rows)
}

type Chunk<'c> = phalanx::reflect::NamedChunkMut<'c>;

fn add_in(
    query: NamedQuery,
    number: u64,
    rows: &Arc<AtomicUsize>,
) -> NamedSystem<impl FnMut(&mut Chunk) + Send + use<>> {
    let rows = Arc::clone(rows);
    query.system(move |chunk: &mut Chunk| {
        rows.fetch_add(chunk.len(), Ordering::Relaxed);
        let values = chunk.columns_mut()[0].bytes_mut().expect("it is written");
        for value in values.as_chunks_mut().0 {
            *value = (u64::from_ne_bytes(*value) + number).to_ne_bytes();
        }
    })
}

#[test]
fn a_system_of_names_writes_and_stamps_what_it_declares() {
    let (mut world, rows) = (world(), Arc::new(AtomicUsize::new(0)));
    let mut schedule = Schedule::new();
    schedule.add(add("A", 1000, &rows)).named("add");
    let seen = Arc::clone(&rows);
    schedule.add(move |changed: Query<&A, Changed<A>>, same: Query<&B, Changed<B>>| {
        assert!(changed.rows().all(|a| a.0 >= 1000));
        assert_eq!(changed.count_rows(), 600);
        assert_eq!(same.count_rows(), if seen.load(Ordering::Relaxed) == 600 { 600 } else { 0 });
    });
    schedule.run(&mut world).unwrap();
    assert_eq!(rows.load(Ordering::Relaxed), 600);
    schedule.run(&mut world).unwrap();
    assert_eq!(rows.load(Ordering::Relaxed), 1200);
    assert!(world.query::<(&A, &B)>().rows().all(|(a, b)| a.0 == b.0 + 2000));
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn an_access_that_is_not_declared_is_an_error() {
    let mut world = world();
    let mut schedule = Schedule::new();
    let query = NamedQuery::new().read("A").write("B").with("Mark");
    schedule.add(query.system(|chunk| {
        let [a, b] = chunk.columns_mut() else { panic!("two terms") };
        assert!(matches!(a.bytes_mut(), Err(BytesError::ReadOnly { .. })));
        assert!(matches!(a.values_mut::<A>(), Err(BytesError::ReadOnly { .. })));
        assert!(matches!(a.set(0, &[0; 8]), Err(BytesError::ReadOnly { .. })));
        assert!(matches!(b.values_mut::<A>(), Err(BytesError::OtherType { .. })));
        let (a, b) = (a.values::<A>().unwrap(), b.values_mut::<B>().unwrap());
        a.iter().zip(b).for_each(|(a, b)| b.0 = a.0 * 2);
    }));
    schedule.run(&mut world).unwrap();
    assert!(world.query::<(&A, &B)>().with::<Mark>().rows().all(|(a, b)| b.0 == a.0 * 2));
    assert!(world.query::<(&A, &B)>().without::<Mark>().rows().all(|(a, b)| b.0 == a.0));
}

#[test]
fn systems_of_names_and_of_types_wait_for_each_other() {
    let none = Arc::default();
    let text = |schedule: &Schedule| {
        let text = schedule.to_string();
        text.lines().filter(|line| line.contains("waits for")).count()
    };
    // The type is named after the system that knows its name only, or before it.
    let mut schedule = Schedule::new();
    schedule.add(add("A", 1, &none)).named("names");
    schedule.add(|_: Query<&A>| ()).named("types");
    assert!(schedule.to_string().contains("waits for names: component `A`"), "{schedule}");
    let mut schedule = Schedule::new();
    schedule.add(|_: Query<&A>| ()).named("types");
    schedule.add(add("A", 1, &none)).named("names");
    schedule.add(add("B", 1, &none)).named("others");
    assert!(schedule.to_string().contains("waits for types: component `A`"), "{schedule}");
    assert_eq!(text(&schedule), 1, "{schedule}");
    // Names that no type has.
    let mut schedule = Schedule::new();
    schedule.add(add("mod.a", 1, &none));
    schedule.add(add("mod.b", 1, &none));
    assert_eq!(text(&schedule), 0, "{schedule}");
    schedule.add(NamedQuery::new().read("mod.a").system(|_| ()));
    schedule.add(NamedQuery::new().read("mod.a").system(|_| ()));
    assert_eq!(text(&schedule), 2, "both wait for the first: {schedule}");
    // Disjoint by a component whose type is known, and not by a name that may be by row.
    let mut schedule = Schedule::new();
    schedule.add(add_in(NamedQuery::new().write("A").with("Mark"), 1, &none));
    schedule.add(|_: Query<&mut A, Without<Mark>>| ());
    assert_eq!(text(&schedule), 0, "{schedule}");
    let mut schedule = Schedule::new();
    schedule.add(add_in(NamedQuery::new().write("A").with("named.on"), 1, &none));
    schedule.add(add_in(NamedQuery::new().write("A").without("named.on"), 1, &none));
    assert_eq!(text(&schedule), 1, "{schedule}");
}

#[test]
fn runs_are_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let mut world = world();
        world.register::<(On, Pooled)>();
        world.spawn_batch((0..90).map(|i| (A(i), On(i % 2 == 0))));
        world.spawn_batch((0..90).map(|i| (A(i), Pooled)));
        let some: Vec<_> = world.query::<Entity>().with::<On>().iter().flatten().copied().collect();
        for entity in some {
            world.insert(entity, (Note(3), B(1))).expect("alive");
        }
        let layout = world.reflect_mut().register_layout("mod.sum", [("sum", "u64")]);
        layout.expect("the name is free");
        let all: Vec<_> = world.query::<(Entity, &A)>().rows().map(|(id, a)| (id, a.0)).collect();
        for (entity, a) in all {
            let value = [("mod.sum", &a.to_ne_bytes()[..])];
            world.reflect_mut().insert(entity, value).unwrap();
        }
        let rows = Arc::default();
        let mut schedule = Schedule::new();
        schedule.threads(threads);
        for step in 0..6 {
            schedule.add(add("mod.sum", step, &rows));
            schedule.add(add_in(NamedQuery::new().write("A").with("named.on"), step, &rows));
            schedule.add(add_in(NamedQuery::new().write("A").without("named.on"), 7, &rows));
            schedule.add(add_in(NamedQuery::new().write("A").read("named.pool"), 9, &rows));
            schedule.add(add_in(NamedQuery::new().write("B").with("named.note"), 9, &rows));
            schedule.add(|rows: Query<(&mut B, &A)>| {
                rows.rows().for_each(|(b, a)| b.0 = b.0.wrapping_mul(3) + a.0);
            });
            schedule.add(NamedQuery::new().read("A").write("mod.sum").system(|chunk| {
                let [a, sums] = chunk.columns_mut() else { panic!("two terms") };
                let sums = sums.bytes_mut().unwrap().as_chunks_mut().0;
                for (sum, a) in sums.iter_mut().zip(a.values::<A>().unwrap()) {
                    *sum = (u64::from_ne_bytes(*sum) * 5 + a.0).to_ne_bytes();
                }
            }));
        }
        for _ in 0..3 {
            schedule.run(&mut world).unwrap();
        }
        assert_eq!(world.check(), Ok(()));
        (world.hash(), rows.load(Ordering::Relaxed))
    };
    let one = run(1);
    for threads in [2, 4] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn a_name_that_is_unknown_fails_the_system_until_it_is_registered() {
    let (mut world, rows) = (world(), Arc::new(AtomicUsize::new(0)));
    let mut schedule = Schedule::new();
    schedule.add(add("mod.late", 1, &rows)).named("late");
    schedule.add(add("A", 1, &rows)).named("early");
    schedule.add(add("mod.late", 10, &rows)).named("later");
    for run in 1..3 {
        let error = schedule.run(&mut world).expect_err("it is not registered").to_string();
        assert!(error.contains("the component `mod.late` is not registered"), "{error}");
        assert_eq!(rows.load(Ordering::Relaxed), 600 * run, "the other system runs");
    }
    let entity = world.spawn(());
    world.reflect_mut().register_layout("mod.late", [("a", "u64")]).expect("free");
    world.reflect_mut().insert(entity, [("mod.late", &5_u64.to_ne_bytes()[..])]).unwrap();
    schedule.run(&mut world).unwrap();
    let view = world.entity(entity).expect("alive");
    assert_eq!(view.component("mod.late").expect("it has one").bytes(), 16_u64.to_ne_bytes());

    for wrong in [
        NamedQuery::new().read("A").write("A"),
        NamedQuery::new().write(Gone::NAME),
        NamedQuery::new().read("named.note"),
        NamedQuery::new().with("A").without("Mrk"),
    ] {
        let mut schedule = Schedule::new();
        world.register::<Note>();
        schedule.add(wrong.clone().system(|_| panic!("it does not run"))).named("wrong");
        assert!(schedule.check().is_ok(), "{wrong:?}");
        let error = schedule.run(&mut world).expect_err("the query is wrong").to_string();
        assert!(error.starts_with("system `wrong` failed: "), "{error}");
    }
}

#[test]
fn a_schedule_of_names_goes_on_in_another_world_after_a_reset() {
    let rows = Arc::new(AtomicUsize::new(0));
    let mut schedule = Schedule::new();
    schedule.add(add("B", 1, &rows));
    schedule.run(&mut world()).unwrap();
    let mut other = World::new();
    other.register::<(Mark, A)>();
    other.spawn_batch((0..10).map(|i| (B(i), Mark)));
    assert!(schedule.run(&mut other).is_err(), "it is bound to a world");
    schedule.reset();
    schedule.run(&mut other).unwrap();
    assert_eq!(rows.load(Ordering::Relaxed), 610);
    assert!(other.query::<&B>().rows().map(|b| b.0).eq(1..11));
}

#[test]
fn a_panic_in_a_system_of_names_leaves_the_schedule_and_the_world() {
    let (mut world, rows) = (world(), Arc::new(AtomicUsize::new(0)));
    let mut schedule = Schedule::new();
    let mut visits = 0;
    schedule.add(NamedQuery::new().write("A").system(move |chunk| {
        visits += 1;
        assert!(visits != 2, "the second chunk");
        chunk.columns_mut()[0].bytes_mut().unwrap().fill(0);
    }));
    schedule.add(add("A", 1, &rows));
    let text = panic_text(|| schedule.run(&mut world).unwrap());
    assert!(text.ends_with("panicked: the second chunk"), "{text}");
    assert_eq!(rows.load(Ordering::Relaxed), 600, "the other system runs");
    schedule.run(&mut world).unwrap();
    assert!(world.query::<&A>().rows().all(|a| a.0 == 1));
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn a_schedule_with_names_that_it_does_not_know_is_shown() {
    let rows = Arc::new(AtomicUsize::new(0));
    let mut schedule = Schedule::new();
    let of = |with: bool| {
        let query = NamedQuery::new().write("named.later");
        if with { query.with("Mark") } else { query.without("Mark") }
    };
    schedule.add(add_in(of(true), 1, &rows)).named("with");
    schedule.add(add_in(of(false), 1, &rows)).named("without");
    schedule.add(|marked: Query<&A, With<Mark>>| assert_eq!(marked.count_rows(), 0)).named("typed");
    let shown = schedule.to_string();
    assert!(["with", "without", "typed"].iter().all(|name| shown.contains(name)), "{shown}");
}

#[test]
fn systems_without_names_are_told_apart_by_their_columns() {
    let mut schedule = Schedule::new();
    for name in ["mod.fuel", "mod.heat"] {
        schedule.add(NamedQuery::new().read(name).write("mod.all").system(|_| ()));
    }
    schedule.add(NamedQuery::new().system(|_| ()));
    let text = format!("{}", schedule.run(&mut World::new()).expect_err("unknown names"));
    let function = "systems_without_names_are_told_apart_by_their_columns";
    for columns in ["mod.fuel, mod.all", "mod.heat, mod.all"] {
        assert!(text.contains(&format!("{function} of {columns}")), "{text}");
    }
}

#[test]
#[expect(clippy::type_complexity, reason = "the query of types in full")]
fn optional_columns_and_alternatives_are_as_of_types() {
    #[component(name = "named.left")]
    #[derive(Debug, PartialEq)]
    struct Left(u64);
    #[component(name = "named.right", enableable)]
    #[derive(Debug, PartialEq)]
    struct Right(u64);
    let fill = |world: &mut World| {
        world.register::<(Left, Right, Note)>();
        for row in 0..200_u64 {
            let entity = world.spawn(A(row));
            if row % 2 == 0 {
                world.insert(entity, Left(row)).expect("alive");
            }
            if row % 3 == 0 {
                world.insert(entity, Right(row)).expect("alive");
                world.set_enabled::<Right>(entity, row % 9 != 0).expect("it has it");
            }
            if row % 7 == 0 {
                world.insert(entity, Note(1)).expect("alive");
            }
        }
    };
    let spread = |world: &mut World| {
        let both = world.spawn((A(500), Left(1), Right(2), Mark));
        world.insert(both, Note(3)).expect("alive");
    };
    let run = |schedule: &mut Schedule| {
        let mut world = World::new();
        fill(&mut world);
        for _ in 0..3 {
            schedule.run(&mut world).unwrap();
            spread(&mut world);
        }
        assert_eq!(world.check(), Ok(()));
        world.hash()
    };
    let mut other = World::new();
    other.register::<Left>();
    let left = *other.reflect().component("named.left").expect("it is registered");
    let mut named = Schedule::new();
    let query = NamedQuery::new().read("A").write_optional(left).read_optional("named.right");
    named.add(query.any_of(["named.note", "named.right"]).system(|chunk| {
        let [a, left, right] = chunk.columns_mut() else { panic!("three terms") };
        assert!(matches!(right.bytes_mut(), Err(BytesError::ReadOnly { .. })));
        if !left.is_present() {
            assert!(matches!(left.bytes_mut(), Err(BytesError::Absent { .. })));
            return;
        }
        let left = left.values_mut::<Left>().expect("its type").iter_mut();
        let rows = left.zip(a.values::<A>().expect("its type"));
        for (row, (left, a)) in rows.enumerate() {
            left.0 +=
                a.0 + if right.is_present() { right.values::<Right>().unwrap()[row].0 } else { 1 };
        }
    }));
    let mut typed = Schedule::new();
    typed.add(|rows: Query<(&A, Option<&mut Left>, Option<&Right>), AnyOf<(Note, Right)>>| {
        for (a, left, right) in rows {
            for (row, left) in left.into_iter().flatten().enumerate() {
                left.0 += a[row].0 + right.map_or(1, |right| right[row].0);
            }
        }
    });
    assert_eq!(run(&mut named), run(&mut typed));
}

#[test]
fn the_access_of_an_optional_column_is_declared() {
    let world = world();
    let a = *world.reflect().component("A").expect("it is registered");
    let none: Arc<AtomicUsize> = Arc::default();
    let waits = |query: NamedQuery| {
        let mut schedule = Schedule::new();
        schedule.add(add("A", 1, &none)).named("first");
        schedule.add(query.system(|_| ()));
        schedule.to_string().contains("waits for first")
    };
    assert!(waits(NamedQuery::new().read_optional("A")));
    assert!(waits(NamedQuery::new().write_optional(a)));
    assert!(waits(NamedQuery::new().read(a).any_of(["B", "Mark"])));
    assert!(!waits(NamedQuery::new().write_optional("named.on").any_of(["B", "Mark"])));
}
