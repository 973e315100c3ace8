//! A set of component ids: the identity of an archetype.

use core::fmt;

use super::ComponentId;

/// A set of components: bits for low ids, and a list of the others.
///
/// The components of most worlds have low ids, and their sets are compared by words. A tag of a
/// shared value has any id: with bits for all of them, 10,000 values would be sets of a kilobyte.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct ComponentSet {
    /// Bit `i` of the first [`LOW_WORDS`] is component `i`. After them come the other members, in
    /// ascending order. The last word is not zero, so equal sets have equal words.
    words: Vec<u64>,
}

const WORD_BITS: usize = u64::BITS as usize;

/// The words of bits in a set that has other members.
const LOW_WORDS: usize = 4;

impl ComponentSet {
    /// Adds `id`. Returns whether it was new.
    pub(crate) fn insert(&mut self, id: ComponentId) -> bool {
        debug_assert_ne!(id, ComponentId::UNKNOWN, "an unknown type was added to a set");
        let Some((word, bit)) = split(id) else {
            let Err(place) = self.find_high(id) else { return false };
            self.words.resize(self.words.len().max(LOW_WORDS), 0);
            self.words.insert(LOW_WORDS + place, u64::from(id.0));
            return true;
        };
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let was = self.words[word];
        self.words[word] = was | bit;
        was & bit == 0
    }

    /// Removes `id`. Returns whether it was a member.
    pub(crate) fn remove(&mut self, id: ComponentId) -> bool {
        let found = match split(id) {
            None => self.find_high(id).map(|at| self.words.remove(LOW_WORDS + at)).is_ok(),
            Some((word, bit)) => {
                let Some(was) = self.words.get_mut(word) else {
                    return false;
                };
                let found = *was & bit != 0;
                *was &= !bit;
                found
            }
        };
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        found
    }

    #[inline]
    pub(crate) fn contains(&self, id: ComponentId) -> bool {
        match split(id) {
            Some((word, bit)) => self.words.get(word).is_some_and(|w| w & bit != 0),
            None => self.find_high(id).is_ok(),
        }
    }

    /// The first word of bits.
    #[inline]
    pub(crate) fn first_word(&self) -> u64 {
        self.words.first().copied().unwrap_or(0)
    }

    /// Whether no member is beyond the first word of bits.
    pub(crate) fn is_one_word(&self) -> bool {
        self.words.len() <= 1
    }

    /// The words of bits.
    #[inline]
    fn low(&self) -> &[u64] {
        &self.words[..self.words.len().min(LOW_WORDS)]
    }

    /// The members that are not bits, in ascending order.
    #[inline]
    fn high(&self) -> &[u64] {
        self.words.get(LOW_WORDS..).unwrap_or_default()
    }

    /// The place of a member that is not a bit, or the place where it would be.
    fn find_high(&self, id: ComponentId) -> Result<usize, usize> {
        self.high().binary_search(&u64::from(id.0))
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        self.low_len() + self.high().len()
    }

    /// The number of members that are bits.
    fn low_len(&self) -> usize {
        self.low().iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether every member of `other` is a member.
    #[inline]
    pub(crate) fn contains_all(&self, other: &Self) -> bool {
        // The last word of `other` is not zero, so a set of fewer words lacks a member.
        other.words.len() <= self.words.len()
            && self.low().iter().zip(other.low()).all(|(mine, theirs)| theirs & !mine == 0)
            && other.high().iter().all(|id| self.high().binary_search(id).is_ok())
    }

    /// Whether a member of `other` is a member.
    #[inline]
    pub(crate) fn contains_any(&self, other: &Self) -> bool {
        self.low().iter().zip(other.low()).any(|(mine, theirs)| mine & theirs != 0)
            || other.high().iter().any(|id| self.high().binary_search(id).is_ok())
    }

    /// The number of members less than `id`, if `id` is a member: the index of its column.
    #[inline]
    pub(crate) fn rank(&self, id: ComponentId) -> Option<usize> {
        let Some((word, bit)) = split(id) else {
            return Some(self.low_len() + self.find_high(id).ok()?);
        };
        let last = *self.words.get(word)?;
        if last & bit == 0 {
            return None;
        }
        let below = self.words[..word].iter().map(|w| w.count_ones()).sum::<u32>();
        Some((below + (last & (bit - 1)).count_ones()) as usize)
    }

    /// One more than the highest member that is a bit.
    fn low_end(&self) -> usize {
        let last = self.low().iter().rposition(|&word| word != 0);
        last.map_or(0, |at| (at + 1) * WORD_BITS - self.words[at].leading_zeros() as usize)
    }

    /// The members in ascending order, without spare capacity.
    pub(crate) fn to_list(&self) -> Box<[ComponentId]> {
        let mut list = Vec::with_capacity(self.len());
        list.extend(self.iter());
        list.into()
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ComponentId> + '_ {
        let low = self.low().iter().enumerate().flat_map(|(word, &bits)| {
            core::iter::successors((bits != 0).then_some(bits), |&b| {
                let rest = b & (b - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |b| id_at(word, b.trailing_zeros()))
        });
        low.chain(self.high().iter().copied().map(high_id))
    }
}

/// The ranks of a set's members as a table: baseline x86-64 has no instruction that counts bits,
/// and without one a rank took some 30 instructions of each read by entity.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// The rank of each id that is a bit, up to the highest of the set: at most 512 bytes, mostly
    /// fewer than 64.
    low: Box<[u16]>,
}

impl Ranks {
    const ABSENT: u16 = u16::MAX;

    pub(crate) fn new(set: &ComponentSet) -> Self {
        let mut low = vec![Self::ABSENT; set.low_end()].into_boxed_slice();
        for (rank, id) in (0..).zip(set.iter().take_while(|&id| split(id).is_some())) {
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

    /// The rank of a member that is a bit.
    #[inline(always)]
    pub(crate) fn of_bit(&self, id: ComponentId) -> Option<u16> {
        let rank = *self.low.get(id.index())?;
        if rank == Self::ABSENT { None } else { Some(rank) }
    }

    #[cold]
    fn count(set: &ComponentSet, id: ComponentId) -> Option<u16> {
        // Ids are less than 65,535, so ranks are 16 bits wide.
        set.rank(id).map(|rank| u16::try_from(rank).expect("the rank exceeds 16 bits"))
    }
}

/// The word and the bit of an id that has one.
#[inline]
const fn split(id: ComponentId) -> Option<(usize, u64)> {
    if id.index() >= LOW_WORDS * WORD_BITS {
        return None;
    }
    Some((id.index() / WORD_BITS, 1 << (id.index() % WORD_BITS)))
}

#[expect(clippy::cast_possible_truncation, reason = "it is the word of a bit")]
const fn id_at(word: usize, bit: u32) -> ComponentId {
    ComponentId((word * WORD_BITS) as u32 + bit)
}

#[expect(clippy::cast_possible_truncation, reason = "the word was made of an id")]
const fn high_id(word: u64) -> ComponentId {
    ComponentId(word as u32)
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
        let members = [0, 63, 64, 127, 255, 256, 4095];
        let edges = set(members);
        for id in members {
            assert!(edges.contains(ComponentId(id)), "{id}");
        }
        for id in [1, 62, 65, 254, 257, 4094, 4096] {
            assert!(!edges.contains(ComponentId(id)), "{id}");
        }
        assert!(!edges.contains(ComponentId::UNKNOWN), "unknown types are in no set");
        assert_eq!(edges.rank(ComponentId(256)), Some(5));
        assert_eq!(edges.rank(ComponentId(257)), None);
    }

    #[test]
    fn a_set_of_a_high_id_is_small() {
        assert!(set([1, 65_000]).words.capacity() <= 2 * (LOW_WORDS + 1));
    }

    #[test]
    fn removing_the_highest_member_leaves_an_equal_set() {
        let mut long = set([3, 700]);
        assert!(long.remove(ComponentId(700)), "was there");
        assert!(!long.remove(ComponentId(700)), "is gone");
        assert_eq!(long, set([3]));
        assert!(!set([3]).remove(ComponentId(700)), "never was");
        assert!(!set([3]).remove(ComponentId(70)), "never was");
        let mut words = set([3, 70]);
        assert!(words.remove(ComponentId(70)));
        assert_eq!(words, set([3]));
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
            let low = a.range(..256).next_back();
            prop_assert_eq!(sa.low_end(), low.map_or(0, |&id| id as usize + 1));
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
