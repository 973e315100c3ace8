//! Loops over columns, beside the limit: `common/iterate.rs` and `common/schedule.rs` have the workloads.
//!
//!     cargo bench --bench iterate -- '^pos_vel/.*0100000'
//!     cargo bench --bench iterate -- ^fragmented_iter/

mod common;

fn main() {
    use common::{iterate, schedule};
    let parts = [iterate::workloads(), schedule::workloads()];
    common::criterion_main(&parts.into_iter().flatten().collect::<Vec<_>>());
}
