//! Parallel loops against serial ones by size: `common/parallel.rs` has the workloads.
//!
//!     cargo bench --bench parallel -- ^parallel_light/

mod common;

fn main() {
    common::criterion_main(&common::parallel::workloads());
}
