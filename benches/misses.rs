//! Instructions and cache misses of the main kernels, counted by callgrind, with limits.
//!
//!     cachegrind/install                          once: valgrind and the runner
//!     cargo bench --bench misses
//!
//! It counts all of them: the runner compares a filter with the name of this program alone.
//!
//! A count does not depend on the load of the machine, so the limits are tight: `misses/limits.rs`.
//! Above one, the run fails, names the benchmark, and gives advice. Worlds are made, and kernels
//! run once, before counting begins; results are checked afterwards.
//!
//! The caches are given: 32 KiB of eight ways and 32 MiB of sixteen, 64-byte lines. Valgrind does
//! not support AVX-512, so the level is AVX2 on every machine. Without `--bench`, as in `cargo test
//! --bench misses`, every kernel runs once more without valgrind and its result is checked.

use std::env;
use std::process::exit;

#[path = "misses/kernels.rs"]
mod kernels;
#[path = "misses/limits.rs"]
mod limits;
#[path = "misses/tools.rs"]
mod tools;

#[path = "programs/mod.rs"]
mod programs;

use kernels::Ready;
use limits::{Counts, limited_to};
use programs::archetypes::ManyArchetypes;
use programs::changed::{Changed, WriteAndVisit};
use programs::churn::{Churn, ChurnBatch, ChurnCommands};
use programs::columns::{PosVel, SimpleIter};
use programs::fragments::FragmentedIter;
use programs::insert::{SpawnBatch, SpawnChildren};
use programs::kept_levels::{ChangedLevelsKept, LevelsKept};
use programs::life::LookUpLife;
use programs::list_outside::ListOutside;
use programs::lookup::{
    GetOne, QueryGet, RandomLookup, ReadWritable, RowOfOne, RowOfTwo, SeveralLookup,
};
use programs::new_worlds::NewWorlds;
use programs::one_by_one::{AddAndRemove, DespawnOne, SpawnOne};
use programs::pass_start::PassStart;
use programs::sparse_pairs::{FewMembers, SparseBySystem, SparseByWorld};
use programs::structure::{AddRemove, AddRemoveCommands};
use programs::write_one::{GetMutOne, LookupWrite, QueryGetMut, RowWrite};

fn main() {
    let is_given = |wanted: &str| env::args().skip(1).any(|argument| argument == wanted);
    if is_given("--iai-run") || limits::is_advised() {
        // The runner has started this program again under valgrind, for one benchmark; or this
        // program has started itself, to see how counting ended.
        counted::run();
    } else if is_given("--bench") {
        if let Some(filter) = env::args().skip(1).find(|argument| !argument.starts_with('-')) {
            eprintln!("misses: all programs are counted; leave out the filter `{filter}`");
            exit(2);
        }
        if let Some(missing) = tools::missing() {
            eprintln!("misses: {missing}: run cachegrind/install");
            exit(2);
        }
        exit(limits::run_with_advice());
    } else {
        counted::run_natively();
    }
}

/// Makes each line a benchmark of iai-callgrind: the kernel of that name is set up, one pass is
/// counted and held to the limits, and the result is checked.
macro_rules! count {
    ($($kernel:ident at $size:ident: $program:ty, $counts:expr;)*) => {
        /// The benchmarks. iai-callgrind's `main!` makes a `main` of its own.
        mod counted {
            use iai_callgrind::{
                LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
            };

            use super::*;

            /// Runs the benchmark that the arguments name, or calls the runner.
            pub(super) fn run() {
                main();
            }

            /// Runs and checks each kernel without valgrind.
            pub(super) fn run_natively() {
                $(
                    let mut ready = kernels::$kernel();
                    ready.pass();
                    ready.check();
                    println!("{}: ok", stringify!($kernel));
                )*
            }

            $(
                #[library_benchmark(setup = kernels::$kernel, teardown = Ready::check)]
                #[bench::$size(config = limited_to($counts))]
                fn $kernel(mut ready: Ready<$program>) -> Ready<$program> {
                    ready.pass();
                    ready
                }
            )*

            library_benchmark_group!(name = kernel; benchmarks = $($kernel),*);

            main!(
                config = LibraryBenchmarkConfig::default().env("PHALANX_LEVEL", "avx2");
                library_benchmark_groups = kernel
            );
        }
    };
}

count! {
    // Two columns of 10,000 x 12 bytes have 3,750 lines.
    pos_vel at rows_10000: PosVel,
        Counts { instructions: 16_757, read_misses: 3_780, write_misses: 17 };

    // The lines of `pos_vel`, in chunks that hold a quarter of the rows. One by one they took
    // 25,831 instructions; now neighbours in memory are one slice.
    simple_iter at rows_10000: SimpleIter,
        Counts { instructions: 20_408, read_misses: 3_791, write_misses: 25 };

    // All columns stay in the cache, so a miss is a pass that reads more.
    fragmented_iter at archetypes_26: FragmentedIter,
        Counts { instructions: 2_118, read_misses: 2, write_misses: 6 };

    // 71 instructions and 1.54 lines an archetype: its data, and parts of lines for its addresses
    // and stamp.
    many_archetypes at archetypes_4096: ManyArchetypes,
        Counts { instructions: 291_615, read_misses: 5_741, write_misses: 564 };

    // 24 instructions and 2.17 lines a read, one of them for an answer with a reason, and one
    // because calls for far slots keep the registers of the caller. The compiler takes 23 where no
    // other function of the program reads among several archetypes.
    random_lookup at reads_100000: RandomLookup,
        Counts { instructions: 2_414_966, read_misses: 216_937, write_misses: 86 };

    // 36 instructions and 2.1 lines a read, which finds the list of the archetype as well.
    lookup_several at reads_10000: SeveralLookup,
        Counts { instructions: 356_938, read_misses: 21_034, write_misses: 43 };

    // 80 instructions and two lines a read: the slot and the cell.
    get_one at reads_10000: GetOne,
        Counts { instructions: 800_042, read_misses: 19_866, write_misses: 2 };

    // 168 instructions a read, a part of them because each looks up the query's plan.
    query_get at reads_10000: QueryGet,
        Counts { instructions: 1_680_673, read_misses: 19_918, write_misses: 5 };

    // 40 instructions a row of one column, and 50 of two, by addresses that the view keeps.
    row_of_one at reads_10000: RowOfOne,
        Counts { instructions: 403_030, read_misses: 19_388, write_misses: 31 };

    row_of_two at reads_10000: RowOfTwo,
        Counts { instructions: 504_014, read_misses: 19_409, write_misses: 34 };

    read_writable at reads_10000: ReadWritable,
        Counts { instructions: 234_696, read_misses: 19_404, write_misses: 38 };

    get_mut_one at writes_10000: GetMutOne,
        Counts { instructions: 1_080_041, read_misses: 19_913, write_misses: 2 };

    query_get_mut at writes_10000: QueryGetMut,
        Counts { instructions: 3_230_660, read_misses: 19_951, write_misses: 7 };

    // 58 instructions a row, with one written column, by kept addresses as above.
    row_write at writes_10000: RowWrite,
        Counts { instructions: 577_435, read_misses: 19_440, write_misses: 46 };

    lookup_write at writes_10000: LookupWrite,
        Counts { instructions: 285_480, read_misses: 19_418, write_misses: 33 };

    life at cells_10000: LookUpLife,
        Counts { instructions: 2_040_217, read_misses: 12_343, write_misses: 374 };

    // 99 instructions a node: two reads, and a write.
    list_outside at nodes_10000: ListOutside,
        Counts { instructions: 992_036, read_misses: 6_913, write_misses: 2_082 };

    // A leaf gets another parent, and all nodes are visited: 50 instructions a node, 31 of them for
    // the runs of the plan. A whole plan took 249.
    levels_kept at nodes_100000: LevelsKept,
        Counts { instructions: 5_005_387, read_misses: 52_966, write_misses: 50_559 };

    // The same, and the leaf alone is visited: its chunk, a block of relations, and a look at the
    // versions of all chunks.
    changed_levels_kept at nodes_100000: ChangedLevelsKept,
        Counts { instructions: 131_907, read_misses: 1_280, write_misses: 333 };

    // All 100,000 rows would be 18,750 lines; the cache still holds a part of the few changed ones.
    changed at rows_1000_of_100000: Changed,
        Counts { instructions: 5_507, read_misses: 428, write_misses: 18 };

    // 440 instructions a row. Each is in a chunk and a line of its own.
    changed_scattered at rows_1000_of_100000: WriteAndVisit,
        Counts { instructions: 439_853, read_misses: 5_673, write_misses: 183 };

    // 1,165 instructions a world.
    world_new at worlds_100: NewWorlds,
        Counts { instructions: 116_531, read_misses: 0, write_misses: 0 };

    // 429 instructions a pair by the world, 372 in a system, with the notes of new members.
    sparse_by_world at pairs_1000_of_10000: SparseByWorld,
        Counts { instructions: 429_051, read_misses: 4_177, write_misses: 217 };

    sparse_by_system at pairs_1000_of_10000: SparseBySystem,
        Counts { instructions: 372_139, read_misses: 6_431, write_misses: 384 };

    // Ten members, found by their set: no chunk without one is looked at.
    sparse_few at rows_10_of_100000: FewMembers,
        Counts { instructions: 6_736, read_misses: 3, write_misses: 38 };

    // 894 instructions and 1.76 lines a pair. 82 of the instructions are there because a chunk may
    // lie in an extent, 17 because slots may be far, 10 because the blocks of a list keep their
    // layout, 5 because one error serves insert and remove, and 41 because rows may have enable
    // bits, cleanup components, and readers of added and removed rows.
    // The last 18 came in two changes of other code, and not in builds without LTO.
    add_remove at pairs_10000: AddRemove,
        Counts { instructions: 8_941_413, read_misses: 10_190, write_misses: 7_449 };

    // 361 instructions and 6.6 lines a pair of two commands. A record takes 24 bytes and a value 8;
    // playback reads them, locations and rows from the second cache. The rest is recording, a look
    // at each pair of neighbours, and a slot for each entity.
    add_remove_commands at pairs_10000: AddRemoveCommands,
        Counts { instructions: 3_614_172, read_misses: 45_573, write_misses: 20_930 };

    // 65 instructions a row, one of them because the blocks of a list keep their layout. Rows of
    // 100 bytes alone are 15,625 lines. The path of the program moves the misses by some 100: from
    // 240 to 336 were counted.
    spawn_batch at rows_10000: SpawnBatch,
        Counts { instructions: 647_030, read_misses: 290, write_misses: 18_978 };

    // 100 children a parent, two columns and the relation: 135 instructions a child.
    spawn_children at rows_10000: SpawnChildren,
        Counts { instructions: 1_352_549, read_misses: 6_638, write_misses: 13_698 };

    // 298 instructions a row, five times those of `spawn_batch`: each spawn finds its archetype and
    // its place anew.
    spawn_one at rows_10000: SpawnOne,
        Counts { instructions: 2_978_056, read_misses: 4_608, write_misses: 23_457 };

    // 410 instructions and 8.5 lines a row, in an order that leaves gaps everywhere: two rows of
    // 100 bytes, since the last one fills the gap, and the slots of both.
    despawn_one at rows_10000: DespawnOne,
        Counts { instructions: 4_095_538, read_misses: 28_974, write_misses: 55_551 };

    churn at rows_1000_of_100000: Churn,
        Counts { instructions: 542_387, read_misses: 6_373, write_misses: 6_584 };

    // More instructions than `churn`, for prefetches, which are counted as misses. Each entity that
    // goes is in one of 26 archetypes, and so is each that comes: 13.8 lines of slots, rows, stamps
    // and homes, in a random order. With prefetches half as far ahead 1.4 less, in the same time.
    churn_batch at rows_1000_of_100000: ChurnBatch,
        Counts { instructions: 661_497, read_misses: 7_001, write_misses: 6_794 };

    // As `churn_batch`, with two records and a value for each entity that is replaced.
    churn_commands at rows_1000_of_100000: ChurnCommands,
        Counts { instructions: 1_070_690, read_misses: 10_356, write_misses: 7_083 };

    // 837 instructions a pair, each finished before the next.
    add_and_remove at pairs_10000: AddAndRemove,
        Counts { instructions: 8_365_115, read_misses: 3_752, write_misses: 1_250 };

    // 1,076 instructions a pair, 239 of them because the archetype gets its first row and loses its
    // last.
    add_and_empty at pairs_10000: AddAndRemove,
        Counts { instructions: 10_755_115, read_misses: 3_752, write_misses: 1_249 };

    // 261 instructions a query of two archetypes, with the loops over 20 rows of each, four of them
    // because plans are allocated for the first query, and eight because a filter may bring the set
    // of a sparse component; a query of 26 archetypes is `fragmented_iter`.
    pass_start at starts_100: PassStart,
        Counts { instructions: 26_138, read_misses: 0, write_misses: 6 };
}
