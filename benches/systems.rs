//! Systems through a schedule against calls one after another: `common/systems.rs` has the
//! workloads.
//!
//!     cargo bench --bench systems

mod common;

fn main() {
    common::criterion_main(&common::systems::workloads());
}
