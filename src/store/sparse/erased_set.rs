//! A sparse set without its type, behind its lock.

use core::any::Any;

use crate::component::{OnDelete, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::logs::Logs;
use super::super::relations::{NamedTarget, is_tree};
use super::set_arrays::SetArrays;
use super::set_lock::SetLock;
use super::set_shape::SetShape;
use super::sparse_set::{HasValues, SparseSet};

/// A sparse set in figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseSetInfo {
    /// The name of the component.
    pub(crate) name: &'static str,
    pub(crate) len: usize,
    /// The allocated memory, without memory that the values own. The lists of pairs are in it.
    pub(crate) bytes: usize,
    /// The part of it that finds values and, of a relation, sources.
    pub(crate) index_bytes: usize,
}

/// A sparse set of any type. The methods are the methods of [`SparseSet`].
pub(in crate::store) trait ErasedSet: Any + Send + Sync {
    /// The [`SparseSet`] itself.
    fn as_values(&mut self) -> &mut dyn Any;
    fn name(&self) -> &'static str;
    fn len(&self) -> usize;
    /// O(pages + targets), and + sources for a relation to many.
    fn info(&self) -> SparseSetInfo;
    fn contains(&self, entity: Entity) -> bool;
    fn is_consistent(&self, is_alive: HasValues<'_>, clock: Version) -> bool;
    fn entities(&self) -> Vec<Entity>;
    fn take_unmarked(&mut self) -> Vec<Entity>;
    /// Whether values outlive the despawn of their entities.
    fn is_cleanup(&self) -> bool;
    fn lost(&self) -> Vec<Entity>;
    fn move_lost_to(&mut self, lost: &mut Vec<Entity>);
    /// Has no effect on the set of a cleanup component.
    fn end(
        &mut self,
        len: usize,
        entity: &dyn Fn(usize) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    );
    fn retain(&mut self, is_alive: HasValues<'_>, now: Version, panic: &mut FirstPanic);
    fn clear(&mut self, panic: &mut FirstPanic);
    fn shrink(&mut self);
    fn combine_notes(&mut self);
    fn record_notes(&mut self, logs: &mut Logs) -> bool;
    /// Drops the notes that were taken. Returns whether others will be.
    fn clear_notes(&mut self) -> bool;
    fn end_notes(&mut self);
    fn release(&mut self);
    fn rename(&mut self, new: &dyn Fn(Entity) -> Entity, now: Version);
    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity);
    fn split(&mut self, entities: &[Entity], now: Version) -> Box<dyn ErasedSet>;
    /// A key that no other set of a world has.
    fn key(&self) -> u64;
    fn version(&self) -> u64;
    /// The form of the values as bytes, if they have one.
    fn shape(&self) -> Option<SetShape>;
    /// The numbers of values, of pairs and of targets.
    fn lens(&self) -> [usize; 3];
    fn pass_arrays(&self, read: &mut dyn FnMut(SetArrays<'_>));
    /// Another set of the same type, with these arrays.
    fn of_arrays(&self, arrays: SetArrays<'_>) -> Result<Box<dyn ErasedSet>, &'static str>;
    /// An empty set for a copy, if the values are part of snapshots.
    fn new_copy(&self) -> Option<Box<dyn ErasedSet>>;
    /// Makes another set of the same type a copy.
    fn copy_to(&self, other: &mut dyn Any);
    fn swap_restored(&mut self, copy: &mut dyn Any, now: Version);
    /// Moves all values of another set of the same type to this one.
    fn append(&mut self, other: &mut dyn Any, now: Version);
    /// The effect of a despawn on the relations to the entity, if this is the set of a relation.
    fn on_delete(&self) -> Option<OnDelete>;
    /// Adds the targets of a source to a list.
    fn extend_targets(&self, source: Entity, list: &mut Vec<Entity>);
    /// Adds the sources of a target to a list.
    fn extend_sources(&self, target: Entity, list: &mut Vec<Entity>);
    /// The first source of a target for which `is_sought` is true.
    fn find_source(&self, target: Entity, is_sought: &dyn Fn(Entity) -> bool) -> Option<Entity>;
    /// The bytes of the value of a pair, for as long as the lock is borrowed.
    fn lend_pair(&self, source: Entity, target: Entity) -> Option<&[u8]>;
    /// Whether sources keep their order, if this is the set of a relation.
    fn is_ordered(&self) -> bool;
    fn closes_cycle(&self, source: Entity, target: Entity) -> bool;
    fn relate(&mut self, source: Entity, target: NamedTarget<'_>, now: Version) -> bool;
    fn unrelate(&mut self, of: (Entity, Entity), now: Version) -> Option<bool>;
    fn remove_sources(&mut self, target: Entity, now: Version) -> Vec<Entity>;
    fn copied_bytes(&self, original: Entity) -> Option<usize>;
    fn copy_values(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: Option<&dyn Fn(Entity) -> Entity>,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity>;
    fn copy_relations(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: &dyn Fn(Entity) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity>;
    fn cut(
        &mut self,
        leaving: &[Entity],
        stays: &dyn Fn(Entity) -> bool,
        now: Version,
        lost: &mut Vec<Entity>,
    );
}

impl<T: SparseComponent> ErasedSet for SetLock<T> {
    fn as_values(&mut self) -> &mut dyn Any {
        self.get_mut()
    }

    fn name(&self) -> &'static str {
        T::NAME
    }

    fn len(&self) -> usize {
        self.read().len()
    }

    fn info(&self) -> SparseSetInfo {
        let set = self.read();
        let (bytes, index_bytes) = (set.bytes(), set.index_bytes());
        SparseSetInfo { name: T::NAME, len: set.len(), bytes, index_bytes }
    }

    fn contains(&self, entity: Entity) -> bool {
        self.read().contains(entity)
    }

    fn is_consistent(&self, is_alive: HasValues<'_>, clock: Version) -> bool {
        let set = self.read();
        set.is_consistent(clock)
            && set.iter().all(|(entity, _)| is_alive(entity, T::CLEANUP))
            && set.targets().all(|entity| is_alive(entity, false))
            && (!T::RELATION.is_some_and(|rules| rules.is_tree) || is_tree(&set))
    }

    fn entities(&self) -> Vec<Entity> {
        self.read().entities().to_vec()
    }

    fn take_unmarked(&mut self) -> Vec<Entity> {
        self.get_mut().take_unmarked()
    }

    fn is_cleanup(&self) -> bool {
        T::CLEANUP
    }

    fn lost(&self) -> Vec<Entity> {
        self.read().lost().to_vec()
    }

    fn move_lost_to(&mut self, lost: &mut Vec<Entity>) {
        self.get_mut().move_lost_to(lost);
    }

    fn end(
        &mut self,
        len: usize,
        entity: &dyn Fn(usize) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) {
        if !T::CLEANUP {
            self.get_mut().end(len, entity, now, panic);
        }
    }

    fn retain(&mut self, is_alive: HasValues<'_>, now: Version, panic: &mut FirstPanic) {
        self.get_mut().retain(is_alive, now, panic);
    }

    fn clear(&mut self, panic: &mut FirstPanic) {
        self.get_mut().clear(panic);
    }

    fn shrink(&mut self) {
        self.get_mut().shrink();
    }

    fn combine_notes(&mut self) {
        self.get_mut().combine_notes();
    }

    fn record_notes(&mut self, logs: &mut Logs) -> bool {
        self.get_mut().record_notes(logs)
    }

    fn clear_notes(&mut self) -> bool {
        self.get_mut().notes().map(|notes| notes.clear()).is_some()
    }

    fn end_notes(&mut self) {
        self.get_mut().end_notes();
    }

    fn release(&mut self) {
        Self::release(self);
    }

    fn rename(&mut self, new: &dyn Fn(Entity) -> Entity, now: Version) {
        self.get_mut().rename(new, now);
    }

    fn map_entities(&mut self, map: &mut dyn FnMut(Entity) -> Entity) {
        self.get_mut().map_entities(map);
    }

    fn split(&mut self, entities: &[Entity], now: Version) -> Box<dyn ErasedSet> {
        Box::new(Self::new(self.get_mut().split(entities, now)))
    }

    fn key(&self) -> u64 {
        Self::key(self)
    }

    fn version(&self) -> u64 {
        self.read().version()
    }

    fn shape(&self) -> Option<SetShape> {
        SetShape::of::<T>()
    }

    fn lens(&self) -> [usize; 3] {
        let set = self.read();
        [set.len(), set.pairs_len(), set.targets().count()]
    }

    fn pass_arrays(&self, read: &mut dyn FnMut(SetArrays<'_>)) {
        read(self.read().arrays());
    }

    fn of_arrays(&self, arrays: SetArrays<'_>) -> Result<Box<dyn ErasedSet>, &'static str> {
        Ok(Box::new(Self::new(SparseSet::of_arrays(arrays)?)))
    }

    fn new_copy(&self) -> Option<Box<dyn ErasedSet>> {
        self.read().is_kept().then(|| Box::<Self>::default() as _)
    }

    fn copy_to(&self, other: &mut dyn Any) {
        self.read().copy_to(of_any(other));
    }

    fn swap_restored(&mut self, copy: &mut dyn Any, now: Version) {
        self.get_mut().swap_restored(of_any(copy), now);
    }

    fn append(&mut self, other: &mut dyn Any, now: Version) {
        self.get_mut().append(of_any(other), now);
    }

    fn on_delete(&self) -> Option<OnDelete> {
        let of_pairs = T::PAIRS.map(|rules| rules.on_delete);
        T::RELATION.map(|rules| rules.on_delete).or(of_pairs)
    }

    fn extend_targets(&self, source: Entity, list: &mut Vec<Entity>) {
        self.read().extend_targets(source, list);
    }

    fn extend_sources(&self, target: Entity, list: &mut Vec<Entity>) {
        list.extend_from_slice(self.read().sources(target));
    }

    fn find_source(&self, target: Entity, is_sought: &dyn Fn(Entity) -> bool) -> Option<Entity> {
        self.read().sources(target).iter().copied().find(|&source| is_sought(source))
    }

    fn lend_pair(&self, source: Entity, target: Entity) -> Option<&[u8]> {
        self.lend().pair_bytes(source, target)
    }

    fn is_ordered(&self) -> bool {
        SparseSet::<T>::IS_ORDERED
    }

    fn closes_cycle(&self, source: Entity, target: Entity) -> bool {
        self.read().closes_cycle(source, target)
    }

    fn relate(&mut self, source: Entity, target: NamedTarget<'_>, now: Version) -> bool {
        self.get_mut().relate(source, target, now)
    }

    fn unrelate(&mut self, of: (Entity, Entity), now: Version) -> Option<bool> {
        self.get_mut().unrelate(of, now)
    }

    fn remove_sources(&mut self, target: Entity, now: Version) -> Vec<Entity> {
        self.get_mut().remove_sources(target, now)
    }

    fn copy_relations(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: &dyn Fn(Entity) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity> {
        self.get_mut().copy_relations(pairs, new, now, panic)
    }

    fn copied_bytes(&self, original: Entity) -> Option<usize> {
        self.read().copied_bytes(original)
    }

    fn copy_values(
        &mut self,
        pairs: &[(Entity, Entity)],
        new: Option<&dyn Fn(Entity) -> Entity>,
        now: Version,
        panic: &mut FirstPanic,
    ) -> Vec<Entity> {
        self.get_mut().copy_values(pairs, new, now, panic)
    }

    fn cut(
        &mut self,
        leaving: &[Entity],
        stays: &dyn Fn(Entity) -> bool,
        now: Version,
        lost: &mut Vec<Entity>,
    ) {
        self.get_mut().cut(leaving, stays, now, lost);
    }
}

/// The set of a lock, which must be a set of `T`.
fn of_any<T: SparseComponent>(lock: &mut dyn Any) -> &mut SparseSet<T> {
    let lock: &mut SetLock<T> =
        lock.downcast_mut().expect("a sparse set is filed under another type");
    lock.get_mut()
}
