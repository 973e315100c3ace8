//! Instructions and cache misses of the main kernels, counted by callgrind, with limits.
//!
//!     cachegrind/install                          once: valgrind and the runner
//!     cargo bench --bench misses
//!     cargo bench --bench misses -- '*pos_vel*'
//!
//! A count does not depend on how busy the machine is, so the limits are tight: a few per cent
//! above what the commit that set them did. Above one, the run fails and says which. Worlds are
//! made, and kernels run once, before counting begins; what was computed is checked afterwards.
//!
//! The caches are given: 32 KiB of eight ways and 32 MiB of sixteen, 64-byte lines. Valgrind knows
//! no AVX-512, so the level is AVX2 on every machine. Without `--bench`, as `cargo test --benches`
//! has it, every kernel runs once without valgrind and its result is checked.

use std::env;
use std::process::{Command, Stdio, exit};

#[path = "misses/kernels.rs"]
mod kernels;

mod common;

use kernels::{
    AddRemove, Changed, FragmentedIter, Kernel, ManyArchetypes, PosVel, RandomLookup, Ready,
    SimpleIter, SpawnBatch,
};

fn main() {
    let is_given = |wanted: &str| env::args().skip(1).any(|argument| argument == wanted);
    if is_given("--iai-run") {
        // The runner has started this program again under valgrind, for one benchmark.
        counted::run();
    } else if is_given("--bench") {
        if let Some(missing) = missing_valgrind().or_else(missing_runner) {
            eprintln!("misses: {missing}: run cachegrind/install");
            exit(2);
        }
        counted::run();
    } else {
        run_natively();
    }
}

/// Runs and checks each kernel without valgrind.
fn run_natively() {
    fn once<K: Kernel>(name: &str) {
        let mut ready = Ready::<K>::cold();
        ready.pass();
        ready.check();
        println!("{name}: ok");
    }
    once::<PosVel>("pos_vel");
    once::<SimpleIter>("simple_iter");
    once::<FragmentedIter>("fragmented_iter");
    once::<ManyArchetypes>("many_archetypes");
    once::<RandomLookup>("random_lookup");
    once::<Changed>("changed");
    once::<AddRemove>("add_remove");
    once::<SpawnBatch>("spawn_batch");
}

/// What is wrong with valgrind, if anything is.
fn missing_valgrind() -> Option<String> {
    let found = Command::new("valgrind").arg("--version").output();
    let works = found.as_ref().is_ok_and(|output| output.status.success());
    (!works).then(|| "there is no valgrind".to_owned())
}

/// What is wrong with the runner, if anything is: it must have the version of the library.
///
/// It takes its first argument for the version of the library, and complains with its own.
fn missing_runner() -> Option<String> {
    const NAME: &str = "iai-callgrind-runner";
    let wanted = locked_version("iai-callgrind");
    let Ok(output) = Command::new(NAME).arg("--version").stdin(Stdio::null()).output() else {
        return Some(format!("there is no {NAME} {wanted}"));
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let version = said.split_once(&format!("{NAME} (")).and_then(|(_, rest)| rest.split_once(')'));
    match version {
        Some((version, _)) if version == wanted => None,
        Some((version, _)) => Some(format!("{NAME} is {version}, and must be {wanted}")),
        None => Some(format!("{NAME} does not say its version, and must be {wanted}")),
    }
}

/// The version of a package in the lock file.
fn locked_version(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let (_, rest) =
        lock.split_once(&format!("name = \"{package}\"\nversion = \"")).expect("locked");
    rest.split('"').next().expect("a version")
}

/// The benchmarks as iai-callgrind wants them. Its `main!` makes a `main` of its own.
mod counted {
    use iai_callgrind::{
        Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group,
        main,
    };

    use super::*;

    /// Runs the benchmark that the arguments name, or hands over to the runner.
    pub(super) fn run() {
        main();
    }

    /// At most this many instructions, read misses and write misses of the first-level cache.
    ///
    /// Above each use stands what was counted when the limits were set: instructions may grow by a
    /// twentieth, because another compiler arranges them otherwise, and misses by a fiftieth or a few.
    fn limits(instructions: u64, read_misses: u64, write_misses: u64) -> LibraryBenchmarkConfig {
        let mut callgrind = Callgrind::with_args(GEOMETRY);
        callgrind.hard_limits([
            (EventKind::Ir, instructions),
            (EventKind::D1mr, read_misses),
            (EventKind::D1mw, write_misses),
        ]);
        let mut config = LibraryBenchmarkConfig::default();
        config.tool(callgrind);
        config
    }

    /// The caches that are simulated: without them callgrind takes the machine's.
    const GEOMETRY: [&str; 4] =
        ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"];

    // 18,218, 3,772 and 2. Two columns of 10,000 x 12 bytes have 3,750 lines.
    #[library_benchmark(setup = Ready::<PosVel>::warm, teardown = Ready::<PosVel>::check)]
    #[bench::rows_10000(config = limits(19_200, 3_850, 20))]
    fn pos_vel(mut ready: Ready<PosVel>) -> Ready<PosVel> {
        ready.pass();
        ready
    }

    // 27,386, 3,783 and 8. The lines of pos_vel, in chunks that hold a quarter of the rows.
    #[library_benchmark(setup = Ready::<SimpleIter>::warm, teardown = Ready::<SimpleIter>::check)]
    #[bench::rows_10000(config = limits(28_800, 3_860, 20))]
    fn simple_iter(mut ready: Ready<SimpleIter>) -> Ready<SimpleIter> {
        ready.pass();
        ready
    }

    // 3,286, 3 and 0: all columns stay in the cache, so a miss is a turn that reads more.
    #[library_benchmark(setup = Ready::<FragmentedIter>::warm, teardown = Ready::<FragmentedIter>::check)]
    #[bench::archetypes_26(config = limits(3_450, 10, 10))]
    fn fragmented_iter(mut ready: Ready<FragmentedIter>) -> Ready<FragmentedIter> {
        ready.pass();
        ready
    }

    // 421,074, 6,278 and 4,098: 103 instructions and 2.5 lines an archetype.
    #[library_benchmark(setup = Ready::<ManyArchetypes>::warm, teardown = Ready::<ManyArchetypes>::check)]
    #[bench::archetypes_4096(config = limits(442_000, 6_500, 4_250))]
    fn many_archetypes(mut ready: Ready<ManyArchetypes>) -> Ready<ManyArchetypes> {
        ready.pass();
        ready
    }

    // 3,503,150, 223,553 and 8: 35 instructions and 2.24 lines a read.
    #[library_benchmark(setup = Ready::<RandomLookup>::warm, teardown = Ready::<RandomLookup>::check)]
    #[bench::reads_100000(config = limits(3_680_000, 232_000, 20))]
    fn random_lookup(mut ready: Ready<RandomLookup>) -> Ready<RandomLookup> {
        ready.pass();
        ready
    }

    // 12,361, 323 and 0. All 100,000 rows would be 18,750 lines; the cache still holds a part of the
    // few that changed, and how much moves a little from run to run.
    #[library_benchmark(setup = Ready::<Changed>::warm, teardown = Ready::<Changed>::check)]
    #[bench::rows_1000_of_100000(config = limits(13_000, 520, 10))]
    fn changed(mut ready: Ready<Changed>) -> Ready<Changed> {
        ready.pass();
        ready
    }

    // 15,373,963, 22,107 and 12,165: 1,537 instructions a pair, 3.4 lines.
    #[library_benchmark(setup = Ready::<AddRemove>::warm, teardown = Ready::<AddRemove>::check)]
    #[bench::pairs_10000(config = limits(16_150_000, 23_200, 12_800))]
    fn add_remove(mut ready: Ready<AddRemove>) -> Ready<AddRemove> {
        ready.pass();
        ready
    }

    // 746,290, 142 and 18,966: 75 instructions a row. Rows of 100 bytes alone are 15,625 lines.
    #[library_benchmark(setup = Ready::<SpawnBatch>::cold, teardown = Ready::<SpawnBatch>::check)]
    #[bench::rows_10000(config = limits(784_000, 200, 19_900))]
    fn spawn_batch(mut ready: Ready<SpawnBatch>) -> Ready<SpawnBatch> {
        ready.pass();
        ready
    }

    library_benchmark_group!(
        name = kernels;
        benchmarks = pos_vel, simple_iter, fragmented_iter, many_archetypes, random_lookup, changed,
            add_remove, spawn_batch
    );

    main!(
        config = LibraryBenchmarkConfig::default().env("PHALANX_LEVEL", "avx2");
        library_benchmark_groups = kernels
    );
}
