//! Every workload, with phalanx and beside its limit: one program, under Criterion.
//!
//!     cargo bench
//!     cargo bench -- '^pos_vel/.*0100000'
//!     cargo bench -- --limits
//!
//! A module of `common` has the workloads of one idea. `--limits` prints a table of ratios in place
//! of Criterion's output, with options of its own.

mod common;

use common::{criterion_main, limits, settle_heap, workloads};

fn main() {
    settle_heap();
    if limits::are_asked_for() {
        limits::print(workloads());
    } else {
        criterion_main(&workloads());
    }
}
