//! Change filters, beside the limit: `common/versions.rs` has the workloads.
//!
//!     cargo bench --bench versions -- ^changed_share/

mod common;

fn main() {
    common::criterion_main(&common::versions::workloads());
}
