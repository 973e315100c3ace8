//! Split components: the same component with a column for each field.

use phalanx::prelude::*;
use phalanx::reflect::BytesError;
use phalanx::{Columnar, SplitMut};

use crate::common::world;

/// Split.
#[component(split)]
#[derive(Debug, PartialEq)]
pub struct Position {
    pub x: f32,
    #[default(2.0)]
    pub y: f32,
    z: [f32; 2],
}

#[component]
#[derive(Debug, PartialEq)]
struct Velocity {
    x: f32,
    y: f32,
}

#[component(split, name = "one")]
struct One {
    parts: u8,
}

#[component]
struct Tag;

fn at(i: u16) -> Position {
    let x = f32::from(i);
    Position { x, y: -x, z: [x, x + 0.5] }
}

#[test]
fn a_split_component_is_a_column_a_field() {
    let mut world = world();
    assert_eq!(Position::default(), Position { x: 0.0, y: 2.0, z: [0.0; 2] });
    let entities =
        world.spawn_batch((0..3_000).map(|i| (at(i), Velocity { x: 1.0, y: 2.0 }))).to_vec();
    for (position, velocity) in world.query_mut::<(&mut Position, &Velocity)>() {
        let PositionSlicesMut { x, y, z } = position;
        assert_eq!((x.len(), y.len(), z.len()), (velocity.len(), velocity.len(), velocity.len()));
        x.iter_mut().zip(velocity).for_each(|(x, v)| *x += v.x);
    }
    for (i, &entity) in (0..).zip(&entities) {
        let expected = Position { x: f32::from(i) + 1.0, ..at(i) };
        assert_eq!(world.get::<Position>(entity), Ok(expected));
    }
    let sum: f32 = world.query::<&Position>().iter().flat_map(|p: PositionSlices<'_>| p.x).sum();
    assert_eq!(sum, (1..=3_000).map(|i| i as f32).sum::<f32>());
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn everything_else_speaks_of_the_struct() {
    let mut world = world();
    let a = world.spawn(at(1));
    let b = world.spawn((Tag, One { parts: 7 }));
    assert!(world.has::<Position>(a) && !world.has::<Position>(b) && world.has::<One>(b));
    world.insert(b, at(2)).expect("alive");
    assert_eq!(world.get::<Position>(b), Ok(at(2)));
    world.get_mut::<Position>(b).expect("has one").x = 9.0;
    let mut row: SplitMut<'_, Position> = world.get_mut::<Position>(b).expect("has one");
    row.y += row.x;
    drop(row);
    assert_eq!(world.get::<Position>(b), Ok(Position { x: 9.0, y: 7.0, ..at(2) }));
    assert_eq!(world.remove::<Position>(b), Ok(Position { x: 9.0, y: 7.0, ..at(2) }));
    assert!(world.get::<Position>(b).unwrap_err().to_string().contains("Position`"));
    assert!(world.get_mut::<Position>(b).unwrap_err().to_string().contains("Position`"));
    assert_eq!(world.exchange::<One, _>(b, at(4)).map(|one| one.parts), Ok(7));
    let query = world.query::<(&Position, Entity)>();
    assert_eq!(query.get(a), Ok((at(1), a)));
    assert_eq!(query.rows().count(), 2);
    assert_eq!(world.query::<&Position>().without::<Tag>().single(), Ok(at(1)));
    assert_eq!(world.query::<()>().without::<Position>().count_rows(), 0);
    assert_eq!(world.query::<()>().filter::<AnyOf<(One, Position)>>().count_rows(), 2);
    let mut buffer = world.command_buffer(4).expect("ids");
    buffer.insert(a, at(5));
    let c = buffer.spawn((at(6), One { parts: 1 }));
    buffer.remove::<Position>(b);
    world.apply(&mut buffer).expect("all alive");
    assert_eq!(world.get::<Position>(a), Ok(at(5)));
    assert_eq!(world.get::<Position>(c), Ok(at(6)));
    assert!(!world.has::<Position>(b));
    world.despawn(a).expect("alive");
    assert_eq!(world.check(), Ok(()));
}

#[test]
fn optional_and_writable_rows_and_versions() {
    let mut world = world();
    world.spawn_batch((0..500).map(at));
    world.spawn_batch((0..500).map(|_| Tag));
    let seen: Vec<_> = world.query::<Option<&Position>>().rows().flatten().collect();
    assert_eq!(seen, (0..500).map(at).collect::<Vec<_>>());
    assert_eq!(world.query::<Option<&Position>>().rows().filter(Option::is_none).count(), 500);
    let before = world.version();
    let changed =
        |world: &World, since| world.query::<&Position>().changed_since(since).count_rows();
    assert_eq!(changed(&world, before), 0);
    for mut row in world.query_mut::<Option<&mut Position>>().rows().flatten() {
        row.x *= 2.0;
    }
    assert_eq!(changed(&world, before), 500);
    for chunk in world.query::<(&Position, Option<&Tag>)>().chunks() {
        assert!(chunk.version::<Position>().is_some_and(|version| version > before));
        assert_eq!(chunk.version::<Tag>(), None);
    }
    assert_eq!(world.query::<&Position>().rows().map(|row| row.x).sum::<f32>(), 249_500.0);
}

#[test]
fn parallel_passes_and_runs_cut_the_columns_alike() {
    let mut world = world();
    let rows = if cfg!(miri) { 500 } else { 60_000 };
    world.reserve::<Position>(rows).expect("memory");
    world.spawn_batch((0..rows).map(|_| at(1)));
    world.query_mut::<&mut Position>().par().for_each_chunk(|position| {
        position.x.iter_mut().zip(position.y).for_each(|(x, y)| *x += *y);
    });
    assert!(world.query::<&Position>().rows().all(|row| row.x == 0.0));
    for extent in world.query_mut::<&mut Position>().contiguous_chunks() {
        extent.y.fill(3.0);
    }
    let padded = world.query::<&Position>().padded();
    assert!(padded.iter().all(|slices| slices.x.len() == slices.z.len()));
    assert!(world.query::<&Position>().rows().all(|row| row.y == 3.0));
}

fn drift(positions: Query<&mut Position>, velocities: Query<&Velocity, Without<Position>>) {
    let _ = velocities;
    for mut position in positions.rows() {
        position.x += 1.0;
    }
}

fn watch(changed: Query<&Position, Changed<Position>>, mut seen: ResMut<usize>) {
    *seen = changed.count_rows();
}

#[test]
fn parallel_systems_take_split_components() {
    let mut world = world();
    world.insert_resource(0_usize);
    world.spawn_batch((0..10).map(at));
    let mut schedule = Schedule::new();
    schedule.add((watch, drift)).chain();
    for expected in [10, 10] {
        let _ = schedule.run(&mut world);
        assert_eq!(*world.resource::<usize>().expect("inserted"), expected);
    }
    assert_eq!(world.query::<&Position>().rows().map(|row| row.x).sum::<f32>(), 65.0);
}

#[test]
fn reports_name_each_field() {
    let mut world = world();
    let entity = world.spawn((at(3), One { parts: 4 }));
    let view = format!("{:?}", world.entity(entity).expect("alive"));
    assert!(view.contains("Position.x: 3.0") && view.contains("one.parts: 4"), "{view}");
    let explained = world.query_mut::<&mut Position>().explain();
    assert!(explained.writes.iter().all(|name| name.contains("Position.")), "{explained:?}");
    assert_eq!(explained.writes.len(), 3);
}

/// Components of twelve fields.
macro_rules! wide {
    ($($name:ident)*) => { $(
    #[component(split)]
    struct $name { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8 }
)* };
}

wide! { A B C D E F G H I J K L }

#[test]
fn twelve_terms_of_twelve_fields_are_a_query() {
    type Terms<'a> = (
        &'a mut A,
        &'a B,
        &'a C,
        &'a D,
        &'a E,
        &'a F,
        &'a G,
        &'a H,
        &'a I,
        &'a J,
        &'a K,
        &'a mut L,
    );
    // Each of the 144 columns begins on a cache line.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_64).build();
    let rows = || {
        let half = (A::default(), B::default(), C::default(), D::default(), E::default());
        (half, (F::default(), G::default(), H::default(), I::default(), J::default()), K::default())
    };
    // An archetype with a single chunk, and one with several.
    world.spawn((rows(), L::default(), Tag));
    world.spawn_batch((0..2_000).map(|i| (rows(), L { l: (i % 251) as u8, ..L::default() })));
    for _ in 0..2 {
        for (a, .., k, l) in world.query_mut::<Terms<'_>>() {
            assert!(k.l.iter().all(|&k| k == 0));
            a.a.copy_from_slice(l.l);
            l.a.fill(7);
        }
    }
    let sum = |world: &World| world.query::<&A>().rows().map(|a| u32::from(a.a)).sum::<u32>();
    assert_eq!(sum(&world), (0..2_000).map(|i| i % 251).sum::<u32>());
    assert!(world.query::<&L>().rows().all(|l| l.a == 7));
    assert_eq!(world.check(), Ok(()));
}

fn count<C: Columnar>(world: &World) -> usize {
    world.query::<()>().with::<C>().count_rows()
}

#[test]
fn generic_code_takes_both_kinds() {
    let mut world = world();
    world.spawn((at(3), Tag));
    assert_eq!((count::<Position>(&world), count::<Tag>(&world), count::<One>(&world)), (1, 1, 0));
}

/// The compiler compares the names of all columns, and the steps of a constant are limited.
#[cfg(not(miri))] // The compiler is no program for Miri.
#[test]
fn twelve_terms_of_long_paths_compile() {
    let all = |text: fn(char) -> String| ('a'..='l').map(text).collect::<String>();
    let fields = all(|c| format!("pub field_{c}: u8, "));
    let of_struct =
        |c: char| format!("#[phalanx::component(split)] pub struct Component{c} {{ {fields} }}\n");
    let structs: String = ('a'..='l').map(of_struct).collect();
    let (path, writes) = ("m".repeat(60), all(|c| format!("&mut Component{c}, ")));
    let bundle = all(|c| format!("Component{c}::default(), "));
    let program = format!(
        "#![forbid(unsafe_code)] #![allow(non_camel_case_types)]
         mod {path} {{ {structs} }}
         use {path}::*;
         fn main() {{
             let mut world = phalanx::World::new();
             world.spawn(({bundle}));
             for _ in world.query_mut::<({writes})>() {{}}
         }}"
    );
    crate::compiler::compiles("long_paths", &program);
}

#[test]
fn an_entity_has_all_columns_or_none() {
    let mut world = world();
    let (whole, none) = (world.spawn((at(1), Tag)), world.spawn(Tag));
    let name = |field| format!("{}::Position.{field}", module_path!());
    let [x, y, z] = ["x", "y", "z"].map(name);
    let hash = world.hash();
    let part = |name: &str, missing: &str| {
        let error = BytesError::Part { name: name.to_owned(), missing: missing.to_owned() };
        assert!(error.to_string().contains(&format!("name `{missing}` as well")), "{error}");
        Err(error)
    };
    assert_eq!(world.reflect_mut().remove(whole, [&*x]), part(&x, &y));
    assert_eq!(world.reflect_mut().remove(none, [&*z, &x]), part(&x, &y));
    assert_eq!(world.reflect_mut().insert(none, [(&*y, &[0; 4][..])]), part(&y, &x));
    assert_eq!(world.hash(), hash, "nothing has changed");
    // One field of an entity that has the others.
    assert_eq!(world.reflect_mut().insert(whole, [(&*x, &9.0_f32.to_ne_bytes()[..])]), Ok(()));
    assert_eq!(world.get::<Position>(whole), Ok(Position { x: 9.0, ..at(1) }));
    let values = [(&*z, &[0; 8][..]), (&*x, &[0; 4]), (&*y, &[0; 4])];
    assert_eq!(world.reflect_mut().insert(none, values), Ok(()));
    assert_eq!(world.get::<Position>(none), Ok(Position { y: 0.0, z: [0.0; 2], ..at(0) }));
    assert_eq!(world.reflect_mut().remove(whole, [&*x, &y, &z]), Ok(()));
    assert!(!world.has::<Position>(whole) && world.has::<Tag>(whole));
    assert_eq!(world.query::<&Tag>().without::<Position>().count_rows(), 1);
    assert_eq!(world.query::<&Tag>().filter::<AnyOf<(Position, One)>>().count_rows(), 1);
    assert_eq!(world.check(), Ok(()));
}
