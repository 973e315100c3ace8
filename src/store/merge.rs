//! All entities of another world become entities of this one.
//!
//! [`Store::plan_merge`] makes all tests, and only it returns errors. The other steps allocate ids,
//! replace references in place, and move chunks from one archetype to the other. A panic of
//! [`MapEntities`](crate::MapEntities), which is code of the caller, is resumed at the end.
//!
//! All steps but the first work on a list of archetypes, so [`move_from`](super::move_from) does
//! the same with a part of the entities.

use rustc_hash::FxHashMap;

use crate::archetype::{Archetype, MoveContext, merge_archetype};
use crate::component::{Adopted, AdoptionPlan, ComponentSet, Registry};
use crate::entity::{ArchetypeId, Directory, Entity, IdMap, RequestLimit};
use crate::storage::{ChunkSet, Pool};
use crate::version::Version;

use super::first_panic::FirstPanic;
use super::matches::SelectedRows;
use super::merge_error_kind::MergeErrorKind;
use super::sparse::ErasedSet;
use super::store::Store;

/// The rows of one archetype of another world that a merge takes over.
#[derive(Debug)]
pub(super) struct IncomingRows<'o> {
    pub(super) archetype: &'o Archetype,
    pub(super) which: SelectedRows<'o>,
    /// The number of rows.
    pub(super) rows: usize,
    /// The number of copies of their bytes, if both archetypes have one layout.
    pub(super) copies: u64,
}

impl IncomingRows<'_> {
    /// The entities of the rows, in the order in which they get new ids.
    fn entities(&self) -> impl Iterator<Item = Entity> {
        let (chunks, some) = match self.which {
            SelectedRows::Chunks(chunks) => (Some(chunks), &[][..]),
            SelectedRows::Entities(entities) => (None, entities),
        };
        let len = self.archetype.list().chunk_len();
        let chunks = chunks.into_iter().flat_map(move |chunks| chunks.iter(len));
        let in_chunks = chunks.flat_map(|chunk| self.archetype.entities_of_chunk(chunk));
        in_chunks.chain(some).copied()
    }
}

impl Store {
    /// Checks that all entities of `other` can become entities of this store. No id is reserved in
    /// either. O(archetypes × components).
    ///
    /// # Errors
    ///
    /// If they cannot. Nothing has changed then.
    pub(crate) fn plan_merge(&mut self, other: &Self) -> Result<AdoptionPlan, MergeErrorKind> {
        let archetypes = other.archetypes.as_slice().iter();
        let archetypes = archetypes.filter(|archetype| !archetype.is_empty());
        let all: Vec<_> = archetypes
            .map(|archetype| {
                let which = SelectedRows::Chunks(&ChunkSet::All);
                IncomingRows { archetype, which, rows: archetype.len(), copies: 0 }
            })
            .collect();
        self.plan_arrival(other, &all)
    }

    /// [`Store::plan_merge`] of some rows. Besides, O(coming entities × sparse sets with values)
    /// unless all entities of `other` come.
    pub(super) fn plan_arrival(
        &mut self,
        other: &Self,
        coming: &[IncomingRows<'_>],
    ) -> Result<AdoptionPlan, MergeErrorKind> {
        let [target, source] = [&*self, other].map(|store| store.archetypes.chunk_size());
        if target != source {
            return Err(MergeErrorKind::ChunkSize { target, source });
        }
        let used = coming.iter().flat_map(|rows| rows.archetype.components().iter().copied());
        let new = coming.iter().map(|rows| rows.rows).sum();
        self.entities.ensure_room(new)?;
        let new_ids = || {
            let olds = coming.iter().flat_map(IncomingRows::entities);
            olds.zip(self.entities.coming_ids(new)).collect()
        };
        let sparse = if new == other.entities.len() {
            other.sparse.names_in_use(|_| true)
        } else {
            let is_coming = |set: &dyn ErasedSet| {
                coming.iter().flat_map(IncomingRows::entities).any(|entity| set.contains(entity))
            };
            other.sparse.names_in_use(is_coming)
        };
        let plan = self.registry.plan_adoption(&other.registry, used.collect(), sparse, new_ids)?;
        let mut bytes = (new as u64).saturating_mul(RequestLimit::ID_BYTES);
        // Values that are equal with their new ids bring archetypes together.
        let mut arriving: FxHashMap<ArchetypeId, usize> = FxHashMap::default();
        for &IncomingRows { archetype, rows, mut copies, .. } in coming {
            let known = |&id| plan.known(&self.registry, &other.registry, id);
            let set: Option<ComponentSet> = archetype.components().iter().map(known).collect();
            if let Some(id) = set.and_then(|set| self.archetypes.find(&set)) {
                let ours = self.archetypes.get(id);
                let arriving = arriving.entry(id).or_default();
                *arriving += rows;
                if !ours.has_room_for(*arriving) {
                    return Err(MergeErrorKind::TooManyRows);
                }
                let are_alike = ours.list().layouts().has_places_of(archetype.list().layouts());
                copies += u64::from(!are_alike);
            }
            bytes = bytes.saturating_add(archetype.list().bytes_of(rows).saturating_mul(copies));
        }
        self.entities.requests.ensure(bytes)?;
        Ok(plan)
    }

    /// Takes over all entities of `other`, as planned. Returns their new ids.
    ///
    /// # Panics
    ///
    /// If `MapEntities` panics. The merge is complete.
    pub(crate) fn merge(&mut self, mut other: Self, plan: AdoptionPlan) -> IdMap {
        let now = self.advance_clock();
        let adopted = self.registry.adopt(&other.registry, plan);
        if other.lent.take() {
            // Its sparse sets come with their locks.
            self.lent.note();
        }
        let Self { archetypes, pool, registry, entities, sparse, .. } = &mut other;
        let archetypes = archetypes.all_mut();
        self.know_types();
        // Numbers of sparse components have other meanings there.
        archetypes.iter_mut().for_each(Archetype::clear_members);
        // Runs `Component::hint`, which may panic, so it comes before memory is taken over.
        let target = |from: &Archetype| (!from.is_empty()).then(|| self.target(from, &adopted));
        let targets: Vec<_> = archetypes.iter().map(target).collect();
        self.take_slabs(archetypes, pool);
        let directory = core::mem::replace(entities, Directory::new(0));
        self.entities.reserve_capacity(directory.len());
        let mut ids = IdMap::new(directory);
        self.rename_entities(archetypes, &targets, &mut ids);
        let mut panic = FirstPanic::default();
        map_references(archetypes, registry, &ids, &mut panic);
        self.move_rows(archetypes, &targets, &adopted, now);
        let new = |old| ids.get(old);
        let came =
            self.sparse.merge(core::mem::take(sparse), &self.registry, &new, now, &mut panic);
        self.set_members(&came);
        self.end_without_values();
        self.record_sets();
        panic.resume();
        ids
    }

    /// Takes over the memory of another world, and leaves it an empty pool. The archetypes are
    /// those that have blocks of it.
    pub(super) fn take_slabs(&mut self, archetypes: &mut [Archetype], pool: &mut Pool) {
        for archetype in &mut *archetypes {
            archetype.free_unused_blocks(pool);
        }
        pool.trim();
        let empty = Pool::new(self.archetypes.chunk_size(), pool.extent_chunks_max());
        let slabs = self.pool.absorb(core::mem::replace(pool, empty));
        for archetype in archetypes {
            archetype.renumber_slabs(&slabs);
        }
    }

    /// The archetype of the same components as one of another world. If it is new, it is laid out
    /// as it is there.
    pub(super) fn target(&mut self, archetype: &Archetype, adopted: &Adopted) -> ArchetypeId {
        let ids = archetype.components().iter().map(|&id| adopted.id(id));
        let set: ComponentSet = ids.collect();
        self.archetypes.find(&set).unwrap_or_else(|| {
            let places = archetype.components_in_place().into_iter();
            let order = places.map(|id| adopted.id(id)).collect();
            self.archetypes.prefer_order(order, &self.registry);
            self.find_or_add(&set).expect("a row of another world fits no chunk")
        })
    }

    /// Gives all entities of archetypes of another world ids of this one, archetype by archetype
    /// and in the order of rows. Those without a target have no entities.
    pub(super) fn rename_entities(
        &mut self,
        archetypes: &mut [Archetype],
        targets: &[Option<ArchetypeId>],
        ids: &mut IdMap,
    ) {
        let mut scratch = Vec::new();
        for (archetype, target) in archetypes.iter_mut().zip(targets) {
            if let Some(target) = *target {
                archetype.rename_entities(target, &mut self.entities, ids, &mut scratch);
            }
        }
    }

    /// Moves all rows of archetypes of another world to their targets.
    pub(super) fn move_rows(
        &mut self,
        archetypes: &mut [Archetype],
        targets: &[Option<ArchetypeId>],
        adopted: &Adopted,
        now: Version,
    ) {
        for (source, target) in archetypes.iter_mut().zip(targets) {
            let Some(id) = *target else { continue };
            let Self { archetypes, entities, pool, logs, .. } = self;
            let arriving = if logs.gained.is_read() { source.entities().to_vec() } else { vec![] };
            let target = archetypes.get_mut(id);
            let mut context = MoveContext { entities, pool, now };
            merge_archetype(source, (id, target), adopted, &mut context);
            if !arriving.is_empty() {
                logs.gained.record_entities((target, entities), None, &arriving);
            }
        }
    }
}

/// Replaces all references in components of another world by new ids, and those to entities that
/// have none by the null id.
pub(super) fn map_references(
    archetypes: &mut [Archetype],
    registry: &Registry,
    ids: &IdMap,
    panic: &mut FirstPanic,
) {
    let mut map = |old| ids.get(old).unwrap_or(Entity::NULL);
    for archetype in archetypes {
        let mut columns = 0u16..;
        panic.catch(|| archetype.map_entities(registry, &mut columns, &mut map));
    }
}
