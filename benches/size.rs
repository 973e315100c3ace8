//! Cost against size, from 1,000 rows to 8,000,000: `common/size.rs` has the workload.
//!
//!     cargo bench --bench size -- ^size/phalanx/

mod common;

fn main() {
    common::criterion_main(&common::size::workloads());
}
