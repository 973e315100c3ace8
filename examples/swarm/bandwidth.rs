//! What the machine's memory can do: the yardstick that kernels are held against.

use crate::stopwatch::median;
use rayon::prelude::*;
use std::time::Instant;

/// More than any last-level cache that an ordinary machine has.
const BUFFER_BYTES: usize = 128 << 20;
/// What one thread copies at a time.
const PIECE_BYTES: usize = 1 << 20;
const COPIES: usize = 9;

/// Bytes a second of a plain copy from memory to memory, on the threads of the current pool: the
/// median of several. Both what is read and what is written counts, as it does for kernels.
pub(crate) fn copy(parallel: bool) -> f64 {
    // Pages of zeros might all be one page, which the cache would hold; pages of ones are many.
    let source = vec![1_u8; BUFFER_BYTES];
    let mut target = vec![2_u8; BUFFER_BYTES];
    let rates = (0..COPIES).map(|_| {
        let start = Instant::now();
        if parallel {
            let pieces = source.par_chunks(PIECE_BYTES);
            target.par_chunks_mut(PIECE_BYTES).zip(pieces).for_each(|(t, s)| t.copy_from_slice(s));
        } else {
            target.copy_from_slice(&source);
        }
        std::hint::black_box(&mut target);
        2.0 * BUFFER_BYTES as f64 / start.elapsed().as_secs_f64()
    });
    median(rates).expect("there was a copy")
}
