//! What a world says of itself, against figures worked out by hand and against what really
//! happens: addresses of slices, turns of queries.

use std::collections::HashSet;

use phalanx::prelude::*;
use phalanx::{LINE_BYTES, QueryExplanation};
use proptest::prelude::*;

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Position([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Velocity([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Age(f32);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Odd([u8; 7]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Frozen;
phalanx::component!(Position as "Position", Velocity as "Velocity", Age, Odd, Frozen);

/// The lines that slices touch, by their addresses.
#[derive(Default)]
struct Lines(HashSet<usize>);

impl Lines {
    fn touch<C>(&mut self, slice: &[C]) {
        let start = slice.as_ptr().addr();
        self.0.extend((start..start + size_of_val(slice)).map(|byte| byte / LINE_BYTES));
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// A world of rows that have any of the five components, in groups.
fn world_of(size: ChunkSize, groups: &[(u8, usize)]) -> World {
    let mut world = World::builder().chunk_size(size).build();
    for &(kind, rows) in groups {
        let entities: Vec<_> = match kind % 6 {
            0 => world.spawn_batch((0..rows).map(|_| Position::default())).to_vec(),
            1 => world
                .spawn_batch((0..rows).map(|_| (Position::default(), Velocity::default())))
                .to_vec(),
            2 => world
                .spawn_batch((0..rows).map(|_| (Position::default(), Odd::default(), Frozen)))
                .to_vec(),
            3 => world.spawn_batch((0..rows).map(|_| (Age::default(), Frozen))).to_vec(),
            4 => world.spawn_batch((0..rows).map(|_| Frozen)).to_vec(),
            _ => world
                .spawn_batch((0..rows).map(|_| (Position::default(), Velocity::default(), Frozen)))
                .to_vec(),
        };
        // Some leave again, so that archetypes run empty too.
        for entity in entities.iter().take(rows / 2 * usize::from(kind / 6)) {
            world.despawn(*entity).expect("it lives");
        }
    }
    world
}

#[test]
fn lines_of_a_query_by_hand_at_three_chunk_sizes() {
    // Rows of a chunk, by hand: 24 bytes a row, multiples of 16 rows.
    // 4 KiB: 4096 / 24 = 170 → 160 rows; columns of 160 * 12 = 1920 bytes = 30 lines.
    // 16 KiB: 682 → 672 rows; 8064 bytes = 126 lines. 256 KiB: 10,922 → 10,912; 2046 lines.
    let cases = [
        (ChunkSize::KIB_4, 160, 30),
        (ChunkSize::KIB_16, 672, 126),
        (ChunkSize::KIB_256, 10_912, 2046),
    ];
    for (size, capacity, full) in cases {
        // Two full chunks and one row, which takes a line of each column.
        let world = world_of(size, &[(1, 2 * capacity + 1)]);
        let explanation = world.query::<(&Position, &Velocity)>().explain();
        assert_eq!((explanation.chunks(), explanation.rows()), (3, 2 * capacity + 1));
        assert_eq!(explanation.lines(), 2 * (2 * full + 1), "{size:?}");
        assert_eq!(explanation.lines_written(), 0);
        assert_eq!(explanation.bytes_used(), (2 * capacity as u64 + 1) * 24);
        assert_eq!(explanation.bytes_loaded(), explanation.lines() * 64);
    }
}

#[test]
fn a_query_says_what_it_reads_and_writes() {
    let mut world = world_of(ChunkSize::KIB_16, &[(1, 100), (3, 10)]);
    let explanation = world.query_mut::<(&mut Position, &Velocity, Entity)>().explain();
    assert_eq!((&*explanation.reads, &*explanation.writes), (&["Velocity"][..], &["Position"][..]));
    assert!(explanation.entities && !explanation.padded, "{explanation:?}");
    // 1200 bytes are 18.75 lines.
    assert_eq!((explanation.lines(), explanation.lines_written()), (38, 19));
    assert_eq!(explanation.lines_per_row(), 0.38);
    // A column that two terms read has its lines once.
    assert_eq!(world.query::<(&Age, &Age, Option<&Frozen>)>().explain().lines(), 1);
    // 112 rows of 12 bytes are 21 lines.
    assert_eq!(world.query::<&Position>().padded().explain().lines(), 21);
}

#[test]
fn explaining_changes_nothing() {
    let mut world = world_of(ChunkSize::KIB_4, &[(1, 1000)]);
    let before = world.version();
    let query = world.query_mut::<&mut Position>();
    let explanation = query.explain();
    assert_eq!(explanation, query.explain());
    assert_eq!(query.count(), explanation.chunks(), "the query can still run");
    let after = world.version();
    let _ = world.query_mut::<&mut Position>().explain();
    assert_eq!(world.version(), after);
    assert_eq!(world.query::<&Position>().changed_since(after).count(), 0);
    assert!(after > before, "the query itself did advance the clock");
}

#[test]
#[should_panic(expected = "a query is explained before its first turn")]
fn a_query_that_has_started_is_not_explained() {
    let world = world_of(ChunkSize::KIB_4, &[(0, 10)]);
    let mut query = world.query::<&Position>();
    query.next();
    let _ = query.explain();
}

fn mismatches(explanation: &QueryExplanation) -> Vec<Vec<String>> {
    let texts =
        |a: &phalanx::SkippedArchetype| a.mismatches.iter().map(ToString::to_string).collect();
    explanation.skipped.iter().filter(|a| a.rows > 0).map(texts).collect()
}

#[test]
fn each_archetype_left_out_says_why() {
    let world = world_of(ChunkSize::KIB_16, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    let query = world.query::<&Position>().without::<Frozen>().any_of::<(Velocity, Odd)>();
    let explanation = query.explain();
    assert_eq!(explanation.rows(), 1);
    assert_eq!(
        mismatches(&explanation),
        [
            vec!["none of Velocity, Odd"],
            vec!["has Frozen"],
            vec!["misses Position", "has Frozen", "none of Velocity, Odd"],
        ]
    );
}

#[test]
fn a_component_that_the_world_never_saw_is_missed_by_name() {
    let world = world_of(ChunkSize::KIB_16, &[(0, 3)]);
    let explanation = world.query::<&Age>().with::<Odd>().without::<Frozen>().explain();
    assert_eq!(mismatches(&explanation), [["misses Age", "misses Odd"]]);
}

#[test]
fn chunks_that_a_filter_skips_are_the_chunks_it_skips() {
    // 4 KiB hold 1024 rows of 4 bytes; five full chunks and a rest.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = if cfg!(miri) { 2 * 1024 + 5 } else { 5 * 1024 + 5 };
    let entities = world.spawn_batch((0..rows).map(|_| Age(0.0))).to_vec();
    let before = world.version();
    world.get_mut::<Age>(entities[1024]).expect("it lives").0 = 1.0;
    let explanation = world.query::<&Age>().changed_since(before).explain();
    assert_eq!((explanation.chunks(), explanation.rows()), (1, 1024));
    assert_eq!(explanation.chunks_skipped(), rows / 1024);
    assert_eq!(world.query::<&Age>().changed_since(before).count(), 1);
    let none = world.query::<&Age>().changed_since(world.version()).explain();
    assert_eq!((none.chunks(), none.lines(), none.lines_per_row()), (0, 0, 0.0));
    assert_eq!(none.matched.len(), 1, "the archetype matches, none of its chunks passes");
}

#[test]
fn an_empty_world_explains_itself() {
    let world = World::new();
    let explanation = world.query::<&Position>().explain();
    assert_eq!((explanation.rows(), explanation.lines(), explanation.chunks()), (0, 0, 0));
    assert!(explanation.matched.is_empty(), "{explanation:?}");
}

#[test]
fn rows_of_tags_take_no_line() {
    let world = world_of(ChunkSize::KIB_4, &[(4, 100)]);
    let explanation = world.query::<&Frozen>().explain();
    assert_eq!((explanation.rows(), explanation.chunks(), explanation.lines()), (100, 1, 0));
}

fn sizes() -> impl Strategy<Value = ChunkSize> {
    prop_oneof![Just(ChunkSize::KIB_4), Just(ChunkSize::KIB_16), Just(ChunkSize::KIB_256)]
}

fn groups() -> impl Strategy<Value = Vec<(u8, usize)>> {
    let rows = if cfg!(miri) { 0..40usize } else { 0..2000usize };
    proptest::collection::vec((0u8..18, rows), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 64 }))]

    #[test]
    fn lines_are_those_that_slices_lie_in(size in sizes(), groups in groups(), padded: bool) {
        let world = world_of(size, &groups);
        let query = || {
            let query = world.query::<(&Position, Option<&Odd>, Option<&Velocity>, Option<&Frozen>)>();
            if padded { query.padded() } else { query }
        };
        let (mut lines, mut chunks) = (Lines::default(), 0);
        for (position, odd, velocity, frozen) in query() {
            lines.touch(position);
            lines.touch(odd.unwrap_or_default());
            lines.touch(velocity.unwrap_or_default());
            lines.touch(frozen.unwrap_or_default());
            chunks += 1;
        }
        let explanation = query().explain();
        prop_assert_eq!(explanation.lines(), lines.len());
        prop_assert_eq!(explanation.chunks(), chunks);
        prop_assert_eq!(explanation.rows(), query().rows().count());
        prop_assert_eq!(explanation.rows(), query().rows_len());
    }

    #[test]
    fn lines_written_are_those_of_the_slices_that_are_lent_mutably(
        size in sizes(),
        groups in groups(),
        written in proptest::collection::vec(0usize..10_000, 0..3),
    ) {
        let mut world = world_of(size, &groups);
        let before = world.version();
        let entities: Vec<_> = world.query::<(Entity, &Position)>().rows().map(|row| row.0).collect();
        for index in written {
            if let Some(entity) = entities.get(index) {
                world.get_mut::<Position>(*entity).expect("it lives").0[0] = 1.0;
            }
        }
        let query = world.query_mut::<(&Position, Option<&mut Velocity>, Option<&mut Odd>)>();
        let query = query.changed_since::<Position>(before);
        let explanation = query.explain();
        let (mut all, mut written, mut chunks) = (Lines::default(), Lines::default(), 0);
        for (position, velocity, odd) in query {
            all.touch(position);
            for lines in [&mut all, &mut written] {
                lines.touch(velocity.as_deref().unwrap_or_default());
                lines.touch(odd.as_deref().unwrap_or_default());
            }
            chunks += 1;
        }
        prop_assert_eq!(explanation.lines(), all.len());
        prop_assert_eq!(explanation.lines_written(), written.len());
        prop_assert_eq!(explanation.chunks(), chunks);
        let all_chunks = world.query::<&Position>().count();
        prop_assert_eq!(explanation.chunks_skipped(), all_chunks - chunks);
    }
}
