//! A set of component ids as a bit set: the identity of an archetype.

use core::fmt;

use super::ComponentId;

/// A set of components: bit `i` of the words is component `i`.
///
/// The last word is not zero, so equal sets have equal words, and a set of low ids is one word long
/// however many component types the world has.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct ComponentSet {
    words: Vec<u64>,
}

const WORD_BITS: usize = u64::BITS as usize;

impl ComponentSet {
    /// Adds `id`. Returns whether it was new.
    pub(crate) fn insert(&mut self, id: ComponentId) -> bool {
        debug_assert_ne!(id, ComponentId::UNKNOWN, "an unknown type was added to a set");
        let (word, bit) = split(id);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let was = self.words[word];
        self.words[word] = was | bit;
        was & bit == 0
    }

    /// Removes `id`. Returns whether it was a member.
    pub(crate) fn remove(&mut self, id: ComponentId) -> bool {
        let (word, bit) = split(id);
        let Some(was) = self.words.get_mut(word) else {
            return false;
        };
        let found = *was & bit != 0;
        *was &= !bit;
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        found
    }

    #[inline]
    pub(crate) fn contains(&self, id: ComponentId) -> bool {
        let (word, bit) = split(id);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether every member of `other` is a member.
    #[inline]
    pub(crate) fn contains_all(&self, other: &Self) -> bool {
        // The last word of `other` is not zero, so a set of fewer words lacks a member of it.
        other.words.len() <= self.words.len()
            && self.words.iter().zip(&other.words).all(|(mine, theirs)| theirs & !mine == 0)
    }

    /// Whether a member of `other` is a member.
    #[inline]
    pub(crate) fn contains_any(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// The number of members less than `id`, if `id` is a member: the index of its column.
    #[inline]
    pub(crate) fn rank(&self, id: ComponentId) -> Option<usize> {
        let (word, bit) = split(id);
        let last = *self.words.get(word)?;
        if last & bit == 0 {
            return None;
        }
        let below = self.words[..word].iter().map(|w| w.count_ones()).sum::<u32>();
        Some((below + (last & (bit - 1)).count_ones()) as usize)
    }

    /// One more than the highest member.
    fn end(&self) -> usize {
        let unused = self.words.last().map_or(0, |last| last.leading_zeros() as usize);
        self.words.len() * WORD_BITS - unused
    }

    /// The members in ascending order, without spare capacity.
    pub(crate) fn to_list(&self) -> Box<[ComponentId]> {
        let mut list = Vec::with_capacity(self.len());
        list.extend(self.iter());
        list.into()
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.words.iter().enumerate().flat_map(|(word, &bits)| {
            core::iter::successors((bits != 0).then_some(bits), |&b| {
                let rest = b & (b - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |b| id_at(word, b.trailing_zeros()))
        })
    }
}

/// The ranks of a set's members as a table: baseline x86-64 has no instruction that counts bits,
/// and without one a rank took some 30 instructions of each read by entity.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// The rank of each id below `LOW`, up to the highest of the set.
    low: Box<[u16]>,
}

impl Ranks {
    /// Ids below this are in the table: at most 512 bytes a set, mostly fewer than 64.
    const LOW: usize = 256;
    const ABSENT: u16 = u16::MAX;

    pub(crate) fn new(set: &ComponentSet) -> Self {
        let mut low = vec![Self::ABSENT; set.end().min(Self::LOW)].into_boxed_slice();
        for (rank, id) in (0..).zip(set.iter().take_while(|id| id.index() < Self::LOW)) {
            low[id.index()] = rank;
        }
        Self { low }
    }

    /// [`ComponentSet::rank`] of `set`, which must be the set of this table.
    #[inline]
    pub(crate) fn get(&self, set: &ComponentSet, id: ComponentId) -> Option<u16> {
        match self.low.get(id.index()) {
            Some(&rank) => (rank != Self::ABSENT).then_some(rank),
            None => Self::count(set, id),
        }
    }

    #[cold]
    fn count(set: &ComponentSet, id: ComponentId) -> Option<u16> {
        // Ids are less than 65,535, so ranks are 16 bits wide.
        set.rank(id).map(|rank| u16::try_from(rank).expect("the rank exceeds 16 bits"))
    }
}

#[inline]
const fn split(id: ComponentId) -> (usize, u64) {
    (id.index() / WORD_BITS, 1 << (id.index() % WORD_BITS))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a word exists only for an inserted id, which is a u32"
)]
const fn id_at(word: usize, bit: u32) -> ComponentId {
    ComponentId((word * WORD_BITS) as u32 + bit)
}

impl FromIterator<ComponentId> for ComponentSet {
    fn from_iter<I: IntoIterator<Item = ComponentId>>(ids: I) -> Self {
        let mut set = Self::default();
        for id in ids {
            set.insert(id);
        }
        set
    }
}

impl fmt::Debug for ComponentSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(ids: impl IntoIterator<Item = u32>) -> ComponentSet {
        ids.into_iter().map(ComponentId).collect()
    }

    #[test]
    fn word_boundaries_are_ordinary_members() {
        let edges = set([0, 63, 64, 127, 511, 512, 4095]);
        for id in [0, 63, 64, 127, 511, 512, 4095] {
            assert!(edges.contains(ComponentId(id)), "{id}");
        }
        for id in [1, 62, 65, 510, 513, 4094, 4096] {
            assert!(!edges.contains(ComponentId(id)), "{id}");
        }
        assert!(!edges.contains(ComponentId::UNKNOWN), "unknown types are in no set");
        assert_eq!(edges.rank(ComponentId(511)), Some(4));
        assert_eq!(edges.rank(ComponentId(510)), None);
    }

    #[test]
    fn removing_the_highest_member_shortens_the_words() {
        let mut long = set([3, 700]);
        assert!(long.remove(ComponentId(700)), "was there");
        assert!(!long.remove(ComponentId(700)), "is gone");
        assert_eq!(long, set([3]));
        assert!(!set([3]).remove(ComponentId(700)), "never was");
    }

    proptest! {
        #[test]
        fn a_component_set_is_a_set(
            a in proptest::collection::btree_set(0u32..600, 0..20),
            b in proptest::collection::btree_set(0u32..600, 0..20),
        ) {
            let (sa, sb) = (set(a.iter().copied()), set(b.iter().copied()));
            prop_assert_eq!(sa.iter().map(|id| id.0).collect::<BTreeSet<_>>(), a.clone());
            for id in 0..600 {
                prop_assert_eq!(sa.contains(ComponentId(id)), a.contains(&id));
            }
            prop_assert_eq!(sa == sb, a == b);
            prop_assert_eq!(sa.len(), a.len());
            prop_assert_eq!(sa.contains_all(&sb), a.is_superset(&b));
            prop_assert!(sa.contains_all(&set(a.intersection(&b).copied())));
            prop_assert_eq!(sa.contains_any(&sb), !a.is_disjoint(&b));
            prop_assert_eq!(sa.end(), a.last().map_or(0, |&id| id as usize + 1));
            prop_assert!(sa.to_list().iter().map(|id| id.0).eq(a.iter().copied()));
            let ranks = Ranks::new(&sa);
            for id in (0..600).chain([u32::MAX]).map(ComponentId) {
                prop_assert_eq!(ranks.get(&sa, id).map(usize::from), sa.rank(id));
            }
            for (rank, &id) in a.iter().enumerate() {
                prop_assert_eq!(sa.rank(ComponentId(id)), Some(rank));
            }
        }
    }
}
