//! A sparse set: the values of one sparse component, by entity, beside the chunks.
//!
//! ```text
//!  positions   4: 0   7: 1   9: 2      pages of 1,024 indices
//!  entities    │ 4v1 │ 7v1 │ 9v2 │
//!  values      │  a  │  b  │  c  │
//! ```
//!
//! Values lie without gaps, in one vector, so that a position is an address without a look at a
//! list of chunks, and all values are one slice. A vector that grows copies them, amortised O(1) an
//! insertion. The last value takes the place of a removed one. Positions are found by index, in
//! pages, because the index of an entity may be near 4,294,967,295 in a world of few entities
//! ([`PagedIndex`](crate::entity::PagedIndex)). Each block of values has the version at which one
//! of them was written last ([`SetBlocks`]): a call that writes values takes the version.
//!
//! A position is that of an id if the id at the position is the same. A value is removed when its
//! entity is despawned, so an old id finds no value, even if its index is in use again. A value of
//! a cleanup component remains, and with it the row of the entity: its index is not in use again
//! before the value is removed.
//!
//! The set has a *version* of its own, which is no version of the world: see [`SetVersion`].
//!
//! The set of a relation has the [`Sources`] of each target beside the values. Each change of a
//! value changes them: [`SparseComponent::RELATION`] is a constant, so other sets pay with no
//! instruction.

use crate::component::{DenseValues, SparseBundle as _, SparseComponent};
use crate::entity::Entity;
use crate::spare::shrink_unused;
use crate::storage::SetBlocks;
use crate::version::Version;

use super::super::first_panic::FirstPanic;
use super::super::logs::Logs;
use super::super::relations::Sources;
use super::each_mut::{EachMut, Marks};
use super::set_notes::{Notes, SetNotes};
use super::set_version::SetVersion;

/// Tells whether an entity may have values: it is alive, or, of a cleanup component (`true`), gone
/// with values.
pub(super) type HasValues<'f> = &'f dyn Fn(Entity, bool) -> bool;

/// Makes a vector a copy of some values.
type CopyValues<T> = fn(&[T], &mut DenseValues<T>);

/// The values of type `T`, by entity.
#[derive(Debug)]
pub struct SparseSet<T> {
    pub(in crate::store) blocks: SetBlocks,
    pub(in crate::store) entities: Vec<Entity>,
    pub(in crate::store) values: DenseValues<T>,
    /// Copies the values, if they are part of snapshots.
    pub(super) copy_values: Option<CopyValues<T>>,
    pub(super) version: SetVersion,
    /// Entities that got a value while their rows could not be marked as members.
    unmarked: Vec<Entity>,
    /// Entities that have lost a value of a cleanup component: some may end with it.
    pub(super) lost: Vec<Entity>,
    /// The reverse index of a relation.
    pub(in crate::store) sources: Sources,
    /// The marks of values that a pass has borrowed.
    marks: Marks,
    /// The values that came and went, while a log of them has readers.
    pub(in crate::store) notes: Option<Box<dyn Notes<T>>>,
}

impl<T: SparseComponent> Default for SparseSet<T> {
    fn default() -> Self {
        Self {
            blocks: SetBlocks::new::<T>(),
            entities: Vec::new(),
            values: DenseValues::default(),
            copy_values: copy_plain::<T>(),
            version: SetVersion::default(),
            unmarked: Vec::new(),
            lost: Vec::new(),
            sources: Sources::default(),
            marks: Marks::default(),
            notes: None,
        }
    }
}

/// Relations and plain values are part of all snapshots.
fn copy_plain<T: SparseComponent>() -> Option<CopyValues<T>> {
    if let Some(pairs) = T::PAIRS {
        return Some(pairs.copy);
    }
    if T::RELATION.is_none() {
        return T::VALUES.map(|plain| plain.copy);
    }
    Some(|from, to| {
        let rules = T::RELATION.expect("it is a relation");
        to.truncate(0);
        from.iter().for_each(|value| to.push((rules.of)((rules.target)(value))));
    })
}

impl<T: SparseComponent + Clone> SparseSet<T> {
    /// Makes the values part of snapshots.
    pub(crate) fn keep(&mut self) {
        self.copy_values = Some(|from, to| to.copy_from(from));
    }
}

impl<T: SparseComponent> SparseSet<T> {
    /// Whether the values are part of snapshots.
    pub(super) const fn is_kept(&self) -> bool {
        self.copy_values.is_some()
    }

    pub(crate) const fn version(&self) -> u64 {
        self.version.get()
    }

    /// Makes another set a copy of this one, if the values are part of snapshots, unless it is
    /// one already. If a clone panics, the other set has to be dropped. O(values).
    pub(super) fn copy_to(&self, other: &mut Self) {
        let Some(copy_values) = self.copy_values else { return };
        if other.copy_values.is_some() && other.version() == self.version() {
            return;
        }
        other.copy_values = None;
        // The second panic of a destructor would end the process if the copy dropped these.
        let mut panic = FirstPanic::default();
        panic.drop_from(&mut other.values, self.len());
        panic.resume();
        copy_values(&self.values, &mut other.values);
        other.blocks.positions.clone_from(&self.blocks.positions);
        other.entities.clone_from(&self.entities);
        other.sources.clone_from(&self.sources);
        other.version.follow(&self.version);
        other.copy_values = self.copy_values;
    }

    /// Exchanges the values with an older copy of this set. All are new.
    pub(super) fn swap_restored(&mut self, copy: &mut Self, now: Version) {
        core::mem::swap(self, copy);
        self.touch_from(0, now);
        self.version.go_on_after(&copy.version);
        core::mem::swap(&mut self.notes, &mut copy.notes);
    }

    /// A set with these values, that was read. `None` if an entity has two of them.
    pub(super) fn of_parts(
        entities: Vec<Entity>,
        values: Vec<T>,
        sources: Sources,
    ) -> Option<Self> {
        let version = SetVersion::foreign();
        let values = values.into();
        let mut set = Self { entities, values, sources, version, ..Self::default() };
        let positions = (0u32..).zip(&set.entities);
        let indices = &mut set.blocks.positions;
        let mut former = positions.map(|(at, entity)| indices.add(entity.index(), at));
        if former.any(|former| former.is_some()) { None } else { Some(set) }
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// The versions of the values' blocks.
    #[inline]
    pub(super) const fn blocks(&self) -> &SetBlocks {
        &self.blocks
    }

    /// Gives the values from a position on the current version.
    pub(in crate::store) fn touch_from(&mut self, first: usize, now: Version) {
        self.blocks.touch_from(first, self.len() - first, now);
    }

    /// Gives the set a version that no earlier contents had.
    pub(in crate::store) fn renew_version(&mut self) {
        self.version.change();
    }

    /// Takes notes of the values that come and go.
    pub(super) fn begin_notes(&mut self) {
        self.notes.get_or_insert_with(|| Box::<SetNotes<T>>::default());
    }

    /// Takes notes no longer.
    pub(super) fn end_notes(&mut self) {
        self.notes = None;
    }

    /// The notes, if a log has readers.
    #[inline]
    pub(super) fn notes(&mut self) -> Option<&mut (dyn Notes<T> + 'static)> {
        self.notes.as_deref_mut()
    }

    /// Keeps the combined effect of the notes of each entity.
    pub(super) fn combine_notes(&mut self) {
        if let Some(mut notes) = self.notes.take() {
            notes.combine(&|entity| self.get(entity));
            self.notes = Some(notes);
        }
    }

    /// Moves the notes to the logs, and takes no more if these have no readers. Returns whether
    /// they have.
    #[inline]
    pub(crate) fn record_notes(&mut self, logs: &mut Logs) -> bool {
        let is_read = self.notes().is_some_and(|notes| notes.record(logs));
        if !is_read && self.notes.is_some() {
            self.end_notes();
        }
        is_read
    }

    /// Notes that the value at a position goes.
    #[inline]
    pub(in crate::store) fn note_loss(&mut self, at: usize) {
        if let Some(notes) = &mut self.notes {
            notes.lose(self.entities[at], &self.values[at]);
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.entities.len()
    }

    /// The position of an entity's value.
    #[inline]
    pub(crate) fn position(&self, entity: Entity) -> Option<usize> {
        let position = self.blocks.positions.get(entity.index())? as usize;
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
    pub(crate) fn get_mut(&mut self, entity: Entity, now: Version) -> Option<&mut T> {
        let position = self.position(entity)?;
        self.renew_version();
        self.blocks.touch::<T>(position, now);
        Some(&mut self.values[position])
    }

    /// [`SparseSet::insert`] while rows cannot be marked as members: notes a new one.
    pub(crate) fn insert_unmarked(&mut self, entity: Entity, value: T, now: Version) -> Option<T> {
        let replaced = self.insert(entity, value, now);
        if replaced.is_none() {
            self.unmarked.push(entity);
        }
        replaced
    }

    /// Whether the rows of all entities with values are marked as members.
    #[inline]
    pub(super) const fn is_marked(&self) -> bool {
        self.unmarked.is_empty()
    }

    /// Takes the entities with values that [`SparseSet::insert_unmarked`] has noted.
    pub(super) fn take_unmarked(&mut self) -> Vec<Entity> {
        let mut noted = core::mem::take(&mut self.unmarked);
        noted.retain(|&entity| self.contains(entity));
        noted
    }

    /// The entities that have lost a value of a cleanup component.
    pub(super) fn lost(&self) -> &[Entity] {
        &self.lost
    }

    /// Moves the entities that have lost a value of a cleanup component to the end of a list.
    #[inline]
    pub(super) fn move_lost_to(&mut self, lost: &mut Vec<Entity>) {
        lost.append(&mut self.lost);
    }

    /// The entities with values.
    pub(super) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (Entity, &T)> {
        self.entities.iter().copied().zip(self.values.iter())
    }

    pub(crate) fn iter_mut(
        &mut self,
        now: Version,
    ) -> impl ExactSizeIterator<Item = (Entity, &mut T)> {
        self.renew_version();
        self.touch_from(0, now);
        self.entities.iter().copied().zip(self.values.iter_mut())
    }

    /// The values, to be borrowed for writing by entity, each once.
    #[inline]
    pub(super) fn each_mut(&mut self, now: Version) -> EachMut<'_, T> {
        self.renew_version();
        let Self { blocks, entities, values, marks, .. } = self;
        EachMut::new((blocks, now), entities, values, marks)
    }

    /// Drops the values of the entities `entity(0..len)`, in this order. O(len).
    pub(super) fn end(
        &mut self,
        len: usize,
        entity: &dyn Fn(usize) -> Entity,
        now: Version,
        panic: &mut FirstPanic,
    ) {
        if Self::IS_ORDERED && len > 1 && self.len() > 0 {
            let ended: Vec<_> = (0..len).map(entity).collect();
            return self.remove_all(&ended, now);
        }
        let mut left = 0..len;
        // A value is removed from the set before its destructor runs.
        panic.catch(|| {
            while self.len() > 0
                && let Some(i) = left.next()
            {
                drop(self.remove(entity(i), now));
            }
        });
    }

    /// Puts the set back into a state that does not have it. Plain values and relations are parts
    /// of every state, so it had none. Of other types, the values of entities for which `is_alive`
    /// is false are dropped, in the order of the set. Takes no notes. O(values).
    pub(super) fn retain(&mut self, is_alive: HasValues<'_>, now: Version, panic: &mut FirstPanic) {
        let notes = self.notes.take();
        if T::HAS_RELATIONS || T::VALUES.is_some() {
            self.clear(panic);
        } else {
            let ended =
                self.entities.iter().copied().filter(|&entity| !is_alive(entity, T::CLEANUP));
            let ended: Vec<_> = ended.collect();
            self.end(ended.len(), &|i| ended[i], now, panic);
        }
        self.notes = notes;
    }

    /// Drops all values, in the order of the set.
    pub(super) fn clear(&mut self, panic: &mut FirstPanic) {
        self.renew_version();
        if let Some(notes) = &mut self.notes {
            let all = self.entities.iter().zip(self.values.iter());
            all.for_each(|(&one, value)| notes.lose(one, value));
        }
        self.blocks.positions.clear();
        self.entities.clear();
        self.sources = Sources::default();
        panic.drop_from(&mut self.values, 0);
    }

    pub(super) fn shrink(&mut self) {
        self.blocks.shrink(self.entities.len());
        shrink_unused(&mut self.entities);
        self.sources.shrink();
        self.shrink_pairs();
        self.values.shrink();
        self.marks.clear();
        self.notes.iter_mut().for_each(|notes| notes.shrink());
    }

    /// The allocated memory, in use or not, without memory that the values own. The lists of a
    /// relation to many are in it.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.sources.bytes()
            + self.pair_list_bytes()
            + self.marks.bytes()
            + self.notes.as_ref().map_or(0, |notes| notes.bytes())
            + self.entities.capacity() * size_of::<Entity>()
            // The capacity of a vector of values without a size has no limit.
            + if size_of::<T>() == 0 { 0 } else { self.values.capacity() * size_of::<T>() }
    }

    /// The part of [`SparseSet::bytes`] that finds values and, of a relation, sources.
    pub(super) fn index_bytes(&self) -> usize {
        self.blocks.bytes() + self.sources.bytes()
    }

    /// Whether the arrays, the positions and the reverse index agree, and no version of a block is
    /// after that of the world.
    pub(super) fn is_consistent(&self, clock: Version) -> bool {
        let (mut places, positions) = ((0u32..).zip(&self.entities), &self.blocks.positions);
        self.entities.len() == self.values.len()
            && positions.is_consistent()
            && positions.len() == self.values.len()
            && places.all(|(position, entity)| positions.get(entity.index()) == Some(position))
            && self.blocks.are_consistent(self.len(), clock)
            && self.links_are_consistent()
    }
}
