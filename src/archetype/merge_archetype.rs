//! Merges archetypes of another world into this world.
//!
//! ```text
//!  other world   {c0, c2}  │ a: full │ b: full │ c: 40 rows │
//!                              │         │         └─ joins a last chunk with rows
//!                              ▼         ▼
//!  this world    {c5, c1}  │ a: full │ b: full │ y: 140 rows │
//! ```
//!
//! An archetype of the other world is prepared in place: its rows and the references in its columns
//! get the ids of this world, and all data gets one version of this world. After it the chunks move
//! like chunks between two archetypes of one world. Blocks change owner if the columns lie in the
//! same places; otherwise rows are copied in runs.
//!
//! Columns lie in blocks in the order of the components' ids, which differ from world to world. So
//! a new archetype of this world is laid out as in the other world.

use core::ops::Range;

use crate::component::{Adopted, ComponentId, Registry};
use crate::entity::{ArchetypeId, Directory, Entity, IdMap, Location, RowIndex};
use crate::storage::{ChunkSet, NewSlabs, Pool};

use super::archetype::Archetype;
use super::column_bundle::NewRows;
use super::graph::Edge;
use super::move_chunks::{MoveContext, move_chunks};

/// The number of entities that get new ids together.
const IDS: usize = 1024;

impl Archetype {
    /// The components with bytes in the order in which their columns lie in blocks.
    pub(crate) fn components_in_place(&self) -> Vec<ComponentId> {
        let columns = self.components().iter().zip(self.list.layouts().chunk().columns());
        let mut places: Vec<_> = columns.filter(|(_, column)| column.size > 0).collect();
        places.sort_by_key(|(_, column)| column.offset);
        places.into_iter().map(|(&id, _)| id).collect()
    }

    /// Whether it can have this number of additional rows.
    pub(crate) fn has_room_for(&self, rows: usize) -> bool {
        self.list.has_room_for(rows)
    }

    /// Frees the blocks without rows, because the pool is about to be taken over.
    pub(crate) fn free_unused_blocks(&mut self, pool: &mut Pool) {
        if self.is_empty() {
            self.list.clear(pool);
        } else {
            self.list.free_spare(pool);
        }
    }

    /// Renumbers the slabs of its blocks, after they moved to another pool.
    pub(crate) fn renumber_slabs(&mut self, slabs: &NewSlabs) {
        self.list.renumber(slabs);
    }

    /// Gives each row the id of a new entity of another directory, in the order of rows. The
    /// locations are set later, when the rows have moved to `target`.
    pub(crate) fn rename_entities(
        &mut self,
        target: ArchetypeId,
        entities: &mut Directory,
        map: &mut IdMap,
        scratch: &mut Vec<Entity>,
    ) {
        for olds in self.entities.chunks_mut(IDS) {
            scratch.clear();
            let place = |_| Location::new(target, RowIndex(0));
            entities.alloc_batch(olds.len(), place, scratch).expect("the ids were counted");
            map.set(olds, scratch);
            olds.copy_from_slice(scratch);
        }
    }

    /// Replaces the ids of entities in some columns, and in the values of chunks, by the results of
    /// `map`. O(rows) for each column with ids.
    pub(crate) fn map_entities(
        &mut self,
        registry: &Registry,
        columns: &mut impl Iterator<Item = u16>,
        map: &mut dyn FnMut(Entity) -> Entity,
    ) {
        // The iterator is advanced first, so that a call after a panic continues with the next
        // column.
        while let Some(column) = columns.next()
            && let Some(&id) = self.components().get(usize::from(column))
        {
            let info = registry.info(id);
            let Some(references) = info.references() else { continue };
            if let Some(shape) = info.chunk_value()
                && let Some(extras) = &mut self.extras
            {
                extras.attachments.map_entities(column, (shape.bytes, references), map);
            }
            for chunk in 0..self.list.chunk_len() {
                let rows = 0..self.list.rows(chunk);
                self.list.map_entities(column, (chunk, rows), references, map);
            }
        }
    }

    /// [`Archetype::map_entities`] in the columns of some rows, which have not been seen yet since
    /// they were stamped. The values of chunks stay.
    pub(crate) fn map_rows(
        &mut self,
        registry: &Registry,
        rows: Range<usize>,
        columns: &mut impl Iterator<Item = u16>,
        map: &mut dyn FnMut(Entity) -> Entity,
    ) {
        while let Some(column) = columns.next()
            && let Some(&id) = self.components().get(usize::from(column))
        {
            let Some(references) = registry.info(id).references() else { continue };
            let chunks: Vec<_> = self.chunks_of(rows.clone()).collect();
            for rows in chunks {
                self.list.map_entities(column, rows, references, map);
            }
        }
    }

    /// Whether components of the rows have ids of entities.
    pub(crate) fn has_references(&self, registry: &Registry) -> bool {
        self.components().iter().any(|&id| registry.info(id).references().is_some())
    }
}

/// Moves all rows of an archetype of another world to the archetype of the same components in this
/// world. Both are stamped with `context.now`. The rows must have entities and blocks of this
/// world.
///
/// O(entities + chunks × columns) if columns lie in the same places; otherwise also the bytes of
/// all rows.
pub(crate) fn merge_archetype(
    source: &mut Archetype,
    (target_id, target): (ArchetypeId, &mut Archetype),
    adopted: &Adopted,
    context: &mut MoveContext<'_>,
) {
    source.stamp_all(context.now);
    let column = |(from, &id)| {
        let to = target.column(adopted.id(id));
        (from, to.expect("the target lacks a component"))
    };
    let kept = (0u16..).zip(source.components()).map(column).collect();
    let edge = Edge::of_all((source, target), target_id, kept);
    // The number of the source is not used in this world, and no row stays in it.
    let all = (target_id, source);
    move_chunks(all, target, &ChunkSet::All, &edge, context, &|writer| {
        NewRows::write(writer, |rows| rows.fill(()))
    });
}

impl Edge {
    /// The edge between archetypes of the same components, whose ids may differ. `kept` has a pair
    /// for each component: a column of the source and one of the target.
    pub(super) fn of_all(
        (source, target): (&Archetype, &Archetype),
        target_id: ArchetypeId,
        kept: Vec<(u16, u16)>,
    ) -> Self {
        let place = |archetype: &Archetype, column: u16| {
            archetype.list.layouts().chunk().offset(usize::from(column))
        };
        let keeps_bytes = source.list.layouts().has_places_of(target.list.layouts())
            && kept.iter().all(|&(from, to)| place(source, from) == place(target, to));
        Self::between((source, target), target_id, kept, keeps_bytes)
    }
}
