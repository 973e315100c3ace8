//! Structural changes, one entity at a time, in batches, by query and through command buffers,
//! beside the limit: `common/{structure,batch,bulk,commands}.rs` have the workloads.
//!
//!     cargo bench --bench structure -- ^add_remove/

mod common;

fn main() {
    use common::{batch, bulk, commands, structure};
    let parts =
        [structure::workloads(), batch::workloads(), bulk::workloads(), commands::workloads()];
    common::criterion_main(&parts.into_iter().flatten().collect::<Vec<_>>());
}
