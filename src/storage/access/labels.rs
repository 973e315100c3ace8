//! The labels of a map's entries, in ascending order, and the entry of a label.
//!
//! ```text
//!  labels    0  3  5 │ 32  38 │ 66 …
//!  bits      101001  │ 1000001│ 001…        a word for each 32 labels
//!  before    0       │ 3      │ 5           entries with labels below the word's
//! ```
//!
//! A plan that matches one archetype in four of ten thousand has 2,500 entries. A new archetype in
//! such a world moves an entity from an old one, and every plan asks whether it has an entry of
//! that: most have not, which one bit tells. A binary search takes twelve steps. Words of 32 bits,
//! because baseline x86-64 has no instruction that counts bits, and counts 64 in twice the time.

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
    bits: u32,
    /// The number of labels in the words before.
    before: u32,
}

/// The word of a label, and its bit there.
#[inline]
const fn split(label: u32) -> (usize, u32) {
    ((label / u32::BITS) as usize, 1 << (label % u32::BITS))
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

    /// The number of a label.
    #[inline]
    pub(super) fn find(&self, label: u32) -> Option<usize> {
        let (word, bit) = split(label);
        let Word { bits, before } = *self.words.get(word)?;
        (bits & bit != 0).then(|| (before + (bits & (bit - 1)).count_ones()) as usize)
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
        ) {
            let mut labels = Labels::default();
            let sorted: Vec<_> = set.into_iter().collect();
            for &label in &sorted {
                prop_assert!(labels.push(label));
            }
            for label in 0..800 {
                prop_assert_eq!(labels.find(label), sorted.binary_search(&label).ok());
            }
        }
    }
}
