//! A selection of a list's chunks, and the moves that close the gaps when they leave.

/// A selection of a list's chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSet {
    /// All chunks.
    All,
    /// The chunks with these numbers, in ascending order.
    Some(Vec<u32>),
}

/// A chunk that moves into the place of another one that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkMove {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl ChunkSet {
    /// The numbers of the selected chunks, in a list of `chunk_len` chunks.
    pub(crate) fn iter(&self, chunk_len: u32) -> impl Iterator<Item = u32> + '_ {
        let (all, some) = match self {
            Self::All => (0..chunk_len, &[][..]),
            Self::Some(some) => (0..0, &some[..]),
        };
        all.chain(some.iter().copied())
    }

    /// The number of selected chunks, in a list of `chunk_len` chunks.
    pub(crate) fn len(&self, chunk_len: u32) -> u32 {
        match self {
            Self::All => chunk_len,
            Self::Some(some) => u32::try_from(some.len()).expect("a list has 2^32 chunks or more"),
        }
    }

    /// Whether the last of `chunk_len` chunks is selected.
    pub(crate) fn has_last(&self, chunk_len: u32) -> bool {
        match self {
            Self::All => chunk_len > 0,
            Self::Some(some) => some.last().is_some_and(|&last| last + 1 == chunk_len),
        }
    }

    /// # Panics
    ///
    /// If a number is not greater than the one before it, or not less than `chunk_len`.
    pub(super) fn assert_ascends(&self, chunk_len: u32) {
        if let Self::Some(some) = self {
            assert!(some.is_sorted_by(|a, b| a < b), "the numbers of chunks do not ascend");
            assert!(
                some.last().is_none_or(|&last| last < chunk_len),
                "a chunk is selected of a list that has {chunk_len}"
            );
        }
    }

    /// The moves that make the remaining chunks contiguous, to be applied in order. Chunks from the
    /// end fill the gaps, one move for each gap. The last chunk, which may be partly filled, stays
    /// the last.
    pub(crate) fn chunk_moves(&self, chunk_len: u32) -> Vec<ChunkMove> {
        let Self::Some(some) = self else { return Vec::new() };
        let stay = chunk_len - self.len(chunk_len);
        let mut gaps: Vec<_> = some.iter().copied().take_while(|&gap| gap < stay).collect();
        let stays = |chunk: &u32| some.binary_search(chunk).is_err();
        let mut movers: Vec<_> = (stay..chunk_len).filter(stays).collect();
        // The last chunk moves to the last place. The chunk that was there fills a gap instead.
        let last = chunk_len.wrapping_sub(1);
        let mut end = None;
        if movers.last() == Some(&last) && gaps.last() != Some(&(stay - 1)) {
            *movers.last_mut().expect("no chunk moves") = stay - 1;
            end = Some(ChunkMove { from: last, to: stay - 1 });
        }
        let fill = movers.drain(..).zip(gaps.drain(..));
        fill.map(|(from, to)| ChunkMove { from, to }).chain(end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The original numbers of the chunks that stay, in their new order.
    fn after(chunk_len: u32, taken: &[u32]) -> Vec<u32> {
        let mut chunks: Vec<_> = (0..chunk_len).map(Some).collect();
        let set = ChunkSet::Some(taken.to_vec());
        set.iter(chunk_len).for_each(|chunk| chunks[chunk as usize] = None);
        for ChunkMove { from, to } in set.chunk_moves(chunk_len) {
            assert_eq!(chunks[to as usize], None, "a chunk that stays is overwritten");
            chunks[to as usize] = chunks[from as usize].take();
        }
        assert!(
            chunks[(chunk_len as usize - taken.len())..].iter().all(Option::is_none),
            "a gap is left"
        );
        chunks.into_iter().flatten().collect()
    }

    #[test]
    fn chunks_from_the_end_fill_the_gaps() {
        assert_eq!(after(6, &[1]), [0, 4, 2, 3, 5]);
        assert_eq!(after(6, &[4]), [0, 1, 2, 3, 5]);
        assert_eq!(after(6, &[0, 5]), [4, 1, 2, 3]);
        assert_eq!(after(2, &[0]), [1]);
        assert_eq!(after(1, &[0]), []);
    }

    #[test]
    #[should_panic(expected = "the numbers of chunks do not ascend")]
    fn a_chunk_that_is_named_twice_is_refused() {
        ChunkSet::Some(vec![0, 2, 2]).assert_ascends(4);
    }

    #[test]
    #[should_panic(expected = "a chunk is selected of a list that has 2")]
    fn a_chunk_that_is_not_there_is_refused() {
        ChunkSet::Some(vec![0, 2]).assert_ascends(2);
    }

    #[test]
    fn any_selection_leaves_the_others_with_the_last_one_last() {
        for chunk_len in 1..=if cfg!(miri) { 5u32 } else { 9 } {
            for mask in 0..1u32 << chunk_len {
                let taken: Vec<_> = (0..chunk_len).filter(|chunk| mask >> chunk & 1 == 1).collect();
                let after = after(chunk_len, &taken);
                let mut sorted = after.clone();
                sorted.sort_unstable();
                let stay: Vec<_> = (0..chunk_len).filter(|c| !taken.contains(c)).collect();
                assert_eq!(sorted, stay, "{chunk_len} chunks without {taken:?}");
                if stay.contains(&(chunk_len - 1)) {
                    assert_eq!(
                        after.last(),
                        Some(&(chunk_len - 1)),
                        "{chunk_len} without {taken:?}"
                    );
                }
            }
        }
    }
}
