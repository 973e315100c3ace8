//! Free indices that were never used: indices skipped by a given id, and indices at the end of the
//! slots.

use super::directory::Directory;
use super::location::Location;
use super::slot::{GENERATION_FIRST, Slot, index_u32};
use super::{AllocAtError, Entity, ReserveError};

/// The greatest number of unused indices that [`Directory::alloc_at`] may leave free: 16 bytes
/// each, so 16 MiB. Without this limit, one stray id with an index near `u32::MAX`, or a few
/// smaller ones, would allocate 64 GiB. [`Directory::grow_indices`] lifts the limit for a sparse
/// set of ids.
pub(super) const GAP_MAX: u32 = 1 << 20;
/// A slot, and its entry in the free stack.
pub(super) const FREE_SLOT_BYTES: u64 = (size_of::<Slot>() + size_of::<u32>()) as u64;

impl Directory {
    /// Checks that the indices between the end of the slots and `entity` may be skipped.
    ///
    /// # Errors
    ///
    /// [`AllocAtError::GapTooWide`] if not.
    pub(super) fn ensure_gap(&mut self, entity: Entity) -> Result<(), AllocAtError> {
        let gap = entity.index() - self.slots_len() - self.far.len_before(entity.index());
        if u64::from(self.unused_max) + u64::from(gap) <= u64::from(GAP_MAX)
            || entity.index() <= self.reach && self.has_memory_for(gap)
        {
            return Ok(());
        }
        // Some may have been used since the last count.
        let free = self.next().free_ids(0..self.free_len());
        let unused = free.filter(|entity| entity.generation() == GENERATION_FIRST);
        self.unused_max = index_u32(unused.count());
        let gap_max = GAP_MAX.saturating_sub(self.unused_max);
        if gap > gap_max {
            let bytes = u64::from(gap) * FREE_SLOT_BYTES;
            return Err(AllocAtError::GapTooWide { entity, gap, gap_max, bytes });
        }
        Ok(())
    }

    /// Whether memory for `more` slots is available. [`Directory::grow_indices`] has allocated it
    /// already if it was called for this directory.
    fn has_memory_for(&mut self, more: u32) -> bool {
        self.requests.ensure(u64::from(more) * FREE_SLOT_BYTES).is_ok()
            && self.slots.try_reserve(more as usize).is_ok()
            && self.free.try_reserve(more as usize).is_ok()
    }

    /// Lets [`Directory::alloc_at`] skip any number of indices below `indices`, and allocates the
    /// memory of their slots, as restoring a sparse set of ids needs it. No slot is added.
    ///
    /// # Errors
    ///
    /// [`ReserveError`] if this exceeds the limit of ids or of memory; the directory is unchanged.
    pub(crate) fn grow_indices(&mut self, indices: u32) -> Result<(), ReserveError> {
        self.debug_assert_flushed();
        if indices > self.limit {
            return Err(self.exhausted().into());
        }
        let more = indices.saturating_sub(self.slots_len()) as usize;
        let bytes = more as u64 * FREE_SLOT_BYTES;
        self.requests.ensure(bytes)?;
        self.requests.granted(bytes, self.slots.try_reserve(more))?;
        self.requests.granted(bytes, self.free.try_reserve(more))?;
        self.reach = self.reach.max(indices);
        self.editions += 1;
        Ok(())
    }

    /// Removes free slots that were never used from the end of the slots, while they are also the
    /// last to be allocated. The next ids and their order do not change. O(1) without such slots,
    /// otherwise O(free slots).
    pub(super) fn drop_unused_end(&mut self) {
        let unused = |&(&index, last): &(&u32, u32)| {
            index == last && self.slots[index as usize].generation == GENERATION_FIRST
        };
        let free = self.free.as_slice().iter();
        let dropped = free.zip((0..self.slots_len()).rev()).take_while(unused).count();
        if dropped == 0 {
            return;
        }
        self.slots.truncate(self.slots.len() - dropped);
        self.free.remove_last(dropped);
        for position in 0..self.free_len() {
            let index = self.free.as_slice()[position as usize];
            self.slot_mut(index).location = Location::free(position);
        }
        self.unused_max = self.unused_max.saturating_sub(index_u32(dropped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    #[test]
    fn a_wide_gap_is_open_after_its_indices_are_reserved() {
        let entity = Entity::new(GAP_MAX * 2, 3);
        let mut directory = Directory::new(u32::MAX);
        assert!(directory.alloc_at(entity, at(0)).is_err());
        if cfg!(miri) {
            return;
        }
        directory.grow_indices(entity.index()).unwrap();
        assert_eq!(directory.slots_len(), 0, "slots were added");
        let bytes = directory.capacity_bytes();
        assert!(bytes as u64 >= u64::from(entity.index()) * FREE_SLOT_BYTES, "{bytes}");
        assert_eq!(directory.alloc_at(entity, at(0)), Ok(()));
        assert_eq!(directory.alloc(at(0)), Ok(Entity::new(0, 1)));
        assert_eq!(directory.check(), Ok(()));
    }

    #[test]
    fn unused_indices_are_limited_over_all_calls() {
        if cfg!(miri) {
            return;
        }
        let mut directory = Directory::new(u32::MAX);
        let step = GAP_MAX / 2;
        let ids = [step, 2 * step + 1, 3 * step, 4 * step].map(|index| Entity::new(index, 1));
        assert_eq!(ids[..2].iter().try_for_each(|&id| directory.alloc_at(id, at(0))), Ok(()));
        let refused = |entity, gap, gap_max| {
            let bytes = u64::from(gap) * 16;
            Err(AllocAtError::GapTooWide { entity, gap, gap_max, bytes })
        };
        assert_eq!(directory.alloc_at(ids[2], at(0)), refused(ids[2], step - 2, 0));
        // Used indices no longer count, in whatever way they came to be used.
        directory.alloc_at(Entity::new(7, 1), at(0)).unwrap();
        directory.alloc_at(Entity::new(8, 5), at(0)).unwrap();
        directory.alloc_batch(step as usize - 5, at, &mut Vec::new()).unwrap();
        assert_eq!(directory.alloc_at(ids[2], at(0)), refused(ids[2], step - 2, step - 3));
        directory.alloc(at(0)).unwrap();
        assert_eq!(directory.alloc_at(ids[2], at(0)), Ok(()));
        assert_eq!(directory.alloc_at(ids[3], at(0)), refused(ids[3], step - 1, 0));
        assert!(directory.capacity_bytes() < 64 << 20, "{}", directory.capacity_bytes());
        directory.clear();
        assert_eq!(directory.check(), Ok(()));
        let unused = |slot: &&Slot| slot.generation == 1;
        assert_eq!(directory.unused_max as usize, directory.slots.iter().filter(unused).count());
    }

    /// Frees an id on loan that was never handed out.
    fn give_back(directory: &mut Directory, entity: Entity) {
        directory.loaned -= 1;
        directory.push_free(entity.index(), entity.generation());
    }

    #[test]
    fn an_unused_end_is_dropped_if_it_is_allocated_last() {
        let (mut directory, mut entities) = (Directory::new(u32::MAX), Vec::new());
        directory.alloc_batch(3, at, &mut entities).unwrap();
        let mut loaned = Vec::new();
        directory.loan(4, &mut loaned).unwrap();
        give_back(&mut directory, loaned[3]);
        give_back(&mut directory, loaned[2]);
        directory.free(entities[1]).unwrap();
        give_back(&mut directory, loaned[0]);
        assert_eq!(directory.free.as_slice(), [6, 5, 1, 3]);
        directory.drop_unused_end();
        assert_eq!(directory.check(), Ok(()));
        assert_eq!((directory.slots_len(), directory.free.as_slice()), (5, &[1, 3][..]));
        give_back(&mut directory, loaned[1]);
        directory.drop_unused_end();
        assert_eq!((directory.slots_len(), directory.free.as_slice()), (5, &[1, 3, 4][..]));
        let next: Vec<_> = (0..4).map(|_| directory.alloc(at(0)).unwrap().index()).collect();
        assert_eq!(next, [4, 3, 1, 5]);
        assert_eq!(directory.check(), Ok(()));
    }
}
