//! The same kernels at each instruction set of the machine: light, heavy, and a fold.
//!
//! `limit` is the loop over flat `Vec`s at AVX2, as everywhere. The data lies in the L1 cache, so
//! that the width of the vectors is what counts.

use super::heavy::{flat_matrices, our_matrices};
use super::iterate::{flat_pos_vel, flat_sum, our_pos_vel, our_sum};
use super::sides::Workload;

/// A chunk of positions and velocities holds 672.
const ROWS: usize = 600;
const MATRICES: usize = 200;
const TIMES: u32 = 10;

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("level_heavy", MATRICES, MATRICES)
            .limit(|| flat_matrices(MATRICES, TIMES))
            .phalanx_levels(|chunk| our_matrices(chunk, MATRICES, TIMES)),
        Workload::new("level_pos_vel", ROWS, ROWS)
            .limit(|| flat_pos_vel(ROWS, 1))
            .phalanx_levels(|chunk| our_pos_vel(chunk, ROWS, 1)),
        Workload::new("level_sum", ROWS, ROWS)
            .limit(|| flat_sum(ROWS))
            .phalanx_levels(|chunk| our_sum(chunk, ROWS)),
    ]
}
