//! Structural changes, one entity at a time and in batches, beside the limit: `common/structure.rs`
//! and `common/batch.rs` have the workloads.
//!
//!     cargo bench --bench structure -- ^add_remove/

mod common;

fn main() {
    use common::{batch, structure};
    let parts = [structure::workloads(), batch::workloads()];
    common::criterion_main(&parts.into_iter().flatten().collect::<Vec<_>>());
}
