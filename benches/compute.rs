//! Heavy arithmetic, and kernels at each instruction set: `common/heavy.rs` and `common/levels.rs`
//! have the workloads.
//!
//!     cargo bench --bench compute -- ^level_

mod common;

fn main() {
    use common::{heavy, levels};
    let parts = [heavy::workloads(), levels::workloads()];
    common::criterion_main(&parts.into_iter().flatten().collect::<Vec<_>>());
}
