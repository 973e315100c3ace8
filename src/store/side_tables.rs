//! The side tables of a world, one for each type of value.
//!
//! Each table has a lock on which no thread ever waits, like a resource: a schedule never runs a
//! system in parallel with one that writes the table that it reads.
//!
//! Entities end by the methods of `despawn.rs`, whether or not a row of cleanup components remains.
//! Each of these calls [`SideTables::end`] or [`SideTables::clear`] at its end, when all rows are
//! moved or removed, because a destructor may panic. In a world without side tables the call is one
//! branch.

use core::any::{Any, TypeId, type_name};
use core::fmt;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use rustc_hash::FxHashMap;

use crate::entity::Entity;

use super::first_panic::FirstPanic;
use super::read_guard::is_held;
use super::side_table::SideTable;

/// A side table in figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SideTableInfo {
    /// The type of the values, as the compiler names it.
    pub(crate) type_name: &'static str,
    pub(crate) len: usize,
    /// The allocated memory, without memory that the values own.
    pub(crate) bytes: usize,
}

/// The side tables, in the order in which they were first used.
#[derive(Default)]
pub(crate) struct SideTables {
    /// Each is the `RwLock<SideTable<T>>` of its type.
    tables: Vec<Box<dyn ErasedTable>>,
    by_type: FxHashMap<TypeId, usize>,
}

impl SideTables {
    /// Returns `true` if no type of value was ever used.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    fn lock<T: Send + Sync + 'static>(&self) -> Option<&RwLock<SideTable<T>>> {
        let table: &dyn Any = &*self.tables[*self.by_type.get(&TypeId::of::<T>())?];
        Some(table.downcast_ref().expect("a side table is filed under another type"))
    }

    fn lock_mut<T: Send + Sync + 'static>(&mut self) -> Option<&mut RwLock<SideTable<T>>> {
        let at = *self.by_type.get(&TypeId::of::<T>())?;
        let table: &mut dyn Any = &mut *self.tables[at];
        Some(table.downcast_mut().expect("a side table is filed under another type"))
    }

    /// The table of `T`, if it exists.
    pub(crate) fn get_mut<T: Send + Sync + 'static>(&mut self) -> Option<&mut SideTable<T>> {
        self.lock_mut().map(of_lock)
    }

    /// The table of `T`, which is added if it does not exist.
    pub(crate) fn get_or_add<T: Send + Sync + 'static>(&mut self) -> &mut SideTable<T> {
        if !self.by_type.contains_key(&TypeId::of::<T>()) {
            self.tables.push(Box::<RwLock<SideTable<T>>>::default());
            self.by_type.insert(TypeId::of::<T>(), self.tables.len() - 1);
        }
        of_lock(self.lock_mut().expect("the side table was not added"))
    }

    /// The table of `T` for reading, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed for writing.
    pub(crate) fn read<T: Send + Sync + 'static>(
        &self,
    ) -> Option<RwLockReadGuard<'_, SideTable<T>>> {
        self.lock().map(read)
    }

    /// The table of `T` for writing, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed.
    pub(crate) fn write<T: Send + Sync + 'static>(
        &self,
    ) -> Option<RwLockWriteGuard<'_, SideTable<T>>> {
        match self.lock()?.try_write() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                panic!("the side values of type `{}` are borrowed", type_name::<T>())
            }
        }
    }

    /// Drops the values of an entity that is not alive any more. O(tables).
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
    /// table to table, and in each in the order of the entities. O(len × tables).
    ///
    /// # Panics
    ///
    /// If a destructor panics. All values were dropped.
    #[cold]
    pub(crate) fn end(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity) {
        let mut panic = FirstPanic::default();
        self.tables.iter_mut().for_each(|table| table.end(len, entity, &mut panic));
        panic.resume();
    }

    /// Drops all values. The tables remain.
    ///
    /// # Panics
    ///
    /// If a destructor panics. All values were dropped.
    pub(crate) fn clear(&mut self) {
        self.clear_caught().resume();
    }

    fn clear_caught(&mut self) -> FirstPanic {
        let mut panic = FirstPanic::default();
        self.tables.iter_mut().for_each(|table| table.clear(&mut panic));
        panic
    }

    /// Makes `copies` a copy of all tables whose values are part of snapshots. Before, its tables
    /// must be copies of earlier states of these, or missing. O(tables + values of the tables that
    /// changed).
    pub(super) fn copy_to(&self, copies: &mut Self) {
        for (&type_id, &number) in &self.by_type {
            match copies.by_type.get(&type_id) {
                Some(&at) => self.tables[number].copy_to(&mut *copies.tables[at]),
                None => copies.add_copy(type_id, &*self.tables[number]),
            }
        }
    }

    /// Copies of the tables that differ from their originals.
    pub(super) fn copies_for(&self, originals: &Self) -> Self {
        let mut copies = Self::default();
        for (&type_id, &number) in &self.by_type {
            let (copy, original) = (&self.tables[number], originals.by_type.get(&type_id));
            if original.is_none_or(|&at| originals.tables[at].version() != copy.version()) {
                copies.add_copy(type_id, &**copy);
            }
        }
        copies
    }

    fn add_copy(&mut self, type_id: TypeId, table: &dyn ErasedTable) {
        if let Some(copy) = table.copied() {
            self.by_type.insert(type_id, self.tables.len());
            self.tables.push(copy);
        }
    }

    /// Exchanges the tables that have copies. Tables that are not in `all` lose the values of
    /// entities for which `is_alive` is false. Leaves the copies empty.
    pub(super) fn exchange_for(
        &mut self,
        copies: &mut Self,
        all: &Self,
        is_alive: &dyn Fn(Entity) -> bool,
        panic: &mut FirstPanic,
    ) {
        for (type_id, number) in sorted(self.by_type.iter().map(|(&id, &number)| (id, number))) {
            let table = &mut self.tables[number];
            match copies.by_type.get(&type_id) {
                Some(&at) => table.exchange_for(&mut *copies.tables[at]),
                None if all.by_type.contains_key(&type_id) => {}
                None => table.retain(is_alive, panic),
            }
        }
        copies.tables.iter_mut().for_each(|replaced| replaced.clear(panic));
    }

    /// Takes over the values of another world. `map` returns the new ids of its entities. Moves no
    /// values of types that this world does not have yet. O(values).
    ///
    /// # Panics
    ///
    /// If `map` returns `None` for an entity that has a value.
    pub(crate) fn merge(&mut self, mut other: Self, map: &dyn Fn(Entity) -> Option<Entity>) {
        let new = |old| map(old).expect("an entity with a side value has no new id");
        let types = sorted(other.by_type.drain());
        for ((type_id, _), mut theirs) in types.into_iter().zip(other.tables.drain(..)) {
            theirs.rename(&new);
            match self.by_type.get(&type_id) {
                Some(&number) => self.tables[number].append(&mut *theirs),
                None => {
                    self.by_type.insert(type_id, self.tables.len());
                    self.tables.push(theirs);
                }
            }
        }
    }

    /// Takes out the values of some entities. O(entities) for each table that has values.
    pub(crate) fn split(&mut self, entities: &[Entity]) -> Self {
        let mut part = Self::default();
        for (type_id, number) in sorted(self.by_type.iter().map(|(&id, &number)| (id, number))) {
            let table = &mut self.tables[number];
            if table.info().len > 0 {
                part.by_type.insert(type_id, part.tables.len());
                part.tables.push(table.split(entities));
            }
        }
        part
    }

    /// Renews the locks that forgotten guards hold.
    pub(crate) fn release(&mut self) {
        self.tables.iter_mut().for_each(|table| table.release());
    }

    /// Frees unused memory.
    pub(crate) fn shrink(&mut self) {
        self.tables.iter_mut().for_each(|table| table.shrink());
    }

    /// Each table in figures.
    pub(crate) fn infos(&self) -> impl Iterator<Item = SideTableInfo> {
        self.tables.iter().map(|table| table.info())
    }

    /// The names of the types of the entity's values.
    pub(crate) fn types_of(&self, entity: Entity) -> impl Iterator<Item = &'static str> {
        let tables = self.tables.iter().filter(move |table| table.contains(entity));
        tables.map(|table| table.info().type_name)
    }

    /// The type of the first table that is inconsistent, or that has a value of an entity for which
    /// `is_alive` is false.
    pub(crate) fn find_defect(&self, is_alive: &dyn Fn(Entity) -> bool) -> Option<&'static str> {
        let broken = self.tables.iter().find(|table| !table.is_consistent(is_alive));
        broken.map(|table| table.info().type_name)
    }
}

impl Drop for SideTables {
    /// The destructor of a vector would end the process at the second panic.
    fn drop(&mut self) {
        self.clear_caught().resume_from_drop();
    }
}

impl fmt::Debug for SideTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos()).finish()
    }
}

/// A side table of any type. The methods are the methods of [`SideTable`].
trait ErasedTable: Any + Send + Sync {
    fn info(&self) -> SideTableInfo;
    fn contains(&self, entity: Entity) -> bool;
    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool;
    fn end(&mut self, len: usize, entity: &dyn Fn(usize) -> Entity, panic: &mut FirstPanic);
    fn retain(&mut self, is_alive: &dyn Fn(Entity) -> bool, panic: &mut FirstPanic);
    fn clear(&mut self, panic: &mut FirstPanic);
    fn shrink(&mut self);
    fn release(&mut self);
    fn rename(&mut self, new: &dyn Fn(Entity) -> Entity);
    fn split(&mut self, entities: &[Entity]) -> Box<dyn ErasedTable>;
    fn version(&self) -> u64;
    /// A copy, if the values are part of snapshots.
    fn copied(&self) -> Option<Box<dyn ErasedTable>>;
    /// Makes another table of the same type a copy.
    fn copy_to(&self, other: &mut dyn Any);
    fn exchange_for(&mut self, copy: &mut dyn Any);
    /// Moves all values of another table of the same type to this one.
    fn append(&mut self, other: &mut dyn Any);
}

impl<T: Send + Sync + 'static> ErasedTable for RwLock<SideTable<T>> {
    fn info(&self) -> SideTableInfo {
        let table = read(self);
        SideTableInfo { type_name: type_name::<T>(), len: table.len(), bytes: table.bytes() }
    }

    fn contains(&self, entity: Entity) -> bool {
        read(self).contains(entity)
    }

    fn is_consistent(&self, is_alive: &dyn Fn(Entity) -> bool) -> bool {
        let table = read(self);
        table.is_consistent() && table.iter().all(|(entity, _)| is_alive(entity))
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

    fn split(&mut self, entities: &[Entity]) -> Box<dyn ErasedTable> {
        Box::new(Self::new(of_lock(self).split(entities)))
    }

    fn version(&self) -> u64 {
        read(self).version()
    }

    fn copied(&self) -> Option<Box<dyn ErasedTable>> {
        let table = read(self);
        table.is_kept().then(|| {
            let mut copy = SideTable::default();
            table.copy_to(&mut copy);
            Box::new(Self::new(copy)) as _
        })
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

/// Types of values in the order of their tables.
fn sorted(types: impl Iterator<Item = (TypeId, usize)>) -> Vec<(TypeId, usize)> {
    let mut types: Vec<_> = types.collect();
    types.sort_unstable_by_key(|&(_, number)| number);
    types
}

fn of_lock<T>(lock: &mut RwLock<SideTable<T>>) -> &mut SideTable<T> {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The table of a lock, which must be a table of `T`.
fn of_any<T: 'static>(lock: &mut dyn Any) -> &mut SideTable<T> {
    of_lock(lock.downcast_mut().expect("a side table is filed under another type"))
}

fn read<T>(lock: &RwLock<SideTable<T>>) -> RwLockReadGuard<'_, SideTable<T>> {
    match lock.try_read() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            panic!("the side values of type `{}` are borrowed for writing", type_name::<T>())
        }
    }
}
