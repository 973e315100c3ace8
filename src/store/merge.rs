//! All entities of another world become entities of this one.
//!
//! Everything that can fail, or runs code of the caller, is asked in [`Store::plan_merge`]. The
//! rest finishes: ids are allocated, references are replaced where they are, and chunks move from
//! one archetype to the other. Only [`MapEntities`](crate::MapEntities) is the caller's code then,
//! and a panic of it goes on when all is done.

use core::error::Error;
use core::fmt;

use crate::archetype::{Archetype, MoveContext, components_in_use, merge_archetype};
use crate::component::{Adopted, AdoptionError, AdoptionPlan, ComponentSet, NameTaken};
use crate::entity::{ArchetypeId, Directory, Entity, IdMap, OutOfIds, RequestLimit, TooMuchMemory};
use crate::storage::ChunkSize;
use crate::version::Version;

use super::first_panic::FirstPanic;
use super::store::Store;

/// Why a world was not merged into another. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeErrorKind {
    /// The worlds have chunks of different sizes.
    ChunkSize {
        /// The size in the world that was to take over the entities.
        target: ChunkSize,
        /// The size in the world that was to be merged.
        source: ChunkSize,
    },
    /// A component of the other world has the name of another type.
    NameTaken(NameTaken),
    /// There would be more than 65,535 component types and shared values.
    TooManyTypes,
    /// There are too few ids.
    Exhausted(OutOfIds),
    /// The ids, and the rows that have to be copied, need more memory than one call may take.
    Memory(TooMuchMemory),
    /// An archetype would have more chunks than it can number: see
    /// [`chunk_size`](crate::WorldBuilder::chunk_size).
    TooManyRows,
}

impl From<AdoptionError> for MergeErrorKind {
    fn from(error: AdoptionError) -> Self {
        match error {
            AdoptionError::Name(taken) => Self::NameTaken(taken),
            AdoptionError::Types => Self::TooManyTypes,
        }
    }
}

impl From<OutOfIds> for MergeErrorKind {
    fn from(error: OutOfIds) -> Self {
        Self::Exhausted(error)
    }
}

impl From<TooMuchMemory> for MergeErrorKind {
    fn from(error: TooMuchMemory) -> Self {
        Self::Memory(error)
    }
}

impl fmt::Display for MergeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChunkSize { target, source } => write!(
                f,
                "a world with chunks of {source} cannot be merged into one with chunks of \
                 {target}: build both with one `chunk_size`"
            ),
            Self::NameTaken(taken) => fmt::Display::fmt(taken, f),
            Self::TooManyTypes => f.write_str(
                "the worlds together have more than 65,535 component types and shared values",
            ),
            Self::Exhausted(error) => fmt::Display::fmt(error, f),
            Self::Memory(error) => fmt::Display::fmt(error, f),
            Self::TooManyRows => f.write_str(
                "an archetype would have more chunks than it can number: build the worlds with \
                 larger ones",
            ),
        }
    }
}

impl Error for MergeErrorKind {}

impl Store {
    /// Checks that all entities of `other` can become entities of this store. No id is reserved in
    /// either. O(archetypes × components).
    ///
    /// # Errors
    ///
    /// If they cannot. Nothing has changed then.
    pub(crate) fn plan_merge(&mut self, other: &Self) -> Result<AdoptionPlan, MergeErrorKind> {
        let [target, source] = [&*self, other].map(|store| store.archetypes.chunk_size());
        if target != source {
            return Err(MergeErrorKind::ChunkSize { target, source });
        }
        let used = components_in_use(other.archetypes.as_slice());
        let plan = self.registry.plan_adoption(&other.registry, used)?;
        let new = other.entities.len();
        self.entities.ensure_room(new)?;
        let mut bytes = (new as u64).saturating_mul(RequestLimit::ID_BYTES);
        let archetypes = other.archetypes.as_slice().iter();
        for archetype in archetypes.filter(|archetype| !archetype.is_empty()) {
            let known = |&id| plan.known(&self.registry, &other.registry, id);
            let set: Option<ComponentSet> = archetype.components().iter().map(known).collect();
            let Some(ours) = set.and_then(|set| self.archetypes.find(&set)) else { continue };
            let (ours, rows) = (self.archetypes.get(ours), archetype.len());
            if !ours.has_room_for(rows) {
                return Err(MergeErrorKind::TooManyRows);
            }
            if !ours.list().layouts().has_places_of(archetype.list().layouts()) {
                bytes = bytes.saturating_add(archetype.list().bytes_of(rows));
            }
        }
        self.entities.requests.ensure(bytes)?;
        Ok(plan)
    }

    /// Takes over all entities of `other`, as planned. Returns their new ids.
    ///
    /// # Panics
    ///
    /// If `MapEntities` does. All else is done then.
    pub(crate) fn merge(&mut self, mut other: Self, plan: AdoptionPlan) -> IdMap {
        let now = self.advance_clock();
        let adopted = self.registry.adopt(&other.registry, plan);
        self.take_slabs(&mut other);
        let targets = self.find_targets(&other, &adopted);
        let entities = core::mem::replace(&mut other.entities, Directory::new(0));
        let ids = self.rename_entities(&mut other, IdMap::new(entities), &targets);
        let mut panic = FirstPanic::default();
        other.map_references(&ids, &mut panic);
        self.move_rows(&mut other, &adopted, &targets, now);
        let sides = core::mem::take(&mut other.sides);
        self.sides.merge(sides, &|old| ids.get(old));
        panic.resume();
        ids
    }

    /// Takes over the memory of another world.
    fn take_slabs(&mut self, other: &mut Self) {
        let Self { archetypes, pool, .. } = other;
        for archetype in archetypes.all_mut() {
            archetype.free_unused_blocks(pool);
        }
        pool.trim();
        let slabs = self.pool.absorb(core::mem::take(pool));
        for archetype in archetypes.all_mut() {
            archetype.renumber_slabs(&slabs);
        }
    }

    /// The archetype of the same components for each of the other world that has rows. Those that
    /// are new are laid out as they are there.
    fn find_targets(&mut self, other: &Self, adopted: &Adopted) -> Vec<Option<ArchetypeId>> {
        let mut find = |archetype: &Archetype| {
            let ids = archetype.components().iter().map(|&id| adopted.id(id));
            let set: ComponentSet = ids.collect();
            self.archetypes.find(&set).unwrap_or_else(|| {
                let places = archetype.components_in_place().into_iter();
                self.archetypes.prefer_order(places.map(|id| adopted.id(id)).collect());
                self.find_or_add(&set).expect("a row of another world fits no chunk")
            })
        };
        let archetypes = other.archetypes.as_slice().iter();
        archetypes.map(|archetype| (!archetype.is_empty()).then(|| find(archetype))).collect()
    }

    /// Gives all entities of another world ids of this one, archetype by archetype and in the order
    /// of rows.
    fn rename_entities(
        &mut self,
        other: &mut Self,
        mut ids: IdMap,
        targets: &[Option<ArchetypeId>],
    ) -> IdMap {
        self.entities.reserve_capacity(ids.len());
        let mut scratch = Vec::new();
        for (archetype, target) in other.archetypes.all_mut().iter_mut().zip(targets) {
            if let Some(target) = *target {
                archetype.rename_entities(target, &mut self.entities, &mut ids, &mut scratch);
            }
        }
        ids
    }

    /// Replaces all references in components by new ids, and those to entities that have none by
    /// the null id.
    fn map_references(&mut self, ids: &IdMap, panic: &mut FirstPanic) {
        let mut map = |old| ids.get(old).unwrap_or(Entity::NULL);
        for archetype in self.archetypes.all_mut() {
            let mut columns = 0u16..;
            panic.catch(|| archetype.map_entities(&self.registry, &mut columns, &mut map));
        }
    }

    /// Moves the rows of another world to the archetypes of this one.
    fn move_rows(
        &mut self,
        other: &mut Self,
        adopted: &Adopted,
        targets: &[Option<ArchetypeId>],
        now: Version,
    ) {
        for (source, target) in other.archetypes.all_mut().iter_mut().zip(targets) {
            let Some(id) = *target else { continue };
            let Self { archetypes, entities, pool, arrivals, .. } = self;
            let arriving = if arrivals.is_read() { source.entities().to_vec() } else { vec![] };
            let target = archetypes.get_mut(id);
            let mut context = MoveContext { entities, pool, now };
            merge_archetype(source, (id, target), adopted, &mut context);
            if !arriving.is_empty() {
                arrivals.record_entities((target, entities), None, &arriving);
            }
        }
    }
}
