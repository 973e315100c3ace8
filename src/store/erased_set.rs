//! A sparse set without its type, behind its lock.

use core::any::Any;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, TryLockError};

use crate::component::{OnDelete, SparseComponent};
use crate::entity::Entity;

use super::first_panic::FirstPanic;
use super::levels::is_tree;
use super::read_guard::is_held;
use super::sparse_set::SparseSet;

/// A sparse set in figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseSetInfo {
    /// The name of the component.
    pub(crate) name: &'static str,
    pub(crate) len: usize,
    /// The allocated memory, without memory that the values own.
    pub(crate) bytes: usize,
}

/// A sparse set of any type. The methods are the methods of [`SparseSet`].
pub(super) trait ErasedSet: Any + Send + Sync {
    fn name(&self) -> &'static str;
    fn len(&self) -> usize;
    /// O(pages + targets).
    fn info(&self) -> SparseSetInfo;
    fn contains(&self, entity: Entity) -> bool;
    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool;
    fn entities(&self) -> Vec<Entity>;
    fn take_unmarked(&mut self) -> Vec<Entity>;
    fn end(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity, panic: &mut FirstPanic);
    fn retain(&mut self, is_alive: &dyn Fn(Entity) -> bool, panic: &mut FirstPanic);
    fn clear(&mut self, panic: &mut FirstPanic);
    fn shrink(&mut self);
    fn release(&mut self);
    fn rename(&mut self, new: &dyn Fn(Entity) -> Entity);
    fn split(&mut self, entities: &[Entity]) -> Box<dyn ErasedSet>;
    fn version(&self) -> u64;
    /// An empty set for a copy, if the values are part of snapshots.
    fn new_copy(&self) -> Option<Box<dyn ErasedSet>>;
    /// Makes another set of the same type a copy.
    fn copy_to(&self, other: &mut dyn Any);
    fn exchange_for(&mut self, copy: &mut dyn Any);
    /// Moves all values of another set of the same type to this one.
    fn append(&mut self, other: &mut dyn Any);
    /// The effect of a despawn on the relations to the entity, if this is the set of a relation.
    fn on_delete(&self) -> Option<OnDelete>;
    fn target(&self, source: Entity) -> Option<Entity>;
    /// Adds the sources of a target to a list.
    fn add_sources(&self, target: Entity, list: &mut Vec<Entity>);
    fn remove_sources(&mut self, target: Entity) -> Vec<Entity>;
    /// Removes the value of an entity, which has no destructor.
    fn remove_relation(&mut self, source: Entity) -> bool;
}

impl<T: SparseComponent> ErasedSet for RwLock<SparseSet<T>> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn len(&self) -> usize {
        read(self).len()
    }

    fn info(&self) -> SparseSetInfo {
        let set = read(self);
        SparseSetInfo { name: T::NAME, len: set.len(), bytes: set.bytes() }
    }

    fn contains(&self, entity: Entity) -> bool {
        read(self).contains(entity)
    }

    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool {
        let set = read(self);
        set.is_consistent()
            && set.iter().all(|(entity, _)| is_alive(entity))
            && set.targets().all(is_alive)
            && (!T::RELATION.is_some_and(|rules| rules.is_tree) || is_tree(&set))
    }

    fn entities(&self) -> Vec<Entity> {
        read(self).entities().to_vec()
    }

    fn take_unmarked(&mut self) -> Vec<Entity> {
        of_lock(self).take_unmarked()
    }

    fn end(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity, panic: &mut FirstPanic) {
        of_lock(self).end(len, entity, panic);
    }

    fn retain(&mut self, is_alive: &dyn Fn(Entity) -> bool, panic: &mut FirstPanic) {
        of_lock(self).retain(is_alive, panic);
    }

    fn clear(&mut self, panic: &mut FirstPanic) {
        of_lock(self).clear(panic);
    }

    fn shrink(&mut self) {
        of_lock(self).shrink();
    }

    fn release(&mut self) {
        if is_held(self) {
            *self = Self::new(core::mem::take(of_lock(self)));
        }
    }

    fn rename(&mut self, new: &dyn Fn(Entity) -> Entity) {
        of_lock(self).rename(new);
    }

    fn split(&mut self, entities: &[Entity]) -> Box<dyn ErasedSet> {
        Box::new(Self::new(of_lock(self).split(entities)))
    }

    fn version(&self) -> u64 {
        read(self).version()
    }

    fn new_copy(&self) -> Option<Box<dyn ErasedSet>> {
        read(self).is_kept().then(|| Box::<Self>::default() as _)
    }

    fn copy_to(&self, other: &mut dyn Any) {
        read(self).copy_to(of_any(other));
    }

    fn exchange_for(&mut self, copy: &mut dyn Any) {
        of_lock(self).exchange_for(of_any(copy));
    }

    fn append(&mut self, other: &mut dyn Any) {
        of_lock(self).append(of_any(other));
    }

    fn on_delete(&self) -> Option<OnDelete> {
        T::RELATION.map(|rules| rules.on_delete)
    }

    fn target(&self, source: Entity) -> Option<Entity> {
        read(self).target(source)
    }

    fn add_sources(&self, target: Entity, list: &mut Vec<Entity>) {
        list.extend_from_slice(read(self).sources(target));
    }

    fn remove_sources(&mut self, target: Entity) -> Vec<Entity> {
        of_lock(self).remove_sources(target)
    }

    fn remove_relation(&mut self, source: Entity) -> bool {
        of_lock(self).remove(source).is_some()
    }
}

#[inline]
pub(super) fn of_lock<T>(lock: &mut RwLock<SparseSet<T>>) -> &mut SparseSet<T> {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The set of a lock, which must be a set of `T`.
fn of_any<T: 'static>(lock: &mut dyn Any) -> &mut SparseSet<T> {
    of_lock(lock.downcast_mut().expect("a sparse set is filed under another type"))
}

#[inline]
pub(super) fn read<T: SparseComponent>(
    lock: &RwLock<SparseSet<T>>,
) -> RwLockReadGuard<'_, SparseSet<T>> {
    match lock.try_read() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            panic!("the sparse component `{}` is borrowed for writing", T::NAME)
        }
    }
}
