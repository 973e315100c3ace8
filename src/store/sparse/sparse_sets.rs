//! The sparse sets of a world, one for each type of value.
//!
//! Each set has a lock on which no thread ever waits, like a resource: a schedule never runs a
//! system in parallel with one that writes the set that it reads.
//!
//! Entities end by the methods of `despawn.rs`, whether or not a row of cleanup components remains:
//! the sets of sparse cleanup components are in `kept_sets.rs`. Each of these calls
//! [`SparseSets::end`] or [`SparseSets::clear_caught`] at its end, when all rows are moved or
//! removed, because a destructor may panic. In a world without sparse sets the call is one branch.

use core::any::TypeId;
use core::fmt;

use std::sync::{RwLockReadGuard, RwLockWriteGuard};

use xxhash_rust::xxh3::Xxh3;

use crate::component::{OnDelete, Registry, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::boxed_set::BoxedSet;
use super::erased_set::{ErasedSet, SparseSetInfo};
use super::saved_set::SavedSet;
use super::set_lock::SetLock;
use super::set_numbers::SetNumbers;
use super::set_view::SetView;
use super::sets_mut::SetsMut;
use super::sparse_set::{HasValues, SparseSet};

/// The sparse sets, in the order in which they were first used.
#[derive(Default)]
pub struct SparseSets {
    /// Each is the [`SetLock`] of its type.
    pub(in crate::store) sets: Vec<BoxedSet>,
    pub(in crate::store) numbers: SetNumbers,
    /// The relations among the sets, in the order of their names, with the effects of a despawned
    /// target. Cascades go in this order: the order of first use is not part of a state.
    pub(in crate::store) relations: Vec<(usize, OnDelete)>,
    /// The positions and numbers of the sets of cleanup components, in the order of their names, in
    /// which their entities end.
    pub(in crate::store) cleanup: Vec<(usize, u16)>,
    /// The positions of the sets that take notes for logs.
    noted: Vec<usize>,
    /// Whether the notes wait for later ones.
    pub(super) are_held: bool,
}

impl SparseSets {
    /// Returns `true` if no type of value was ever used.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The position of the set of `T`, if the hint is valid here.
    #[inline(always)]
    fn hinted<T: SparseComponent>(&self) -> Option<usize> {
        let at = T::hint()?.get() as usize;
        self.sets.get(at).is_some_and(BoxedSet::is_of::<T>).then_some(at)
    }

    #[inline]
    fn lock<T: SparseComponent>(&self) -> Option<&SetLock<T>> {
        match self.hinted::<T>() {
            Some(at) => Some(self.sets[at].get()),
            None => Some(self.sets[self.numbers.find::<T>()?].get()),
        }
    }

    /// The set of `T`, if it exists.
    #[inline]
    pub(crate) fn get_mut<T: SparseComponent>(&mut self) -> Option<&mut SparseSet<T>> {
        self.get_numbered().map(|(set, _)| set)
    }

    /// The set of `T` with its number in the world, if it exists. One comparison of types, if the
    /// hint is valid.
    #[inline]
    pub(crate) fn get_numbered<T: SparseComponent>(&mut self) -> Option<(&mut SparseSet<T>, u16)> {
        let set = match self.hinted::<T>() {
            Some(at) => &mut self.sets[at],
            None => &mut self.sets[self.numbers.find::<T>()?],
        };
        let number = set.number();
        Some((set.get_mut().get_mut(), number))
    }

    /// The number in the world of the set of `T`, if it exists.
    pub(crate) fn member_number<T: SparseComponent>(&self) -> Option<u16> {
        Some(self.numbers.types[self.numbers.position::<T>()?].1)
    }

    /// Whether the set of `T` exists.
    #[inline]
    pub(super) fn has<T: SparseComponent>(&self) -> bool {
        self.hinted::<T>().is_some() || self.numbers.find::<T>().is_some()
    }

    /// Adds the set of `T`, which must have a name in the world, unless it exists.
    #[cold]
    pub(super) fn add<T: SparseComponent>(&mut self, registry: &Registry) {
        if !self.has::<T>() {
            let number = number_of(registry, T::NAME);
            self.push((TypeId::of::<T>(), number), Box::<SetLock<T>>::default());
        }
    }

    fn push(&mut self, of: (TypeId, u16), set: Box<dyn ErasedSet>) {
        let at = self.sets.len();
        self.numbers.push(of);
        let is_before = |other: usize| self.sets[other].name() < set.name();
        if let Some(on_delete) = set.on_delete() {
            let place = self.relations.partition_point(|&(other, _)| is_before(other));
            self.relations.insert(place, (at, on_delete));
        }
        if set.is_cleanup() {
            let place = self.cleanup.partition_point(|&(other, _)| is_before(other));
            self.cleanup.insert(place, (at, of.1));
        }
        self.sets.push(BoxedSet::new(set, of.1));
    }

    /// The set of `T` for reading, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed for writing.
    #[inline]
    pub(crate) fn read<T: SparseComponent>(&self) -> Option<RwLockReadGuard<'_, SparseSet<T>>> {
        self.lock().map(SetLock::read)
    }

    /// The set of `T` for reading, if it exists, unless it is borrowed for writing.
    pub(super) fn try_read<T: SparseComponent>(
        &self,
    ) -> Option<Option<RwLockReadGuard<'_, SparseSet<T>>>> {
        self.lock().map(SetLock::try_read)
    }

    /// The set of `T` with its number in the world, if it exists, for as long as the sets are
    /// borrowed. Its lock stays held for reading until [`SparseSets::release`].
    ///
    /// # Panics
    ///
    /// If it is borrowed for writing.
    pub(super) fn lend<T: SparseComponent>(&self) -> Option<(&SparseSet<T>, u16)> {
        let at = self.numbers.position::<T>()?;
        Some((self.sets[at].get().lend(), self.numbers.types[at].1))
    }

    /// All sets, to be taken one by one.
    #[inline]
    pub(crate) fn each(&mut self) -> SetsMut<'_> {
        SetsMut::new(&self.numbers, &mut self.sets)
    }

    /// The set of `T` for writing, if it exists.
    ///
    /// # Panics
    ///
    /// If it is borrowed.
    pub(crate) fn write<T: SparseComponent>(&self) -> Option<RwLockWriteGuard<'_, SparseSet<T>>> {
        self.lock().map(SetLock::write)
    }

    /// Drops the values of the entities `entity(0..len)`, which must not be alive. Cleanup
    /// components stay. Goes set by set, in the order of the entities. O(len × sets).
    pub(in crate::store) fn end(
        &mut self,
        len: usize,
        entity: &dyn Fn(usize) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) {
        self.sets.iter_mut().for_each(|set| set.end(len, entity, now, panic));
    }

    /// Takes notes of the values of `T` that come and go. The set must exist.
    pub(super) fn begin_notes<T: SparseComponent>(&mut self) {
        let at = self.numbers.position::<T>().expect("the sparse set was not added");
        self.get_mut::<T>().expect("it has a position").begin_notes();
        if !self.noted.contains(&at) {
            self.noted.push(at);
        }
    }

    /// Passes each set that takes notes to `step`, which returns whether it goes on.
    #[inline]
    pub(super) fn each_noted(&mut self, step: impl FnMut(&mut dyn ErasedSet) -> bool) {
        if !self.noted.is_empty() {
            self.pass_noted(step);
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_noted(&mut self, mut step: impl FnMut(&mut dyn ErasedSet) -> bool) {
        let Self { sets, noted, .. } = self;
        noted.retain(|&at| step(&mut *sets[at]));
    }

    /// Drops all values. The sets remain. Returns the panic of their destructors.
    pub(in crate::store) fn clear_caught(&mut self) -> FirstPanic {
        let mut panic = FirstPanic::default();
        self.sets.iter_mut().for_each(|set| set.clear(&mut panic));
        panic
    }

    /// Makes `copies` a copy of all sets whose values are part of snapshots. Before, its sets
    /// must be copies of earlier states of these, or missing. O(sets + values of the sets that
    /// changed).
    pub(super) fn copy_to(&self, copies: &mut Self) {
        for (&of, set) in self.numbers.types.iter().zip(&self.sets) {
            match copies.numbers.by_type.get(&of.0) {
                Some(&at) => set.copy_to(&mut *copies.sets[at]),
                None => copies.add_copy(of, &**set),
            }
        }
    }

    /// Copies of the sets that differ from their originals.
    pub(super) fn copies_for(&self, originals: &Self) -> Self {
        let mut copies = Self::default();
        for (&of, copy) in self.numbers.types.iter().zip(&self.sets) {
            let original = originals.numbers.by_type.get(&of.0);
            if original.is_none_or(|&at| originals.sets[at].version() != copy.version()) {
                copies.add_copy(of, &**copy);
            }
        }
        copies
    }

    fn add_copy(&mut self, of: (TypeId, u16), set: &dyn ErasedSet) {
        if let Some(copy) = set.new_copy() {
            self.push(of, copy);
            // If a clone panics, those before it are dropped one by one, with these sets.
            let last = self.sets.last_mut().expect("it was pushed");
            set.copy_to(&mut **last);
        }
    }

    /// Exchanges the sets that have copies. Sets that are not in `all` lose the values of
    /// entities for which `is_alive` is false. Leaves the copies empty: the values that they got
    /// are dropped at the end, in the order of the sets.
    pub(super) fn swap_restored(
        &mut self,
        (copies, now): (&mut Self, Version),
        all: &Self,
        is_alive: HasValues<'_>,
        panic: &mut FirstPanic,
    ) {
        for ((type_id, _), set) in self.numbers.types.iter().zip(&mut self.sets) {
            match copies.numbers.by_type.get(type_id) {
                Some(&at) => set.swap_restored(&mut *copies.sets[at], now),
                None if all.numbers.by_type.contains_key(type_id) => {}
                None => set.retain(is_alive, now, panic),
            }
        }
        for (type_id, _) in &self.numbers.types {
            if let Some(&at) = copies.numbers.by_type.get(type_id) {
                copies.sets[at].clear(panic);
            }
        }
    }

    /// The sets with values, in the order of their names.
    pub(crate) fn views(&self) -> Vec<SetView<'_>> {
        let all = self.numbers.types.iter().zip(&self.sets);
        let used = all.filter(|(_, set)| set.len() > 0);
        let mut views: Vec<_> = used.map(|(&of, set)| SetView::new(&**set, of)).collect();
        views.sort_unstable_by_key(|view| view.name());
        views
    }

    /// The set of the component with a name, if it exists. O(sets).
    pub(crate) fn named(&self, name: &str) -> Option<SetView<'_>> {
        let (at, _) = self.position_named(name)?;
        Some(SetView::new(&*self.sets[at], self.numbers.types[at]))
    }

    /// The position of the set of the component with a name, and its number in the world, if it
    /// exists. O(sets).
    pub(in crate::store) fn position_named(&self, name: &str) -> Option<(usize, u16)> {
        let at = self.sets.iter().position(|set| set.name() == name)?;
        Some((at, self.numbers.types[at].1))
    }

    /// The names of the relations, in their order.
    pub(crate) fn relation_names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.relations.iter().map(|&(at, _)| self.sets[at].name())
    }

    /// Extends the identity of a state, `rows`, by the names and versions of the sets that have
    /// a form as bytes.
    pub(in crate::store) fn identity_after(&self, rows: u64) -> u64 {
        let views = self.views().into_iter().filter(|view| view.shape().is_some());
        views.fold(rows, |identity, view| {
            let mut hash = Xxh3::with_seed(identity);
            hash.update(&view.identity().1.to_ne_bytes());
            hash.update(view.name().as_bytes());
            hash.digest()
        })
    }

    /// Becomes the sets of a state that was read as the difference from these. Returns the former
    /// ones, without those that are unchanged.
    pub(super) fn become_read(&mut self, sets: Vec<SavedSet>) -> Self {
        let mut former = core::mem::take(self);
        for SavedSet { of, set } in sets {
            let set = set.unwrap_or_else(|| {
                let at = former.numbers.by_type[&of.0];
                let empty = former.sets[at].new_copy().expect("it is part of snapshots");
                core::mem::replace(&mut former.sets[at], BoxedSet::new(empty, of.1)).into_box()
            });
            self.push(of, set);
        }
        former
    }

    /// Takes over the values of another world, of which `registry` has adopted the names. `map`
    /// returns the new ids of its entities. Ids in values that it does not know become null. Moves
    /// no values of types that this world does not have yet. A set without values changes nothing.
    /// Returns the entities that came, with the numbers of the sets. O(values).
    ///
    /// # Panics
    ///
    /// If `map` returns `None` for an entity that has a value.
    pub(crate) fn merge(
        &mut self,
        mut other: Self,
        registry: &Registry,
        map: &dyn Fn(Entity) -> Option<Entity>,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<(u16, Vec<Entity>)> {
        let mut came = Vec::new();
        let new = |old| map(old).expect("an entity with a sparse component has no new id");
        other.numbers.by_type.clear();
        other.relations.clear();
        other.cleanup.clear();
        for ((type_id, _), mut theirs) in other.numbers.types.drain(..).zip(other.sets.drain(..)) {
            if theirs.len() == 0 {
                continue;
            }
            theirs.rename(&new, now);
            panic.call(|| theirs.map_entities(&mut |old| map(old).unwrap_or(Entity::NULL)));
            let entities = theirs.entities();
            let number = match self.numbers.by_type.get(&type_id) {
                Some(&at) => {
                    self.sets[at].append(&mut *theirs, now);
                    self.numbers.types[at].1
                }
                None => {
                    let number = number_of(registry, theirs.name());
                    // The readers are those of the other world.
                    theirs.end_notes();
                    self.push((type_id, number), theirs.into_box());
                    number
                }
            };
            came.push((number, entities));
        }
        came
    }

    /// The entities with values, by the numbers of the sets. O(values).
    pub(super) fn members(&self) -> Vec<(u16, Vec<Entity>)> {
        self.known_members().map(|(number, _, entities)| (number, entities)).collect()
    }

    /// The number, the name and the entities of each set.
    pub(super) fn known_members(&self) -> impl Iterator<Item = (u16, &'static str, Vec<Entity>)> {
        let sets = self.numbers.types.iter().zip(&self.sets);
        sets.map(|(of, set)| (of.1, set.name(), set.entities()))
    }

    /// Takes the entities that got a value while rows could not be marked as members, with the
    /// numbers of the sets. Those that have lost it again are left out.
    pub(super) fn take_unmarked(&mut self) -> Vec<(u16, Vec<Entity>)> {
        let mut taken = Vec::new();
        for (of, set) in self.numbers.types.iter().zip(&mut self.sets) {
            let unmarked = set.take_unmarked();
            if !unmarked.is_empty() {
                taken.push((of.1, unmarked));
            }
        }
        taken
    }

    /// Takes out the values of some entities. O(entities) for each set that has values.
    pub(crate) fn split(&mut self, entities: &[Entity], now: Version) -> Self {
        let mut part = Self::default();
        for (&of, set) in self.numbers.types.iter().zip(&mut self.sets) {
            if set.len() > 0 {
                part.push(of, set.split(entities, now));
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
    pub(in crate::store) fn names_in_use(
        &self,
        is_used: impl Fn(&dyn ErasedSet) -> bool,
    ) -> Vec<&'static str> {
        let in_use = self.sets.iter().filter(|set| set.len() > 0 && is_used(&***set));
        in_use.map(|set| set.name()).collect()
    }

    /// The names of the entity's components.
    pub(crate) fn names_of(&self, entity: Entity) -> impl Iterator<Item = &'static str> {
        let sets = self.sets.iter().filter(move |set| set.contains(entity));
        sets.map(|set| set.name())
    }

    /// The type of the first set that is inconsistent, or that has a value of an entity for which
    /// `is_alive` is false, or a version after `clock`.
    pub(crate) fn find_defect(
        &self,
        is_alive: HasValues<'_>,
        clock: Version,
    ) -> Option<&'static str> {
        let broken = self.sets.iter().find(|set| !set.is_consistent(is_alive, clock));
        broken.map(|set| set.name())
    }
}

impl Drop for SparseSets {
    /// The destructor of a vector would end the process at the second panic.
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        self.sets.iter_mut().for_each(|set| set.end_notes());
        self.clear_caught().resume_from_drop();
    }
}

impl fmt::Debug for SparseSets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos()).finish()
    }
}

/// The number in the world of a component, which must have a name there.
fn number_of(registry: &Registry, name: &str) -> u16 {
    registry.sparse_number(name).expect("a sparse component has no name")
}
