//! Structural changes, one entity at a time, beside the limit: `common/structure.rs` has the workloads.
//!
//!     cargo bench --bench structure -- add_remove

mod common;

fn main() {
    common::criterion_main(&common::structure::workloads());
}
