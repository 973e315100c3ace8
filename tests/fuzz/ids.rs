//! The ledger of ids: live indices, waiting ones, and the next generation of each.
//!
//! The order in which free indices are used again is not modelled. All else is: an id that the
//! world makes is of a free index, has exactly the next generation of that index, and lies beyond
//! all known indices only if none of those is free.

use phalanx::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing, or lent to a buffer that has not handed it out: the two cannot be told apart.
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
    /// The generation of the next user; 0 if there is none.
    next: u32,
}

/// Why an entity can be spawned under a given id, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtId {
    /// It can, unless the index is one of those that are lent and were not handed out.
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
    /// What `World::grow_indices` has lifted the limit of skipped indices for.
    reach: u32,
    /// Slots that are not free.
    used: usize,
    /// Ids that buffers were lent and have not handed out.
    lent: usize,
    /// Lives under ids that the model never saw.
    unseen: u32,
}

impl Ids {
    /// Unused indices that `World::spawn_at` may leave, by its documentation.
    const GAP_MAX: usize = 1 << 20;

    pub(crate) const fn new(limit: u32) -> Self {
        let slots = Vec::new();
        Self { slots, limit, reach: 0, used: 0, lent: 0, unseen: 0 }
    }

    pub(crate) const fn limit(&self) -> u32 {
        self.limit
    }

    /// Ids that can be made.
    pub(crate) const fn available(&self) -> usize {
        self.limit as usize - self.used - self.lent
    }

    /// Known indices that are neither in use nor lent.
    fn free(&self) -> usize {
        self.slots.len() - self.used - self.lent
    }

    /// Buffers are lent this many ids, which they have not handed out yet: free ones first.
    pub(crate) fn lend(&mut self, ids: usize) {
        let fresh = ids.saturating_sub(self.free());
        self.grow_to(self.slots.len() + fresh);
        self.lent += ids;
    }

    /// So many ids that were lent are free again, or are not unknown any more.
    pub(crate) const fn end_loans(&mut self, ids: usize) {
        self.lent -= ids;
    }

    /// An entity has lived and died before its id was known.
    pub(crate) const fn lived_unseen(&mut self) {
        self.unseen += 1;
    }

    /// Any index up to this one may be skipped.
    pub(crate) fn reach(&mut self, indices: u32) {
        self.reach = self.reach.max(indices);
    }

    /// The indices below `len` are known to the world.
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

    /// The world has made an id that it chose itself, of known indices if any was free.
    pub(crate) fn made(&mut self, entity: Entity) {
        let is_fresh = entity.index() as usize >= self.slots.len();
        assert!(!is_fresh || self.free() == 0, "{entity} is fresh");
        self.take(entity, State::Living);
    }

    /// The world has made an id for a command: systems skip indices that are free.
    pub(crate) fn made_anywhere(&mut self, entity: Entity) {
        self.take(entity, State::Living);
    }

    pub(crate) fn reserved(&mut self, entity: Entity) {
        self.take(entity, State::Reserved);
    }

    /// A buffer has handed out an id that it was lent.
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

    /// A reserved or promised id is alive now.
    pub(crate) fn begins(&mut self, entity: Entity) {
        let state = &mut self.slots[entity.index() as usize].state;
        assert!(matches!(state, State::Reserved | State::Promised), "{entity} is {state:?}");
        *state = State::Living;
    }

    /// An entity's life is over, or it will never begin.
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

    /// What a spawn under this id must answer.
    pub(crate) fn at(&self, entity: Entity) -> AtId {
        let index = entity.index() as usize;
        if entity.is_null() {
            return AtId::Null;
        }
        if entity.index() >= self.limit {
            return AtId::AboveLimit;
        }
        match self.slots.get(index).map(|slot| slot.state) {
            // No other id of a run is so far that the indices skipped for all of them come near it.
            None if index > self.slots.len() + Self::GAP_MAX && entity.index() > self.reach => {
                AtId::TooFar
            }
            None | Some(State::Free) => AtId::Free,
            Some(State::Living | State::Reserved) => AtId::Occupied,
            Some(State::Promised) => AtId::Promised,
            Some(State::Retired) => AtId::Retired,
        }
    }

    /// Whether a free index may be one of those that are lent.
    pub(crate) const fn may_be_lent(&self) -> bool {
        self.lent > 0
    }

    /// An entity lives under an id of the caller's choice.
    pub(crate) fn made_at(&mut self, entity: Entity) {
        let index = entity.index() as usize;
        self.grow_to(index + 1);
        let slot = &mut self.slots[index];
        assert_eq!(slot.state, State::Free, "{entity} is taken");
        slot.state = State::Living;
        // An index goes on after the highest generation that it had.
        if entity.generation() >= slot.next {
            slot.next = entity.generation().wrapping_add(1);
        }
        self.used += 1;
    }
}
