//! Filling a world, beside the limit: `common/insert.rs` has the workloads.
//!
//!     cargo bench --bench insert -- ^simple_insert_batch/

mod common;

fn main() {
    common::criterion_main(&common::insert::workloads());
}
