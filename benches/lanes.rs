//! Explicit vectors against plain loops, in two builds: `common/lanes.rs` has the workloads.
//!
//!     cargo bench --bench lanes -- ^lanes_select/
//!     RUSTFLAGS='-C target-cpu=x86-64-v3' cargo bench --bench lanes

mod common;

fn main() {
    common::criterion_main(&common::lanes::workloads());
}
