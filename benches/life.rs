//! Conway's Life, one entity a cell, beside the limit: `common/life.rs` has the workloads.
//!
//!     cargo bench --bench life -- ^life_by_rows/

mod common;

fn main() {
    common::criterion_main(&common::life::workloads());
}
