//! Cost against size: where the caches end.
//!
//! `position += velocity * dt` over 24 bytes a row. Whatever the size, a pass moves 8,000,000 rows,
//! small worlds over and over. So the curve of the times is flat but for the caches: it rises where
//! the rows no longer fit into one. 48 KiB hold 2,000 rows, 1 MiB 43,000, 32 MiB 1,400,000.

use super::iterate::{flat_pos_vel, our_pos_vel};
use super::sides::Workload;

/// Rows that a pass moves. Every size divides it.
const MOVED: usize = 8_000_000;

const SIZES: [usize; 14] = [
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 125_000, 250_000, 500_000, 1_000_000,
    2_000_000, 4_000_000, 8_000_000,
];

const _: () = {
    let mut i = 0;
    while i < SIZES.len() {
        assert!(MOVED.is_multiple_of(SIZES[i]), "whole rounds");
        i += 1;
    }
};

/// The workloads of this file.
pub(crate) fn workloads() -> Vec<Workload> {
    SIZES.map(size).into()
}

fn size(len: usize) -> Workload {
    let rounds = (MOVED / len) as u64;
    Workload::new("size", len, MOVED)
        .limit(move || flat_pos_vel(len, rounds))
        .phalanx("phalanx", move |chunk| our_pos_vel(chunk, len, rounds))
        .phalanx_at("phalanx_256KiB", 256, move |chunk| our_pos_vel(chunk, len, rounds))
}
