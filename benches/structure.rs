//! Structural changes, one entity at a time, in batches and by query, beside the limit:
//! `common/structure.rs`, `common/batch.rs` and `common/bulk.rs` have the workloads.
//!
//!     cargo bench --bench structure -- ^add_remove/

mod common;

fn main() {
    use common::{batch, bulk, structure};
    let parts = [structure::workloads(), batch::workloads(), bulk::workloads()];
    common::criterion_main(&parts.into_iter().flatten().collect::<Vec<_>>());
}
