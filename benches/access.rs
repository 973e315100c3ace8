//! Reading and writing by entity, in random order, beside the limit: `common/access.rs` has the workloads.
//!
//!     cargo bench --bench access -- ^random_get/phalanx_lookup

mod common;

fn main() {
    common::criterion_main(&common::access::workloads());
}
