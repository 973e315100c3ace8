//! Rows that are within their limits: `cargo bench --bench misses`.

use std::process::ExitCode;

mod rows;

fn main() -> ExitCode {
    phalanx_cachegrind::main(rows::rows())
}
