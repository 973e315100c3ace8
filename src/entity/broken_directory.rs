//! The self-check of the directory, which tests every invariant.

use std::collections::BTreeSet;

use super::directory::Directory;
use super::location::Location;

/// A broken invariant of the directory. Safe code cannot cause one; it is a bug in this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenDirectory {
    /// The slot of an entry of the free stack is not free, or records another position.
    FreeStack {
        /// The position of the entry in the stack.
        position: u32,
    },
    /// A page of the free stack, from which no entry has left, has no stamp, or one that is yet to
    /// be given.
    FreePages,
    /// A free slot is missing from the free stack.
    FreeSlot {
        /// The index of the slot.
        index: u32,
    },
    /// A slot is alive with generation 0, or retired with another one.
    Slot {
        /// The index of the slot.
        index: u32,
    },
    /// The list of retired indices differs from the retired slots.
    Retired {
        /// The length of the list.
        kept: usize,
        /// The number of retired slots.
        counted: usize,
    },
    /// The recorded number of slots on loan is wrong.
    LoanedLen {
        /// The recorded number.
        kept: u32,
        /// The actual number.
        counted: u32,
    },
    /// A next generation is recorded for an index that has no entity of a lower generation.
    NextGeneration {
        /// The index of the slot.
        index: u32,
    },
    /// The slots stored beyond the end of the directory are not in order, overlap it, or their
    /// recorded number is wrong.
    FarSlots {
        /// The recorded number of such slots.
        kept: u32,
    },
    /// More indices are in use or reserved than the limit allows.
    Limit {
        /// The number of indices in use or reserved.
        in_use: u64,
        /// The number allowed.
        limit: u32,
    },
}

impl Directory {
    /// Tests every invariant. O(indices). Reserved ids may wait for a flush.
    ///
    /// # Errors
    ///
    /// The first broken invariant.
    pub(crate) fn check(&self) -> Result<(), BrokenDirectory> {
        self.check_limit()?;
        self.check_far()?;
        self.check_free_stack()?;
        self.check_slots()?;
        self.check_next_generations()
    }

    fn check_limit(&self) -> Result<(), BrokenDirectory> {
        let limit = self.limit;
        let free_len = self.free.len() as u64;
        let fresh_len = u64::from(self.reserved.get()).saturating_sub(free_len);
        let in_use = self.slots.len() as u64 + u64::from(self.far.len()) + fresh_len;
        if in_use > u64::from(limit) {
            return Err(BrokenDirectory::Limit { in_use, limit });
        }
        Ok(())
    }

    fn check_far(&self) -> Result<(), BrokenDirectory> {
        let kept = self.far.len();
        let mut end = self.slots_len();
        let mut counted = 0;
        for far in self.far.ranges() {
            if far.start < end || far.is_empty() {
                return Err(BrokenDirectory::FarSlots { kept });
            }
            (end, counted) = (far.end, counted + far.end - far.start);
        }
        let next = self.far.first().unwrap_or(self.limit).min(self.limit);
        if end > self.limit || counted != kept || self.fresh_end.min(self.limit) != next {
            return Err(BrokenDirectory::FarSlots { kept });
        }
        Ok(())
    }

    /// Each entry agrees with its slot's position, so no index is in the stack twice. Whether a
    /// stamp is that of its page is asked when an image is taken or put back, in debug builds.
    fn check_free_stack(&self) -> Result<(), BrokenDirectory> {
        for (position, &index) in (0u32..).zip(self.free.as_slice()) {
            let slot = self.slot(index);
            let agrees = slot.is_some_and(|slot| {
                slot.generation != 0 && slot.location == Location::free(position)
            });
            if !agrees {
                return Err(BrokenDirectory::FreeStack { position });
            }
        }
        match self.free.is_sound() {
            true => Ok(()),
            false => Err(BrokenDirectory::FreePages),
        }
    }

    fn check_slots(&self) -> Result<(), BrokenDirectory> {
        let (mut retired, mut loaned) = (0usize, 0u32);
        for (index, slot) in (0u32..).zip(&self.slots).chain(self.far.iter()) {
            let position = slot.location.position as usize;
            if slot.is_alive() {
                if slot.generation == 0 {
                    return Err(BrokenDirectory::Slot { index });
                }
            } else if slot.generation == 0 {
                if slot.location != Location::RETIRED {
                    return Err(BrokenDirectory::Slot { index });
                }
                retired += 1;
            } else if slot.is_on_loan() {
                loaned += 1;
            } else if self.free.as_slice().get(position) != Some(&index) {
                return Err(BrokenDirectory::FreeSlot { index });
            }
        }
        let listed: BTreeSet<u32> = self.retired.iter().copied().collect();
        let are_retired = listed.iter().all(|&index| self.is_retired(index));
        if !are_retired || listed.len() != retired || self.retired.len() != retired {
            return Err(BrokenDirectory::Retired { kept: self.retired.len(), counted: retired });
        }
        if self.loaned != loaned {
            return Err(BrokenDirectory::LoanedLen { kept: self.loaned, counted: loaned });
        }
        Ok(())
    }

    fn is_retired(&self, index: u32) -> bool {
        self.slot(index).is_some_and(|slot| slot.generation == 0)
    }

    fn check_next_generations(&self) -> Result<(), BrokenDirectory> {
        for (&index, &generation) in &self.next_generations {
            let slot = self.slot(index);
            if !slot.is_some_and(|slot| slot.is_alive() && slot.generation < generation) {
                return Err(BrokenDirectory::NextGeneration { index });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entity;
    use super::super::slot::Slot;
    use super::*;

    fn at(position: u32) -> Location {
        Location { archetype: 0, position }
    }

    /// Slots 0 and 3 alive, 1 and 2 free.
    fn sound() -> Directory {
        let mut directory = Directory::new(4);
        let mut entities = Vec::new();
        directory.alloc_batch(4, at, &mut entities).unwrap();
        directory.free(entities[1]).unwrap();
        directory.free(entities[2]).unwrap();
        assert_eq!(directory.check(), Ok(()));
        directory
    }

    #[test]
    fn every_broken_invariant_is_found() {
        use BrokenDirectory as Broken;
        type Defect = (fn(&mut Directory), Broken);
        let defects: [Defect; 16] = [
            (|d| d.free = vec![1, 1].into(), Broken::FreeStack { position: 1 }),
            (|d| d.free = vec![2, 1].into(), Broken::FreeStack { position: 0 }),
            (|d| d.free.push(9), Broken::FreeStack { position: 2 }),
            (|d| d.free.push(0), Broken::FreeStack { position: 2 }),
            (|d| d.free = vec![1].into(), Broken::FreeSlot { index: 2 }),
            (|d| d.slots[0].generation = 0, Broken::Slot { index: 0 }),
            (|d| d.retired.push(1), Broken::Retired { kept: 1, counted: 0 }),
            (
                |d| d.slots[2] = Slot { generation: 0, location: Location::RETIRED },
                Broken::FreeStack { position: 1 },
            ),
            (|d| d.loaned = 1, Broken::LoanedLen { kept: 1, counted: 0 }),
            (
                |d| d.slots[0].location = Location::ON_LOAN,
                Broken::LoanedLen { kept: 0, counted: 1 },
            ),
            (|d| d.next_generations.extend([(1, 7)]), Broken::NextGeneration { index: 1 }),
            (|d| d.next_generations.extend([(0, 1)]), Broken::NextGeneration { index: 0 }),
            (|d| d.limit = 3, Broken::Limit { in_use: 4, limit: 3 }),
            (|d| d.fresh_end = 3, Broken::FarSlots { kept: 0 }),
            (|d| d.far.insert(3..4, d.slots[3]), Broken::Limit { in_use: 5, limit: 4 }),
            (
                |d| {
                    d.limit = 9;
                    d.far.insert(3..4, d.slots[3]);
                },
                Broken::FarSlots { kept: 1 },
            ),
        ];
        for (damage, broken) in defects {
            let mut directory = sound();
            damage(&mut directory);
            assert_eq!(directory.check(), Err(broken));
        }
    }

    #[test]
    fn reserved_ids_may_wait() {
        let directory = sound();
        assert_eq!(directory.reserve(), Ok(Entity::new(2, 2)));
        assert_eq!(directory.check(), Ok(()));
    }
}
