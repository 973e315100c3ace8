//! The sparse sets of a world, one for each type of value.
//!
//! Each set has a lock on which no thread ever waits, like a resource: a schedule never runs a
//! system in parallel with one that writes the set that it reads.
//!
//! Entities end by the methods of `despawn.rs`, whether or not a row of cleanup components remains.
//! Each of these calls [`SparseSets::end`] or [`SparseSets::clear`] at its end, when all rows are
//! moved or removed, because a destructor may panic. In a world without sparse sets the call is one
//! branch.

use core::any::{Any, TypeId};
use core::fmt;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use rustc_hash::FxHashMap;

use crate::component::{NameTaken, Registry, SparseComponent};
use crate::entity::Entity;

use super::first_panic::FirstPanic;
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

/// The sparse sets, in the order in which they were first used.
#[derive(Default)]
pub(crate) struct SparseSets {
    /// Each is the `RwLock<SparseSet<T>>` of its type.
    sets: Vec<Box<dyn ErasedSet>>,
    /// The type of each.
    types: Vec<TypeId>,
    by_type: FxHashMap<TypeId, usize>,
}

impl SparseSets {
    /// Returns `true` if no type of value was ever used.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The number of the set of `T`: the hint, if it is valid here.
    #[inline]
    fn number<T: SparseComponent>(&self) -> Option<usize> {
        if let Some(hint) = T::hint() {
            let hinted = hint.get() as usize;
            if self.types.get(hinted) == Some(&TypeId::of::<T>()) {
                return Some(hinted);
            }
        }
        self.find::<T>()
    }

    /// The number of the set of `T`, by hashing. Sets the hint.
    #[inline(never)]
    fn find<T: SparseComponent>(&self) -> Option<usize> {
        let number = *self.by_type.get(&TypeId::of::<T>())?;
        if let (Some(hint), Ok(known)) = (T::hint(), u32::try_from(number)) {
            hint.set(known);
        }
        Some(number)
    }

    #[inline]
    fn lock<T: SparseComponent>(&self) -> Option<&RwLock<SparseSet<T>>> {
        let set: &dyn Any = &*self.sets[self.number::<T>()?];
        Some(set.downcast_ref().expect("a sparse set is filed under another type"))
    }

    #[inline]
    fn lock_mut<T: SparseComponent>(&mut self) -> Option<&mut RwLock<SparseSet<T>>> {
        let number = self.number::<T>()?;
        let set: &mut dyn Any = &mut *self.sets[number];
        Some(set.downcast_mut().expect("a sparse set is filed under another type"))
    }

    /// The set of `T`, if it exists.
    #[inline]
    pub(crate) fn get_mut<T: SparseComponent>(&mut self) -> Option<&mut SparseSet<T>> {
        self.lock_mut().map(of_lock)
    }

    /// Whether the set of `T` exists.
    #[inline]
    pub(super) fn has<T: SparseComponent>(&self) -> bool {
        self.number::<T>().is_some()
    }

    /// The set of `T`, which is added if it does not exist.
    ///
    /// # Panics
    ///
    /// If another component has the name of `T`.
    #[inline]
    pub(crate) fn get_or_add<T: SparseComponent>(
        &mut self,
        registry: &mut Registry,
    ) -> &mut SparseSet<T> {
        self.try_add::<T>(registry).unwrap_or_else(|taken| taken.refuse());
        of_lock(self.lock_mut().expect("the sparse set was not added"))
    }

    /// Adds the set of `T`, unless it exists.
    ///
    /// # Errors
    ///
    /// If another component has the name of `T`.
    #[inline]
    pub(crate) fn try_add<T: SparseComponent>(
        &mut self,
        registry: &mut Registry,
    ) -> Result<(), NameTaken> {
        if self.has::<T>() { Ok(()) } else { self.add::<T>(registry) }
    }

    #[cold]
    fn add<T: SparseComponent>(&mut self, registry: &mut Registry) -> Result<(), NameTaken> {
        registry.register_sparse::<T>()?;
        self.push(TypeId::of::<T>(), Box::<RwLock<SparseSet<T>>>::default());
        Ok(())
    }

    fn push(&mut self, type_id: TypeId, set: Box<dyn ErasedSet>) {
        self.by_type.insert(type_id, self.sets.len());
        self.types.push(type_id);
        self.sets.push(set);
    }

    /// The set of `T` for reading, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed for writing.
    #[inline]
    pub(crate) fn read<T: SparseComponent>(&self) -> Option<RwLockReadGuard<'_, SparseSet<T>>> {
        self.lock().map(read)
    }

    /// The set of `T` for writing, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed.
    pub(crate) fn write<T: SparseComponent>(&self) -> Option<RwLockWriteGuard<'_, SparseSet<T>>> {
        match self.lock()?.try_write() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                panic!("the sparse component `{}` is borrowed", T::NAME)
            }
        }
    }

    /// Drops the values of an entity that is not alive any more. O(sets).
    ///
    /// # Panics
    ///
    /// If a destructor panics. All values were dropped.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_one(&mut self, entity: Entity) {
        self.end(1, &|_| entity);
    }

    /// Drops the values of the entities `entity(0..len)`, none of which may be alive. Goes from
    /// set to set, and in each in the order of the entities. O(len × sets).
    ///
    /// # Panics
    ///
    /// If a destructor panics. All values were dropped.
    #[cold]
    pub(crate) fn end(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity) {
        let mut panic = FirstPanic::default();
        self.sets.iter_mut().for_each(|set| set.end(len, entity, &mut panic));
        panic.resume();
    }

    /// Drops all values. The sets remain.
    ///
    /// # Panics
    ///
    /// If a destructor panics. All values were dropped.
    pub(crate) fn clear(&mut self) {
        self.clear_caught().resume();
    }

    fn clear_caught(&mut self) -> FirstPanic {
        let mut panic = FirstPanic::default();
        self.sets.iter_mut().for_each(|set| set.clear(&mut panic));
        panic
    }

    /// Makes `copies` a copy of all sets whose values are part of snapshots. Before, its sets
    /// must be copies of earlier states of these, or missing. O(sets + values of the sets that
    /// changed).
    pub(super) fn copy_to(&self, copies: &mut Self) {
        for (&type_id, set) in self.types.iter().zip(&self.sets) {
            match copies.by_type.get(&type_id) {
                Some(&at) => set.copy_to(&mut *copies.sets[at]),
                None => copies.add_copy(type_id, &**set),
            }
        }
    }

    /// Copies of the sets that differ from their originals.
    pub(super) fn copies_for(&self, originals: &Self) -> Self {
        let mut copies = Self::default();
        for (&type_id, copy) in self.types.iter().zip(&self.sets) {
            let original = originals.by_type.get(&type_id);
            if original.is_none_or(|&at| originals.sets[at].version() != copy.version()) {
                copies.add_copy(type_id, &**copy);
            }
        }
        copies
    }

    fn add_copy(&mut self, type_id: TypeId, set: &dyn ErasedSet) {
        if let Some(copy) = set.new_copy() {
            self.push(type_id, copy);
            // If a clone panics, those before it are dropped one by one, with these sets.
            let last = self.sets.last_mut().expect("it was pushed");
            set.copy_to(&mut **last);
        }
    }

    /// Exchanges the sets that have copies. Sets that are not in `all` lose the values of
    /// entities for which `is_alive` is false. Leaves the copies empty: the values that they got
    /// are dropped at the end, in the order of the sets.
    pub(super) fn exchange_for(
        &mut self,
        copies: &mut Self,
        all: &Self,
        is_alive: &dyn Fn(Entity) -> bool,
        panic: &mut FirstPanic,
    ) {
        for (type_id, set) in self.types.iter().zip(&mut self.sets) {
            match copies.by_type.get(type_id) {
                Some(&at) => set.exchange_for(&mut *copies.sets[at]),
                None if all.by_type.contains_key(type_id) => {}
                None => set.retain(is_alive, panic),
            }
        }
        for type_id in &self.types {
            if let Some(&at) = copies.by_type.get(type_id) {
                copies.sets[at].clear(panic);
            }
        }
    }

    /// Takes over the values of another world. `map` returns the new ids of its entities. Moves no
    /// values of types that this world does not have yet. A set without values changes nothing.
    /// O(values).
    ///
    /// # Panics
    ///
    /// If `map` returns `None` for an entity that has a value.
    pub(crate) fn merge(&mut self, mut other: Self, map: &dyn Fn(Entity) -> Option<Entity>) {
        let new = |old| map(old).expect("an entity with a sparse component has no new id");
        other.by_type.clear();
        for (type_id, mut theirs) in other.types.drain(..).zip(other.sets.drain(..)) {
            if theirs.info().len == 0 {
                continue;
            }
            theirs.rename(&new);
            match self.by_type.get(&type_id) {
                Some(&number) => self.sets[number].append(&mut *theirs),
                None => self.push(type_id, theirs),
            }
        }
    }

    /// Takes out the values of some entities. O(entities) for each set that has values.
    pub(crate) fn split(&mut self, entities: &[Entity]) -> Self {
        let mut part = Self::default();
        for (&type_id, set) in self.types.iter().zip(&mut self.sets) {
            if set.info().len > 0 {
                part.push(type_id, set.split(entities));
            }
        }
        part
    }

    /// Renews the locks that forgotten guards hold.
    pub(crate) fn release(&mut self) {
        self.sets.iter_mut().for_each(|set| set.release());
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.sets.iter_mut().for_each(|set| set.shrink());
    }

    /// Each set in figures.
    pub(crate) fn infos(&self) -> impl Iterator<Item = SparseSetInfo> {
        self.sets.iter().map(|set| set.info())
    }

    /// The names of the components with values, of which `is_used` is true. O(sets).
    pub(super) fn names_in_use(
        &self,
        is_used: impl Fn(&dyn ErasedSet) -> bool,
    ) -> Vec<&'static str> {
        let in_use = |info: &SparseSetInfo, set| info.len > 0 && is_used(set);
        let sets = self.sets.iter().map(|set| (set.info(), &**set));
        sets.filter(|(info, set)| in_use(info, *set)).map(|(info, _)| info.name).collect()
    }

    /// The names of the entity's components.
    pub(crate) fn names_of(&self, entity: Entity) -> impl Iterator<Item = &'static str> {
        let sets = self.sets.iter().filter(move |set| set.contains(entity));
        sets.map(|set| set.info().name)
    }

    /// The type of the first set that is inconsistent, or that has a value of an entity for which
    /// `is_alive` is false.
    pub(crate) fn find_defect(&self, is_alive: &dyn Fn(Entity) -> bool) -> Option<&'static str> {
        let broken = self.sets.iter().find(|set| !set.is_consistent(is_alive));
        broken.map(|set| set.info().name)
    }
}

impl Drop for SparseSets {
    /// The destructor of a vector would end the process at the second panic.
    fn drop(&mut self) {
        self.clear_caught().resume_from_drop();
    }
}

impl fmt::Debug for SparseSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos()).finish()
    }
}

/// A sparse set of any type. The methods are the methods of [`SparseSet`].
pub(super) trait ErasedSet: Any + Send + Sync {
    fn info(&self) -> SparseSetInfo;
    fn contains(&self, entity: Entity) -> bool;
    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool;
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
}

impl<T: SparseComponent> ErasedSet for RwLock<SparseSet<T>> {
    fn info(&self) -> SparseSetInfo {
        let set = read(self);
        SparseSetInfo { name: T::NAME, len: set.len(), bytes: set.bytes() }
    }

    fn contains(&self, entity: Entity) -> bool {
        read(self).contains(entity)
    }

    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool {
        let set = read(self);
        set.is_consistent() && set.iter().all(|(entity, _)| is_alive(entity))
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
}

#[inline]
fn of_lock<T>(lock: &mut RwLock<SparseSet<T>>) -> &mut SparseSet<T> {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The set of a lock, which must be a set of `T`.
fn of_any<T: 'static>(lock: &mut dyn Any) -> &mut SparseSet<T> {
    of_lock(lock.downcast_mut().expect("a sparse set is filed under another type"))
}

#[inline]
fn read<T: SparseComponent>(lock: &RwLock<SparseSet<T>>) -> RwLockReadGuard<'_, SparseSet<T>> {
    match lock.try_read() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            panic!("the sparse component `{}` is borrowed for writing", T::NAME)
        }
    }
}
