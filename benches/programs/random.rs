//! Disorder that is the same in every run.

/// A xorshift generator: enough disorder for a lookup order.
pub fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// A generator of indices below a length.
pub fn random_index() -> impl FnMut(usize) -> usize {
    let mut random = random(0x1234_5678_9ABC_DEF1);
    move |len| {
        let high = random() >> 33;
        usize::try_from(high % len as u64).expect("an index is below the length")
    }
}

/// `reads` indices below `len`, in random order.
pub fn random_indices(len: usize, reads: usize) -> impl Iterator<Item = usize> {
    let mut random = random_index();
    (0..reads).map(move |_| random(len))
}
