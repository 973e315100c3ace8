//! Some of a list's chunks, and what becomes of the others when those leave.

/// Which chunks of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSet {
    /// All of them.
    All,
    /// Those of these numbers, which ascend.
    Some(Vec<u32>),
}

/// A chunk that takes the number of one that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkMove {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl ChunkSet {
    /// The numbers, of a list of `count` chunks.
    pub(crate) fn iter(&self, count: u32) -> impl Iterator<Item = u32> + '_ {
        let (all, some) = match self {
            Self::All => (0..count, &[][..]),
            Self::Some(some) => (0..0, &some[..]),
        };
        all.chain(some.iter().copied())
    }

    /// How many they are, of a list of `count` chunks.
    pub(crate) fn len(&self, count: u32) -> u32 {
        match self {
            Self::All => count,
            Self::Some(some) => u32::try_from(some.len()).expect("chunks of a list"),
        }
    }

    /// Whether the last of `count` chunks is one of them.
    pub(crate) fn has_last(&self, count: u32) -> bool {
        match self {
            Self::All => count > 0,
            Self::Some(some) => some.last().is_some_and(|&last| last + 1 == count),
        }
    }

    /// # Panics
    ///
    /// If a number is not greater than the one before it, or is none of `count` chunks.
    pub(crate) fn assert_ascends(&self, count: u32) {
        if let Self::Some(some) = self {
            assert!(some.is_sorted_by(|a, b| a < b), "the numbers of chunks ascend");
            assert!(some.last().is_none_or(|&last| last < count), "there are {count} chunks");
        }
    }

    /// How the chunks that stay close ranks: those from the end fill the holes, as few as there are
    /// holes, and the last one, which may be partly filled, stays the last. To be done in order.
    pub(crate) fn relocations(&self, count: u32) -> Vec<ChunkMove> {
        let Self::Some(some) = self else { return Vec::new() };
        let stay = count - self.len(count);
        let mut holes: Vec<_> = some.iter().copied().take_while(|&hole| hole < stay).collect();
        let stays = |chunk: &u32| some.binary_search(chunk).is_err();
        let mut movers: Vec<_> = (stay..count).filter(stays).collect();
        // The last chunk goes to the last place: who stands there goes into a hole instead.
        let last = count.wrapping_sub(1);
        let mut end = None;
        if movers.last() == Some(&last) && holes.last() != Some(&(stay - 1)) {
            *movers.last_mut().expect("there is one") = stay - 1;
            end = Some(ChunkMove { from: last, to: stay - 1 });
        }
        let fill = movers.drain(..).zip(holes.drain(..));
        fill.map(|(from, to)| ChunkMove { from, to }).chain(end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the chunks had before, in the order they have after.
    fn after(count: u32, taken: &[u32]) -> Vec<u32> {
        let mut chunks: Vec<_> = (0..count).map(Some).collect();
        let set = ChunkSet::Some(taken.to_vec());
        set.iter(count).for_each(|chunk| chunks[chunk as usize] = None);
        for ChunkMove { from, to } in set.relocations(count) {
            assert_eq!(chunks[to as usize], None, "only holes are filled");
            chunks[to as usize] = chunks[from as usize].take();
        }
        assert!(chunks[(count as usize - taken.len())..].iter().all(Option::is_none), "no hole");
        chunks.into_iter().flatten().collect()
    }

    #[test]
    fn chunks_from_the_end_fill_the_holes() {
        assert_eq!(after(6, &[1]), [0, 4, 2, 3, 5]);
        assert_eq!(after(6, &[4]), [0, 1, 2, 3, 5]);
        assert_eq!(after(6, &[0, 5]), [4, 1, 2, 3]);
        assert_eq!(after(2, &[0]), [1]);
        assert_eq!(after(1, &[0]), []);
    }

    #[test]
    #[should_panic(expected = "the numbers of chunks ascend")]
    fn a_chunk_that_is_named_twice_is_refused() {
        ChunkSet::Some(vec![0, 2, 2]).assert_ascends(4);
    }

    #[test]
    #[should_panic(expected = "there are 2 chunks")]
    fn a_chunk_that_is_not_there_is_refused() {
        ChunkSet::Some(vec![0, 2]).assert_ascends(2);
    }

    #[test]
    fn any_selection_leaves_the_others_with_the_last_one_last() {
        for count in 1..=if cfg!(miri) { 5u32 } else { 9 } {
            for mask in 0..1u32 << count {
                let taken: Vec<_> = (0..count).filter(|chunk| mask >> chunk & 1 == 1).collect();
                let after = after(count, &taken);
                let mut sorted = after.clone();
                sorted.sort_unstable();
                let stay: Vec<_> = (0..count).filter(|c| !taken.contains(c)).collect();
                assert_eq!(sorted, stay, "{count} chunks without {taken:?}");
                if stay.contains(&(count - 1)) {
                    assert_eq!(after.last(), Some(&(count - 1)), "{count} without {taken:?}");
                }
            }
        }
    }
}
