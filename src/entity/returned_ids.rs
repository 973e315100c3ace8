//! Ids of dropped buffers, until the directory takes them back.
//!
//! A command buffer can be dropped anywhere: on another thread, while the world is borrowed, after
//! the world. It returns its ids on loan here and sets a flag. The directory tests the flag
//! together with the number of reserved ids, so a call that changes the world takes the ids back
//! first. A call with `&World` cannot do this, and computes the ids as they will be:
//!
//! ```text
//!   returned   unseen, seen     in the order in which buffers were dropped
//!   sorted     next             a stack like the free stack: handed-out ids, with the next
//!                               generation, and above them those that were never handed out
//!   reserved   reserved         taken from `next` by `World::reserve_entities`
//! ```
//!
//! Buffers may be dropped by several threads. The order of the drops must not decide which id is
//! next, so ids are sorted. They are sorted only where they are taken: reading them (`World::hash`)
//! sorts a copy.
//!
//! The flag is relaxed: a thread that knows of a drop is synchronised with it by other means, so
//! its load cannot return an older value. The ids themselves are read under the lock.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Entity;
use super::slot::index_u32;

/// The ids that dropped command buffers return.
#[derive(Debug, Default)]
pub(crate) struct ReturnedIds {
    has_ids: AtomicBool,
    returns: Mutex<DroppedIds>,
}

/// The ids of dropped buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct DroppedIds {
    /// Ids that were never handed out.
    unseen: Vec<Entity>,
    /// Ids that were handed out, so that copies of them may exist.
    seen: Vec<Entity>,
    /// The sorted ids, with the generation of their next user; the next one is last.
    pub(super) next: Vec<Entity>,
    /// Indices whose last generation was used.
    pub(super) retired: Vec<u32>,
    /// Ids of `next` that were reserved, in that order, each with the number of other ids reserved
    /// before it.
    reserved: VecDeque<(u32, Entity)>,
    /// The same ids, for look-ups.
    reserved_set: BTreeSet<Entity>,
}

impl ReturnedIds {
    /// Returns ids of a dropped buffer: `unseen` were never handed out, `seen` were.
    pub(crate) fn give_back(&self, unseen: &[Entity], seen: &[Entity]) {
        if unseen.is_empty() && seen.is_empty() {
            return;
        }
        let mut returns = self.lock();
        returns.unseen.extend_from_slice(unseen);
        returns.seen.extend_from_slice(seen);
        self.has_ids.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if ids wait to be taken back.
    #[inline]
    pub(super) fn has_ids(&self) -> bool {
        self.has_ids.load(Ordering::Relaxed)
    }

    /// A copy, for a copy of the directory.
    pub(super) fn copy(&self) -> Self {
        let returns = self.lock().clone();
        Self { has_ids: AtomicBool::new(self.has_ids()), returns: Mutex::new(returns) }
    }

    /// The first reserved id, if at most `others` ids that are not of dropped buffers were reserved
    /// before it.
    pub(super) fn next_reserved(&self, others: u32) -> Option<Entity> {
        let returns = self.lock();
        let first = returns.reserved.front().filter(|(before, _)| *before <= others);
        first.map(|&(_, entity)| entity)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, DroppedIds> {
        self.returns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all ids, sorted. Reserved ones must be alive by now.
    pub(super) fn take(&self, is_on_loan: impl Fn(Entity) -> bool) -> DroppedIds {
        let mut returns = self.lock();
        returns.sort(is_on_loan);
        self.has_ids.store(false, Ordering::Relaxed);
        core::mem::take(&mut returns)
    }
}

impl DroppedIds {
    /// Pushes the ids returned since the last call on the stack. Ids that are not on loan are
    /// discarded.
    pub(super) fn sort(&mut self, is_on_loan: impl Fn(Entity) -> bool) {
        self.seen.sort_unstable();
        self.unseen.sort_unstable();
        for entity in self.seen.drain(..).filter(|&entity| is_on_loan(entity)) {
            match entity.generation().wrapping_add(1) {
                0 => self.retired.push(entity.index()),
                generation => self.next.push(Entity::new(entity.index(), generation)),
            }
        }
        self.next.extend(self.unseen.drain(..).rev().filter(|&entity| is_on_loan(entity)));
    }

    /// The number of ids that are not reserved after [`DroppedIds::sort`]. O(ids that are not
    /// sorted).
    pub(super) fn sorted_len(&self, is_on_loan: impl Fn(Entity) -> bool) -> u32 {
        let is_last = |entity: Entity| entity.generation() == u32::MAX;
        let seen = self.seen.iter().filter(|&&entity| is_on_loan(entity) && !is_last(entity));
        let unseen = self.unseen.iter().filter(|&&entity| is_on_loan(entity));
        index_u32(self.next.len() + seen.count() + unseen.count())
    }

    /// The number of reserved ids.
    pub(super) fn reserved_len(&self) -> u32 {
        index_u32(self.reserved.len())
    }

    pub(super) fn is_reserved(&self, entity: Entity) -> bool {
        self.reserved_set.contains(&entity)
    }

    /// Reserves the next of the sorted ids. `others` ids that are not of dropped buffers were
    /// reserved before it.
    pub(super) fn reserve(&mut self, others: u32) -> Option<Entity> {
        let entity = self.next.pop()?;
        self.reserved.push_back((others, entity));
        self.reserved_set.insert(entity);
        Some(entity)
    }

    /// Removes the first reserved id, which is alive now.
    pub(super) fn pop_reserved(&mut self) {
        let entity = self.reserved.pop_front();
        entity.map(|(_, entity)| self.reserved_set.remove(&entity));
    }
}
