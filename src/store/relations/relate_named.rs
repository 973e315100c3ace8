//! Relations that are named at run time: they are read, tested, made and removed without their
//! type.
//!
//! The set knows its type and makes the value; the rest is the way of the sets in
//! [`change_row`](super::change_row), with its tests and its order: the source, the target, the
//! cycle, the set, the bit of the row, the logs.

use crate::component::{Links, SparseComponent};
use crate::entity::Entity;
use crate::version::Version;

use super::super::entity_error::EntityError;
use super::super::sparse::SparseSet;
use super::super::store::Store;
use super::named_target::NamedTarget;
use super::relation_error::RelationError;

impl Store {
    /// The bytes of the value of a pair of the relation with a name, for as long as the store is
    /// borrowed: none for a relation to one target. `None` if there is no such pair, or no such
    /// relation. O(sets + the shorter of the lists of both).
    ///
    /// # Panics
    ///
    /// If the set of the relation is borrowed for writing.
    pub(crate) fn lend_pair(
        &self,
        relation: &str,
        (source, target): (Entity, Entity),
    ) -> Option<&[u8]> {
        let (at, _) = self.sparse.position_named(relation)?;
        self.note_guard();
        self.sparse.sets[at].lend_pair(source, target)
    }

    /// Gives a source a target by the relation with a name, whose set must exist. The bytes must be
    /// a value of the relation; without them a new pair of a relation to many has zeros, and a pair
    /// that exists keeps its value. Only an ordered relation has places. O(sets), and as an
    /// insertion of the relation.
    ///
    /// # Errors
    ///
    /// If the source or the target is not alive, or a tree would have a cycle. The store is
    /// unchanged.
    pub(crate) fn relate_named(
        &mut self,
        relation: &str,
        source: Entity,
        named: NamedTarget<'_>,
    ) -> Result<(), EntityError> {
        let (place, target) = (self.row_of_living(source)?, named.target);
        let (at, number) = self.sparse.position_named(relation).expect("the name is of a relation");
        let relation = self.sparse.sets[at].name();
        self.check_target(relation, source, target)?;
        if self.sparse.sets[at].closes_cycle(source, target) {
            return Err(RelationError::Cycle { relation, source, target }.into());
        }
        let now = self.advance_clock();
        let (sets, mut rows) = self.sets_and_rows();
        let is_first = sets.sets[at].relate(source, named, now);
        if let (true, Some(place)) = (is_first, place) {
            rows.set_at(place, number, true);
        }
        self.record_sets();
        Ok(())
    }

    /// Removes the relation of a source to a target, by the name of a relation whose set must
    /// exist. Returns whether there was one. O(sets), and as a removal of the relation.
    ///
    /// # Errors
    ///
    /// If the source is not alive.
    pub(crate) fn unrelate_named(
        &mut self,
        relation: &str,
        (source, target): (Entity, Entity),
    ) -> Result<bool, EntityError> {
        let place = self.row_of_living(source)?;
        let (at, number) = self.sparse.position_named(relation).expect("the name is of a relation");
        let now = self.clock.next();
        let (sets, mut rows) = self.sets_and_rows();
        let Some(was_last) = sets.sets[at].unrelate((source, target), now) else {
            return Ok(false);
        };
        if let (true, Some(place)) = (was_last, place) {
            rows.set_at(place, number, false);
        }
        self.clock = now;
        self.record_sets();
        Ok(true)
    }
}

impl<T: SparseComponent> SparseSet<T> {
    /// The bytes of the value of a pair, none for a relation to one target. `None` if there is no
    /// such pair. O(the shorter of the lists of both).
    pub(in crate::store) fn pair_bytes(&self, source: Entity, target: Entity) -> Option<&[u8]> {
        let Some(rules) = T::PAIRS else {
            return self.target(source).filter(|&of| of == target).map(|_| &[][..]);
        };
        let (at, entry) = self.find_pair(source, target)?;
        Some((rules.value)(self.at(at), entry))
    }

    /// The value of a relation to a target, with these bytes as the value of a pair: none for a
    /// relation to one target. `None` if the bytes are no value.
    pub(super) fn value_to(target: Entity, bytes: &[u8]) -> Option<T> {
        if let Some(rules) = T::RELATION {
            return bytes.is_empty().then(|| (rules.of)(target));
        }
        let links = Links { targets: vec![target], places: vec![0] };
        T::PAIRS.and_then(|rules| (rules.read)(bytes, vec![links]))?.pop()
    }

    /// Whether a relation would make a cycle in a tree.
    pub(in crate::store) fn closes_cycle(&self, source: Entity, target: Entity) -> bool {
        T::RELATION.is_some_and(|rules| rules.is_tree) && self.is_above(source, target)
    }

    /// [`SparseSet::insert`] of a relation. Returns whether the source had none.
    ///
    /// # Panics
    ///
    /// If the bytes are no value.
    pub(in crate::store) fn relate(
        &mut self,
        source: Entity,
        NamedTarget { target, place, value }: NamedTarget<'_>,
        now: Version,
    ) -> bool {
        if value.is_none()
            && let Some((at, _)) = self.find_pair(source, target)
        {
            self.renew_version();
            self.blocks.touch::<T>(at, now);
            return false;
        }
        let zeros = vec![0; T::PAIRS.map_or(0, |rules| rules.value_size)];
        let value = Self::value_to(target, value.unwrap_or(&zeros));
        let value = value.expect("bytes are no value of a relation");
        let is_first = self.insert(source, value, now).is_none();
        if let Some(place) = place {
            self.move_to(self.position(source).expect("it has the relation"), place);
        }
        is_first
    }

    /// Removes the relation of a source to a target, if it exists. Returns whether it was the last
    /// one of the source.
    pub(in crate::store) fn unrelate(
        &mut self,
        (source, target): (Entity, Entity),
        now: Version,
    ) -> Option<bool> {
        if T::PAIRS.is_some() {
            let (at, entry) = self.find_pair(source, target)?;
            return Some(self.remove_pair(at, entry, now));
        }
        self.target(source).filter(|&of| of == target)?;
        self.remove(source, now).map(|_| true)
    }
}
