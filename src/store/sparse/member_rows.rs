//! Members: which rows of the archetypes have which sparse components.
//!
//! The values are in the sets. An archetype has an array of bits, one for each row, for each sparse
//! component that one of its entities has had ([`Archetypes::add_members`]). A new array makes the
//! archetype's edges invalid: the next move along an edge first adds the array to the target. The
//! plans that name the component are updated. A compaction drops arrays without members
//! ([`Archetypes::drop_empty_members`]), forgets the edges, some of which relied on these arrays,
//! and makes the plans anew.
//!
//! A value is put before its bit, and a bit is cleared before the destructor of its value runs.
//! Rows of entities that are gone have bits of cleanup components only. While systems share the
//! store, no array can be made: the sets note the new members, and [`Store::mark_members`] sets
//! their bits before commands are played. A bit is cleared at once.

use crate::archetype::{Archetype, Archetypes, Graph};
use crate::component::SparseComponent;
use crate::entity::{ArchetypeId, Directory, Entity, Location, NoSuchEntity};
use crate::version::Version;

use super::super::logs::Logs;
use super::super::plans::Plans;
use super::super::store::Store;
use super::sparse_set::SparseSet;
use super::sparse_sets::SparseSets;

/// The rows of a store, to be marked as members, beside its sets.
#[derive(Debug)]
pub(crate) struct MemberRows<'s> {
    pub(super) entities: &'s Directory,
    pub(super) archetypes: &'s mut Archetypes,
    graph: &'s mut Graph,
    plans: &'s mut Plans,
    logs: &'s mut Logs,
}

impl MemberRows<'_> {
    /// The place of an entity that is alive and not gone.
    #[inline]
    pub(crate) fn locate(&self, entity: Entity) -> Option<Location> {
        let place = self.entities.locate(entity).ok()?;
        (!self.archetypes.get(place.archetype()).is_gone()).then_some(place)
    }

    /// The place of an entity, if it has a row.
    #[inline]
    pub(super) fn find(&self, entity: Entity) -> Option<Location> {
        self.entities.locate(entity).ok()
    }

    /// Records that an entity has a sparse component, or has not.
    #[inline(always)]
    pub(crate) fn set(&mut self, entity: Entity, number: u16, is_member: bool) {
        if let Some(place) = self.find(entity) {
            self.set_at(place, number, is_member);
        }
    }

    /// Records that the entity of a row has a sparse component, or has not.
    #[inline(always)]
    pub(crate) fn set_at(&mut self, place: Location, number: u16, is_member: bool) {
        let archetype = self.archetypes.get(place.archetype());
        if !archetype.set_member(number, place.row(), is_member) && is_member {
            self.add_first(place, number);
        }
    }

    /// The entities of the last rows of an archetype.
    pub(super) fn last_entities(&self, (archetype, rows): (ArchetypeId, usize)) -> &[Entity] {
        let entities = self.archetypes.get(archetype).entities();
        &entities[entities.len() - rows..]
    }

    /// Records that the entities of the last rows of an archetype have a sparse component.
    /// O(rows / 64 + chunks).
    pub(super) fn set_last(&mut self, (archetype, rows): (ArchetypeId, usize), number: u16) {
        if rows > 0 {
            if !self.archetypes.get(archetype).tracks_members(number) {
                self.add(archetype, number);
            }
            self.archetypes.get(archetype).add_last_members(number, rows);
        }
    }

    /// Records that the entities of rows have a sparse component.
    pub(in crate::store) fn set_places(&mut self, places: &[Option<Location>], number: u16) {
        // Neighbours in the list are mostly of one archetype.
        let archetype = |place: &Option<Location>| place.map(Location::archetype);
        for run in places.chunk_by(|a, b| archetype(a) == archetype(b)) {
            let Some(id) = archetype(&run[0]) else { continue };
            if !self.archetypes.get(id).tracks_members(number) {
                self.add(id, number);
            }
            let set = self.archetypes.get(id).member_bits(number).expect("an array was added");
            run.iter().flatten().for_each(|place| set(place.row(), true));
        }
    }

    /// Gives an entity a value in the set of a number, and returns the one that it replaces.
    ///
    /// # Errors
    ///
    /// If the entity is not alive.
    #[inline(never)]
    pub(crate) fn insert<S: SparseComponent>(
        &mut self,
        (set, number): (&mut SparseSet<S>, u16),
        (entity, value): (Entity, S),
        now: Version,
    ) -> Result<Option<S>, NoSuchEntity> {
        let place = self.locate(entity).ok_or(NoSuchEntity { entity })?;
        let replaced = set.insert(entity, value, now);
        if replaced.is_none() {
            self.set_at(place, number, true);
        }
        self.record_notes(set);
        Ok(replaced)
    }

    /// Takes the value from an entity in the set of a number.
    #[inline(never)]
    pub(crate) fn remove<S: SparseComponent>(
        &mut self,
        (set, number): (&mut SparseSet<S>, u16),
        entity: Entity,
        now: Version,
    ) -> Option<S> {
        let removed = set.remove(entity, now)?;
        self.set(entity, number, false);
        self.record_notes(set);
        Some(removed)
    }

    /// Records that entities do not have a sparse component any more.
    pub(in crate::store) fn clear(&mut self, entities: &[Entity], number: u16) {
        let mut rest = entities;
        while let Some((&first, others)) = rest.split_first() {
            let Ok(place) = self.entities.locate(first) else {
                rest = others;
                continue;
            };
            // Neighbours in the list are mostly of one archetype.
            let id = place.archetype();
            let set = self.archetypes.get(id).member_bits(number);
            let in_it = |&entity| {
                let place = self.entities.locate(entity).ok();
                place.filter(|place| place.archetype() == id)
            };
            let mut len = 0;
            for place in rest.iter().map_while(in_it) {
                len += 1;
                if let Some(set) = &set {
                    set(place.row(), false);
                }
            }
            rest = &rest[len..];
        }
    }

    /// Records the notes of a set.
    #[inline]
    pub(crate) fn record_notes<T: SparseComponent>(&mut self, set: &mut SparseSet<T>) {
        set.record_notes(self.logs);
    }

    #[cold]
    #[inline(never)]
    fn add_first(&mut self, place: Location, number: u16) {
        self.add(place.archetype(), number);
        self.archetypes.get(place.archetype()).set_member(number, place.row(), true);
    }

    #[cold]
    fn add(&mut self, archetype: ArchetypeId, number: u16) {
        self.archetypes.add_members(archetype, number);
        self.graph.recheck();
        self.plans.add_members(archetype, self.archetypes);
    }

    /// Tells the edges and the plans about new arrays of archetypes, of which `first` is the first.
    fn renew_from(&mut self, first: ArchetypeId) {
        self.graph.recheck();
        self.plans.renew_members(first, self.archetypes);
    }

    /// Records that entities have sparse components, by their numbers. Also while the ids are
    /// shared with the systems of a stage.
    fn set_all(&mut self, members: &[(u16, Vec<Entity>)]) {
        let firsts = members.iter().map(|(number, entities)| self.set_each(entities, *number));
        // Plans list the archetypes from a number on: once, however many have new arrays.
        if let Some(first) = firsts.flatten().min() {
            self.renew_from(first);
        }
    }

    /// Records that entities have a sparse component. Returns the first archetype that has a new
    /// array, of which the edges and the plans do not know yet.
    fn set_each(&mut self, entities: &[Entity], number: u16) -> Option<ArchetypeId> {
        let mut first = None::<ArchetypeId>;
        let view = self.entities.view();
        // Neighbours in the list are mostly of one archetype.
        let mut last = None;
        for &entity in entities {
            let Ok(Some(place)) = view.resolve(entity) else { continue };
            let id = place.archetype();
            if last.as_ref().is_none_or(|&(known, _)| known != id) {
                if !self.archetypes.get(id).tracks_members(number) {
                    self.archetypes.add_members(id, number);
                    first = Some(first.map_or(id, |first| first.min(id)));
                }
                last = self.archetypes.get(id).member_bits(number).map(|set| (id, set));
            }
            if let Some((_, set)) = &last {
                set(place.row(), true);
            }
        }
        first
    }
}

impl Store {
    /// The sparse sets, and the rows of their entities.
    #[inline]
    pub(in crate::store) const fn sets_and_rows(&mut self) -> (&mut SparseSets, MemberRows<'_>) {
        let Self { sparse, entities, archetypes, graph, plans, logs, .. } = self;
        (sparse, MemberRows { entities, archetypes, graph, plans, logs })
    }

    /// The set of a sparse component, its number, the rows of its entities, and the version for
    /// changes. Adds the set if it does not exist, and advances the clock.
    ///
    /// # Panics
    ///
    /// If another component has its name.
    pub(crate) fn sparse_mut<T: SparseComponent>(
        &mut self,
    ) -> (&mut SparseSet<T>, u16, (MemberRows<'_>, Version)) {
        self.add_sets::<T>();
        if T::CLEANUP {
            self.end_kept();
        }
        let now = self.advance_clock();
        let (sets, rows) = self.sets_and_rows();
        let (set, number) = sets.get_numbered().expect("the sparse set was not added");
        (set, number, (rows, now))
    }

    /// Makes place in the target of an edge for the members of its source. Entities that are gone
    /// have sparse cleanup components only.
    pub(in crate::store) fn follow_members(&mut self, source: ArchetypeId, target: ArchetypeId) {
        let [from, to] = [source, target].map(|id| self.archetypes.get(id));
        let is_kept = |number| !to.is_gone() || self.sparse.is_cleanup(number);
        let lacked = from
            .tracked_components()
            .filter(|&number| !to.tracks_members(number) && is_kept(number));
        let lacked: Vec<_> = lacked.collect();
        let (_, mut rows) = self.sets_and_rows();
        lacked.into_iter().for_each(|number| rows.add(target, number));
    }

    /// Drops the bits of sparse components in archetypes where they have no members any more.
    /// O(archetypes + rows / 64 × sparse components).
    pub(in crate::store) fn drop_empty_members(&mut self) {
        if let Some(first) = self.archetypes.drop_empty_members() {
            // An edge knows that its target has the bits, and a plan knows where they are.
            self.graph.clear();
            self.plans.renew_members(first, &self.archetypes);
        }
    }

    /// Records that these entities have sparse components, by their numbers.
    pub(in crate::store) fn set_members(&mut self, members: &[(u16, Vec<Entity>)]) {
        self.sets_and_rows().1.set_all(members);
    }

    /// Records the new members that systems have noted, and the notes for logs.
    pub(crate) fn mark_members(&mut self) {
        if !self.sparse.is_empty() {
            let noted = self.sparse.take_unmarked();
            self.set_members(&noted);
            self.record_sets();
            self.end_kept();
        }
    }

    /// Records the members anew, after the sets and the rows were exchanged. O(rows / 64 + values).
    pub(in crate::store) fn renew_all_members(&mut self) {
        if !self.sparse.is_empty() {
            self.archetypes.all_mut().iter_mut().for_each(Archetype::clear_members);
            self.sparse.take_unmarked();
            let members = self.sparse.members();
            self.set_members(&members);
        }
    }

    /// The name of a sparse component of which the members differ from the entities with values.
    /// O(rows / 64 × sparse components + values).
    pub(crate) fn find_member_defect(&self) -> Option<&'static str> {
        let archetypes = self.archetypes.as_slice();
        let mut known = 0;
        for (number, name, entities) in self.sparse.known_members() {
            let is_member = |&entity: &Entity| {
                self.entities.locate(entity).is_ok_and(|place| {
                    self.archetypes.get(place.archetype()).is_member(number, place.row())
                })
            };
            let members: usize = archetypes.iter().map(|one| one.members_len(number)).sum();
            if members != entities.len() || !entities.iter().all(is_member) {
                return Some(name);
            }
            known += members;
        }
        let all =
            |one: &Archetype| one.tracked_components().map(|number| one.members_len(number)).sum();
        let all: usize = archetypes.iter().map::<usize, _>(all).sum();
        (all != known).then_some("without a name")
    }
}
