//! Far slots: slots beyond the end of the directory's slots, in runs of consecutive indices.
//!
//! The ids that systems take beyond their demand are spread over many indices
//! ([`super::id_queue`]). A vector of slots up to the last of them would hold slots for all indices
//! between, so slots that lie too far apart are stored here until the end of the vector is near
//! ([`super::absorb`]):
//!
//! ```text
//!   slots  [ 0 .. 40 ]        far  [ 90..98 ]    [ 410..474 ]
//!                      ^ the next fresh index is 41, and 98 follows 89
//! ```
//!
//! A look-up of an index beyond the vector is a binary search among the runs.

use core::ops::Range;

use std::collections::VecDeque;

use super::location::Location;
use super::slot::{Slot, index_u32};

/// Consecutive slots.
#[derive(Clone, Debug)]
struct Run {
    first: u32,
    slots: Vec<Slot>,
}

impl Run {
    fn end(&self) -> u32 {
        self.first + index_u32(self.slots.len())
    }
}

/// Runs of slots, in the order of their indices. An index lies between any two runs, so that equal
/// slots are equal runs.
#[derive(Clone, Debug, Default)]
pub(super) struct FarSlots {
    /// Taken from the front, one by one.
    runs: VecDeque<Run>,
    len: u32,
}

impl FarSlots {
    /// The number of slots.
    #[inline]
    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    /// The first index that has a slot here.
    pub(super) fn first(&self) -> Option<u32> {
        self.runs.front().map(|run| run.first)
    }

    /// The number of runs that begin at or before `index`.
    fn runs_to(&self, index: u32) -> usize {
        self.runs.partition_point(|run| run.first <= index)
    }

    /// The slot of an index.
    #[cold]
    pub(super) fn get(&self, index: u32) -> Option<&Slot> {
        let run = self.runs.get(self.runs_to(index).checked_sub(1)?)?;
        run.slots.get((index - run.first) as usize)
    }

    /// The slot of an index that was used.
    ///
    /// # Panics
    ///
    /// If the index was never used.
    #[cold]
    pub(super) fn used_mut(&mut self, index: u32) -> &mut Slot {
        match self.get_mut(index) {
            Some(slot) => slot,
            None => panic!("index {index} was never used"),
        }
    }

    /// Sets the location of the entity with this index, and returns the previous one.
    ///
    /// # Panics
    ///
    /// If the index was never used.
    #[cold]
    pub(super) fn replace_location(&mut self, index: u32, location: Location) -> Location {
        core::mem::replace(&mut self.used_mut(index).location, location)
    }

    #[cold]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Slot> {
        let at = self.runs_to(index).checked_sub(1)?;
        let run = self.runs.get_mut(at)?;
        run.slots.get_mut((index - run.first) as usize)
    }

    /// Adds slots for indices that have none.
    pub(super) fn insert(&mut self, indices: Range<u32>, slot: Slot) {
        let n = indices.len();
        debug_assert!(n > 0, "a run has no slots");
        self.len += index_u32(n);
        let mut at = self.runs_to(indices.start);
        if at > 0 && self.runs[at - 1].end() == indices.start {
            at -= 1;
            let before = &mut self.runs[at].slots;
            reserve_lean(before, n);
            before.resize(before.len() + n, slot);
        } else {
            self.runs.insert(at, Run { first: indices.start, slots: vec![slot; n] });
        }
        if self.runs.get(at + 1).is_some_and(|after| after.first == indices.end) {
            let after = self.runs.remove(at + 1).expect("a run follows");
            reserve_lean(&mut self.runs[at].slots, after.slots.len());
            self.runs[at].slots.extend(after.slots);
        }
    }

    /// Removes the first run. Returns its first index and its slots.
    pub(super) fn take_first(&mut self) -> (u32, Vec<Slot>) {
        let Run { first, slots } = self.runs.pop_front().expect("there are no far slots");
        self.len -= index_u32(slots.len());
        (first, slots)
    }

    /// Shifts `index`, which is counted without far slots, past the runs before it. Returns the
    /// range from there to the next run. O(runs before it).
    #[cold]
    pub(super) fn absent(&self, mut index: u32) -> Range<u32> {
        for run in &self.runs {
            if index < run.first {
                return index..run.first;
            }
            index += index_u32(run.slots.len());
        }
        index..u32::MAX
    }

    /// The number of slots before an index.
    pub(super) fn len_before(&self, index: u32) -> u32 {
        let runs = self.runs.iter().take_while(|run| run.first < index);
        runs.map(|run| run.end().min(index) - run.first).sum()
    }

    /// The indices and slots, in order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Slot)> {
        self.runs.iter().flat_map(|run| (run.first..run.end()).zip(&run.slots))
    }

    /// The ranges of indices, in order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<u32>> {
        self.runs.iter().map(|run| run.first..run.end())
    }

    pub(super) fn capacity_bytes(&self) -> usize {
        let slots: usize = self.runs.iter().map(|run| run.slots.capacity()).sum();
        slots * size_of::<Slot>() + self.runs.capacity() * size_of::<Run>()
    }

    pub(super) fn shrink(&mut self) {
        self.runs.iter_mut().for_each(|run| run.slots.shrink_to_fit());
        self.runs.shrink_to_fit();
    }
}

/// Reserves room for `additional` elements, or for an eighth of the length if that is more: growth
/// is amortised, and little memory is unused.
pub(super) fn reserve_lean<T>(vec: &mut Vec<T>, additional: usize) {
    if vec.capacity() - vec.len() < additional {
        vec.reserve_exact(additional.max(vec.len() / 8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(generation: u32) -> Slot {
        Slot { generation, location: Location::RETIRED }
    }

    #[test]
    fn runs_are_found_and_skipped() {
        let mut far = FarSlots::default();
        far.insert(90..98, slot(1));
        far.insert(410..474, slot(2));
        far.insert(98..100, slot(3));
        far.insert(50..51, slot(4));
        assert_eq!((far.len(), far.first()), (75, Some(50)));
        assert!(far.ranges().eq([50..51, 90..100, 410..474]));
        let mut filled = far.clone();
        filled.insert(60..90, slot(5));
        filled.insert(51..60, slot(6));
        filled.insert(100..410, slot(7));
        assert!(filled.ranges().eq(core::iter::once(50..474)) && filled.len() == 424);
        assert_eq!(filled.get(410), far.get(410));
        let generation = |index| far.get(index).map(|slot| slot.generation);
        for (index, want) in
            [(49, None), (50, Some(4)), (51, None), (97, Some(1)), (99, Some(3)), (100, None)]
        {
            assert_eq!(generation(index), want, "index {index}");
        }
        let absent: Vec<u32> = (41..500).filter(|&index| far.get(index).is_none()).collect();
        for (n, &index) in (0..).zip(&absent) {
            let Range { start, end } = far.absent(41 + n);
            assert_eq!(start, index);
            assert_eq!([50, 90, 410, u32::MAX].into_iter().find(|&end| end > index), Some(end));
            assert_eq!(index - 41 - far.len_before(index), n);
        }
        let all: Vec<u32> = (41..500).filter(|&index| far.get(index).is_some()).collect();
        assert!(far.iter().map(|(index, _)| index).eq(all));
    }

    #[test]
    fn the_first_run_is_removed() {
        let mut far = FarSlots::default();
        far.insert(9..11, slot(1));
        far.insert(5..6, slot(2));
        far.used_mut(5).generation = 7;
        assert_eq!(far.take_first(), (5, vec![slot(7)]));
        assert_eq!(far.take_first(), (9, vec![slot(1); 2]));
        assert_eq!((far.len(), far.first()), (0, None));
        assert!(far.get_mut(9).is_none());
    }
}
