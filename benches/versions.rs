//! Change filters, beside the limit: `common/versions.rs` has the workloads.
//!
//!     cargo bench --bench versions -- changed_filter_scan

mod common;

fn main() {
    common::criterion_main(&common::versions::workloads());
}
