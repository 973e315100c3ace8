//! The ledger of ids: the state of each index, and its next generation.
//!
//! The order in which free indices are reused is not modelled. All else is modelled: an id that the
//! world makes has a free index and exactly the next generation of this index, and lies beyond all
//! known indices only if all of them are in use.

use phalanx::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Unused, or lent to a buffer that has not handed it out: the model cannot tell the two apart.
    Free,
    Living,
    Reserved,
    /// Handed out by a command buffer.
    Promised,
    /// All generations are used up.
    Retired,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    state: State,
    /// The generation of the next user; 0 if all are used up.
    next: u32,
}

/// The expected answer to a spawn under a given id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtId {
    /// The spawn succeeds, unless the index is lent and not handed out.
    Free,
    Null,
    AboveLimit,
    TooFar,
    Occupied,
    Promised,
    Retired,
}

/// The indices of a world.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    slots: Vec<Slot>,
    limit: u32,
    /// The highest argument of `MemoryMut::grow_indices`: indices up to it may be skipped freely.
    reach: u32,
    /// Slots that are not free.
    used: usize,
    /// Ids that buffers have borrowed and not handed out.
    lent: usize,
    /// Lives under ids that the model never saw.
    unseen: u32,
}

impl Ids {
    /// The maximum number of unused indices that `World::spawn_at` may leave, by its documentation.
    const GAP_MAX: usize = 1 << 20;

    pub(crate) const fn new(limit: u32) -> Self {
        let slots = Vec::new();
        Self { slots, limit, reach: 0, used: 0, lent: 0, unseen: 0 }
    }

    pub(crate) const fn limit(&self) -> u32 {
        self.limit
    }

    /// The number of ids that can be made.
    pub(crate) const fn available(&self) -> usize {
        self.limit as usize - self.used - self.lent
    }

    /// The number of known indices that are neither in use nor lent.
    fn free(&self) -> usize {
        self.slots.len() - self.used - self.lent
    }

    /// Lends this number of ids to a buffer, free ones first.
    pub(crate) fn lend(&mut self, ids: usize) {
        let fresh = ids.saturating_sub(self.free());
        self.grow_to(self.slots.len() + fresh);
        self.lent += ids;
    }

    /// Ends the loan of this number of ids: they are free again, or have become known.
    pub(crate) const fn end_loans(&mut self, ids: usize) {
        self.lent -= ids;
    }

    /// Counts an entity that lived and died before its id was known.
    pub(crate) const fn lived_unseen(&mut self) {
        self.unseen += 1;
    }

    /// Lets indices up to this one be skipped.
    pub(crate) fn reach(&mut self, indices: u32) {
        self.reach = self.reach.max(indices);
    }

    /// Adds the indices below `len` to the known ones.
    fn grow_to(&mut self, len: usize) {
        if len > self.slots.len() {
            self.slots.resize(len, Slot { state: State::Free, next: 1 });
        }
    }

    fn take(&mut self, entity: Entity, state: State) {
        let (index, known) = (entity.index() as usize, self.slots.len());
        assert!(entity.index() < self.limit, "{entity} is above the limit of {}", self.limit);
        self.grow_to(index + 1);
        let slot = &mut self.slots[index];
        assert_eq!(slot.state, State::Free, "{entity} of {known} known indices is taken");
        let skipped = entity.generation().checked_sub(slot.next);
        let skipped = skipped.unwrap_or_else(|| panic!("{entity} has lived, {slot:?}"));
        let unseen = self.unseen.checked_sub(skipped);
        self.unseen = unseen.unwrap_or_else(|| panic!("{entity} skips generations, {slot:?}"));
        *slot = Slot { state, next: entity.generation().wrapping_add(1) };
        self.used += 1;
    }

    /// Records an id that the world chose, from the known indices if any of them was free.
    pub(crate) fn made(&mut self, entity: Entity) {
        let is_fresh = entity.index() as usize >= self.slots.len();
        assert!(!is_fresh || self.free() == 0, "{entity} is fresh");
        self.take(entity, State::Living);
    }

    /// Records an id that the world made for a command: systems skip free indices.
    pub(crate) fn made_anywhere(&mut self, entity: Entity) {
        self.take(entity, State::Living);
    }

    pub(crate) fn reserved(&mut self, entity: Entity) {
        self.take(entity, State::Reserved);
    }

    /// Records an id that a buffer has handed out from its loan.
    pub(crate) fn promised(&mut self, entity: Entity) {
        self.lent -= 1;
        self.take(entity, State::Promised);
    }

    pub(crate) fn is_promised(&self, entity: Entity) -> bool {
        let slot = self.slots.get(entity.index() as usize);
        slot.is_some_and(|slot| {
            slot.state == State::Promised && slot.next == entity.generation().wrapping_add(1)
        })
    }

    /// Makes a reserved or promised id alive.
    pub(crate) fn begins(&mut self, entity: Entity) {
        let state = &mut self.slots[entity.index() as usize].state;
        assert!(matches!(state, State::Reserved | State::Promised), "{entity} is {state:?}");
        *state = State::Living;
    }

    /// Ends the life of an entity, or a promised id that will never be alive.
    pub(crate) fn ended(&mut self, entity: Entity) {
        let slot = &mut self.slots[entity.index() as usize];
        assert!(matches!(slot.state, State::Living | State::Promised), "{entity}: {slot:?}");
        if slot.next == 0 {
            slot.state = State::Retired;
        } else {
            slot.state = State::Free;
            self.used -= 1;
        }
    }

    /// The expected answer to a spawn under this id.
    pub(crate) fn at(&self, entity: Entity) -> AtId {
        let index = entity.index() as usize;
        if entity.is_null() {
            return AtId::Null;
        }
        if entity.index() >= self.limit {
            return AtId::AboveLimit;
        }
        match self.slots.get(index).map(|slot| slot.state) {
            // The other ids of a run skip few indices in total, far fewer than the limit.
            None if index > self.slots.len() + Self::GAP_MAX && entity.index() > self.reach => {
                AtId::TooFar
            }
            None | Some(State::Free) => AtId::Free,
            Some(State::Living | State::Reserved) => AtId::Occupied,
            Some(State::Promised) => AtId::Promised,
            Some(State::Retired) => AtId::Retired,
        }
    }

    /// Whether a free index may be lent.
    pub(crate) const fn may_be_lent(&self) -> bool {
        self.lent > 0
    }

    /// Records a spawn under an id of the caller's choice.
    pub(crate) fn made_at(&mut self, entity: Entity) {
        let index = entity.index() as usize;
        self.grow_to(index + 1);
        let slot = &mut self.slots[index];
        assert_eq!(slot.state, State::Free, "{entity} is taken");
        slot.state = State::Living;
        // The generations of an index continue after its highest one.
        if entity.generation() >= slot.next {
            slot.next = entity.generation().wrapping_add(1);
        }
        self.used += 1;
    }
}
