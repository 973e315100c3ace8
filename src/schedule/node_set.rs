//! A set of nodes, as bits.

/// Nodes of an order by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSet {
    /// Bit `i % 64` of word `i / 64` is node `i`. Nodes past the last word are not members.
    words: Vec<u64>,
}

impl NodeSet {
    pub(super) fn insert(&mut self, node: usize) {
        let word = node / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (node % 64);
    }

    pub(super) fn contains(&self, node: usize) -> bool {
        self.words.get(node / 64).is_some_and(|word| word & (1 << (node % 64)) != 0)
    }

    /// Adds the members of another set. O(nodes / 64).
    pub(super) fn unite(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, more)| *word |= more);
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// The member with the highest number that `other` lacks. O(nodes / 64).
    pub(super) fn last_outside(&self, other: &Self) -> Option<usize> {
        let of_other = |at: usize| other.words.get(at).copied().unwrap_or(0);
        let words = self.words.iter().enumerate().rev();
        let mut outside = words.map(|(at, word)| (at, word & !of_other(at)));
        let (at, word) = outside.find(|&(_, word)| word != 0)?;
        Some(64 * at + word.ilog2() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[usize]) -> NodeSet {
        let mut set = NodeSet::default();
        nodes.iter().for_each(|&node| set.insert(node));
        set
    }

    #[test]
    fn sets_of_unequal_lengths_are_united_and_compared() {
        let mut some = set(&[1, 63]);
        assert_eq!(some.last_outside(&set(&[])), Some(63));
        assert_eq!(some.last_outside(&set(&[63, 200])), Some(1));
        some.unite(&set(&[64, 130]));
        assert!(some.contains(130) && some.contains(1) && !some.contains(2));
        assert_eq!(some.last_outside(&set(&[1, 130])), Some(64));
        assert_eq!(some.last_outside(&some.clone()), None);
        some.clear();
        assert!(!some.contains(1) && !some.contains(1000));
    }
}
