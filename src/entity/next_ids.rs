//! The ids that are allocated next, in order: the free stack from its top, followed by the indices
//! that were never used.

use core::ops::Range;

use super::Entity;
use super::far_slots::FarSlots;
use super::slot::{GENERATION_FIRST, Slot, index_u32};

/// The free ids, followed by the fresh ones, in the order of allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextIds<'a> {
    slots: &'a [Slot],
    free: &'a [u32],
    far: &'a FarSlots,
}

impl<'a> NextIds<'a> {
    #[inline]
    pub(super) const fn new(slots: &'a [Slot], free: &'a [u32], far: &'a FarSlots) -> Self {
        Self { slots, free, far }
    }

    /// The `n`th id, which must exist. O(1), after the free ids O(runs of far slots).
    #[inline]
    pub(super) fn id(&self, n: u32) -> Entity {
        match self.free.len().checked_sub(n as usize + 1) {
            Some(at) => {
                let index = self.free[at];
                let slot = self.slots.get(index as usize).or_else(|| self.far.get(index));
                Entity::new(index, slot.expect("a free index has no slot").generation)
            }
            None => Entity::new(self.fresh(n - index_u32(self.free.len())).start, GENERATION_FIRST),
        }
    }

    /// [`NextIds::id`] of each `n` of a range in turn. `fresh` is empty before the first one, and
    /// has the fresh indices that follow: the runs of far slots are passed once for each run.
    #[inline]
    pub(super) fn following(&self, n: u32, fresh: &mut Range<u32>) -> Entity {
        let Some(after_free) = n.checked_sub(index_u32(self.free.len())) else {
            return self.id(n);
        };
        if fresh.start == fresh.end {
            *fresh = self.fresh(after_free);
        }
        let index = fresh.next().expect("a run of fresh indices is empty");
        Entity::new(index, GENERATION_FIRST)
    }

    /// The `n`th fresh index, to the end of the consecutive ones that follow it.
    #[inline]
    fn fresh(&self, n: u32) -> Range<u32> {
        let index = index_u32(self.slots.len()) + n;
        match self.far.len() {
            0 => index..u32::MAX,
            _ => self.far.absent(index),
        }
    }

    /// The ids at positions of the free stack.
    pub(super) fn free_ids(
        self,
        positions: Range<u32>,
    ) -> impl ExactSizeIterator<Item = Entity> + 'a {
        let len = self.free.len();
        let free = &self.free[len - positions.end as usize..len - positions.start as usize];
        free.iter().rev().map(move |&index| {
            let slot = self.slots.get(index as usize).or_else(|| self.far.get(index));
            Entity::new(index, slot.expect("a free index has no slot").generation)
        })
    }

    /// Splits a range of positions into positions of the free stack and ranges of fresh indices.
    pub(super) fn parts(self, mut positions: Range<u32>) -> impl Iterator<Item = NextPart> + 'a {
        let free_len = index_u32(self.free.len());
        core::iter::from_fn(move || {
            let Range { start, end } = positions.clone();
            if start >= end {
                return None;
            }
            if start < free_len {
                positions.start = end.min(free_len);
                return Some(NextPart::Free(start..positions.start));
            }
            let mut fresh = self.fresh(start - free_len);
            fresh.end = fresh.end.min(fresh.start.saturating_add(end - start));
            positions.start += fresh.end - fresh.start;
            Some(NextPart::Fresh(fresh))
        })
    }
}

/// Consecutive ids of the queue.
#[derive(Debug)]
pub(super) enum NextPart {
    /// Positions of the free stack, counted from its top.
    Free(Range<u32>),
    /// Indices that were never used.
    Fresh(Range<u32>),
}

#[cfg(test)]
mod tests {
    use super::super::location::Location;
    use super::*;

    #[test]
    fn ids_that_follow_each_other_pass_the_far_slots() {
        let slot = Slot { generation: 7, location: Location::RETIRED };
        let mut far = FarSlots::default();
        for indices in [10..12, 14..15, 40..44] {
            far.insert(indices, slot);
        }
        let slots = [slot; 10];
        let next = NextIds::new(&slots, &[3, 11, 5], &far);
        for start in 0..12 {
            let (mut fresh, positions) = (0..0, start..40);
            let following = positions.clone().map(|n| next.following(n, &mut fresh));
            assert!(following.eq(positions.map(|n| next.id(n))), "from {start}");
        }
        let mut fresh = 0..0;
        let ids: Vec<_> = (0..7).map(|n| next.following(n, &mut fresh).index()).collect();
        assert_eq!(ids, [5, 11, 3, 12, 13, 15, 16]);
        assert_eq!(fresh, 17..40, "up to the next far slot");
        let mut held = 500..502;
        assert_eq!(next.following(7, &mut held).index(), 500, "the runs were passed again");
    }
}
