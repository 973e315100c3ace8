//! Queries of a range of keys against a scan, after any change of any kind.

use std::cell::Cell as CountCell;
use std::collections::HashSet;
use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use phalanx::lines::LinesMut;
use phalanx::prelude::*;
use phalanx::rows::{ChunkBounds, SortKey, total_order};

use super::value_index::{Cell, Chance, Team, VALUES, change, team_and_cell};
use crate::common::components::{Big, Four, Number, Serial, Tag, sound};
use crate::common::world;

type Range = (Bound<u32>, Bound<u32>);

/// Keys of components.
macro_rules! keys {
    ($($name:ident: $component:ident => $key:ty, $of:expr;)*) => {$(
        struct $name;

        impl SortKey for $name {
            type Columns = $component;
            type Key = $key;

            fn key(value: &$component) -> $key {
                let of: fn(&$component) -> $key = $of;
                of(value)
            }
        }
    )*};
}

keys! {
    ByTeam: Team => u32, |team| team.0;
    ByCell: Cell => i32, |cell| cell.0[0];
    BySerial: Serial => u32, |serial| serial.0;
    ByDepth: Depth => i32, |depth| total_order(depth.0);
    Touchy: Serial => u32, |serial| {
        assert!(serial.0 != 19_999 || !TOUCHED.load(Ordering::Relaxed), "touched");
        serial.0
    };
    Counted: Serial => u32, |serial| {
        CALLS.set(CALLS.get() + 1);
        serial.0
    };
    Moody: Serial => u32, |serial| {
        assert!(serial.0 != 700 || !PANICS.load(Ordering::Relaxed), "in a bad mood");
        serial.0
    };
}

#[component]
struct Depth(f32);

/// A range of any kind, which may be empty or inverted.
fn any_range(chance: &mut Chance) -> Range {
    let mut bound = || match chance.below(3) {
        0 => Bound::Included(chance.value()),
        1 => Bound::Excluded(chance.value()),
        _ => Bound::Unbounded,
    };
    (bound(), bound())
}

/// Compares the rows between bounds with a scan, for several queries.
#[track_caller]
fn assert_between(
    world: &World,
    (teams, cells): (&ChunkBounds<ByTeam>, &ChunkBounds<ByCell>),
    (range, since): (Range, Version),
) {
    macro_rules! check {
        ($($query:expr),* $(,)?) => {$(
            let query = $query;
            let rows = query.rows().filter(|row| range.contains(&row.1.0));
            let expected: Vec<_> = rows.map(|row| row.0).collect();
            let rows: Vec<_> = teams.between(query, range).rows().map(|row| row.0).collect();
            assert_eq!(rows, expected, "rows in {range:?}");
            let mut slices = Vec::new();
            for (entities, teams, ..) in teams.between(query, range) {
                assert!(!entities.is_empty() && entities.len() == teams.len());
                assert!(teams.iter().all(|team| range.contains(&team.0)), "in {range:?}");
                slices.extend_from_slice(entities);
            }
            assert_eq!(slices, expected, "slices in {range:?}");
        )*};
    }
    let all = || world.query::<(Entity, &Team)>();
    check! {
        all(),
        all().filter::<IgnoreEnabled>(),
        all().without::<Tag>(),
        all().filter::<WithDisabled<Team>>().filter::<IgnoreEnabled>(),
        all().filter::<Or<(With<Tag>, With<Big>, With<Number>)>>(),
        all().filter::<IncludeHidden>(),
        all().where_shared(&1_u8),
        all().without::<Number>(),
        all().changed_since::<Cell>(since),
        all().filter_since::<Reordered>(since),
        world.query::<(Entity, &Team, Option<&Cell>)>(),
        world.query::<(Entity, &Team, Enabled<Team>)>().filter::<IgnoreEnabled>(),
        world.query::<(Entity, &Team, Shared<u8>)>(),
    }
    let query = world.query::<(Entity, &Team, &Number)>();
    let rows = query.rows().filter(|row| range.contains(&row.1.0));
    let expected: Vec<_> = rows.map(|row| (row.0, *row.2)).collect();
    let rows = teams.between(query, range).rows().map(|row| (row.0, *row.2));
    assert_eq!(rows.collect::<Vec<_>>(), expected, "sparse values in {range:?}");
    let signed = |bound: Bound<u32>| bound.map(|value| value as i32);
    let range = (signed(range.0), signed(range.1));
    let query = world.query::<(Entity, &Cell)>();
    let rows = query.rows().filter(|row| range.contains(&row.1.0[0]));
    let expected: Vec<_> = rows.map(|row| row.0).collect();
    let rows = cells.between(query, range).rows().map(|row| row.0);
    assert_eq!(rows.collect::<Vec<_>>(), expected, "cells in {range:?}");
}

/// Writes the rows between bounds, and compares the chunks that count as changed with the rows that
/// were handed out.
#[track_caller]
fn assert_stamped(world: &mut World, cells: &ChunkBounds<ByCell>, range: Range) {
    let signed = |bound: Bound<u32>| bound.map(|value| value as i32);
    let range = (signed(range.0), signed(range.1));
    macro_rules! check {
        ($($filter:ty),*) => {$(
            let before = world.version();
            let query = world.query_mut::<(Entity, &Cell, Option<&mut Team>)>().filter::<$filter>();
            let rows = cells.between(query, range).rows();
            let written: Vec<_> = rows.filter_map(|(entity, _, team)| {
                team.map(|team| {
                    team.0 = (team.0 + 1) % VALUES;
                    entity
                })
            }).collect();
            let changed = world.query::<(Entity, Option<&Cell>)>().filter::<IncludeHidden>();
            let changed: HashSet<_> = changed
                .filter::<(IgnoreEnabled, With<Team>)>()
                .changed_since::<Team>(before)
                .rows()
                .map(|row| row.0)
                .collect();
            assert!(written.iter().all(|entity| changed.contains(entity)), "a write is not seen");
            assert!(written.is_empty() == changed.is_empty(), "no row was handed out");
        )*};
    }
    check!((), IgnoreEnabled);
}

#[test]
fn an_option_that_is_disabled_in_the_first_run_of_a_chunk_is_stamped_in_a_later_one() {
    let mut world = world();
    let teams = [1, 9, 1].map(|serial| (Team(0), Serial(serial)));
    let all = world.spawn_batch(teams).to_vec();
    world.set_enabled::<Team>(all[0], false).expect("it is alive");
    let serials = ChunkBounds::<BySerial>::new();
    let before = world.version();
    let query = world.query_mut::<(Option<&mut Team>, &Serial)>();
    let written = serials.between(query, 1..2).rows().filter(|(team, _)| team.is_some()).count();
    assert_eq!((written, world.query::<&Team>().changed_since(before).iter().count()), (1, 1));
    world.set_enabled::<Team>(all[2], false).expect("it is alive");
    let before = world.version();
    let query = world.query_mut::<(Option<&mut Team>, &Serial)>().filter::<IgnoreEnabled>();
    let written = serials.between(query, 1..2).rows().filter(|(team, _)| team.is_some()).count();
    let changed = world.query::<&Team>().filter::<IgnoreEnabled>().changed_since(before);
    assert_eq!((written, changed.iter().count()), (2, 1));
}

#[test]
fn a_panic_of_the_key_during_an_unwinding_leaves_no_false_bounds() {
    struct AtDrop<'a>(&'a World, &'a ChunkBounds<Touchy>);
    impl Drop for AtDrop<'_> {
        fn drop(&mut self) {
            let all = || self.1.between(self.0.query::<&Serial>(), ..).rows().count();
            catch_unwind(AssertUnwindSafe(all)).expect_err("a touchy key");
        }
    }
    let mut world = world();
    world.spawn_batch((0..20_000).map(Serial));
    let bounds = ChunkBounds::<Touchy>::new();
    TOUCHED.store(true, Ordering::Relaxed);
    let unwinding = || {
        let _at_drop = AtDrop(&world, &bounds);
        panic!("as planned");
    };
    let _: Box<_> = catch_unwind(AssertUnwindSafe(unwinding)).expect_err("as planned");
    TOUCHED.store(false, Ordering::Relaxed);
    assert_eq!(bounds.between(world.query::<&Serial>(), ..).rows().count(), 20_000);
    assert_eq!(bounds.between(world.query::<&Serial>(), 19_990..).rows().count(), 10);
}

#[test]
fn rows_between_bounds_are_those_of_a_scan_after_any_change() {
    for seed in 1..=3 {
        let mut chance = Chance(seed);
        let (mut world, teams) = (world(), ChunkBounds::<ByTeam>::new());
        let cells = ChunkBounds::<ByCell>::new();
        let mut all = world.spawn_batch((0..2_000).map(|n| team_and_cell(n % VALUES))).to_vec();
        let mut kept = None;
        let steps = if cfg!(miri) { 3 } else { 60 };
        for step in 0..steps {
            let since = world.version();
            (0..1 + chance.below(4)).for_each(|_| change(&mut world, &mut all, &mut chance));
            let entity = all[chance.below(all.len())];
            world.insert(entity, Number(chance.value())).ok();
            match step % 20 {
                3 | 16 => {
                    world.matching::<&Team>().sort_by_key(|team| team.0);
                }
                9 => kept = Some((world.snapshot().expect("no buffer is open"), all.clone())),
                13 => {
                    let (snapshot, entities) = kept.as_ref().expect("it was taken");
                    world.restore(snapshot).expect("of this world");
                    all.clone_from(entities);
                }
                18 => {
                    world.memory_mut().compact(10_000);
                }
                19 => {
                    let mut other = crate::common::world();
                    other.spawn_batch((0..500).map(|n| team_and_cell(n % 5)));
                    assert_between(
                        &other,
                        (&teams, &cells),
                        (any_range(&mut chance), Version::NEVER),
                    );
                    world.merge(other).expect("built alike");
                }
                _ => {}
            }
            assert_stamped(&mut world, &cells, any_range(&mut chance));
            for _ in 0..2 {
                assert_between(&world, (&teams, &cells), (any_range(&mut chance), since));
            }
        }
        sound(&world);
        let since = world.version();
        world.clear();
        assert_between(&world, (&teams, &cells), (any_range(&mut chance), since));
        world.spawn_batch((0..30).map(|n| team_and_cell(n % VALUES)));
        assert_between(&world, (&teams, &cells), (any_range(&mut chance), since));
    }
}

#[test]
fn chunks_and_lines_without_rows_in_the_range_are_not_stamped() {
    let mut world = world();
    world.spawn_batch((0..20_000).map(|n| (Four(n), Serial(n), Tag)));
    let serials = ChunkBounds::<BySerial>::new();
    let before = world.version();
    let query = world.query_mut::<(&mut Four, &Serial)>();
    for (fours, _) in serials.between(query, 5_000..5_010) {
        fours.iter_mut().for_each(|four| four.0 += 100_000);
    }
    let query = world.query_mut::<(LinesMut<Four>, &Serial)>();
    assert!(serials.between(query, 9..9).rows().next().is_none(), "an empty range");
    let changed = world.query::<&Four>().changed_since(before);
    assert!((1..=2).contains(&changed.iter().count()), "chunks");
    let lines = world.query::<(&Four, &Serial)>();
    let lines = lines.filter_since::<ChangedLines<Four>>(before);
    let rows: Vec<_> = lines.rows().map(|(_, serial)| serial.0).collect();
    assert!((10..=48).contains(&rows.len()), "ten rows are in at most three lines: {rows:?}");
    assert!((5_000..5_010).all(|row| rows.contains(&row)));
    let written = world.query::<(&Four, &Serial)>();
    assert!(written.rows().all(|(four, serial)| {
        let plus = if (5_000..5_010).contains(&serial.0) { 100_000 } else { 0 };
        four.0 == serial.0 + plus
    }));
}

#[test]
fn scattered_rows_are_written_one_by_one_and_no_others() {
    let mut world = world();
    world.spawn_batch(
        (0..5_000).map(|n: u32| (Four(0), Serial(n.wrapping_mul(2_654_435_761) % 1_000))),
    );
    let serials = ChunkBounds::<BySerial>::new();
    let query = world.query_mut::<(&mut Four, &Serial)>();
    serials.between(query, 100..=200).rows().for_each(|(four, _)| four.0 += 1);
    let query = world.query_mut::<(&mut Four, &Serial)>();
    for (fours, _) in serials.between(query, 100..=200) {
        fours.iter_mut().for_each(|four| four.0 += 1);
    }
    let written = world.query::<(&Four, &Serial)>();
    let inside = written.rows().filter(|row| (100..=200).contains(&row.1.0)).count();
    assert!(inside > 100);
    assert!(written.rows().all(|row| row.0.0 == 2 * u32::from((100..=200).contains(&row.1.0))));
}

#[test]
fn a_state_that_was_read_has_its_own_bounds() {
    let mut world = world();
    world.spawn_batch((0..5_000).map(Serial));
    let bounds = ChunkBounds::<BySerial>::new();
    let count = |world: &World| bounds.between(world.query::<&Serial>(), ..100).rows().count();
    assert_eq!(count(&world), 100);
    let bytes = world.snapshot().and_then(|state| state.to_bytes()).expect("of plain values");
    world.query_mut::<&mut Serial>().rows().for_each(|serial| serial.0 += 50);
    assert_eq!(count(&world), 50);
    let read = world.read_snapshot(&bytes).expect("as it was written");
    world.restore(&read).expect("of this world");
    assert_eq!(count(&world), 100);
}

#[test]
fn floats_are_in_their_total_order() {
    let mut world = world();
    let depths = [f32::NAN, -0.0, 0.0, f32::INFINITY, -f32::INFINITY, 1.0, -f32::NAN];
    world.spawn_batch(depths.map(Depth));
    let bounds = ChunkBounds::<ByDepth>::new();
    let query = world.query::<&Depth>();
    let zero = total_order(0.0_f32);
    assert_eq!(bounds.between(query, zero..).rows().count(), 4, "0, 1, infinity, NaN");
    assert_eq!(bounds.between(query, ..zero).rows().count(), 3);
    assert_eq!(bounds.between(query, ..).rows().count(), 7);
}

static PANICS: AtomicBool = AtomicBool::new(false);
thread_local! {
    static CALLS: CountCell<usize> = const { CountCell::new(0) };
}

#[test]
fn chunks_in_which_nothing_changed_are_not_read_again() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows: u32 = if cfg!(miri) { 3_000 } else { 20_000 };
    let all = world.spawn_batch((0..rows).map(|n| (Serial(n), Four(0)))).to_vec();
    let bounds = ChunkBounds::<Counted>::new();
    // All of a chunk or none of it is in these ranges, so the bounds are all that reads keys.
    let calls = |world: &World| {
        CALLS.set(0);
        for range in [0..=u32::MAX, u32::MAX - 1..=u32::MAX] {
            let wanted = if range.contains(&0) { world.len() } else { 0 };
            let found = bounds.between(world.query::<(Entity, &Serial)>(), range).rows().count();
            assert_eq!(found, wanted);
        }
        CALLS.get()
    };
    let chunk_of = |world: &World, entity: Entity| {
        let chunks = world.query::<Entity>().into_iter();
        chunks.filter(|rows| rows.contains(&entity)).map(<[_]>::len).sum::<usize>()
    };
    assert_eq!(calls(&world), all.len(), "each key once");
    assert_eq!(calls(&world), 0);
    let other = world.query_mut::<&mut Four>();
    other.rows().for_each(|four| four.0 += 1);
    assert_eq!(calls(&world), 0, "another column was written");

    let [early, middle, last] = [3, all.len() / 2, all.len() - 1].map(|i| all[i]);
    let read = chunk_of(&world, middle);
    assert!(read < all.len() / 2, "a chunk of several");
    world.get_mut::<Serial>(middle).expect("it has one").0 = 7;
    assert_eq!((calls(&world), calls(&world)), (read, 0), "a key was written");
    let [first, end] = [early, last].map(|entity| chunk_of(&world, entity));
    world.despawn(early).expect("it is alive");
    assert_eq!((calls(&world), calls(&world)), (first + end - 1, 0), "the last row fills the gap");
    world.insert(middle, Tag).expect("it is alive");
    let gap = chunk_of(&world, last);
    let read = calls(&world);
    assert!((gap..=read.max(1 + chunk_of(&world, middle))).contains(&read), "{read}");
    assert_eq!(calls(&world), 0, "a row moved");
}

static TOUCHED: AtomicBool = AtomicBool::new(false);

#[test]
fn bounds_are_usable_after_a_panic_of_the_key() {
    let mut world = world();
    world.spawn_batch((0..1_000).map(Serial));
    let bounds = ChunkBounds::<Moody>::new();
    let count = |world: &World| bounds.between(world.query::<&Serial>(), 500..).rows().count();
    assert_eq!(count(&world), 500);
    world.query_mut::<&mut Serial>().rows().filter(|row| row.0 < 500).for_each(|row| row.0 = 800);
    PANICS.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| count(&world))).expect_err("a bad mood");
    PANICS.store(false, Ordering::Relaxed);
    assert_eq!(count(&world), 1_000);
}

#[test]
fn systems_see_what_earlier_systems_wrote() {
    fn count(
        bounds: Res<ChunkBounds<BySerial>>,
        serials: Query<(&Serial, &Tag)>,
        mut counts: ResMut<Vec<usize>>,
    ) {
        counts.push(bounds.between(serials, ..10).rows().count());
    }
    fn write(mut serials: Query<&mut Serial>) {
        serials.rows_mut().find(|serial| serial.0 >= 10).expect("a high number").0 = 0;
    }
    let mut world = world();
    world.spawn_batch((0..1_000).map(|n| (Serial(n), Tag)));
    world.insert_resource(ChunkBounds::<BySerial>::new());
    world.insert_resource(Vec::<usize>::new());
    let mut schedule = Schedule::new();
    schedule.add((count, write, count, write, count)).chain();
    schedule.run(&mut world).expect("all systems run");
    schedule.run(&mut world).expect("all systems run");
    let counts = world.resource::<Vec<usize>>().expect("it was inserted");
    assert_eq!(*counts, [10, 11, 12, 12, 13, 14]);
}
