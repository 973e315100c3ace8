//! Copies of whole trees: an entity and all entities below it.
//!
//! ```text
//!  originals   root, its sources, theirs, …            one list, level after level
//!  groups      those of one archetype                  rows are written group by group
//!  rows        o₀ o₀ o₀  o₁ o₁ o₁ …                    of each original, all copies
//!  then        ids in the new rows, relations, logs    when all copies have their ids
//! ```
//!
//! The rows of an original are equal until their ids are replaced, so that a `memcpy` of each
//! column writes them; cell by cell, if the copies lack a component and are in another archetype.
//! The list of copies has them in another order: copy after copy.
//!
//! All that can be refused is refused before the first row is written. No step goes from entity to
//! entity by itself, so a chain is as deep as memory allows.

use rustc_hash::FxHashMap;

use crate::archetype::{Change, EdgeId};
use crate::component::RelationComponent;
use crate::entity::{ArchetypeId, Entity, NoSuchEntity, RowIndex};

use super::batch::request_bytes;
use super::entity_error::SpawnError;
use super::find_edge::EdgeError;
use super::first_panic::FirstPanic;
use super::relations::Levels;
use super::store::Store;

/// Entities of one archetype, which are copied together.
struct CopyGroup {
    source: ArchetypeId,
    target: ArchetypeId,
    /// The edge to the target, if it is another archetype.
    edge: Option<EdgeId>,
    /// The entities, as positions in the list of all.
    members: Vec<usize>,
    /// Their rows.
    rows: Vec<RowIndex>,
    /// The position of the first copy in the target.
    first: usize,
}

/// The copies of a tree, copy after copy.
struct TreeCopies {
    /// The place of each original in a copy.
    places: FxHashMap<Entity, usize>,
    /// The number of copies.
    len: usize,
    entities: Vec<Entity>,
}

impl TreeCopies {
    /// The entity of one copy that takes the place of an entity, which is itself outside of the
    /// tree.
    fn of(&self, copy: usize, entity: Entity) -> Entity {
        let place = self.places.get(&entity);
        place.map_or(entity, |place| self.entities[copy * self.places.len() + place])
    }
}

impl Store {
    /// Copies an entity and all entities below it in a tree, once for each parent: see
    /// [`World::instantiate_tree`](crate::World::instantiate_tree).
    ///
    /// # Errors
    ///
    /// If the root or a parent is not alive, too few ids are left, or the copies need more memory
    /// than one call may allocate. The store is unchanged.
    ///
    /// # Panics
    ///
    /// If another component has the name of the relation: the store is unchanged. Or if
    /// [`MapEntities`](crate::MapEntities) panics: all copies are made, and some references may
    /// have their old ids.
    pub(crate) fn instantiate_tree<R: RelationComponent>(
        &mut self,
        root: Entity,
        parents: &[Option<Entity>],
    ) -> Result<Vec<Entity>, SpawnError> {
        self.check_sets::<R>();
        let place = self.entities.locate(root)?;
        if self.archetypes.get(place.archetype()).is_gone() {
            return Err(NoSuchEntity { entity: root }.into());
        }
        for &parent in parents.iter().flatten() {
            self.check_relations(Entity::NULL, &R::to(parent))?;
        }
        if parents.is_empty() {
            return Ok(Vec::new());
        }
        let originals = match self.write_sparse::<R>() {
            Some(set) => Levels::below(set, vec![root]).into_entities(),
            None => vec![root],
        };
        let mut groups = self.copy_groups(&originals);
        self.attempt(|store| store.prepare_groups(&mut groups, parents.len()))?;
        if parents.iter().any(Option::is_some) {
            self.add_sets::<R>();
        }
        let entities = vec![Entity::NULL; originals.len() * parents.len()];
        let places = originals.iter().copied().zip(0..).collect();
        let mut copies = TreeCopies { places, len: parents.len(), entities };
        groups.iter_mut().for_each(|group| self.copy_group(group, &mut copies));
        let mut panic = FirstPanic::default();
        groups.iter().for_each(|group| self.map_copies(group, &copies, &mut panic));
        self.copy_sparse::<R>(&originals, &copies, &mut panic);
        for (copy, parent) in copies.entities.chunks(originals.len()).zip(parents) {
            if let Some(parent) = *parent {
                self.put_sparse_caught(copy[0], R::to(parent), &mut panic);
            }
        }
        groups.iter().for_each(|group| self.record_copies(group, copies.len));
        self.record_sets();
        panic.resume();
        Ok(copies.entities)
    }

    /// Gives the copies the plain sparse values and the relations of their originals.
    fn copy_sparse<R: RelationComponent>(
        &mut self,
        originals: &[Entity],
        copies: &TreeCopies,
        panic: &mut FirstPanic,
    ) {
        if self.sparse.is_empty() {
            return;
        }
        for (copy, entities) in copies.entities.chunks(originals.len()).enumerate() {
            let pairs: Vec<_> = originals.iter().copied().zip(entities.iter().copied()).collect();
            let new = |entity| copies.of(copy, entity);
            let members = self.sparse.copy_values(&pairs, Some(&new), self.clock, panic);
            self.set_members(&members);
            let members = self.sparse.copy_relations::<R>(&pairs, &new, self.clock, panic);
            self.set_members(&members);
        }
    }

    /// The entities by their archetypes.
    fn copy_groups(&self, originals: &[Entity]) -> Vec<CopyGroup> {
        let (mut groups, mut known) = (Vec::<CopyGroup>::new(), FxHashMap::default());
        for (member, &original) in originals.iter().enumerate() {
            let place = self.entities.locate(original).expect("an entity of a tree is alive");
            let source = place.archetype();
            let at = *known.entry(source).or_insert_with(|| {
                let (members, rows) = (Vec::new(), Vec::new());
                groups.push(CopyGroup {
                    source,
                    target: source,
                    edge: None,
                    members,
                    rows,
                    first: 0,
                });
                groups.len() - 1
            });
            groups[at].members.push(member);
            groups[at].rows.push(place.row());
        }
        groups
    }

    /// Finds the targets of all groups, and checks that there are ids and memory.
    fn prepare_groups(
        &mut self,
        groups: &mut [CopyGroup],
        copies: usize,
    ) -> Result<(), SpawnError> {
        let (mut rows, mut bytes) = (0usize, 0u64);
        for group in groups {
            if !self.archetypes.get(group.source).is_copied() {
                let edge = match self.edge(group.source, Change::Copy) {
                    Ok(edge) => edge,
                    Err(EdgeError::Layout(error)) => return Err(error.into()),
                    Err(error) => unreachable!("a copy requires no component: {error:?}"),
                };
                (group.edge, group.target) = (Some(edge), self.graph.edge(edge).target);
            }
            let new = group.rows.len().saturating_mul(copies);
            rows = rows.saturating_add(new);
            let more = request_bytes(self.archetypes.get(group.target), new);
            bytes = bytes.saturating_add(more);
        }
        self.entities.ensure_room(rows)?;
        Ok(self.entities.requests.ensure(bytes)?)
    }

    /// Copies the rows of a group.
    fn copy_group(&mut self, group: &mut CopyGroup, copies: &mut TreeCopies) {
        let Self { archetypes, clock, entities, pool, graph, .. } = self;
        let CopyGroup { source, target, edge, members, rows, first } = group;
        let now = clock.advance();
        let edge = edge.map(|edge| graph.edge(edge));
        let (source, archetype) = match edge {
            Some(_) => {
                let (source, archetype) = archetypes.pair_mut(*source, *target);
                (Some(&*source), archetype)
            }
            None => (None, archetypes.get_mut(*target)),
        };
        *first = archetype.len();
        let mut written = archetype.begin_rows();
        let (each, all) = (copies.len, rows.len() * copies.len);
        for (done, &row) in rows.iter().enumerate() {
            let end = (done + 1) * each;
            while written.len() < end {
                let left = end - written.len();
                let run = archetype.room(&written, all - written.len(), pool).at_most(left);
                match source.zip(edge) {
                    Some((source, edge)) => {
                        archetype.write_copy(&mut written, (source, row), edge, &run);
                    }
                    None => archetype.replicate(&mut written, row, &run),
                }
            }
        }
        let new = archetype.push_rows(*target, &written, entities, now);
        let new = new.expect("the ids were counted").chunks(each);
        for (&member, new) in members.iter().zip(new) {
            let to = copies.entities.iter_mut().skip(member).step_by(copies.places.len());
            to.zip(new).for_each(|(to, &copy)| *to = copy);
        }
        for (index, &row) in (*first..).step_by(each).zip(&*rows) {
            let new = index..index + each;
            match source.zip(edge) {
                Some((source, edge)) => archetype.follow_copied(new, (source, row), edge),
                None => archetype.follow_replicated(new, row),
            }
        }
        archetype.abandon(pool);
    }

    /// Replaces the ids in the copies of a group.
    fn map_copies(&mut self, group: &CopyGroup, copies: &TreeCopies, panic: &mut FirstPanic) {
        let Self { archetypes, registry, .. } = self;
        let archetype = archetypes.get_mut(group.target);
        if !archetype.has_references(registry) {
            return;
        }
        // The rows of one copy that follow each other.
        let step = if copies.len == 1 { group.rows.len() } else { 1 };
        for from in (0..group.rows.len() * copies.len).step_by(step) {
            let mut map = |id| copies.of(from % copies.len, id);
            let (rows, mut columns) = (group.first + from..group.first + from + step, 0u16..);
            panic.catch(|| archetype.map_rows(registry, rows.clone(), &mut columns, &mut map));
        }
    }

    /// Records the copies of a group in the logs.
    fn record_copies(&mut self, group: &CopyGroup, copies: usize) {
        let Self { archetypes, entities, logs, .. } = self;
        if logs.gained.is_read() {
            let archetype = archetypes.get(group.target);
            let new = &archetype.entities()[group.first..][..group.rows.len() * copies];
            logs.gained.record_entities((archetype, entities), None, new);
        }
    }
}
