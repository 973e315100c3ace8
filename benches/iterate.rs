//! Loops over columns, beside the limit: `common/iterate.rs` has the workloads.
//!
//!     cargo bench --bench iterate -- pos_vel/100000/
//!     cargo bench --bench iterate -- fragmented_iter

mod common;

fn main() {
    common::criterion_main(&common::iterate::workloads());
}
