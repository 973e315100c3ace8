//! The labels of a map's entries, in ascending order, and the entry of a label.
//!
//! ```text
//!  labels    0  3  5 │ 8  14 │ 17 …
//!  bits      10010100│1000001│ 01…         a byte for each 8 labels
//!  before    0       │ 3     │ 5           entries with labels below the byte's
//! ```
//!
//! A plan that matches one archetype in four of ten thousand has 2,500 entries. A new archetype in
//! such a world moves an entity from an old one, and every plan asks whether it has an entry of
//! that: most have not, which one bit tells. A binary search takes twelve steps. Bytes, because
//! baseline x86-64 has no instruction that counts bits: 16 instructions count those of a word, and
//! one load from a table of 256 bytes those of a byte.

/// The number of bits of each byte.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut byte = 1;
    while byte < ones.len() {
        ones[byte] = ones[byte / 2] + if byte % 2 == 1 { 1 } else { 0 };
        byte += 1;
    }
    ones
};

/// Ascending labels, numbered in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    words: Vec<Word>,
    len: u32,
}

/// Some labels that follow each other.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// A bit for each label.
    bits: u8,
    /// The number of labels in the words before.
    before: u32,
}

/// The word of a label, and its bit there.
#[inline]
const fn split(label: u32) -> (usize, u8) {
    ((label / u8::BITS) as usize, 1 << (label % u8::BITS))
}

impl Labels {
    /// Adds a label. Returns `false`, and adds nothing, if it is not greater than the last one.
    pub(super) fn push(&mut self, label: u32) -> bool {
        let (word, bit) = split(label);
        if word >= self.words.len() {
            self.words.resize(word + 1, Word { bits: 0, before: self.len });
        } else if word + 1 < self.words.len() || self.words[word].bits >= bit {
            return false;
        }
        self.words[word].bits |= bit;
        self.len += 1;
        true
    }

    /// Removes the labels from this one on. O(labels that are removed).
    pub(super) fn truncate(&mut self, label: u32) {
        let (word, bit) = split(label);
        let Some(last) = self.words.get_mut(word) else { return };
        last.bits &= bit - 1;
        self.len = last.before + last.bits.count_ones();
        // A word without labels at the end would refuse the next label, if it is in one before.
        let used = self.words[..=word].iter().rposition(|word| word.bits != 0);
        self.words.truncate(used.map_or(0, |last| last + 1));
    }

    /// The number of a label.
    #[inline]
    pub(super) fn find(&self, label: u32) -> Option<usize> {
        let (word, bit) = split(label);
        let Word { bits, before } = *self.words.get(word)?;
        (bits & bit != 0)
            .then(|| before as usize + usize::from(ONES[usize::from(bits & (bit - 1))]))
    }

    /// Allocated bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_label_that_does_not_ascend_is_refused() {
        let mut labels = Labels::default();
        assert!([3, 64, 66].into_iter().all(|label| labels.push(label)));
        assert!([66, 65, 64, 3, 2, 0].into_iter().all(|label| !labels.push(label)));
        assert_eq!(
            [3, 64, 66, 65].map(|label| labels.find(label)),
            [Some(0), Some(1), Some(2), None]
        );
    }

    proptest! {
        #[test]
        fn labels_are_found_as_in_a_sorted_list(
            set in proptest::collection::btree_set(0u32..700, 0..200),
            cut in 0u32..800,
        ) {
            let mut labels = Labels::default();
            let sorted: Vec<_> = set.into_iter().collect();
            for &label in &sorted {
                prop_assert!(labels.push(label));
            }
            for label in 0..800 {
                prop_assert_eq!(labels.find(label), sorted.binary_search(&label).ok());
            }
            labels.truncate(cut);
            for label in 0..800 {
                let found = sorted.binary_search(&label).ok().filter(|_| label < cut);
                prop_assert_eq!(labels.find(label), found);
            }
            // Any label after the last one that is left, also one below the cut.
            let mut again = labels.clone();
            let next = sorted.iter().rfind(|&&label| label < cut).map_or(0, |&last| last + 1);
            let left = sorted.partition_point(|&label| label < cut);
            prop_assert!(again.push(next));
            prop_assert_eq!(again.find(next), Some(left));
            for &label in sorted.iter().filter(|&&label| label >= cut) {
                prop_assert!(labels.push(label));
            }
            for label in 0..800 {
                prop_assert_eq!(labels.find(label), sorted.binary_search(&label).ok());
            }
        }
    }
}
