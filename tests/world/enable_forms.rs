//! Every form of a loop visits the rows that are enabled, once and in order.

use std::sync::Mutex;

use phalanx::prelude::*;
use phalanx::rows::RowMask;

use crate::common::components::{Serial, small_world};
use crate::common::effort::effort;
use crate::enable::{Awake, Health};

/// What a pass has visited: the serial numbers of rows.
type Visited = Vec<u32>;

fn hash(i: u32) -> u32 {
    i.wrapping_add(1).wrapping_mul(0x9E37_79B9).rotate_left(15).wrapping_mul(0x85EB_CA6B) >> 8
}

/// The name of a pattern, and whether it enables a row.
type Pattern = (&'static str, fn(u32) -> bool);

const PATTERNS: [Pattern; 10] = [
    ("all on", |_| true),
    ("all off", |_| false),
    ("every second", |i| i.is_multiple_of(2)),
    ("random, half", |i| hash(i).is_multiple_of(2)),
    ("random, a tenth", |i| hash(i).is_multiple_of(10)),
    ("random, nine tenths", |i| !hash(i).is_multiple_of(10)),
    ("long runs", |i| hash(i / 300).is_multiple_of(2)),
    ("one off of 64", |i| i % 64 != 17),
    ("sixteen on, sixteen off", |i| i % 32 < 16),
    ("ends of words", |i| matches!(i % 64, 0 | 63) || i % 128 == 65),
];

/// Rows of which every third has a `Health` that is off.
fn world_of(rows: u32, on: impl Fn(u32) -> bool) -> World {
    let mut world = small_world();
    world.spawn_batch((0..rows).map(|i| (Serial(i), Health(i), Awake)));
    for (serials, mut awake, mut health) in
        world.query_mut::<(&Serial, EnabledMut<Awake>, EnabledMut<Health>)>()
    {
        awake.assign(|row| on(serials[row].0));
        health.assign(|row| !serials[row].0.is_multiple_of(3));
    }
    world
}

/// The rows that are enabled, asked for entity by entity.
fn naive(world: &World) -> Visited {
    let all = world.query::<(Entity, &Serial)>().rows();
    let is_on = |entity| world.is_enabled::<Awake>(entity).expect("alive");
    all.filter(|&(entity, _)| is_on(entity)).map(|(_, serial)| serial.0).collect()
}

/// What the forms visit that borrow the world to read it.
fn visited_by_readers(world: &World) -> Vec<(&'static str, Visited)> {
    let query = world.query::<&Serial>().with::<Awake>();
    let mut forms = Vec::new();
    let mut rows = Visited::new();
    for serial in query.rows() {
        rows.push(serial.0);
    }
    forms.push(("rows, for", rows));
    let mut rows = Visited::new();
    query.rows().for_each(|serial| rows.push(serial.0));
    forms.push(("rows, for_each", rows));
    for taken in [1, 33, 64, 65] {
        let mut iter = query.rows();
        let mut rows: Visited = iter.by_ref().take(taken).map(|serial| serial.0).collect();
        iter.for_each(|serial| rows.push(serial.0));
        forms.push(("rows, begun by next", rows));
    }
    forms.push(("slices", query.iter().flatten().map(|serial| serial.0).collect()));
    let mut rows = Visited::new();
    query.iter().for_each(|serials| rows.extend(serials.iter().map(|serial| serial.0)));
    forms.push(("slices, for_each", rows));
    forms.push(("extents", query.contiguous_chunks().flatten().map(|serial| serial.0).collect()));
    let mut rows = Visited::new();
    for chunk in query.chunks() {
        assert_eq!((chunk.first_row(), chunk.rows().len()), (rows.len(), chunk.len()));
        rows.extend(chunk.slices().iter().map(|serial| serial.0));
    }
    forms.push(("chunks", rows));
    let masked = |sees: fn(RowMask<'_>, usize) -> bool| {
        let chunks = query.masked();
        let rows = chunks.flat_map(|(mask, serials)| {
            serials.iter().enumerate().filter(move |&(row, _)| sees(mask, row))
        });
        rows.map(|(_, serial)| serial.0).collect()
    };
    forms.push(("masked, get", masked(|mask, row| mask.get(row))));
    let by_word = |mask: RowMask<'_>, row: usize| {
        mask.words().nth(row / 64).expect("a word of the row") >> (row % 64) & 1 == 1
    };
    forms.push(("masked, words", masked(by_word)));
    forms.push(("masked, runs", masked(|mask, row| mask.runs().any(|run| run.contains(&row)))));
    forms
}

/// What the forms visit that write.
fn visited_by_writers(world: &mut World) -> Vec<(&'static str, Visited)> {
    let mut forms = Vec::new();
    let mut rows = Visited::new();
    world.query_mut::<&mut Serial>().with::<Awake>().for_each_chunk(|serials| {
        rows.extend(serials.iter().map(|serial| serial.0));
    });
    forms.push(("for_each_chunk", rows));
    let rows = Mutex::new(Visited::new());
    world.query_mut::<&mut Serial>().with::<Awake>().par().for_each_chunk(|serials| {
        let mut rows = rows.lock().expect("no body panics");
        rows.extend(serials.iter().map(|serial| serial.0));
    });
    let mut rows = rows.into_inner().expect("no body panics");
    rows.sort_unstable(); // Threads take chunks in any order.
    forms.push(("par_for_each_chunk", rows));
    let mut rows = Visited::new();
    let mut query =
        world.query_mut::<(Entity, &mut Serial, &Awake, Option<&Health>, Enabled<Health>)>();
    for (_, serial, _, health, has) in query.rows_mut() {
        let wanted = (!serial.0.is_multiple_of(3)).then_some(serial.0);
        assert_eq!((health.map(|health| health.0), has), (wanted, wanted.is_some()), "its health");
        rows.push(serial.0);
    }
    forms.push(("rows of many terms, for", rows));
    let mut rows = Visited::new();
    query.rows_mut().for_each(|(_, serial, _, health, has)| {
        let wanted = (!serial.0.is_multiple_of(3)).then_some(serial.0);
        assert_eq!((health.map(|health| health.0), has), (wanted, wanted.is_some()), "its health");
        rows.push(serial.0);
    });
    forms.push(("rows of many terms, for_each", rows));
    forms
}

fn check(world: &mut World, name: &str) {
    let wanted = naive(world);
    let mut forms = visited_by_readers(world);
    forms.extend(visited_by_writers(world));
    for (form, visited) in forms {
        assert!(visited == wanted, "{form} of {name}: {visited:?} instead of {wanted:?}");
    }
    assert_eq!(world.query::<&Serial>().with::<Awake>().count_rows(), wanted.len());
}

#[test]
fn every_form_visits_the_enabled_rows_in_order() {
    let capacity = {
        let mut world = world_of(20_000, |_| true);
        world.query_mut::<&Serial>().iter_mut().next().expect("a chunk").len()
    };
    let capacity = u32::try_from(capacity).expect("rows of a chunk");
    let all =
        [1, 63, 64, 65, 66, 128, 130, capacity - 1, capacity, capacity + 1, 2 * capacity + 65];
    let lens: &[u32] = if cfg!(miri) { &[65, 130] } else { &all };
    for &rows in lens {
        for (name, on) in PATTERNS {
            check(&mut world_of(rows, on), &format!("{name}, {rows} rows"));
        }
    }
}

#[test]
fn random_rows_are_visited_after_each_switch_of_a_hundredth() {
    let rows = if cfg!(miri) { 140 } else { 5_000 };
    let mut world = world_of(rows, |i| hash(i).is_multiple_of(2));
    let ids: Vec<_> = world.query::<Entity>().iter().flatten().copied().collect();
    for round in 0..effort(8) {
        for i in (0..rows).filter(|&i| hash(i ^ hash(round)).is_multiple_of(100)) {
            let entity = ids[i as usize];
            let on = world.is_enabled::<Awake>(entity).expect("alive");
            world.set_enabled::<Awake>(entity, !on).expect("alive");
        }
        check(&mut world, &format!("round {round}"));
    }
}

#[test]
fn rows_that_switch_themselves_off_are_visited_once() {
    for (name, on) in PATTERNS {
        let rows = if cfg!(miri) { 130 } else { 3_000 };
        let mut world = world_of(rows, on);
        let wanted = naive(&world);
        let mut visited = Visited::new();
        for (serial, mut awake) in
            world.query_mut::<(&Serial, EnabledMut<Awake>)>().with::<Awake>().rows()
        {
            awake.set(false);
            visited.push(serial.0);
        }
        assert_eq!(visited, wanted, "{name}");
        assert_eq!(naive(&world), [], "{name}: some are on");
        // The others are seen by the other filter, and come back.
        let off = world.query::<&Serial>().filter::<WithDisabled<Awake>>().rows().count();
        assert_eq!(off, rows as usize, "{name}");
        world.matching::<Entity>().enable::<Awake>();
        check(&mut world, name);
    }
}

#[test]
fn rows_of_several_rules_are_visited_in_order() {
    for (name, on) in PATTERNS {
        let world = world_of(1_000, on);
        let both = |serial: &&Serial| on(serial.0) && !serial.0.is_multiple_of(3);
        let all = world.query::<&Serial>().filter::<IgnoreEnabled>();
        let wanted: Visited = all.rows().filter(both).map(|serial| serial.0).collect();
        let query = world.query::<(&Serial, &Health)>().with::<Awake>();
        let mut folded = Visited::new();
        query.rows().for_each(|(serial, _)| folded.push(serial.0));
        let mut stepped = Visited::new();
        for (serial, health) in query.rows() {
            assert_eq!(serial.0, health.0, "the cells of one row");
            stepped.push(serial.0);
        }
        assert!(folded == wanted && stepped == wanted, "{name}: {folded:?}, {stepped:?}");
    }
}
