//! Ids of dropped buffers, on their way back to the directory.
//!
//! A command buffer can be dropped anywhere: on another thread, while the world is borrowed, after
//! the world. It leaves its lent ids here and raises a flag. The directory looks at the flag
//! wherever it looks for reserved ids, so a call that changes the world takes the ids back first.
//! What has only `&World` cannot do that, and sees the ids as they will be:
//!
//! ```text
//!   left       unseen, seen     in the order in which buffers were dropped
//!   sorted     next             a stack as the free one: seen ids, which get another generation,
//!                               and above them those that were never handed out
//!   reserved   reserved         taken from `next` by `World::reserve_entities`
//! ```
//!
//! Buffers may be dropped by several threads. Which was first must not decide which id is next, so
//! ids are sorted, and only where they are taken: looking at them (`World::hash`) sorts a copy.
//!
//! The flag is relaxed: a thread that knows that a buffer was dropped knows it by something that
//! orders the drop before, and then the load cannot return an older value. The ids themselves are
//! read under the lock.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Entity;
use super::directory::index_u32;

/// Where command buffers leave their ids when they are dropped.
#[derive(Debug, Default)]
pub(crate) struct ReturnedIds {
    waits: AtomicBool,
    returns: Mutex<Returns>,
}

/// The ids of dropped buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    /// Ids that were never handed out.
    unseen: Vec<Entity>,
    /// Ids that were handed out, and whose copies may still be somewhere.
    seen: Vec<Entity>,
    /// The ids that are given back, with the generation of their next user, the next one last.
    pub(super) next: Vec<Entity>,
    /// Indices whose last generation has ended.
    pub(super) retired: Vec<u32>,
    /// Ids of `next` that were reserved, in that order, and how many others were before each.
    reserved: VecDeque<(u32, Entity)>,
    /// The same ids, to be found.
    reserved_set: BTreeSet<Entity>,
}

impl ReturnedIds {
    /// Leaves ids here: those that were never handed out, and those that were.
    pub(crate) fn leave(&self, unseen: &[Entity], seen: &[Entity]) {
        if unseen.is_empty() && seen.is_empty() {
            return;
        }
        let mut returns = self.lock();
        returns.unseen.extend_from_slice(unseen);
        returns.seen.extend_from_slice(seen);
        self.waits.store(true, Ordering::Relaxed);
    }

    /// Whether ids wait here.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// The same ids once more, for a copy of the directory.
    pub(super) fn copy(&self) -> Self {
        let returns = self.lock().clone();
        Self { waits: AtomicBool::new(self.waits()), returns: Mutex::new(returns) }
    }

    /// The first of the reserved ids, if at most `others` that are not of dropped buffers were
    /// reserved before it.
    pub(super) fn next_reserved(&self, others: u32) -> Option<Entity> {
        let returns = self.lock();
        let first = returns.reserved.front().filter(|(before, _)| *before <= others);
        first.map(|&(_, entity)| entity)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Returns> {
        self.returns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all ids, sorted. Reserved ones must be alive by now.
    pub(super) fn take(&self, is_lent: impl Fn(Entity) -> bool) -> Returns {
        let mut returns = self.lock();
        returns.sort(is_lent);
        self.waits.store(false, Ordering::Relaxed);
        core::mem::take(&mut returns)
    }
}

impl Returns {
    /// Puts what was left since the last time on the stack. Ids that are not lent are dropped.
    pub(super) fn sort(&mut self, is_lent: impl Fn(Entity) -> bool) {
        self.seen.sort_unstable();
        self.unseen.sort_unstable();
        for entity in self.seen.drain(..).filter(|&entity| is_lent(entity)) {
            match entity.generation().wrapping_add(1) {
                0 => self.retired.push(entity.index()),
                generation => self.next.push(Entity::new(entity.index(), generation)),
            }
        }
        self.next.extend(self.unseen.drain(..).rev().filter(|&entity| is_lent(entity)));
    }

    /// How many ids are given back and not reserved, of those that are sorted.
    pub(super) fn len(&self) -> u32 {
        index_u32(self.next.len())
    }

    /// How many ids are reserved.
    pub(super) fn reserved_len(&self) -> u32 {
        index_u32(self.reserved.len())
    }

    pub(super) fn is_reserved(&self, entity: Entity) -> bool {
        self.reserved_set.contains(&entity)
    }

    /// Reserves the next id of those that are sorted. `others` ids that are not of dropped buffers
    /// were reserved before it.
    pub(super) fn reserve(&mut self, others: u32) -> Option<Entity> {
        let entity = self.next.pop()?;
        self.reserved.push_back((others, entity));
        self.reserved_set.insert(entity);
        Some(entity)
    }

    /// The first of the reserved ids is alive.
    pub(super) fn settle(&mut self) {
        let entity = self.reserved.pop_front();
        entity.map(|(_, entity)| self.reserved_set.remove(&entity));
    }
}
