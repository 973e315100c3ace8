//! Atomic words, saved and loaded again.

use core::sync::atomic::{AtomicU64, Ordering};

/// Appends words.
pub(super) fn save(words: &[AtomicU64], to: &mut Vec<u64>) {
    to.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
}

/// Sets words from words that [`save`] has written for the same number, and removes them from the
/// front.
///
/// # Panics
///
/// If there are fewer.
pub(super) fn load(words: &mut [AtomicU64], saved: &mut &[u64]) {
    let own = saved.split_off(..words.len()).expect("there are words of each chunk");
    words.iter_mut().zip(own).for_each(|(word, &bits)| *word.get_mut() = bits);
}
