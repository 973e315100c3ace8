//! A sparse set: the values of one sparse component, by entity, beside the chunks.
//!
//! ```text
//!  positions   4: 0   7: 1   9: 2      pages of 1,024 indices
//!  entities    │ 4v1 │ 7v1 │ 9v2 │
//!  values      │  a  │  b  │  c  │
//! ```
//!
//! Values lie without gaps; the last one takes the place of a removed one. Positions are found by
//! index, in pages, because the index of an entity may be near 4,294,967,295 in a world of few
//! entities ([`PagedIndex`]).
//!
//! A position is that of an id if the id at the position is the same. A value is removed when its
//! entity is despawned, so an old id finds no value, even if its index is in use again.
//!
//! A set has a *version*: each change gives it one that it never had. So a copy with the same
//! version equals the set.

use crate::entity::{Entity, PagedIndex};

use super::first_panic::FirstPanic;

/// Makes a vector a copy of some values.
type CopyValues<T> = fn(&[T], &mut Vec<T>);

/// The values of type `T`, by entity.
#[derive(Debug)]
pub(crate) struct SparseSet<T> {
    positions: PagedIndex,
    entities: Vec<Entity>,
    values: Vec<T>,
    /// Copies the values, if they are part of snapshots.
    copy_values: Option<CopyValues<T>>,
    version: u64,
    /// The latest version that the set had.
    clock: u64,
    /// Entities that got a value while their rows could not be marked as members.
    unmarked: Vec<Entity>,
}

impl<T> Default for SparseSet<T> {
    fn default() -> Self {
        Self {
            positions: PagedIndex::default(),
            entities: Vec::new(),
            values: Vec::new(),
            copy_values: None,
            version: 0,
            clock: 0,
            unmarked: Vec::new(),
        }
    }
}

impl<T: Clone> SparseSet<T> {
    /// Makes the values part of snapshots.
    pub(crate) fn keep(&mut self) {
        // `clone_into` uses the allocations of the older values that it replaces.
        self.copy_values = Some(|from, to| from.clone_into(to));
    }
}

impl<T> SparseSet<T> {
    /// Whether the values are part of snapshots.
    pub(super) const fn is_kept(&self) -> bool {
        self.copy_values.is_some()
    }

    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    /// Makes another set a copy of this one, if the values are part of snapshots, unless it is
    /// one already. If a clone panics, the other set has to be dropped. O(values).
    pub(super) fn copy_to(&self, other: &mut Self) {
        let Some(copy_values) = self.copy_values else { return };
        if other.copy_values.is_some() && other.version == self.version {
            return;
        }
        other.copy_values = None;
        // The truncation of a vector would end the process at the second panic of a destructor.
        let mut surplus = other.values.drain(self.len().min(other.values.len())..);
        let mut panic = FirstPanic::default();
        panic.catch(|| surplus.by_ref().for_each(drop));
        drop(surplus);
        panic.resume();
        copy_values(&self.values, &mut other.values);
        other.positions.clone_from(&self.positions);
        other.entities.clone_from(&self.entities);
        (other.version, other.copy_values) = (self.version, self.copy_values);
    }

    /// Exchanges the values with an older copy of this set.
    pub(super) fn exchange_for(&mut self, copy: &mut Self) {
        core::mem::swap(self, copy);
        self.clock = copy.clock;
    }

    fn change(&mut self) {
        self.clock += 1;
        self.version = self.clock;
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.values.len()
    }

    /// The position of an entity's value.
    #[inline]
    pub(crate) fn position(&self, entity: Entity) -> Option<usize> {
        let position = self.positions.get(entity.index())? as usize;
        (self.entities[position] == entity).then_some(position)
    }

    /// The value at a position.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> &T {
        &self.values[position]
    }

    #[inline]
    pub(crate) fn contains(&self, entity: Entity) -> bool {
        self.position(entity).is_some()
    }

    #[inline]
    pub(crate) fn get(&self, entity: Entity) -> Option<&T> {
        self.position(entity).map(|position| &self.values[position])
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, entity: Entity) -> Option<&mut T> {
        let position = self.position(entity)?;
        self.change();
        Some(&mut self.values[position])
    }

    /// Adds the value of an entity, which must be alive. Returns the value that it replaces.
    #[inline]
    pub(crate) fn insert(&mut self, entity: Entity, value: T) -> Option<T> {
        let position = u32::try_from(self.len()).expect("there are more values than entities");
        // If an allocation is refused, the set is unchanged.
        self.entities.reserve(1);
        self.values.reserve(1);
        let known = self.positions.add(entity.index(), position);
        self.change();
        if let Some(at) = known {
            let at = at as usize;
            debug_assert!(self.entities[at] == entity, "an entity that has ended has a value");
            return Some(core::mem::replace(&mut self.values[at], value));
        }
        self.entities.push(entity);
        self.values.push(value);
        None
    }

    /// [`SparseSet::insert`] while rows cannot be marked as members: notes a new one.
    pub(crate) fn insert_unmarked(&mut self, entity: Entity, value: T) -> Option<T> {
        let replaced = self.insert(entity, value);
        if replaced.is_none() {
            self.unmarked.push(entity);
        }
        replaced
    }

    /// Takes the entities with values that [`SparseSet::insert_unmarked`] has noted.
    pub(super) fn take_unmarked(&mut self) -> Vec<Entity> {
        let mut noted = core::mem::take(&mut self.unmarked);
        noted.retain(|&entity| self.contains(entity));
        noted
    }

    /// The entities with values.
    pub(super) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// Removes the value of an entity. The last one takes its place.
    #[inline]
    pub(crate) fn remove(&mut self, entity: Entity) -> Option<T> {
        let at = self.position(entity)?;
        let position = self.positions.take(entity.index())?;
        self.change();
        self.entities.swap_remove(at);
        if let Some(moved) = self.entities.get(at) {
            self.positions.replace(moved.index(), position);
        }
        Some(self.values.swap_remove(at))
    }

    /// Renames all entities.
    pub(super) fn rename(&mut self, new: &dyn Fn(Entity) -> Entity) {
        self.change();
        self.entities.iter_mut().for_each(|entity| *entity = new(*entity));
        self.positions.clear();
        self.index_from(0);
    }

    /// Moves all values of another set to this one. The sets must have no entity in common.
    pub(super) fn append(&mut self, other: &mut Self) {
        let first = u32::try_from(self.len()).expect("there are more values than entities");
        self.change();
        self.copy_values = self.copy_values.or(other.copy_values);
        self.entities.append(&mut other.entities);
        self.values.append(&mut other.values);
        other.positions.clear();
        self.index_from(first);
    }

    /// Sets the positions of the entities from a position on, which have none.
    ///
    /// # Panics
    ///
    /// If one has.
    fn index_from(&mut self, first: u32) {
        for (entity, position) in self.entities[first as usize..].iter().zip(first..) {
            let former = self.positions.add(entity.index(), position);
            assert!(former.is_none(), "an entity has a value in both sets");
        }
    }

    /// Moves the values of some entities to a new set, in the order of the entities. O(entities).
    pub(super) fn split(&mut self, entities: &[Entity]) -> Self {
        let mut part = Self { copy_values: self.copy_values, ..Self::default() };
        for &entity in entities {
            if let Some(value) = self.remove(entity) {
                part.insert(entity, value);
            }
        }
        part
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Entity, &T)> {
        self.entities.iter().copied().zip(&self.values)
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (Entity, &mut T)> {
        self.change();
        self.entities.iter().copied().zip(&mut self.values)
    }

    /// Drops the values of the entities `entity(0..len)`, in this order. O(len).
    pub(super) fn end(
        &mut self,
        len: usize,
        entity: &dyn Fn(usize) -> Entity,
        panic: &mut FirstPanic,
    ) {
        let mut left = 0..len;
        // A value is removed from the set before its destructor runs.
        panic.catch(|| {
            while self.len() > 0
                && let Some(i) = left.next()
            {
                drop(self.remove(entity(i)));
            }
        });
    }

    /// Drops the values of entities for which `is_alive` is false, in the order of the set.
    /// O(values).
    pub(super) fn retain(&mut self, is_alive: &dyn Fn(Entity) -> bool, panic: &mut FirstPanic) {
        let ended = self.entities.iter().copied().filter(|&entity| !is_alive(entity));
        let ended: Vec<_> = ended.collect();
        self.end(ended.len(), &|i| ended[i], panic);
    }

    /// Drops all values, in the order of the set.
    pub(super) fn clear(&mut self, panic: &mut FirstPanic) {
        self.change();
        self.positions.clear();
        self.entities.clear();
        let mut values = self.values.drain(..);
        panic.catch(|| values.by_ref().for_each(drop));
    }

    pub(super) fn shrink(&mut self) {
        self.positions.shrink();
        self.entities.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// The allocated memory, in use or not, without memory that the values own.
    pub(super) fn bytes(&self) -> usize {
        self.positions.bytes()
            + self.entities.capacity() * size_of::<Entity>()
            // The capacity of a vector of values without a size has no limit.
            + if size_of::<T>() == 0 { 0 } else { self.values.capacity() * size_of::<T>() }
    }

    /// Whether the arrays and the positions agree.
    pub(super) fn is_consistent(&self) -> bool {
        let mut places = (0u32..).zip(&self.entities);
        self.entities.len() == self.values.len()
            && self.positions.is_consistent()
            && self.positions.len() == self.values.len()
            && places.all(|(position, entity)| self.positions.get(entity.index()) == Some(position))
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    fn id(index: u32, generation: u32) -> Entity {
        Entity::new(index, generation)
    }

    #[test]
    fn a_removed_value_leaves_no_gap() {
        let mut set = SparseSet::default();
        for (index, text) in (0..).zip(["a", "b", "c", "d"]) {
            assert_eq!(set.insert(id(index, 1), text), None);
        }
        assert_eq!(set.remove(id(1, 1)), Some("b"));
        assert_eq!(set.remove(id(1, 1)), None);
        let rows: Vec<_> = set.iter().map(|(entity, &text)| (entity.index(), text)).collect();
        assert_eq!(rows, [(0, "a"), (3, "d"), (2, "c")]);
        assert_eq!(set.get(id(3, 1)), Some(&"d"));
        assert_eq!(set.insert(id(3, 1), "e"), Some("d"));
        assert!(set.is_consistent());
    }

    #[test]
    fn an_id_of_another_generation_finds_nothing() {
        let mut set = SparseSet::default();
        set.insert(id(7, 2), 5u8);
        for stale in [id(7, 1), id(7, 3), id(6, 2)] {
            assert!(!set.contains(stale) && set.get_mut(stale).is_none());
            assert_eq!(set.remove(stale), None);
        }
        assert_eq!(set.get(id(7, 2)), Some(&5));
    }

    #[test]
    fn a_far_index_takes_a_page() {
        let (mut near, mut far) = (SparseSet::default(), SparseSet::default());
        for i in 0..10 {
            near.insert(id(i, 1), i);
            far.insert(id(u32::MAX - 1000 * i, u32::MAX), i);
        }
        // A page each, two branches, and a root.
        assert!(near.bytes() < 8_000, "{} bytes", near.bytes());
        assert!(far.bytes() < 180_000, "{} bytes", far.bytes());
        assert_eq!(far.get(id(u32::MAX - 3000, u32::MAX)), Some(&3));
    }

    #[test]
    fn copies_follow_what_changed() {
        /// A value that counts how often it was cloned.
        #[derive(Debug)]
        struct Counted<'c>(u32, &'c Cell<u32>);

        impl Clone for Counted<'_> {
            fn clone(&self) -> Self {
                self.1.set(self.1.get() + 1);
                Self(self.0, self.1)
            }
        }

        let clones = Cell::new(0);
        let (mut set, mut copy) = (SparseSet::default(), SparseSet::default());
        set.insert(id(1, 1), Counted(10, &clones));
        set.copy_to(&mut copy);
        assert!(copy.len() == 0 && !set.is_kept(), "no one asked for copies");

        set.keep();
        set.insert(id(2, 1), Counted(20, &clones));
        set.copy_to(&mut copy);
        set.copy_to(&mut copy);
        assert_eq!((copy.len(), clones.get()), (2, 2), "nothing changed in between");

        set.get_mut(id(2, 1)).expect("it has a value").0 = 21;
        set.remove(id(1, 1));
        let mut later = SparseSet::default();
        copy.copy_to(&mut later);
        set.exchange_for(&mut later);
        assert_eq!((set.len(), set.get(id(2, 1)).map(|value| value.0)), (2, Some(20)));
        assert_eq!((later.len(), later.get(id(2, 1)).map(|value| value.0)), (1, Some(21)));

        // The set is as old as the copy again, and the next change gives it a new version.
        let before = clones.get();
        set.copy_to(&mut copy);
        assert_eq!(clones.get(), before);
        set.iter_mut().for_each(|(_, value)| value.0 += 1);
        assert_ne!(set.version, later.version);
        set.copy_to(&mut copy);
        assert!(copy.is_consistent() && copy.get(id(1, 1)).is_some_and(|value| value.0 == 11));
    }

    #[test]
    fn values_without_a_size_have_no_bytes() {
        let mut set = SparseSet::default();
        for i in 0..100 {
            assert_eq!(set.insert(id(i, 1), ()), None);
        }
        assert!(set.is_consistent() && set.len() == 100);
        assert!(set.bytes() < 8_000, "{} bytes", set.bytes());
        set.clear(&mut FirstPanic::default());
        set.shrink();
        assert_eq!((set.len(), set.bytes()), (0, 0));
    }
}
