//! The same rows, counted by iai-callgrind: `cargo bench --bench callgrind`.

use iai_callgrind::{
    Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use phalanx_cachegrind::WarmRow;

mod rows;

fn warm(name: &str) -> WarmRow {
    WarmRow::new(rows::rows(), name)
}

#[library_benchmark(setup = warm, teardown = WarmRow::check)]
#[benches::of(args = ["step", "n_body_scalar", "n_body_vectors"])]
fn row(row: WarmRow) -> WarmRow {
    row.pass()
}

library_benchmark_group!(name = rows_of_client; benchmarks = row);

main!(
    config = LibraryBenchmarkConfig::default()
        .env("PHALANX_LEVEL", "avx2")
        .tool(Callgrind::with_args([
            "--cache-sim=yes",
            "--I1=32768,8,64",
            "--D1=32768,8,64",
            "--LL=33554432,16,64",
        ]));
    library_benchmark_groups = rows_of_client
);
