//! Values that a chunk has once.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use phalanx::chunks::ChunkValue;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Byte, Serial, Tag, Twelve, capacity, sound};
use crate::common::effort::effort;
use crate::common::world;

#[component]
#[derive(Debug, PartialEq)]
struct Mark(u32);

/// An odd number of bytes; not all of them are a value.
#[component]
#[derive(Debug, PartialEq)]
struct Flags {
    a: bool,
    b: u8,
    c: bool,
}

#[component]
#[derive(Debug, PartialEq)]
struct Nothing;

#[component(enableable)]
struct Awake;

/// With a default of its own.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Bounds {
    low: u32,
    high: u32,
    seen: u32,
}

/// The largest size of a value.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Large([u32; 64]);

impl_component!(Bounds, Large);

impl Default for Bounds {
    fn default() -> Self {
        Self { low: u32::MAX, high: 0, seen: 0 }
    }
}

impl Default for Large {
    fn default() -> Self {
        Self([1; 64])
    }
}

const ROWS: u32 = if cfg!(miri) { 1_500 } else { 200_000 };

/// A world of rows with serial numbers and bounds.
fn serials() -> World {
    let mut world = world();
    world.spawn_batch((0..ROWS).map(|i| (Serial(i), PerChunk::<Bounds>::TAG)));
    world
}

fn measure(world: &mut World) {
    for (serials, mut bounds) in world.query_mut::<(&Serial, PerChunkMut<Bounds>)>() {
        bounds.low = serials.iter().map(|serial| serial.0).min().expect("a chunk has rows");
        bounds.high = serials.iter().map(|serial| serial.0).max().expect("a chunk has rows");
    }
}

/// The values of all chunks, in order.
fn values<V: ChunkValue>(world: &World) -> Vec<V> {
    world.query::<PerChunk<V>>().iter().collect()
}

#[test]
fn a_new_chunk_has_the_default_and_keeps_what_is_written() {
    let mut world = serials();
    let default = Bounds { low: u32::MAX, high: 0, seen: 0 };
    assert!(values::<Bounds>(&world).len() > 1, "several chunks");
    assert!(values::<Bounds>(&world).iter().all(|bounds| *bounds == default));
    measure(&mut world);
    for (serials, bounds) in &world.query::<(&Serial, PerChunk<Bounds>)>() {
        assert_eq!((serials[0].0, serials[serials.len() - 1].0), (bounds.low, bounds.high));
    }
    let rows = world.query::<(&Serial, PerChunk<Bounds>)>().rows();
    assert!(rows.into_iter().all(|(serial, b)| (b.low..=b.high).contains(&serial.0)));
    sound(&world);
}

#[test]
fn values_of_any_size_are_kept() {
    let mut world = world();
    let tags = (PerChunk::<Flags>::TAG, PerChunk::<Nothing>::TAG, PerChunk::<Large>::TAG);
    world.spawn_batch([(Byte(1), tags.0, tags.1, tags.2); 10]);
    type All = (PerChunkMut<Flags>, PerChunkMut<Nothing>, PerChunkMut<Large>);
    for (mut flags, nothing, mut large) in world.query_mut::<All>() {
        assert_eq!((*flags, *nothing), (Flags::default(), Nothing));
        *flags = Flags { a: true, b: 0xFF, c: true };
        large.0[63] = 7;
    }
    let query = world.query::<(PerChunk<Flags>, PerChunk<Large>)>();
    let (flags, large) = query.iter().next().unwrap();
    assert_eq!((flags, large.0[63], large.0[0]), (Flags { a: true, b: 0xFF, c: true }, 7, 1));
}

#[test]
fn chunks_are_skipped_by_value_before_they_are_stamped() {
    let mut world = serials();
    measure(&mut world);
    let middle = ROWS / 2;
    let before = world.version();
    let has = move |bounds: &Bounds| (bounds.low..=bounds.high).contains(&middle);
    let chunk: Vec<_> = world.query::<&Serial>().where_chunk(has).into_iter().collect();
    let [serials] = chunk[..] else { panic!("{} chunks", chunk.len()) };
    assert!(serials.contains(&Serial(middle)));
    let len = serials.len();
    assert_eq!(world.query::<&Serial>().where_chunk(has).count_rows(), len);
    world.query_mut::<&mut Serial>().where_chunk(has).rows().for_each(|serial| serial.0 += 1);
    let changed = world.query::<&Serial>().changed_since(before).count_rows();
    assert_eq!(changed, len, "other chunks keep their versions");
    assert_eq!(world.query::<&Serial>().where_chunk(|_: &Bounds| false).iter().count(), 0);
    assert_eq!(world.matching::<Entity>().where_chunk(has).despawn(), len);
    assert_eq!(world.query::<&Serial>().count_rows(), ROWS as usize - len);
    sound(&world);
}

#[test]
fn writes_stamp_the_tag_and_nothing_else() {
    let mut world = serials();
    let before = world.version();
    measure(&mut world);
    let query = || world.query::<(PerChunk<Bounds>, &Serial)>();
    assert_eq!(query().changed_since::<Serial>(before).iter().count(), 0);
    let chunks = query().iter().count();
    assert_eq!(query().changed_since::<PerChunk<Bounds>>(before).iter().count(), chunks);
    let before = world.version();
    world
        .query_mut::<PerChunkMut<Bounds>>()
        .for_each_chunk(|bounds| if bounds.low == 0 { Modified::Yes } else { Modified::No });
    let query = world.query::<PerChunk<Bounds>>();
    assert_eq!(query.changed_since(before).iter().count(), 1);
}

#[test]
fn rows_that_come_and_go_change_no_value_and_chunks_take_theirs_along() {
    let mut world = serials();
    measure(&mut world);
    let all: Vec<Entity> = world.query::<Entity>().rows().collect();
    let before = values::<Bounds>(&world);
    let (last, rest) = before.split_last().unwrap();
    // The last rows fill the gaps: the last chunk is freed first.
    for &entity in &all[..capacity(&world)] {
        world.despawn(entity).unwrap();
    }
    let after = values::<Bounds>(&world);
    assert_eq!(after[..], rest[..after.len()], "the value of {last:?} ended with its chunk");
    // Whole chunks move to another archetype, and back.
    world.matching::<&Serial>().insert(Tag).unwrap();
    assert_eq!(values::<Bounds>(&world), after);
    let first = world.query::<Entity>().with::<Tag>().iter().next().unwrap().to_vec();
    world.matching::<&Serial>().where_chunk(|b: &Bounds| b.low == 0).remove::<Tag>();
    assert_eq!(world.query::<Entity>().without::<Tag>().count_rows(), first.len());
    let moved: BTreeSet<_> = values::<Bounds>(&world).iter().map(|b| b.low).collect();
    assert_eq!(moved, after.iter().map(|b| b.low).collect());
    // A row that moves alone begins a chunk with the default.
    let mut other = serials();
    measure(&mut other);
    let one = other.query::<Entity>().rows().next().unwrap();
    other.insert(one, Tag).unwrap();
    let query = other.query::<PerChunk<Bounds>>().with::<Tag>();
    assert_eq!(query.iter().next(), Some(Bounds::default()));
    // New chunks after freed ones have no history.
    world.clear();
    world.spawn_batch((0..ROWS).map(|i| (Serial(i), PerChunk::<Bounds>::TAG)));
    assert!(values::<Bounds>(&world).iter().all(|bounds| *bounds == Bounds::default()));
    sound(&world);
    sound(&other);
}

#[test]
fn where_memory_lies_does_not_matter_to_values() {
    let moved = |reserve: bool, compact: bool, with_tag: u32| {
        let mut world = world();
        world.spawn_batch((0..with_tag).map(|i| (Serial(i), Tag, PerChunk::<Mark>::TAG)));
        if reserve {
            world.reserve::<(Serial, PerChunk<Mark>)>(30_000).expect("room");
        }
        let all = (0..600).map(|i| (Serial(i), PerChunk::<Mark>::TAG));
        let all = world.spawn_batch(all).to_vec();
        all[5..].iter().for_each(|&entity| world.despawn(entity).expect("alive"));
        if compact {
            while !world.memory_mut().compact(1_000).finished {}
        }
        world.query_mut::<PerChunkMut<Mark>>().iter_mut().for_each(|mut mark| mark.0 = 7);
        world.matching::<&Serial>().without::<Tag>().insert(Tag).expect("room");
        sound(&world);
        (world.hash(), values::<Mark>(&world))
    };
    let full = u32::try_from(capacity(&serials())).expect("few rows");
    for with_tag in [full, full - 2, full - 5, 1] {
        let first = moved(false, false, with_tag);
        assert!(first.1.iter().all(|mark| mark.0 == 7), "{with_tag} rows: {:?}", first.1);
        for (reserve, compact) in [(false, true), (true, false), (true, true)] {
            assert_eq!(moved(reserve, compact, with_tag), first, "{with_tag} rows, {reserve}");
        }
    }
}

#[test]
fn a_new_chunk_counts_as_written_and_a_tag_that_is_there_already_changes_nothing() {
    let mut world = serials();
    measure(&mut world);
    let measured = values::<Bounds>(&world);
    world.matching::<&Serial>().insert((Tag, PerChunk::<Bounds>::TAG)).unwrap();
    assert_eq!(values::<Bounds>(&world), measured);
    let before = world.version();
    let written = |world: &World, before| {
        let written = world.query::<PerChunk<Bounds>>().changed_since(before);
        written.into_iter().collect::<Vec<_>>()
    };
    let one = world.query::<Entity>().rows().next().unwrap();
    world.remove::<Tag>(one).unwrap();
    assert_eq!(written(&world, before), [Bounds::default()], "the chunk of the row that moved");
    let before = world.version();
    world.matching::<&Serial>().insert(Byte(1)).unwrap();
    let all = values::<Bounds>(&world);
    assert!(all.iter().all(|bounds| *bounds == Bounds::default()), "rows were copied");
    assert_eq!(written(&world, before), all);
    sound(&world);
}

#[test]
fn par_passes_write_each_value_once() {
    let mut world = serials();
    let serial = |serials: &[Serial]| serials.iter().fold(0, |sum, s| s.0.wrapping_add(sum));
    world.query_mut::<(&Serial, PerChunkMut<Bounds>)>().par().for_each_chunk(
        |(serials, mut bounds)| {
            bounds.seen += 1;
            bounds.low = serial(serials);
        },
    );
    for (serials, bounds) in &world.query::<(&Serial, PerChunk<Bounds>)>() {
        assert_eq!((bounds.seen, bounds.low), (1, serial(serials)), "chunks are not divided");
    }
}

#[test]
fn other_passes_see_values_too() {
    let mut world = serials();
    measure(&mut world);
    let entity = world.query::<Entity>().rows().last().unwrap();
    let query = world.query::<(&Serial, PerChunk<Bounds>)>();
    let (serial, bounds) = query.get(entity).unwrap();
    assert_eq!(serial.0, bounds.high);
    let lows = |world: &World| values::<Bounds>(world).iter().map(|b| b.low).collect::<Vec<_>>();
    let by_extent = world.query::<(&Serial, PerChunk<Bounds>)>();
    let of_extents: Vec<_> = by_extent.contiguous_chunks().map(|(_, bounds)| bounds.low).collect();
    assert_eq!(of_extents, lows(&world));
    let chunks = world.query::<PerChunk<Bounds>>();
    let of_chunks: Vec<_> = chunks.chunks().map(|chunk| chunk.slices().low).collect();
    assert_eq!(of_chunks, lows(&world));
}

#[test]
fn masked_passes_write_values_of_chunks_with_disabled_rows() {
    let mut world = world();
    world.spawn_batch((0..100).map(|i| (Serial(i), PerChunk::<Mark>::TAG, Awake)));
    world.query_mut::<EnabledMut<Awake>>().iter_mut().for_each(|mut on| on.assign(|i| i % 2 == 0));
    let awake = world.query_mut::<PerChunkMut<Mark>>().with::<Awake>();
    for (mask, mut mark) in awake.masked() {
        mark.0 += u32::try_from(mask.count()).unwrap();
    }
    assert_eq!(values::<Mark>(&world).iter().map(|mark| mark.0).sum::<u32>(), 50);
    let runs = world.query::<(PerChunk<Mark>, &Serial)>().with::<Awake>();
    assert_eq!(runs.iter().count(), 50, "each run sees the value");
}

#[test]
fn a_panic_keeps_what_was_written_and_the_world() {
    let mut world = serials();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        for mut bounds in world.query_mut::<PerChunkMut<Bounds>>() {
            bounds.seen = 1;
            assert_eq!(bounds.high, 1, "on purpose");
        }
    }));
    assert!(caught.is_err());
    assert_eq!(values::<Bounds>(&world).iter().map(|b| b.seen).sum::<u32>(), 1);
    sound(&world);
}

#[test]
fn systems_that_write_values_run_one_after_another_and_name_what_they_test() {
    fn measure(query: Query<(&Serial, PerChunkMut<Bounds>)>) {
        for (serials, mut bounds) in query {
            bounds.high = serials.iter().map(|serial| serial.0).max().unwrap();
        }
    }
    fn move_on(query: Query<(&mut Serial, PerChunk<Bounds>)>) {
        let high = query.where_chunk(|bounds: &Bounds| bounds.high + 1 == ROWS);
        high.rows().for_each(|(serial, _)| serial.0 += ROWS);
    }
    let mut world = serials();
    let mut schedule = Schedule::new();
    schedule.add((measure, move_on)).chain();
    schedule.run(&mut world).unwrap();
    let moved = world.query::<&Serial>().rows().filter(|serial| serial.0 >= ROWS).count();
    let bounds = *values::<Bounds>(&world).last().unwrap();
    let last = world.query::<&Serial>().iter().last().unwrap().len();
    assert_eq!((moved, bounds.high), (last, ROWS - 1));

    fn unnamed(query: Query<&Serial>) {
        assert_eq!(query.where_chunk(|_: &Bounds| true).count_rows(), 0);
    }
    let mut schedule = Schedule::new();
    schedule.add(unnamed);
    let run = AssertUnwindSafe(|| schedule.run(&mut world));
    let panic = catch_unwind(run).expect_err("the values are not named");
    let text = panic.downcast::<String>().expect("a text");
    assert!(text.ends_with("add the term `PerChunk<world::per_chunk::Bounds>`"), "{text}");
}

#[test]
fn values_are_in_the_hash() {
    let [mut a, mut b] = [serials(), serials()];
    assert_eq!(a.hash(), b.hash());
    measure(&mut a);
    measure(&mut b);
    assert_eq!(a.hash(), b.hash());
    a.query_mut::<PerChunkMut<Bounds>>().iter_mut().for_each(|mut bounds| bounds.seen = 1);
    b.query_mut::<PerChunkMut<Bounds>>().iter_mut().for_each(|mut bounds| bounds.seen = 2);
    assert_ne!(a.hash(), b.hash());
}

/// The steps in the test of random operations.
#[derive(Clone, Debug)]
enum Step {
    Spawn(u8),
    Despawn(u16),
    Toggle(u16),
    InsertByQuery,
    RemoveByQuery,
    DespawnFirst,
    Compact,
    Mark,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Spawn),
        4 => any::<u16>().prop_map(Step::Despawn),
        4 => any::<u16>().prop_map(Step::Toggle),
        1 => Just(Step::InsertByQuery),
        1 => Just(Step::RemoveByQuery),
        1 => Just(Step::DespawnFirst),
        1 => Just(Step::Compact),
        2 => Just(Step::Mark),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { effort(16) }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each chunk is given a number, which it keeps as long as it lives: no operation makes a
    /// second chunk with a number, or a number that was not given.
    #[test]
    fn values_are_neither_copied_nor_invented(steps in steps()) {
        let mut world = world();
        let (mut live, mut given) = (Vec::new(), 0);
        for step in steps {
            match step {
                Step::Spawn(rows) => {
                    let rows = (0..rows).map(|i| (Twelve([u32::from(i); 3]), PerChunk::<Mark>::TAG));
                    live.extend_from_slice(world.spawn_batch(rows));
                }
                Step::Despawn(i) if !live.is_empty() => {
                    let entity: Entity = live.swap_remove(usize::from(i) % live.len());
                    world.despawn(entity).unwrap();
                }
                Step::Toggle(i) if !live.is_empty() => {
                    let entity = live[usize::from(i) % live.len()];
                    if world.remove::<Tag>(entity).is_err() {
                        world.insert(entity, Tag).unwrap();
                    }
                }
                Step::InsertByQuery => _ = world.matching::<&Twelve>().insert(Tag).unwrap(),
                Step::RemoveByQuery => _ = world.matching::<&Twelve>().remove::<Tag>(),
                Step::DespawnFirst => {
                    let first = world.query::<Entity>().iter().next().map(<[_]>::to_vec);
                    for entity in first.unwrap_or_default() {
                        world.despawn(entity).unwrap();
                    }
                    live.retain(|&entity| world.contains(entity));
                }
                Step::Compact => _ = world.memory_mut().compact(100),
                Step::Mark => {
                    for mut mark in world.query_mut::<PerChunkMut<Mark>>() {
                        if mark.0 == 0 {
                            given += 1;
                            mark.0 = given;
                        }
                    }
                }
                Step::Despawn(_) | Step::Toggle(_) => {}
            }
            sound(&world);
            let marks: Vec<u32> = values::<Mark>(&world).iter().map(|mark| mark.0).collect();
            let marked: Vec<u32> = marks.into_iter().filter(|&mark| mark > 0).collect();
            let distinct: BTreeSet<u32> = marked.iter().copied().collect();
            prop_assert_eq!(marked.len(), distinct.len(), "a value was copied: {:?}", marked);
            prop_assert!(distinct.iter().all(|&mark| mark <= given), "a value was invented");
        }
    }
}

#[test]
fn a_test_of_a_chunk_that_panics_after_others_switches_no_row() {
    let mut world = world();
    world.spawn_batch((0..9).map(|i| (Serial(i), Awake, PerChunk::<Bounds>::TAG)));
    world.spawn_batch((0..9).map(|i| (Serial(i), Awake, PerChunk::<Bounds>::TAG, Tag)));
    let before = (world.version(), world.hash());
    let test = |_: &Bounds| {
        static TESTED: AtomicUsize = AtomicUsize::new(0);
        assert!(TESTED.fetch_add(1, Ordering::Relaxed) < 1, "stop");
        true
    };
    let switch = AssertUnwindSafe(|| {
        world.matching::<&Serial>().where_chunk(test).disable::<Awake>();
    });
    assert!(catch_unwind(switch).is_err());
    sound(&world);
    assert_eq!((world.version(), world.hash()), before);
    assert_eq!(world.query::<&Serial>().with::<Awake>().count_rows(), 18);
}

#[test]
fn a_change_by_query_tests_each_chunk_once() {
    static TESTED: AtomicUsize = AtomicUsize::new(0);
    let mut world = world();
    let tag = PerChunk::<Bounds>::TAG;
    let all = world.spawn_batch((0..9).map(|i| (Serial(i), Awake, tag))).to_vec();
    world.spawn_batch((9..18).map(|i| (Serial(i), Awake, tag, Byte(0))));
    world.set_enabled::<Awake>(all[4], false).expect("it has one");
    let test = |_: &Bounds| {
        TESTED.fetch_add(1, Ordering::Relaxed);
        true
    };
    world.matching::<&Awake>().where_chunk(test).insert(Tag).expect("room");
    assert_eq!(TESTED.load(Ordering::Relaxed), 2, "two chunks");
    assert_eq!(world.query::<&Serial>().with::<Tag>().count_rows(), 17);
    sound(&world);
}
