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
