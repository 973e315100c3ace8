//! Chunks, rows and ids of the same entities, beside the limit: `common/rows.rs` has the workloads.
//!
//!     cargo bench --bench rows -- ^each_write/

mod common;

fn main() {
    common::criterion_main(&common::rows::workloads());
}
