//! Moves far slots into the directory's slots, once the end of the slots is near them.

use core::ops::Range;

use super::directory::Directory;
use super::far_slots::reserve_lean;
use super::location::Location;
use super::slot::{GENERATION_FIRST, Slot};
use super::{Entity, OutOfIds};

impl Directory {
    /// Takes the next fresh id when the end of the slots has reached far slots or the limit.
    #[cold]
    pub(super) fn take_beyond(&mut self, location: Location) -> Result<Entity, OutOfIds> {
        let mut gaps = Vec::new();
        while self.far.first() == Some(self.slots_len()) {
            self.absorb(&mut gaps);
        }
        self.close_gaps(gaps);
        match self.slots_len() < self.limit {
            true => self.take_next(location),
            false => Err(self.exhausted()),
        }
    }

    /// Adds free slots for the indices below `end`; the lowest is allocated next. Moves far slots
    /// between them into the directory's slots.
    pub(super) fn add_free_below(&mut self, end: u32) {
        let mut gaps = Vec::new();
        while self.far.first().is_some_and(|first| first < end) {
            self.absorb(&mut gaps);
        }
        self.open_gap(end, &mut gaps);
        self.close_gaps(gaps);
    }

    /// Moves runs of far slots before `end` into the directory's slots, while `spare` slots are
    /// enough for the indices between.
    pub(super) fn absorb_near(&mut self, end: u32, spare: &mut u32, gaps: &mut Vec<Range<u32>>) {
        while let Some(first) = self.far.first().filter(|&first| first < end) {
            let Some(left) = spare.checked_sub(first - self.slots_len()) else { break };
            *spare = left;
            self.absorb(gaps);
        }
    }

    /// Moves the first run of far slots into the directory's slots.
    fn absorb(&mut self, gaps: &mut Vec<Range<u32>>) {
        let (first, slots) = self.far.take_first();
        let added = (first - self.slots_len()) as usize + slots.len();
        reserve_lean(&mut self.slots, added);
        self.open_gap(first, gaps);
        self.slots.extend(slots);
    }

    /// Adds slots for the indices below `end`, which [`Directory::close_gaps`] frees.
    pub(super) fn open_gap(&mut self, end: u32, gaps: &mut Vec<Range<u32>>) {
        let first = self.slots_len();
        if first < end {
            let slot = Slot { generation: GENERATION_FIRST, location: Location::ON_LOAN };
            self.slots.resize(end as usize, slot);
            gaps.push(first..end);
        }
    }

    /// Frees the slots in gaps, the lowest on top, and updates the end of the fresh indices.
    pub(super) fn close_gaps(&mut self, gaps: Vec<Range<u32>>) {
        self.free.reserve_lean(gaps.iter().map(ExactSizeIterator::len).sum());
        for index in gaps.into_iter().rev().flat_map(Iterator::rev) {
            self.push_free(index, GENERATION_FIRST);
        }
        self.fresh_end = self.far.first().unwrap_or(self.limit);
    }
}
