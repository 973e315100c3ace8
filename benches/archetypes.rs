//! Many archetypes, beside the limit: `common/archetypes.rs` has the workloads.
//!
//!     cargo bench --bench archetypes -- '^many_archetypes/.*4096'

mod common;

fn main() {
    common::criterion_main(&common::archetypes::workloads());
}
