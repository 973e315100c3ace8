//! One archetype: the chunks of its rows, the entity of each row, and their change versions.

use crate::component::{ComponentId, ComponentSet, Ranks, Registry};
use crate::entity::Entity;
use crate::entity::RowIndex;
use crate::prefetch::prefetch;
use crate::storage::{
    BundleCells, ChunkList, ChunkRow, ChunkSize, ColumnShape, LayoutError, ListLayout, LiveColumns,
    NextRow, Pool, RowWriter, StampKind, Stamps,
};
use crate::version::Version;

use super::change_log::LastLogged;

/// All entities with exactly one set of components.
///
/// The column of a component is its rank in the set. `entities` has one element per live row, in
/// the order of the list; `stamps` has stamps for each chunk. The fields that every query loads
/// come first, and an archetype starts on a cache line, because a frame may visit thousands of
/// them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Archetype {
    pub(super) list: ChunkList,
    pub(super) stamps: Stamps,
    pub(super) entities: Vec<Entity>,
    pub(super) last_logged: LastLogged,
    set: ComponentSet,
    ranks: Ranks,
    components: Box<[ComponentId]>,
}

impl Archetype {
    /// The layout of a set's rows in chunks.
    ///
    /// # Errors
    ///
    /// If a row does not fit a chunk.
    pub(super) fn layout(
        set: &ComponentSet,
        registry: &Registry,
        size: ChunkSize,
    ) -> Result<ListLayout, LayoutError> {
        let shape = |id: &ComponentId| {
            let info = registry.info(*id);
            let (name, size, align) = (info.name(), info.size(), info.align());
            ColumnShape { name, size, align, values: info.values() }
        };
        ListLayout::new(size, set.to_list().iter().map(shape).collect())
    }

    /// An archetype without rows.
    pub(super) fn new(set: ComponentSet, layout: ListLayout, stamps: Stamps) -> Self {
        Self {
            list: ChunkList::new(layout),
            entities: Vec::new(),
            stamps,
            last_logged: LastLogged::default(),
            ranks: Ranks::new(&set),
            components: set.to_list(),
            set,
        }
    }

    /// The chunks of the rows.
    #[inline]
    pub(crate) const fn list(&self) -> &ChunkList {
        &self.list
    }

    /// The change versions of the chunks.
    #[inline]
    pub(crate) const fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    /// The entities of the live rows, in the order of the list.
    #[inline]
    pub(crate) fn entities(&self) -> &[Entity] {
        &self.entities
    }

    #[inline]
    pub(crate) const fn set(&self) -> &ComponentSet {
        &self.set
    }

    /// The components in the order of their columns.
    pub(crate) const fn components(&self) -> &[ComponentId] {
        &self.components
    }

    /// The components whose columns have bytes. Only they determine the layout.
    pub(crate) fn components_with_bytes(&self) -> impl Iterator<Item = ComponentId> {
        let columns = self.components.iter().zip(self.list.columns());
        columns.filter(|(_, shape)| shape.size > 0).map(|(&id, _)| id)
    }

    /// The column of a component.
    #[inline]
    pub(crate) fn column(&self, id: ComponentId) -> Option<u16> {
        self.ranks.get(&self.set, id)
    }

    /// Live rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.list.chunk_len() == 0
    }

    /// Asks for the lines of a row, which will be moved or removed soon.
    #[inline]
    pub(crate) fn prefetch(&self, at: ChunkRow) {
        self.list.prefetch(at);
        prefetch(self.entities.as_ptr().wrapping_add(self.list.index_of(at)));
    }

    /// Makes room for one more row.
    #[inline]
    pub(crate) fn next_row(&mut self, pool: &mut Pool) -> NewRow<'_> {
        let Self { list, entities, stamps, .. } = self;
        NewRow { row: list.next_row(pool), entities, stamps }
    }

    /// Adds stamps for the chunk of a new row if it has none yet.
    #[inline(always)]
    pub(super) fn grow_stamps(&mut self, at: ChunkRow) {
        if at.chunk as usize == self.stamps.chunk_len() {
            self.stamps.push_chunk();
        }
    }

    /// Calls `write` to overwrite the columns of a bundle in the live rows of a chunk, and stamps
    /// them.
    pub(crate) fn overwrite_chunk(
        &mut self,
        cells: &BundleCells,
        chunk: u32,
        now: Version,
        write: impl FnOnce(&mut LiveColumns<'_>),
    ) {
        write(&mut LiveColumns::new(&mut self.list, cells, chunk));
        for &column in cells.columns().as_slice() {
            self.stamps.touch(StampKind::column(column), chunk as usize, now);
        }
    }

    /// Removes a row. If the list's last row took its place, returns the entity of that row.
    #[inline(always)]
    pub(crate) fn remove(&mut self, at: ChunkRow, pool: &mut Pool, now: Version) -> Option<Entity> {
        let removed = self.list.begin_removal(at);
        let last = removed.last();
        removed.fill();
        self.finish_removal(at, last, pool, now)
    }

    /// Removes a row over which the cells of the `last` row have been copied. Returns the entity of
    /// the last row if it has moved.
    #[inline(always)]
    pub(super) fn finish_removal(
        &mut self,
        at: ChunkRow,
        last: ChunkRow,
        pool: &mut Pool,
        now: Version,
    ) -> Option<Entity> {
        let index = self.list.index_of(at);
        self.stamps.record_removal(at.chunk as usize, last.chunk as usize, now);
        if last.row == 0 {
            self.stamps.pop_chunk();
        }
        self.list.drop_last(pool);
        let moved = self.entities.pop()?;
        // The removed row itself may have been the last.
        let place = self.entities.get_mut(index)?;
        *place = moved;
        Some(moved)
    }

    /// Removes all rows. The caller frees the ids of the entities.
    pub(crate) fn clear(&mut self, pool: &mut Pool) {
        self.list.clear(pool);
        self.entities.clear();
        while self.stamps.chunk_len() > 0 {
            self.stamps.pop_chunk();
        }
    }

    /// Makes room for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize, pool: &mut Pool) {
        self.list.reserve(rows, pool);
        self.entities.reserve(rows);
        let capacity = self.list.chunk_capacity() as usize;
        self.stamps.reserve((self.len() + rows).div_ceil(capacity));
    }

    /// Frees unused memory, moving at most `rows_max` rows. Returns how many it moved.
    pub(crate) fn compact(&mut self, rows_max: usize, pool: &mut Pool) -> usize {
        self.entities.shrink_to_fit();
        self.list.compact(rows_max, pool)
    }

    /// Bytes of entities and stamps.
    pub(crate) fn bookkeeping_bytes(&self) -> usize {
        self.entities.capacity() * size_of::<Entity>() + self.stamps.bytes()
    }
}

/// The row after an archetype's last one, before it is written.
#[derive(Debug)]
#[must_use = "write the row, or abandon it"]
pub(crate) struct NewRow<'w> {
    row: NextRow<'w>,
    entities: &'w mut Vec<Entity>,
    stamps: &'w mut Stamps,
}

impl NewRow<'_> {
    /// The row's position in the list.
    #[inline]
    pub(crate) const fn position(&self) -> RowIndex {
        self.row.position()
    }

    /// Calls `put` to write every cell of the row, in the order of `cells`, makes the row live for
    /// `entity`, and stamps all its columns.
    ///
    /// # Panics
    ///
    /// If `cells` are not all cells of a row, or `put` leaves one unwritten.
    #[inline(always)]
    pub(crate) fn push(
        self,
        cells: &BundleCells,
        entity: Entity,
        now: Version,
        put: impl FnOnce(&mut RowWriter<'_>),
    ) {
        let Self { row, entities, stamps } = self;
        let chunk = row.at().chunk as usize;
        entities.push(entity);
        cells.write(row, put);
        if chunk == stamps.chunk_len() {
            stamps.push_chunk();
        }
        stamps.touch_all(chunk, now);
    }

    /// Frees the block if it was allocated for this row.
    pub(crate) fn abandon(self, pool: &mut Pool) {
        self.row.abandon(pool);
    }
}
