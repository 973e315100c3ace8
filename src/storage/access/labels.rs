//! The labels of a map's entries, in ascending order, and the entry of a label.
//!
//! ```text
//!  labels    0  3  5 │ 64  70 │ 130 …
//!  bits      101001  │ 1000001│ 100…        a word for each 64 labels
//!  before    0       │ 3      │ 5           entries with labels below the word's
//! ```
//!
//! A plan that matches one archetype in four of ten thousand has 2,500 entries. A new archetype in
//! such a world moves an entity from an old one, and every plan asks whether it has an entry of
//! that: most have not, which one bit tells. A binary search takes twelve steps.

/// Ascending labels, numbered in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// A bit for each label.
    bits: Vec<u64>,
    /// The number of labels in the words before each word.
    before: Vec<u32>,
    len: u32,
}

/// The word of a label, and its bit there.
#[inline]
const fn split(label: u32) -> (usize, u64) {
    ((label / u64::BITS) as usize, 1 << (label % u64::BITS))
}

impl Labels {
    /// Adds a label. Returns `false`, and adds nothing, if it is not greater than the last one.
    pub(super) fn push(&mut self, label: u32) -> bool {
        let (word, bit) = split(label);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
            self.before.resize(word + 1, self.len);
        } else if word + 1 < self.bits.len() || self.bits[word] >= bit {
            return false;
        }
        self.bits[word] |= bit;
        self.len += 1;
        true
    }

    /// The number of a label.
    #[inline]
    pub(super) fn find(&self, label: u32) -> Option<usize> {
        let (word, bit) = split(label);
        let bits = *self.bits.get(word)?;
        let below = (bits & (bit - 1)).count_ones();
        (bits & bit != 0).then(|| (self.before[word] + below) as usize)
    }

    /// Allocated bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>() + self.before.capacity() * size_of::<u32>()
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
