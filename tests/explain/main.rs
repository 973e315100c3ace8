//! Explanations compared with figures computed by hand, with addresses of slices and with the
//! chunks that queries yield.

mod beside;
#[path = "../../src/effort.rs"]
mod effort;

use std::collections::HashSet;

use effort::effort;
use phalanx::explain::{QueryExplanation, SetConflict, SkippedArchetype, Waste};
use phalanx::prelude::*;
use phalanx::{LINE_BYTES, Level};
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
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(256))]
struct Wide([[u8; 32]; 8]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
struct Quad<const N: usize>([u32; 4]);
phalanx::impl_component!(Wide, Quad<0> as "Q0", Quad<1> as "Q1", Quad<2> as "Q2", Quad<3> as "Q3");
phalanx::impl_component!(Position as "Position", Velocity as "Velocity", Age, Odd, Frozen);

/// The number of cache lines that slices touch, by their addresses.
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
        // Some are despawned again, so that some archetypes become empty.
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
        // Two full chunks, and one row that takes a line of each column.
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
    // Lines of a column that two terms read count once.
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
    assert_eq!(query.into_iter().count(), explanation.chunks(), "the query can still run");
    let after = world.version();
    let _ = world.query_mut::<&mut Position>().explain();
    assert_eq!(world.version(), after);
    assert_eq!(world.query::<&Position>().changed_since(after).iter().count(), 0);
    assert!(after > before, "the query itself did advance the clock");
}

fn mismatches(explanation: &QueryExplanation) -> Vec<Vec<String>> {
    let texts = |a: &SkippedArchetype| a.mismatches.iter().map(ToString::to_string).collect();
    explanation.skipped.iter().filter(|a| a.rows > 0).map(texts).collect()
}

#[test]
fn each_archetype_left_out_says_why() {
    let world = world_of(ChunkSize::KIB_16, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    let query = world.query::<&Position>().without::<Frozen>().filter::<AnyOf<(Velocity, Odd)>>();
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
    // 4 KiB hold 1024 rows of 4 bytes; five full chunks and a partial one.
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = if cfg!(miri) { 2 * 1024 + 5 } else { 5 * 1024 + 5 };
    let entities = world.spawn_batch((0..rows).map(|_| Age(0.0))).to_vec();
    let before = world.version();
    world.get_mut::<Age>(entities[1024]).expect("it lives").0 = 1.0;
    let explanation = world.query::<&Age>().changed_since(before).explain();
    assert_eq!((explanation.chunks(), explanation.rows()), (1, 1024));
    assert_eq!(explanation.chunks_skipped(), rows / 1024);
    assert_eq!(world.query::<&Age>().changed_since(before).iter().count(), 1);
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

#[test]
fn a_layout_by_hand_at_three_chunk_sizes() {
    // 12 + 7 bytes a row; 64 rows of 7 bytes are whole lines. 4 KiB: 215 → 192 rows, 2304 + 1344
    // bytes, and 448 are left. 16 KiB: 862 → 832 rows, 9984 + 5824 bytes, and 576 are left.
    // 256 KiB: 13797 → 13760 rows, 165120 + 96320 bytes, and 704 are left.
    // Without Position: 4096 / 7 = 585 → 576, 2340 → 2304, 37449 → 37440. Without Odd, in sixteens:
    // 341 → 336, 1365 → 1360, 21845 → 21840.
    let cases = [
        (ChunkSize::KIB_4, 192, [0, 448], [576, 336]),
        (ChunkSize::KIB_16, 832, [0, 576], [2304, 1360]),
        (ChunkSize::KIB_256, 13_760, [0, 704], [37_440, 21_840]),
    ];
    for (size, capacity, [column_ends, rest], without) in cases {
        let mut world = World::builder().chunk_size(size).build();
        world.spawn_batch((0..capacity + 8).map(|_| (Position::default(), Odd::default())));
        let explanation = world.explain();
        let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
        assert_eq!((archetype.rows, archetype.chunks), (capacity + 8, 2));
        assert_eq!((archetype.capacity, archetype.chunk_capacity), (capacity, capacity));
        let empty_rows = (capacity - 8) * 19;
        let waste = Waste { empty_rows, column_ends: 2 * column_ends, rest: 2 * rest, spare: 0 };
        assert_eq!(archetype.wasted, waste, "{size:?}");
        assert_eq!(archetype.bytes_used + waste.bytes(), 2 * size.bytes());
        assert_eq!(archetype.occupancy(), (capacity + 8) as f64 / (2 * capacity) as f64);
        let [position, odd] = [0, 1].map(|column| &archetype.columns[column]);
        assert_eq!((position.component, position.row_bytes, position.offset), ("Position", 12, 0));
        assert_eq!((odd.row_bytes, odd.offset, odd.bytes), (7, capacity * 12, capacity * 7));
        assert_eq!(position.capacity_lost, Some(without[0] - capacity));
        assert_eq!(odd.capacity_lost, Some(without[1] - capacity));
        // A full column, and 8 rows: 96 bytes are two lines, 56 are one.
        assert_eq!(position.lines, (capacity as u64 * 12).div_ceil(64) + 2);
        assert_eq!(odd.lines, (capacity as u64 * 7).div_ceil(64) + 1);
        assert!(archetype.conflicts.is_empty(), "{archetype}");
    }
}

#[test]
fn rows_of_lines_and_of_vectors() {
    let world = world_of(ChunkSize::KIB_16, &[(3, 1)]);
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    let [age, frozen] = [0, 1].map(|column| &archetype.columns[column]);
    assert_eq!(age.rows_per_line(), Some(16.0));
    let levels = [Level::Baseline, Level::Avx2, Level::Avx512];
    assert_eq!(levels.map(|level| age.rows_per_vector(level)), [Some(4.0), Some(8.0), Some(16.0)]);
    assert_eq!((frozen.rows_per_line(), frozen.rows_per_vector(Level::Avx2)), (None, None));
    assert_eq!((age.capacity_lost, frozen.capacity_lost), (None, Some(0)));
}

#[test]
fn a_small_first_block_is_named_and_measured() {
    let world = world_of(ChunkSize::KIB_16, &[(1, 20)]);
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    // 1024 / 24 = 42 → 32 rows in two columns of 384 bytes; a chunk has 672.
    let first = archetype.first_block.expect("rare archetypes start small");
    assert_eq!((first.bytes, first.capacity, first.in_use), (1024, 32, true));
    assert_eq!((archetype.capacity, archetype.chunk_capacity), (32, 672));
    let waste = Waste { empty_rows: 12 * 24, column_ends: 0, rest: 1024 - 768, spare: 0 };
    assert_eq!(archetype.wasted, waste);
}

#[test]
fn columns_that_start_in_one_set_are_named() {
    let mut world = World::new();
    let row = (Quad::<0>([0; 4]), Quad::<1>([0; 4]), Quad::<2>([0; 4]), Quad::<3>([0; 4]));
    world.spawn_batch((0..100).map(|_| row));
    // 256 rows of 16 bytes: each column is 4096 bytes, the distance between lines of one set.
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    assert_eq!(
        archetype.columns.iter().map(|c| c.offset).collect::<Vec<_>>(),
        [0, 4096, 8192, 12288]
    );
    let conflict = SetConflict { set: 0, components: vec!["Q0", "Q1", "Q2", "Q3"] };
    assert_eq!(archetype.conflicts, [conflict]);
    let warning = "warning: 4 columns start in set 0 of the first-level cache: Q0, Q1, Q2, Q3";
    assert!(archetype.to_string().contains(warning), "{archetype}");
}

#[test]
fn room_before_an_aligned_column_counts_as_its_padding() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_16).build();
    world.spawn_batch((0..48).map(|_| (Age(0.0), Wide::default())));
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    // 16384 / 260 = 63 → 48 rows; 192 bytes of Age, 64 up to the alignment, 12288 of Wide.
    assert_eq!(archetype.columns[1].offset, 256);
    let waste = Waste { empty_rows: 0, column_ends: 64, rest: 16_384 - 12_544, spare: 0 };
    assert_eq!(archetype.wasted, waste);
}

#[test]
fn reserved_chunks_are_spare() {
    let mut world = World::new();
    world.reserve::<Age>(3 * 4096).expect("it fits");
    let explanation = world.explain();
    assert_eq!(explanation.wasted(), Waste { spare: 3 * 16_384, ..Waste::default() });
    assert_eq!((explanation.bytes_used(), explanation.rows(), explanation.chunks()), (0, 0, 0));
}

#[test]
fn empty_worlds_and_archetypes_print() {
    let world = World::new();
    assert_eq!(world.explain().archetypes.len(), 0);
    let text = world.explain().to_string();
    assert!(text.starts_with("world: 0 rows in 0 archetypes and 0 chunks"), "{text}");
    let mut world = world_of(ChunkSize::KIB_16, &[(1, 100)]);
    world.clear();
    let explanation = world.explain();
    let archetype = explanation.archetypes.last().expect("archetypes stay");
    assert_eq!((archetype.rows, archetype.chunks, archetype.occupancy()), (0, 0, 1.0));
    assert_eq!((archetype.wasted, explanation.lines()), (Waste::default(), 0));
    assert!(archetype.to_string().contains("0 rows of 24 bytes in 0 chunks"), "{archetype}");
    let query = world.query::<&Position>().explain();
    assert_eq!((query.matched.len(), query.rows()), (1, 0));
    assert!(query.to_string().contains("1 matching archetype\n"), "{query}");
}

#[test]
fn archetypes_of_tags_own_no_bytes() {
    let world = world_of(ChunkSize::KIB_4, &[(4, 100)]);
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    assert_eq!((archetype.bytes_used, archetype.wasted), (0, Waste::default()));
    assert_eq!((archetype.chunks, archetype.columns[0].lines), (1, 0));
    assert_eq!(archetype.first_block, None);
}

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
struct Tag<const N: usize>(());

macro_rules! tags {
    ($($n:literal $name:literal),*) => {
        phalanx::impl_component!($(Tag<$n> as $name),*);

        /// An entity in the archetype of the tags whose bits are set.
        fn spawn_tagged(world: &mut World, bits: usize) {
            let entity = world.spawn(Age(0.0));
            $(if bits >> $n & 1 == 1 {
                world.insert(entity, Tag::<$n>(())).expect("it lives");
            })*
        }
    };
}
tags!(0 "T0", 1 "T1", 2 "T2", 3 "T3", 4 "T4", 5 "T5", 6 "T6", 7 "T7", 8 "T8", 9 "T9");

#[test]
fn of_many_archetypes_eight_are_shown_and_all_are_there() {
    let bits = if cfg!(miri) { 6 } else { 10 };
    let all = 1 << bits;
    let mut world = World::new();
    (0..all).for_each(|tags| spawn_tagged(&mut world, tags));
    let explanation = world.explain();
    assert_eq!((explanation.rows(), explanation.lines()), (all, all as u64));
    let with_rows = explanation.archetypes.iter().filter(|archetype| archetype.rows == 1).count();
    assert_eq!(with_rows, all);
    let text = explanation.to_string();
    assert_eq!(text.lines().filter(|line| line.starts_with("archetype ")).count(), 8);
    let more = format!("… and {} more archetypes", explanation.archetypes.len() - 8);
    assert!(text.replace(',', "").ends_with(&(more + "\n")), "{text}");
    let query = world.query::<&Age>().with::<Tag<1>>().without::<Tag<3>>().explain();
    assert_eq!((query.rows(), query.lines()), (all / 4, all as u64 / 4));
    assert_eq!(query.matched.len() + query.skipped.len(), explanation.archetypes.len());
    assert!(query.skipped.iter().all(|skipped| !skipped.mismatches.is_empty()), "{query}");
    assert_eq!(query.to_string().matches("… and ").count(), 2, "{query}");
}

#[test]
fn a_query_prints_as_a_table() {
    let mut world = world_of(ChunkSize::KIB_16, &[(1, 1000), (0, 7), (5, 3)]);
    let text =
        world.query_mut::<(&mut Position, &Velocity)>().without::<Frozen>().explain().to_string();
    let expected = "\
query: reads Velocity; writes Position
  1,000 rows in 2 chunks (0 skipped)
  376 cache lines, 188 of them written; 0.376 a row; 4 streams
  24,000 bytes used of 24,064 loaded (99.7 %)
1 matching archetype
  archetype   rows  chunks  skipped  lines  written  components
  0          1,000       2        0    376      188  Position, Velocity
2 archetypes left out
  archetype  rows  why
  1             7  misses Velocity
  2             3  has Frozen
";
    assert_eq!(text, expected);
}

fn sizes() -> impl Strategy<Value = ChunkSize> {
    prop_oneof![Just(ChunkSize::KIB_4), Just(ChunkSize::KIB_16), Just(ChunkSize::KIB_256)]
}

fn groups() -> impl Strategy<Value = Vec<(u8, usize)>> {
    let rows = if cfg!(miri) { 0..40usize } else { 0..2000usize };
    proptest::collection::vec((0u8..18, rows), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { effort(8) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

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
        prop_assert_eq!(explanation.rows(), query().count_rows());
    }

    #[test]
    fn every_byte_of_every_block_is_accounted_for(
        size in sizes(),
        groups in groups(),
        reserve in 0usize..3000,
    ) {
        let mut world = world_of(size, &groups);
        world.reserve::<(Position, Velocity)>(reserve).expect("it fits");
        let (explanation, memory) = (world.explain(), world.memory());
        prop_assert_eq!(explanation.bytes_used(), memory.row_bytes);
        prop_assert_eq!(explanation.bytes_used() + explanation.wasted().bytes(), memory.block_bytes);
        prop_assert_eq!(explanation.rows(), world.len());
        prop_assert_eq!(explanation.memory, memory);
        let everything = world.query::<(
            Option<&Position>,
            Option<&Velocity>,
            Option<&Age>,
            Option<&Odd>,
        )>();
        prop_assert_eq!(explanation.lines(), everything.explain().lines());
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
        let all_chunks = world.query::<&Position>().iter().count();
        prop_assert_eq!(explanation.chunks_skipped(), all_chunks - chunks);
    }
}
