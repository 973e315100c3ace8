//! Rows that leave an archetype for another world.
//!
//! They move to a new archetype of the same components, which no list contains and which uses the
//! memory of the same world. From there they move like all rows of an archetype of another world:
//! see [`merge`](super::merge_archetype).
//!
//! ```text
//!  other world   {c0, c2}  │ a: full │ b: full │ c: 40 rows │
//!                              │                    ▼
//!                              │       the gap is filled: │ c: 40 rows │ and b, as by a despawn
//!                              ▼
//!  a part of it  {c0, c2}  │ a: full │   whole chunks change owner, single rows are copied
//! ```

use crate::component::Registry;
use crate::entity::{ArchetypeId, Entity};
use crate::storage::{ChunkSet, Pool, SharedLines, Stamps};

use super::archetype::Archetype;
use super::column_bundle::NewRows;
use super::graph::Edge;
use super::move_chunks::{MoveContext, move_chunks};
use super::move_rows::{MoveScratch, move_rows};

impl Archetype {
    /// Takes whole chunks out of the archetype, with all their data. The locations of the entities
    /// are invalid afterwards. O(entities + chunks × columns).
    pub(crate) fn take_chunks(
        &mut self,
        id: ArchetypeId,
        which: &ChunkSet,
        registry: &Registry,
        context: &mut MoveContext<'_>,
    ) -> Self {
        let (mut part, edge) = self.begin_part(id, registry);
        move_chunks((id, self), &mut part, which, &edge, context, &|writer| {
            NewRows::write(writer, |rows| rows.fill(()))
        });
        part
    }

    /// Takes the rows of some entities out of the archetype: [`Archetype::take_chunks`] with
    /// O(bytes).
    pub(crate) fn take_rows(
        &mut self,
        id: ArchetypeId,
        entities: &[Entity],
        registry: &Registry,
        context: &mut MoveContext<'_>,
    ) -> Self {
        let (mut part, edge) = self.begin_part(id, registry);
        let row = |&entity: &Entity| context.entities.locate(entity).expect("a row has no entity");
        let mut scratch = MoveScratch::default();
        scratch.rows.extend(entities.iter().map(|entity| row(entity).row()));
        let moved = (entities, &mut scratch);
        move_rows((id, self), &mut part, moved, &edge, context, |_, _| {
            unreachable!("a part has other components")
        });
        part
    }

    /// An empty archetype like this one, and the edge that leads to it.
    fn begin_part(&self, id: ArchetypeId, registry: &Registry) -> (Self, Edge) {
        let layout = self.list.layouts().clone();
        let columns = layout.columns().len();
        let stamps = Stamps::new(columns, &mut SharedLines::default());
        let part = Self::new(self.set().clone(), registry, layout, stamps);
        let kept = (0u16..).zip(self.components()).map(|(column, _)| (column, column));
        // The location of a row of the part is never read.
        let edge = Edge::of_all((self, &part), id, kept.collect());
        (part, edge)
    }

    /// Moves all rows to the memory of another world. O(bytes).
    pub(crate) fn change_pool(&mut self, from: &mut Pool, to: &mut Pool) {
        self.list.change_pool(from, to);
    }
}
