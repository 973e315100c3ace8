//! The form of the example `replicate` that XORs states: round trips of any bytes.

use crate::xor::{decode, encode};
use proptest::collection::vec;
use proptest::prelude::*;

const LEN_MAX: usize = 1 << 16;

/// Pseudo-random bytes without repetitions.
fn noise(len: usize) -> Vec<u8> {
    let words = (0u64..).flat_map(|i| {
        let word = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (word ^ word >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes()
    });
    words.take(len).collect()
}

#[test]
fn what_is_equal_takes_no_space() {
    let old = noise(40_000);
    let encoded = encode(&old, &old);
    assert!(encoded.len() < 16, "{}", encoded.len());
    assert_eq!(decode(&old, &encoded, LEN_MAX), Some(old));
}

#[test]
fn what_has_moved_is_found() {
    let old = noise(40_000);
    for rows in [-100, -1, 1, 100_i32] {
        let at = 8000;
        let mut new = old.clone();
        let len = 8 * rows.unsigned_abs() as usize;
        if rows > 0 {
            new.splice(at..at, vec![7; len]);
        } else {
            new.drain(at..at + len);
        }
        let encoded = encode(&old, &new);
        // The rows that are new, and the block around each end.
        assert!(encoded.len() < 2 * len + 1024, "{rows}: {}", encoded.len());
        assert_eq!(decode(&old, &encoded, LEN_MAX).as_ref(), Some(&new));
    }
}

#[test]
fn what_is_too_long_or_cut_off_is_refused() {
    let (old, new) = (noise(3000), noise(5000));
    let encoded = encode(&old, &new);
    assert_eq!(decode(&old, &encoded, 4999), None);
    assert!((0..encoded.len()).all(|len| decode(&old, &encoded[..len], LEN_MAX).is_none()));
    let longer = [&encoded[..], &[0]].concat();
    assert_eq!(decode(&old, &longer, LEN_MAX), None);
    assert_eq!(decode(&old, &encoded, 5000), Some(new));
}

proptest! {
    #[test]
    fn what_was_encoded_is_decoded(
        old in vec(0..3u8, 0..3000),
        edits in vec((0..3000usize, 0..40usize, vec(any::<u8>(), 0..40)), 0..8),
    ) {
        let mut new = old.clone();
        for (at, removed, inserted) in edits {
            let at = at.min(new.len());
            let end = (at + removed).min(new.len());
            new.splice(at..end, inserted);
        }
        let encoded = encode(&old, &new);
        prop_assert_eq!(decode(&old, &encoded, LEN_MAX), Some(new));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(
        old in vec(any::<u8>(), 0..600),
        bytes in vec(prop_oneof![any::<u8>(), 0..4u8], 0..60),
    ) {
        let decoded = decode(&old, &bytes, LEN_MAX);
        prop_assert!(decoded.is_none_or(|new| new.len() <= LEN_MAX));
    }
}
