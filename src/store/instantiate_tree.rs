//! Copies of whole trees: an entity and all entities below it.
//!
//! ```text
//!  originals   root, its sources, theirs, …            one list, level after level
//!  groups      those of one archetype                  rows are written group by group
//!  then        ids in the new rows, relations, logs    when all copies have their ids
//! ```
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
use super::levels::Levels;
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

impl Store {
    /// Copies an entity and all entities below it in a tree: see
    /// [`World::instantiate_tree`](crate::World::instantiate_tree).
    ///
    /// # Errors
    ///
    /// If the root or the parent is not alive, too few ids are left, or the copies need more memory
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
        parent: Option<Entity>,
    ) -> Result<Vec<Entity>, SpawnError> {
        self.check_sets::<R>();
        let place = self.entities.locate(root)?;
        if self.archetypes.get(place.archetype()).is_gone() {
            return Err(NoSuchEntity { entity: root }.into());
        }
        if let Some(parent) = parent {
            self.check_relations(Entity::NULL, &R::to(parent))?;
        }
        let originals = match self.write_sparse::<R>() {
            Some(set) => Levels::below(set, vec![root]).into_entities(),
            None => vec![root],
        };
        let mut groups = self.copy_groups(&originals);
        self.attempt(|store| store.prepare_groups(&mut groups))?;
        if parent.is_some() {
            self.add_sets::<R>();
        }
        let mut copies = vec![Entity::NULL; originals.len()];
        groups.iter_mut().for_each(|group| self.copy_group(group, &mut copies));
        let pairs: Vec<_> = originals.into_iter().zip(copies.iter().copied()).collect();
        let new: FxHashMap<_, _> = pairs.iter().copied().collect();
        let new = |entity| new.get(&entity).copied().unwrap_or(entity);
        let mut panic = FirstPanic::default();
        groups.iter().for_each(|group| self.map_copies(group, &new, &mut panic));
        let members = self.sparse.copy_relations::<R>(&pairs, &new, self.clock, &mut panic);
        self.set_members(&members);
        if let Some(parent) = parent {
            self.put_sparse_caught(copies[0], R::to(parent), &mut panic);
        }
        groups.iter().for_each(|group| self.record_copies(group));
        self.record_sets();
        panic.resume();
        Ok(copies)
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
    fn prepare_groups(&mut self, groups: &mut [CopyGroup]) -> Result<(), SpawnError> {
        let (mut rows, mut bytes) = (0, 0u64);
        for group in groups {
            if !self.archetypes.get(group.source).is_copied() {
                let edge = match self.edge(group.source, Change::Copy) {
                    Ok(edge) => edge,
                    Err(EdgeError::Layout(error)) => return Err(error.into()),
                    Err(error) => unreachable!("a copy requires no component: {error:?}"),
                };
                (group.edge, group.target) = (Some(edge), self.graph.edge(edge).target);
            }
            rows += group.rows.len();
            let more = request_bytes(self.archetypes.get(group.target), group.rows.len());
            bytes = bytes.saturating_add(more);
        }
        self.entities.ensure_room(rows)?;
        Ok(self.entities.requests.ensure(bytes)?)
    }

    /// Copies the rows of a group.
    fn copy_group(&mut self, group: &mut CopyGroup, copies: &mut [Entity]) {
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
        for (done, &row) in rows.iter().enumerate() {
            let run = archetype.room(&written, rows.len() - done, pool).at_most(1);
            match source.zip(edge) {
                Some((source, edge)) => {
                    archetype.write_copy(&mut written, (source, row), edge, &run);
                }
                None => archetype.replicate(&mut written, row, &run),
            }
        }
        let new = archetype.push_rows(*target, &written, entities, now);
        for (&member, &copy) in members.iter().zip(new.expect("the ids were counted")) {
            copies[member] = copy;
        }
        for (index, &row) in (*first..).zip(&*rows) {
            match source.zip(edge) {
                Some((source, edge)) => archetype.follow_copied(index, (source, row), edge),
                None => archetype.follow_replicated(index, row),
            }
        }
        archetype.abandon(pool);
    }

    /// Replaces the ids in the copies of a group.
    fn map_copies(
        &mut self,
        group: &CopyGroup,
        new: &dyn Fn(Entity) -> Entity,
        panic: &mut FirstPanic,
    ) {
        let Self { archetypes, registry, .. } = self;
        let archetype = archetypes.get_mut(group.target);
        let rows = group.first..group.first + group.rows.len();
        let mut columns = 0u16..;
        panic.catch(|| archetype.map_rows(registry, rows.clone(), &mut columns, &mut |id| new(id)));
    }

    /// Records the copies of a group in the logs.
    fn record_copies(&mut self, group: &CopyGroup) {
        let Self { archetypes, entities, logs, .. } = self;
        if logs.gained.is_read() {
            let archetype = archetypes.get(group.target);
            let copies = &archetype.entities()[group.first..][..group.rows.len()];
            logs.gained.record_entities((archetype, entities), None, copies);
        }
    }
}
