//! A hash of a state.

/// The hash FNV-1a, word by word: the same for the same words in the same order.
#[must_use]
pub fn fnv1a(words: impl IntoIterator<Item = u32>) -> u64 {
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3)
    })
}
