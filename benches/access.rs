//! Reading by entity, beside the limit: `common/access.rs` has the workloads.
//!
//!     cargo bench --bench access -- random_get/100000/phalanx_lookup

mod common;

fn main() {
    common::criterion_main(&common::access::workloads());
}
